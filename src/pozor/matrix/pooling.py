"""Max, sum and number of visible cells over square blocks, in memory that does not grow with the matrix."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pozor.masks import Ranges

CHUNK_ROWS, CHUNK_KEYS = 512, 2048  # cells held at once: 8 MB in float64


class Cells(Protocol):
    """Where cells come from: q, k and lse, or a matrix that is given."""

    batch: int
    num_heads: int
    q_len: int
    kv_len: int

    def probs(
        self, batch: int, head: int, rows: slice, keys: slice, dtype: Any
    ) -> tuple[np.ndarray, np.ndarray | bool]:
        """Probs (rows, keys), 0 where hidden, and what is visible (True, False: all, nothing)."""
        ...

    def visible(self, batch: int, head: int, rows: slice, keys: slice) -> np.ndarray | bool:
        """What is visible alone."""
        ...

    def squares(
        self, batch: int, head: int, rows: slice, keys: slice, size: int, weight: np.ndarray | None, /
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Largest, total and count of the visible in squares of size × size; None: `probs` has to do."""
        ...

    def seeing(self, batch: int, head: int) -> np.ndarray:
        """Which rows see anything, bool (q_len,)."""
        ...

    def ranges(self, batch: int, head: int, rows: slice) -> Ranges | None:
        """The ranges of keys that each row sees; None where only blocks can tell."""
        ...

    def spans(self, batch: int, head: int, rows: slice) -> list[slice]:
        """Slices of keys outside which none of these rows sees anything."""
        ...

    def thinned(self, batch: int, head: int, every: int) -> "Cells":
        """Every so many-th row of one head, from the first."""
        ...


@dataclass(frozen=True)
class Pooled:
    """Blocks of cells: largest (NaN if a visible one is), total and count of the visible; rows that see."""

    largest: np.ndarray  # (block rows, block columns), 0 where nothing is visible
    total: np.ndarray
    count: np.ndarray
    rows: np.ndarray  # (block rows,): rows of the block that see something anywhere

    def reduced(self, reduce: str) -> np.ndarray:
        """One number a block; NaN where nothing is visible."""
        if reduce == "max":
            value = self.largest
        elif reduce == "mean":
            value = self.total / np.maximum(self.count, 1)
        else:
            value = self.total / np.maximum(self.rows, 1)[:, None]
        return np.where(self.count > 0, value, np.nan)

    def cut(self, rows: slice, columns: slice) -> "Pooled":
        """Some of the blocks."""
        here = (rows, columns)
        return Pooled(self.largest[here], self.total[here], self.count[here], self.rows[rows])

    def halved(self) -> "Pooled":
        """Blocks twice as wide."""
        largest, total, count = (
            fold(ufunc, fold(ufunc, array, 2, 0), 2, 1)
            for ufunc, array in ((np.maximum, self.largest), (np.add, self.total), (np.add, self.count))
        )
        return Pooled(largest, total, count, fold(np.add, self.rows, 2, 0))


def fold(ufunc: np.ufunc, array: np.ndarray, size: int, axis: int, dtype: Any = None) -> np.ndarray:
    """Reduce runs of `size` along an axis (0 or 1), in dtype; the last run may be shorter."""
    if size == 1:
        return array
    whole = array.shape[axis] // size * size
    front, rest = np.split(array, [whole], axis=axis)
    runs = (*front.shape[:axis], whole // size, size, *front.shape[axis + 1 :])
    folded = ufunc.reduce(front.reshape(runs), axis=axis + 1, dtype=dtype)
    if not rest.shape[axis]:
        return folded
    return np.concatenate((folded, ufunc.reduce(rest, axis=axis, dtype=dtype, keepdims=True)), axis=axis)


def pool(
    cells: Cells, batch: int, head: int, rows: slice, keys: slice, size: int, weight: np.ndarray | None = None
) -> Pooled:
    """Pool these rows and keys into blocks of size × size; the slices start at multiples of `size`.

    weight, (kv_len,), multiplies the probs of each key.
    """
    found = cells.squares(batch, head, rows, keys, size, weight)
    if found is not None:
        return Pooled(*found, seeing_rows(cells, batch, head, rows, size))
    shape = (-(-(rows.stop - rows.start) // size), -(-(keys.stop - keys.start) // size))
    largest, total = np.zeros(shape, np.float32), np.zeros(shape)
    count = np.zeros(shape, np.int64)
    for some_rows in chunks(rows, size, CHUNK_ROWS):
        for some_keys in chunks(keys, size, CHUNK_KEYS):
            probs, visible = cells.probs(batch, head, some_rows, some_keys, np.float32)
            if visible is False:
                continue
            if weight is not None:
                probs = _weighted(probs, weight[some_keys], visible)
            here = (blocks(some_rows, rows, size), blocks(some_keys, keys, size))
            part = fold(np.maximum, fold(np.maximum, probs, size, 0), size, 1)
            np.maximum(largest[here], part, out=largest[here])
            total[here] += fold(np.add, fold(np.add, probs, size, 0, np.float64), size, 1)
            count[here] += counted_cells(visible, probs.shape, size)
    return Pooled(largest, total, count, seeing_rows(cells, batch, head, rows, size))


def chunks(whole: slice, size: int, limit: int) -> Iterator[slice]:
    """Cut a slice into pieces of about `limit`: of whole blocks, or of parts of one block."""
    step = max(limit // size, 1) * size
    for start in range(whole.start, whole.stop, step):
        stop = min(start + step, whole.stop)
        for part in range(start, stop, limit if step > limit else step):
            yield slice(part, min(part + limit, stop) if step > limit else stop)


def blocks(part: slice, whole: slice, size: int) -> slice:
    """The blocks that a chunk falls into."""
    return slice((part.start - whole.start) // size, -(-(part.stop - whole.start) // size))


def counted_cells(visible: np.ndarray | bool, lengths: tuple[int, ...], size: int) -> np.ndarray:
    """How many cells of each block are visible; lengths: rows and keys."""
    if visible is True:
        rows, keys = (fold(np.add, np.ones(length, np.int64), size, 0) for length in lengths)
        return rows[:, None] * keys
    return fold(np.add, fold(np.add, np.asarray(visible).astype(np.int32), size, 0), size, 1)


def seeing_rows(cells: Cells, batch: int, head: int, rows: slice, size: int) -> np.ndarray:
    """How many rows of each line of blocks see something."""
    return fold(np.add, cells.seeing(batch, head)[rows].astype(np.int64), size, 0)


def _weighted(probs: np.ndarray, weight: np.ndarray, visible: np.ndarray | bool) -> np.ndarray:
    with np.errstate(invalid="ignore", over="ignore"):
        product = probs * weight.astype(probs.dtype)
    # select: the weight of a hidden key may be NaN
    return product if visible is True else np.where(visible, product, 0)
