"""Which keys each query row may see, and how much of that a block holds."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pozor.errors import DtypeError, ShapeError
from pozor.masks.objects import Causal, Grid, Mask, Window
from pozor.masks.ranges import Ranges, block_or_flag, intersect, tidy_line, to_numpy
from pozor.masks.words import OWN, words


class Visibility:
    """Which keys each query row may see: every given mask, ANDed.

    terms are mask objects; arrays are boolean, their axes 1 or those of (batch, num_heads, q_len, kv_len);
    callables are mask_mod(b, h, q_idx, kv_idx) and get torch indices with a torch device, else NumPy ones.
    """

    def __init__(
        self,
        grid: Grid,
        num_heads: int,
        terms: Sequence[Mask] = (),
        arrays: Sequence[Any] = (),
        callables: Sequence[Callable[..., Any]] = (),
        device: Any = None,
    ):
        self.grid = grid
        self.num_heads = num_heads
        self.terms = tuple(terms)
        self.arrays = tuple(arrays)
        self.callables = tuple(callables)
        self.device = device
        self._last: tuple[Any, Ranges | None, list[Mask]] | None = None

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden at all."""
        return bool(self.terms or self.arrays or self.callables)

    @property
    def words(self) -> str:
        """All of it in words, such as "causal & window (511, 0)"; "none" where nothing is hidden."""
        parts = [words(term) for term in self.terms] + [OWN] * bool(self.arrays or self.callables)
        return " & ".join(dict.fromkeys(parts)) or "none"

    @property
    def by_head(self) -> bool:
        """Whether heads of one sequence may differ."""
        return bool(self.callables) or any(array.shape[1] > 1 for array in self.arrays)

    def row_ranges(self, batch: int, rows: slice) -> tuple[Ranges | None, list[Mask]]:
        """The ranges all mask objects allow (None: every key), and the objects too fine for ranges."""
        asked = (batch, rows.start, rows.stop)
        last = self._last
        if last is None or last[0] != asked:
            allowed: Ranges | None = None
            finer: list[Mask] = []
            for term in self.terms:
                ranges = term.ranges(self.grid, batch, rows)
                met = ranges if allowed is None or ranges is None else intersect(allowed, ranges)
                if met is None:
                    finer.append(term)
                else:
                    allowed = met
            last = self._last = (asked, allowed, finer)
        return last[1], last[2]

    def ranges(self, batch: int, head: int, rows: slice) -> Ranges | None:
        """(starts, stops), each (rows, n): the key ranges of each row; None if only blocks can tell."""
        allowed, finer = self.row_ranges(batch, rows)
        if finer or self.arrays or self.callables:
            return None
        if allowed is None:
            count = rows.stop - rows.start
            return np.zeros((count, 1), np.int64), np.full((count, 1), self.grid.kv_len, np.int64)
        return allowed

    def spans(self, batch: int, rows: slice) -> list[slice]:
        """Disjoint key slices outside which none of these rows sees anything."""
        allowed, _ = self.row_ranges(batch, rows)
        if allowed is None:
            return [slice(0, self.grid.kv_len)] if self.grid.kv_len else []
        starts, stops = tidy_line(allowed[0].ravel(), allowed[1].ravel())
        return [slice(int(start), int(stop)) for start, stop in zip(starts, stops)]

    def dense(self, batch: int, heads: slice, rows: slice, keys: slice) -> Iterator[Any]:
        """What only blocks can tell: boolean blocks that broadcast to (heads, rows, keys)."""
        for term in self.row_ranges(batch, rows)[1]:
            yield term.block(self.grid, batch, rows, keys)
        for array in self.arrays:
            part = heads if array.shape[1] > 1 else slice(0, 1)
            yield array[batch if array.shape[0] > 1 else 0, part][
                :, rows if array.shape[2] > 1 else slice(0, 1), keys if array.shape[3] > 1 else slice(0, 1)
            ]
        for function in self.callables:
            yield self._called(function, batch, heads, rows, keys)

    def panel(self, batch: int, heads: slice, rows: slice, keys: slice) -> np.ndarray | bool:
        """The visible cells, bool (heads or 1, rows, keys); True or False where it is all or nothing."""
        count, width = rows.stop - rows.start, keys.stop - keys.start
        allowed, _ = self.row_ranges(batch, rows)
        visible: np.ndarray | bool = True
        if allowed is not None:
            visible = block_or_flag(allowed, keys)
            if visible is False:
                return False
        for block in self.dense(batch, heads, rows, keys):
            block = to_numpy(block)
            visible = block if visible is True else visible & block
        if isinstance(visible, bool):
            return visible
        if visible.all():
            return True
        if not visible.any():
            return False
        if visible.ndim < 3:
            visible = visible.reshape((1,) * (3 - visible.ndim) + visible.shape)
        return np.broadcast_to(visible, (visible.shape[0], count, width))

    def block(self, batch: int, head: int, rows: slice, keys: slice) -> np.ndarray | bool:
        """The visible cells of one head, bool (rows, keys); True or False where it is all or nothing."""
        visible = self.panel(batch, slice(head, head + 1), rows, keys)
        return visible if isinstance(visible, bool) else visible[0]

    def seen_keys(self, batch: int, head: int, rows: slice, keys: slice) -> np.ndarray:
        """Which of the keys one of the rows sees, bool (keys,)."""
        seen = np.zeros(keys.stop - keys.start, dtype=bool)
        if self.ranges(batch, head, rows) is None:
            visible = self.block(batch, head, rows, keys)
            seen[:] = visible if isinstance(visible, bool) else visible.any(axis=0)
            return seen
        for span in self.spans(batch, rows):
            seen[max(span.start - keys.start, 0) : max(span.stop - keys.start, 0)] = True
        return seen

    def part(self, batch: int, head: int, rows: slice) -> "Visibility":
        """The same of some rows (every step-th of them) of one head of one sequence, counted from 0."""
        first, step = rows.start, rows.step or 1
        count = max(0, -(-(rows.stop - first) // step))
        grid = Grid(1, count, self.grid.kv_len, self.grid.q_offset[batch : batch + 1] + first)
        terms: list[Mask] = []
        for term in self.terms:
            by_position = step == 1 and isinstance(term, (Causal, Window))  # the first row's says it all
            terms.append(term if by_position else _SomeRows(term, self.grid, batch, rows))
        where = (slice(batch, batch + 1), slice(head, head + 1), rows)
        arrays = [
            array[tuple(some if n > 1 else slice(None) for some, n in zip(where, array.shape))]
            for array in self.arrays
        ]
        callables = [_of_rows(function, batch, head, first, step) for function in self.callables]
        return Visibility(grid, 1, terms, arrays, callables, self.device)

    def _called(
        self, function: Callable[..., Any], batch: int, heads: slice, rows: slice, keys: slice
    ) -> Any:
        b = np.full((1, 1, 1), batch, dtype=np.int64)
        h = np.arange(heads.start, heads.stop, dtype=np.int64)[:, None, None]
        q_idx = np.arange(rows.start, rows.stop, dtype=np.int64)[None, :, None]
        kv_idx = np.arange(keys.start, keys.stop, dtype=np.int64)[None, None, :]
        indices: list[Any] = [b, h, q_idx, kv_idx]
        if self.device is not None:
            import torch

            indices = [torch.from_numpy(index).to(self.device) for index in indices]
        given = function(*indices)
        result = np.asarray(given) if isinstance(given, (bool, np.bool_)) else given
        dtype = str(getattr(result, "dtype", type(result).__name__)).removeprefix("torch.")
        if dtype != "bool":
            raise DtypeError(f"mask must return boolean (True = may attend); got {dtype} from the callable.")
        whole = (len(h), q_idx.shape[1], kv_idx.shape[2])
        try:
            fits = np.broadcast_shapes(tuple(result.shape), whole) == whole
        except ValueError:
            fits = False
        if not fits:
            raise ShapeError(
                f"mask must return a block that broadcasts to (heads, rows, keys) = {whole}; "
                f"got shape {tuple(result.shape)} from the callable."
            )
        return result


class _SomeRows(Mask):
    """A mask asked about some rows of one sequence: row i here is row first + i · step there."""

    def __init__(self, mask: Mask, grid: Grid, batch: int, rows: slice):
        self.mask, self.grid, self.batch = mask, grid, batch
        self.first, self.step = rows.start, rows.step or 1

    def ranges(self, grid: Grid, batch: int, rows: slice) -> Ranges | None:
        """Those of the rows there."""
        first, last = (self.first + row * self.step for row in (rows.start, rows.stop - 1))
        found = self.mask.ranges(self.grid, self.batch, slice(first, max(first, last + 1)))
        return None if found is None else (found[0][:: self.step], found[1][:: self.step])

    def block(self, grid: Grid, batch: int, rows: slice, keys: slice) -> np.ndarray:
        """Row by row where some are left out, so that no more is held than asked for."""
        there = (self.first + row * self.step for row in range(rows.start, rows.stop))
        if self.step == 1:
            first = self.first + rows.start
            there = (slice(first, first + rows.stop - rows.start),)
        else:
            there = (slice(row, row + 1) for row in there)
        blocks = [self.mask.block(self.grid, self.batch, some, keys) for some in there]
        return np.concatenate(blocks) if blocks else np.zeros((0, keys.stop - keys.start), dtype=bool)


def _of_rows(
    function: Callable[..., Any], batch: int, head: int, first: int, step: int
) -> Callable[..., Any]:
    return lambda b, h, q_idx, kv_idx: function(b + batch, h + head, first + q_idx * step, kv_idx)
