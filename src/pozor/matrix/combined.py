"""The cells of several heads combined one by one: their weighted sum or their largest; which are seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pozor.masks import Ranges
from pozor.masks.ranges import tidy
from pozor.matrix.counting import counted
from pozor.matrix.pooling import (
    CHUNK_KEYS,
    CHUNK_ROWS,
    Cells,
    Pooled,
    blocks,
    chunks,
    counted_cells,
    fold,
    seeing_rows,
)

SIDE = 512  # rows and keys whose cells are held at once

Place = tuple[Cells, int, int]  # cells, batch, head


class CombinedCells:
    """Cells as `pooling.pool` reads them; batch and head have no meaning here.

    Args:
        q_len, kv_len: Sizes.
        parts: (cells, batch, head, weight of each key or None) of each head.
        factors: Of each head in the sum; None: the largest of them.
        places: Heads whose masks differ; a cell is visible that one of them shows.
    """

    batch = num_heads = 1

    def __init__(
        self,
        q_len: int,
        kv_len: int,
        parts: Sequence[tuple[Cells, int, int, np.ndarray | None]],
        factors: Sequence[float] | None,
        places: Sequence[Place],
    ) -> None:
        self.q_len, self.kv_len = q_len, kv_len
        self._parts, self._factors, self._places = parts, factors, places
        self.signed = factors is not None and min(factors) < 0

    def probs(
        self, batch: int, head: int, rows: slice, keys: slice, dtype: Any = np.float64
    ) -> tuple[np.ndarray, np.ndarray | bool]:
        """The combination, 0 where none is visible, and what is visible."""
        del batch, head
        combined: np.ndarray | None = None
        for number, (cells, of_batch, of_head, weight) in enumerate(self._parts):
            probs, visible = cells.probs(of_batch, of_head, rows, keys, dtype)
            with np.errstate(invalid="ignore", over="ignore"):
                if weight is not None and visible is not False:
                    probs = probs * weight[keys].astype(dtype)
                    probs = probs if visible is True else np.where(visible, probs, 0)
                if self._factors is None:
                    combined = probs if combined is None else np.maximum(combined, probs)
                else:
                    probs = probs * dtype(self._factors[number])
                    combined = probs if combined is None else combined + probs
        assert combined is not None
        return combined, self.visible(0, 0, rows, keys)

    def visible(self, batch: int, head: int, rows: slice, keys: slice) -> np.ndarray | bool:
        """What one of the heads shows."""
        del batch, head
        seen: np.ndarray | bool = False
        for cells, of_batch, of_head in self._places:
            here = cells.visible(of_batch, of_head, rows, keys)
            if here is True:
                return True
            seen = here if seen is False else seen | here
        return seen

    def squares(self, *_: object) -> None:
        """Cell by cell: a max of sums is no sum of maxima."""

    def seeing(self, batch: int = 0, head: int = 0) -> np.ndarray:
        """Which rows see anything in one of them."""
        del batch, head
        seen = [cells.seeing(of_batch, of_head) for cells, of_batch, of_head in self._places]
        return np.logical_or.reduce(seen)

    def ranges(self, batch: int, head: int, rows: slice) -> Ranges | None:
        """The ranges of keys that one of them shows; None where only blocks can tell."""
        del batch, head
        return union([cells.ranges(of_batch, of_head, rows) for cells, of_batch, of_head in self._places])

    def spans(self, batch: int, head: int, rows: slice) -> list[slice]:
        """All the keys."""
        del batch, head, rows
        return [slice(0, self.kv_len)] if self.kv_len else []

    def thinned(self, batch: int, head: int, every: int) -> "CombinedCells":
        """Every so many-th row."""
        raise NotImplementedError

    def pooled(self, rows: slice, keys: slice, size: int) -> Pooled:
        """Blocks of size × size from cell after cell; of both signs, `largest` is what is farthest from 0."""
        shape = (-(-(rows.stop - rows.start) // size), -(-(keys.stop - keys.start) // size))
        largest, least = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        total, count = np.zeros(shape), np.zeros(shape, np.int64)
        for some_rows in chunks(rows, size, SIDE):
            for some_keys in chunks(keys, size, SIDE):
                visible = self.visible(0, 0, some_rows, some_keys)
                if visible is False:
                    continue
                values = self.probs(0, 0, some_rows, some_keys, np.float32)[0]
                here = (blocks(some_rows, rows, size), blocks(some_keys, keys, size))
                ends = (
                    ((np.maximum, largest), (np.minimum, least)) if self.signed else ((np.maximum, largest),)
                )
                for ufunc, ended in ends:
                    part = fold(ufunc, fold(ufunc, values, size, 0), size, 1)
                    ufunc(ended[here], part, out=ended[here])
                total[here] += fold(np.add, fold(np.add, values, size, 0, np.float64), size, 1)
                count[here] += counted_cells(visible, values.shape, size)
        farthest = np.where(-least > largest, least, largest)
        return Pooled(farthest, total, count, seeing_rows(self, 0, 0, rows, size))

    def count(self, rows: slice, keys: slice, size: int) -> np.ndarray:
        """Visible cells of squares of size × size."""
        return counts(self, 0, 0, rows, keys, size)


# ---- how many are visible ---------------------------------------------------------------------------------


def counts(cells: Cells, batch: int, head: int, rows: slice, keys: slice, size: int) -> np.ndarray:
    """Visible cells of one head in squares of size × size."""
    return _count(cells, batch, head, rows, keys, size, size)


def queries(cells: Cells, batch: int, head: int) -> np.ndarray:
    """How many queries may see each key of one head, (kv_len,)."""
    whole = slice(0, cells.q_len), slice(0, cells.kv_len)
    found = _count(cells, batch, head, *whole, max(1, cells.q_len), 1)
    return found[0] if len(found) else np.zeros(cells.kv_len, np.int64)


def union(ranges: Sequence[Ranges | None]) -> Ranges | None:
    """The keys that one of them holds, row by row; None where one of them is, or a row has more than 8."""
    held = [one for one in ranges if one is not None]
    if len(held) != len(ranges):
        return None
    if len(held) == 1:
        return held[0]
    return tidy(*(np.concatenate(ends, axis=1) for ends in zip(*held)))


def _count(
    cells: Cells, batch: int, head: int, rows: slice, keys: slice, height: int, width: int
) -> np.ndarray:
    ranges = cells.ranges(batch, head, rows)
    if ranges is not None:
        return counted(ranges, keys, height, width)
    lines, columns = -(-(rows.stop - rows.start) // height), -(-(keys.stop - keys.start) // width)
    count = np.zeros((lines, columns), np.int64)
    wide = max(1, CHUNK_KEYS // width) * width
    for start in range(rows.start, rows.stop, CHUNK_ROWS):
        some = slice(start, min(start + CHUNK_ROWS, rows.stop))
        line = np.arange(some.start - rows.start, some.stop - rows.start) // height
        for first in range(keys.start, keys.stop, wide):
            part = slice(first, min(first + wide, keys.stop))
            seen = np.broadcast_to(
                cells.visible(batch, head, some, part), (some.stop - start, part.stop - first)
            )
            across = fold(np.add, seen.astype(np.int64), width, 1)
            column = (first - keys.start) // width
            np.add.at(count[:, column : column + across.shape[1]], line, across)
    return count
