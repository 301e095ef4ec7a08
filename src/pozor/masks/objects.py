"""The mask objects: each compiles to key ranges per query row.

Nothing of size (q_len, kv_len) is built: a row is up to 8 ranges of keys, anything finer is asked by block.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.masks.ranges import MAX_RANGES, Ranges, block_of_ranges, clip, intersect, tidy, to_numpy

_OPEN = 2**62  # a window this wide is open; keeps position + width inside int64


@dataclass(frozen=True)
class Grid:
    """The cells a mask is asked about: lengths in tokens and the position of each sequence's first query."""

    batch: int
    q_len: int
    kv_len: int
    q_offset: np.ndarray

    def positions(self, batch: int, rows: slice) -> np.ndarray:
        """Positions of these query rows among the keys, (rows,)."""
        return np.arange(rows.start, rows.stop, dtype=np.int64) + self.q_offset[batch]


class Mask:
    """A set of visible (query, key) cells; combine with & and |, pass as `mask=`."""

    needs_position = False
    __array_ufunc__ = None  # array & mask is asked here, not cell by cell of the array

    def check(self, grid: Grid) -> None:
        """Raise ShapeError if the mask's own arrays do not fit the grid."""

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges | None:
        """Key ranges of each row, or None where a row has more than 8."""
        raise NotImplementedError

    def block(self, grid: Grid, batch: int, rows: slice, keys: slice) -> np.ndarray:
        """The visible cells of one block, bool (rows, keys)."""
        ranges = self.ranges(grid, batch, rows)
        assert ranges is not None, "a mask with more ranges brings its own block()"
        return block_of_ranges(ranges, keys)

    def __and__(self, other: "Mask") -> "Mask":
        return And(self, _mask_object("&", other))

    def __or__(self, other: "Mask") -> "Mask":
        return Or(self, _mask_object("|", other))

    def __rand__(self, other: Any) -> "Mask":
        return And(_mask_object("&", other), self)

    def __ror__(self, other: Any) -> "Mask":
        return Or(_mask_object("|", other), self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Causal(Mask):
    """Key j is visible where j <= position of the query (i + q_offset).

    Example:
        >>> import numpy as np, pozor
        >>> q = k = np.zeros((3, 2)); v = np.array([[1.0], [10.0], [100.0]])
        >>> pozor.attention(q, k, v, mask=pozor.Causal()).ravel().tolist()
        [1.0, 5.5, 37.0]
    """

    needs_position = True

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges:
        """One range: [0, position]."""
        stops = grid.positions(batch, rows) + 1
        return clip(np.zeros_like(stops), stops, grid.kv_len)


class Window(Mask):
    """Key j is visible where position - left <= j <= position + right; None leaves a side open.

    Example:
        >>> import numpy as np, pozor
        >>> x = np.zeros((4, 1)); v = np.array([[2.0], [4.0], [8.0], [16.0]])
        >>> pozor.attention(x, x, v, mask=Window(1, 0)).ravel().tolist()
        [2.0, 3.0, 6.0, 12.0]
    """

    needs_position = True

    def __init__(self, left: int | None, right: int | None):
        self.left = _tokens("left", left, optional=True)
        self.right = _tokens("right", right, optional=True)

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges:
        """One range: [position - left, position + right]."""
        positions = grid.positions(batch, rows)
        starts = np.zeros_like(positions) if self.left is None else positions - min(self.left, _OPEN)
        stops = (
            np.full_like(positions, grid.kv_len)
            if self.right is None
            else positions + min(self.right, _OPEN) + 1
        )
        return clip(starts, stops, grid.kv_len)

    def __repr__(self) -> str:
        return f"Window({self.left}, {self.right})"


class Prefix(Mask):
    """The first n keys are visible to every query; n is one number, or one for each sequence (batch,).

    `Causal() | Prefix(n)` is the mask of a prefix language model.

    Example:
        >>> import numpy as np, pozor
        >>> x = np.zeros((3, 1)); v = np.array([[1.0], [3.0], [8.0]])
        >>> pozor.attention(x, x, v, mask=Causal() | Prefix(2)).ravel().tolist()
        [2.0, 2.0, 4.0]
    """

    def __init__(self, n: Any):
        self.n = _integers("Prefix(n)", n)
        if self.n.ndim > 1:
            raise ShapeError(f"Prefix(n) must be a number or (batch,); got shape {self.n.shape}.")

    def check(self, grid: Grid) -> None:
        """The number of prefixes must be the batch's."""
        _check_batch("Prefix(n)", self.n, 1, grid.batch)

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges:
        """One range: [0, n)."""
        stops = np.full(rows.stop - rows.start, _member(self.n, batch, 1), dtype=np.int64)
        return clip(np.zeros_like(stops), stops, grid.kv_len)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n.tolist()})"


class Sinks(Prefix):
    """The first n keys stay visible, as in `Causal() & (Window(left, 0) | Sinks(4))`.

    These are ordinary keys with values; `sink=` is the other thing, a logit without a value.

    Example:
        >>> import numpy as np, pozor
        >>> x = np.zeros((3, 1)); v = np.array([[1.0], [3.0], [8.0]])
        >>> pozor.attention(x, x, v, mask=Causal() & (Window(0, 0) | Sinks(1))).ravel().tolist()
        [1.0, 2.0, 4.5]
    """

    def __init__(self, n: int):
        super().__init__(_tokens("n", n))


class Padding(Mask):
    """Keys that are real tokens: lengths (batch,), or bool (batch, kv_len) with True = a real token.

    Padding removes keys, never queries.

    Example:
        >>> import numpy as np, pozor
        >>> x = np.zeros((3, 1)); v = np.array([[1.0], [3.0], [100.0]])
        >>> pozor.attention(x, x, v, mask=Padding([2])).ravel().tolist()
        [2.0, 2.0, 2.0]
    """

    def __init__(self, lengths_or_mask: Any):
        given = _array("Padding", lengths_or_mask)
        self.lengths: np.ndarray | None = None
        self.visible: np.ndarray | None = None
        if given.dtype == np.bool_:
            if given.ndim not in (1, 2):
                raise ShapeError(f"Padding takes bool (batch, kv_len); got shape {given.shape}.")
            self.visible = given
        else:
            self.lengths = _integers("Padding lengths", given)
            if self.lengths.ndim > 1:
                raise ShapeError(
                    f"Padding takes lengths (batch,); got shape {given.shape}. "
                    "Use mask != 0 for ones and zeros (batch, kv_len)."
                )
        self._runs: dict[int, Ranges] = {}

    def check(self, grid: Grid) -> None:
        """Batch and kv_len must be the call's."""
        if self.lengths is not None:
            _check_batch("Padding lengths", self.lengths, 1, grid.batch)
        if self.visible is not None:
            _check_tokens("Padding", self.visible, grid.batch, "kv_len", grid.kv_len)

    def _sequence_runs(self, batch: int) -> Ranges:
        if batch not in self._runs:
            visible = _member(self.visible, batch, 2)
            edges = np.flatnonzero(np.diff(np.concatenate(([0], visible.view(np.int8), [0]))))
            self._runs[batch] = (edges[0::2], edges[1::2])
        return self._runs[batch]

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges | None:
        """The runs of real tokens."""
        count = rows.stop - rows.start
        if self.lengths is not None:
            stops = np.full(count, _member(self.lengths, batch, 1), dtype=np.int64)
            return clip(np.zeros_like(stops), stops, grid.kv_len)
        starts, stops = self._sequence_runs(batch)
        if len(starts) > MAX_RANGES:
            return None
        return np.tile(starts, (count, 1)), np.tile(stops, (count, 1))

    def block(self, grid: Grid, batch: int, rows: slice, keys: slice) -> np.ndarray:
        """The same keys for each row."""
        if self.visible is None:
            return super().block(grid, batch, rows, keys)
        shape = (rows.stop - rows.start, keys.stop - keys.start)
        return np.broadcast_to(_member(self.visible, batch, 2)[keys], shape)


class Documents(Mask):
    """Packed sequences: a query sees the keys with its own document id.

    q_ids: integers (q_len,) or (batch, q_len). kv_ids: those of the keys; left out, q_ids serve both axes.

    Example:
        >>> import numpy as np, pozor
        >>> x = np.zeros((4, 1)); v = np.array([[1.0], [3.0], [10.0], [30.0]])
        >>> pozor.attention(x, x, v, mask=Documents([0, 0, 1, 1])).ravel().tolist()
        [2.0, 2.0, 20.0, 20.0]
    """

    def __init__(self, q_ids: Any, kv_ids: Any = None):
        self.q_ids = _integers("Documents(q_ids)", q_ids, negative=True)
        self.kv_ids = self.q_ids if kv_ids is None else _integers("Documents(kv_ids)", kv_ids, negative=True)
        for name, ids in (("q_ids", self.q_ids), ("kv_ids", self.kv_ids)):
            if ids.ndim not in (1, 2):
                raise ShapeError(f"{name} must be (tokens,) or (batch, tokens); got shape {ids.shape}.")
        self._tables: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray] | None] = {}

    def check(self, grid: Grid) -> None:
        """Batch and lengths must be the call's."""
        _check_tokens("Documents(q_ids)", self.q_ids, grid.batch, "q_len", grid.q_len)
        _check_tokens("Documents(kv_ids)", self.kv_ids, grid.batch, "kv_len", grid.kv_len)

    def _table(self, batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """(ids, starts, stops): the key ranges of each document; None if one has more than 8."""
        if batch not in self._tables:
            self._tables[batch] = _document_table(_member(self.kv_ids, batch, 2))
        return self._tables[batch]

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges | None:
        """The ranges of the row's document."""
        table = self._table(batch)
        if table is None:
            return None
        ids, starts, stops = table
        wanted = _member(self.q_ids, batch, 2)[rows]
        if not len(ids):
            return np.zeros((len(wanted), 0), np.int64), np.zeros((len(wanted), 0), np.int64)
        place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        known = (ids[place] == wanted)[:, None]
        return np.where(known, starts[place], 0), np.where(known, stops[place], 0)

    def block(self, grid: Grid, batch: int, rows: slice, keys: slice) -> np.ndarray:
        """Equal ids."""
        return _member(self.q_ids, batch, 2)[rows][:, None] == _member(self.kv_ids, batch, 2)[keys][None, :]


class _Pair(Mask):
    def __init__(self, left: Mask, right: Mask):
        self.parts = (left, right)

    @property
    def needs_position(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return any(part.needs_position for part in self.parts)

    def check(self, grid: Grid) -> None:
        """Both parts must fit."""
        for part in self.parts:
            part.check(grid)


class And(_Pair):
    """Cells visible under both masks."""

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges | None:
        """Intersection."""
        left, right = (part.ranges(grid, batch, rows) for part in self.parts)
        return None if left is None or right is None else intersect(left, right)

    def block(self, grid: Grid, batch: int, rows: slice, keys: slice) -> np.ndarray:
        """Both."""
        left, right = (part.block(grid, batch, rows, keys) for part in self.parts)
        return left & right

    def __repr__(self) -> str:
        return f"({self.parts[0]!r} & {self.parts[1]!r})"


class Or(_Pair):
    """Cells visible under either mask."""

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges | None:
        """Union."""
        left, right = (part.ranges(grid, batch, rows) for part in self.parts)
        if left is None or right is None:
            return None
        return tidy(np.hstack((left[0], right[0])), np.hstack((left[1], right[1])))

    def block(self, grid: Grid, batch: int, rows: slice, keys: slice) -> np.ndarray:
        """Either."""
        left, right = (part.block(grid, batch, rows, keys) for part in self.parts)
        return left | right

    def __repr__(self) -> str:
        return f"({self.parts[0]!r} | {self.parts[1]!r})"


def _mask_object(sign: str, other: Any) -> Mask:
    if not isinstance(other, Mask):
        raise DtypeError(
            f"{sign} joins two mask objects; got {type(other).__name__}. Use Padding(array) for real keys, "
            "or mask=array beside causal= and window=: all masks given are ANDed."
        )
    return other


def _array(name: str, value: Any) -> np.ndarray:
    try:
        return to_numpy(value)
    except ValueError:
        raise ShapeError(f"{name} must be an array; got rows of different lengths.") from None


def _document_table(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    if not len(ids):
        empty = np.zeros((0, 0), dtype=np.int64)
        return np.zeros(0, dtype=np.int64), empty, empty
    change = np.flatnonzero(np.diff(ids)) + 1
    starts, stops = np.concatenate(([0], change)), np.concatenate((change, [len(ids)]))
    order = np.argsort(ids[starts], kind="stable")
    unique, first, counts = np.unique(ids[starts][order], return_index=True, return_counts=True)
    if counts.max() > MAX_RANGES:
        return None
    document = np.repeat(np.arange(len(unique)), counts)
    rank = np.arange(len(order)) - np.repeat(first, counts)
    table = np.zeros((2, len(unique), int(counts.max())), dtype=np.int64)
    table[0, document, rank], table[1, document, rank] = starts[order], stops[order]
    return unique, table[0], table[1]


def _tokens(name: str, value: Any, optional: bool = False) -> Any:
    if optional and value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        what = "a whole number of tokens" + (" or None (open)" if optional else "")
        raise DtypeError(f"{name} must be {what}; got {value!r}.")
    if value < 0:
        raise OptionError(f"{name} must be 0 tokens or more; got {value}.")
    return int(value)


def _integers(name: str, value: Any, negative: bool = False) -> np.ndarray:
    array = _array(name, value)
    if array.size == 0 and array.dtype == np.float64:  # an empty list has no dtype of its own
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise DtypeError(f"{name} must be integers; got {array.dtype}.")
    if not negative and (array < 0).any():
        raise OptionError(f"{name} must be 0 or more; got {array.min()}.")
    return array.astype(np.int64)


def _member(array: Any, batch: int, ndim: int) -> Any:
    """The part of one sequence, of an array whose batch axis may be left out or 1."""
    if array.ndim < ndim:
        return array
    return array[0 if len(array) == 1 else batch]


def _check_batch(name: str, array: np.ndarray, ndim: int, batch: int) -> None:
    if array.ndim == ndim and array.shape[0] not in (1, batch):
        raise ShapeError(f"{name} must hold one entry a sequence; got {array.shape[0]} for batch {batch}.")


def _check_tokens(name: str, array: np.ndarray, batch: int, axis: str, length: int) -> None:
    _check_batch(name, array, 2, batch)
    if array.shape[-1] != length:
        raise ShapeError(f"{name} must cover {axis}={length} tokens; got {array.shape[-1]}.")
