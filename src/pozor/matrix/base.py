"""The base of a head: max and sum of blocks of 64 × 64 cells, by one pass over q · k, made by bands of rows.

Coarser zooms are folded from it. The counts of visible cells come from the mask, and are kept only where the
mask is no ranges of keys. A preview is the same of every 16th row.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from pozor.matrix import pooling, tiles
from pozor.matrix.counting import counted
from pozor.matrix.making import Making, Steps
from pozor.matrix.pooling import Cells, Pooled, fold

ZOOM = 6
SIDE = 1 << ZOOM
EVERY = 16  # rows of which the preview takes the first
NO_PREVIEW = 4096  # tokens up to which the base is there before a preview were of use
BAND = 1 << 28  # cells of a band of rows, a tenth of a second or so


class Store(Protocol):
    """Where something that was made outlives the process: a folder of the recording."""

    def load(self, name: str) -> Mapping[str, np.ndarray] | None:
        """What was saved under a name, or None."""
        ...

    def save(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep the arrays under a name; where that does not work, nothing happens."""
        ...

    def check(self) -> None:
        """Raise where the files that it is made from are others now."""
        ...

    def of(self, variant: str) -> "Store":
        """Where the same is kept for another mask."""
        ...


@dataclass(frozen=True)
class Lines:
    """Blocks line by line, from the first to the last that may be visible, side by side in flat arrays."""

    firsts: np.ndarray  # int64 (lines,): the first block's column
    starts: np.ndarray  # int64 (lines + 1,): where each line begins
    largest: np.ndarray  # float32 each
    total: np.ndarray
    count: np.ndarray | None  # int32; None: the mask tells

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        arrays = (self.firsts, self.starts, self.largest, self.total, self.count)
        return sum(array.nbytes for array in arrays if array is not None)

    def dense(self, flat: np.ndarray, lines: slice, columns: slice) -> np.ndarray:
        """Some of the blocks; 0 where nothing is visible."""
        out = np.zeros((lines.stop - lines.start, columns.stop - columns.start), flat.dtype)
        for row, line in enumerate(range(lines.start, lines.stop)):
            first, start, stop = int(self.firsts[line]), int(self.starts[line]), int(self.starts[line + 1])
            here = slice(max(first, columns.start), min(first + stop - start, columns.stop))
            if here.start < here.stop:
                part = flat[start + here.start - first : start + here.stop - first]
                out[row, here.start - columns.start : here.stop - columns.start] = part
        return out


class Base:
    """The base of one head, and the coarser zooms folded from it.

    cells: of one head (or all; then batch and head say which), or of every `every`-th of its rows.
    """

    def __init__(self, cells: Cells, batch: int, head: int, lines: Lines, every: int = 1) -> None:
        self.cells, self.lines = cells, lines
        self._place, self._height = (batch, head), SIDE // every

    @property
    def nbytes(self) -> int:
        """Bytes in memory, the coarser zooms included."""
        lines, columns = self.shape(ZOOM + 1)
        each = 4 + 4 + (0 if self.lines.count is None else 8)
        return self.lines.nbytes + lines * columns * each * 4 // 3

    def shape(self, zoom: int) -> tuple[int, int]:
        """Lines and columns of blocks at a zoom."""
        height, width = self._height << (zoom - ZOOM), SIDE << (zoom - ZOOM)
        return -(-self.cells.q_len // height), -(-self.cells.kv_len // width)

    def cut(self, zoom: int, lines: slice, columns: slice) -> Pooled:
        """Some of the blocks at a zoom from 6 on; what lies outside is left out."""
        shape = self.shape(zoom)
        lines, columns = (
            slice(min(part.start, length), min(part.stop, length))
            for part, length in zip((lines, columns), shape)
        )
        if zoom == ZOOM:
            held = self.lines
            largest, total = (held.dense(flat, lines, columns) for flat in (held.largest, held.total))
            count = None if held.count is None else held.dense(held.count, lines, columns)
        else:
            level = self._levels[zoom - ZOOM - 1]
            largest, total = (array[lines, columns] for array in level[:2])
            count = None if level[2] is None else level[2][lines, columns]
        height, width = self._height << (zoom - ZOOM), SIDE << (zoom - ZOOM)
        rows = slice(lines.start * height, min(lines.stop * height, self.cells.q_len))
        keys = slice(columns.start * width, min(columns.stop * width, self.cells.kv_len))
        if count is None:
            ranges = self.cells.ranges(*self._place, rows)
            assert ranges is not None, "counts are kept where the mask is no ranges"
            count = counted(ranges, keys, height, width)
        seeing = fold(np.add, self.cells.seeing(*self._place)[rows].astype(np.int64), height, 0)
        return Pooled(largest, total.astype(np.float64), count.astype(np.int64), seeing)

    def folded(self) -> "Base":
        """Itself, its coarser zooms at hand, so that the first tile of them takes no longer than the next."""
        if max(self.shape(ZOOM)) > tiles.SIDE:
            self._levels  # noqa: B018
        return self

    def whole(self, zoom: int) -> Pooled:
        """All the blocks at a zoom from 6 on."""
        return self.cut(zoom, *(slice(0, length) for length in self.shape(zoom)))

    @cached_property
    def _levels(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Largest, total and count (or None) at each zoom from 7 to the one of a single tile."""
        held, shape = self.lines, self.shape(ZOOM)
        columns = slice(0, shape[1])

        def first(flat: np.ndarray, ufunc: np.ufunc, dtype: type) -> np.ndarray:
            some = (slice(n, min(n + SIDE, shape[0])) for n in range(0, shape[0], SIDE))
            parts = [_halved(held.dense(flat, lines, columns), ufunc, dtype) for lines in some]
            return np.concatenate(parts) if parts else np.zeros((0, -(-shape[1] // 2)), dtype)

        level = (
            first(held.largest, np.maximum, np.float32),
            first(held.total, np.add, np.float32),
            None if held.count is None else first(held.count, np.add, np.int64),
        )
        levels = [level]
        while max(level[0].shape) > 1:
            level = (
                _halved(level[0], np.maximum, np.float32),
                _halved(level[1], np.add, np.float32),
                None if level[2] is None else _halved(level[2], np.add, np.int64),
            )
            levels.append(level)
        return levels


def base_steps(
    cells: Cells, batch: int, head: int, weight: np.ndarray | None, name: str, store: Store | None
) -> Callable[[Making[Base]], Steps[Base]]:
    """What makes the base of one head; a weight, (kv_len,), multiplies the probs of each key."""

    def steps(making: Making[Base]) -> Steps[Base]:
        found = None if store is None else _stored(cells, batch, head, store.load(name))
        if found is not None:
            return found.folded()
        if making.wants_preview and max(cells.q_len, cells.kv_len) > NO_PREVIEW:
            thin = cells.thinned(batch, head, EVERY)
            bands = _Bands(thin, 0, 0, weight, EVERY)
            for _ in bands:
                yield 0.0
                _check(store)
            making.preview = bands.base()
        bands = _Bands(cells, batch, head, weight)
        for done in bands:
            yield done
            _check(store)
        made = bands.base()
        if store is not None:
            store.save(name, _to_store(made))
        return made.folded()

    return steps


def _check(store: Store | None) -> None:
    if store is not None:
        store.check()


class _Bands:
    """The lines of a base, a band of rows at a time; iterating makes them and tells how far it is."""

    def __init__(
        self, cells: Cells, batch: int, head: int, weight: np.ndarray | None, every: int = 1
    ) -> None:
        self.cells, self.weight, self.every = cells, weight, every
        self.place = (batch, head)
        self.height = SIDE // every
        self.counts_told = _counts_told(cells, batch, head)
        self.firsts: list[int] = []
        self.widths: list[int] = []
        self.parts: tuple[list[np.ndarray], ...] = ([], [], [])

    def __iter__(self) -> Iterator[float]:
        q_len, kv_len = self.cells.q_len, self.cells.kv_len
        cells = BAND if self.every == 1 else BAND // 8  # small squares take longer, and more memory
        step = max(1, cells // max(kv_len, 1) // self.height) * self.height
        spans = [self._columns(first) for first in range(0, q_len, self.height)]
        whole, done = max(1, sum(last - first for first, last in spans)), 0
        for start in range(0, q_len, step):
            rows = slice(start, min(start + step, q_len))
            some = spans[start // self.height : -(-rows.stop // self.height)]
            self._add(rows, some)
            done += sum(last - first for first, last in some)
            yield done / whole

    def base(self) -> Base:
        """What was made."""
        largest, total, count = (np.concatenate(part) if part else np.zeros(0) for part in self.parts)
        lines = Lines(
            np.array(self.firsts, np.int64),
            np.concatenate(([0], np.cumsum(self.widths))).astype(np.int64),
            largest.astype(np.float32, copy=False),
            total.astype(np.float32, copy=False),
            None if self.counts_told else count.astype(np.int32, copy=False),
        )
        return Base(self.cells, *self.place, lines, self.every)

    def _columns(self, first: int) -> tuple[int, int]:
        """The columns of blocks between which a line's visible cells lie."""
        rows = slice(first, min(first + self.height, self.cells.q_len))
        spans = self.cells.spans(*self.place, rows)
        if not spans:
            return 0, 0
        return spans[0].start // SIDE, -(-spans[-1].stop // SIDE)

    def _add(self, rows: slice, spans: list[tuple[int, int]]) -> None:
        left = min((first for first, last in spans if last > first), default=0)
        right = max((last for _, last in spans), default=0)
        keys = slice(left * SIDE, min(right * SIDE, self.cells.kv_len))
        arrays: tuple[np.ndarray, ...] = ()
        if keys.start < keys.stop:
            found = pooling.pool(self.cells, *self.place, rows, keys, self.height, self.weight)
            three = (np.maximum, found.largest), (np.add, found.total), (np.add, found.count)
            used = three[:2] if self.counts_told else three
            arrays = tuple(fold(ufunc, array, self.every, 1) for ufunc, array in used)
        for line, (first, last) in enumerate(spans):
            self.firsts.append(first)
            self.widths.append(last - first)
            if last == first:
                continue
            for part, array, dtype in zip(self.parts, arrays, (np.float32, np.float32, np.int32)):
                part.append(array[line, first - left : last - left].astype(dtype))


def _counts_told(cells: Cells, batch: int, head: int) -> bool:
    """Whether the mask alone tells how many cells of a block are visible."""
    return cells.ranges(batch, head, slice(0, cells.q_len)) is not None


def _halved(array: np.ndarray, ufunc: np.ufunc, dtype: type) -> np.ndarray:
    wide = np.float64 if dtype is np.float32 else dtype
    return fold(ufunc, fold(ufunc, array, 2, 0, wide), 2, 1, wide).astype(dtype, copy=False)


def _to_store(base: Base) -> dict[str, np.ndarray]:
    held = base.lines
    arrays = {"firsts": held.firsts, "starts": held.starts, "largest": held.largest, "total": held.total}
    return arrays if held.count is None else arrays | {"count": held.count.astype(np.int64)}


def _stored(cells: Cells, batch: int, head: int, arrays: Mapping[str, np.ndarray] | None) -> Base | None:
    """A base that was saved; None where the arrays are none of this map."""
    if arrays is None:
        return None
    counts_told = _counts_told(cells, batch, head)
    wanted = {"firsts", "starts", "largest", "total"} | (set() if counts_told else {"count"})
    if set(arrays) != wanted:
        return None
    firsts, starts = arrays["firsts"], arrays["starts"]
    lines, columns = -(-cells.q_len // SIDE), -(-cells.kv_len // SIDE)
    if firsts.shape != (lines,) or starts.shape != (lines + 1,):
        return None
    if {firsts.dtype, starts.dtype} != {np.dtype(np.int64)}:
        return None
    widths = np.diff(starts)
    largest, total = arrays["largest"], arrays["total"]
    if (
        {largest.dtype, total.dtype} != {np.dtype(np.float32)}
        or starts[0] != 0
        or (widths < 0).any()
        or (firsts < 0).any()
        or (firsts + widths > columns).any()
        or {largest.shape, total.shape} != {(starts[-1],)}
    ):
        return None
    count = None if counts_told else arrays["count"]
    if count is not None and (count.shape != (starts[-1],) or count.dtype != np.int64):
        return None
    return Base(cells, batch, head, Lines(firsts, starts, largest, total, count))
