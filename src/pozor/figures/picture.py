"""What a picture shows: pixels out of tiles, exact at every zoom, at most MOST_PIXELS a side."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.matrix.map import AttentionMap, Reduce, Value
from pozor.matrix.tiles import SIDE, VALUE

MOST_PIXELS = 1024


@dataclass(frozen=True, eq=False)
class Picture:
    """values float32 and states uint8, (rows, columns) of pixels, as tiles have them.

    queries, keys: The cells that the pixels cover, within the matrix; whole pixels, so that a range asked for
    may have grown.
    """

    values: np.ndarray
    states: np.ndarray
    zoom: int
    queries: range
    keys: range

    @property
    def side(self) -> int:
        """Cells along one side of a pixel."""
        return 1 << self.zoom

    @property
    def finite(self) -> np.ndarray:
        """Where there is a finite value, bool."""
        return (self.states == VALUE) & np.isfinite(self.values)

    @property
    def odd(self) -> np.ndarray:
        """Where a visible value is NaN or infinite, bool."""
        return (self.states == VALUE) & ~np.isfinite(self.values)


def picture(
    shown: AttentionMap, queries: Any, keys: Any, *, reduce: Reduce, value: Value, head: int, batch: int
) -> Picture:
    """The pixels of these queries and keys, from the tiles of the finest zoom that fits."""
    rows, columns = part("queries", queries, shown.q_len), part("keys", keys, shown.kv_len)
    zoom = 0
    while max(len(_pixels(rows, zoom)), len(_pixels(columns, zoom))) > MOST_PIXELS:
        zoom += 1
    down, across = _pixels(rows, zoom), _pixels(columns, zoom)
    values = np.zeros((len(down), len(across)), np.float32)
    states = np.zeros(values.shape, np.uint8)
    for row in range(down.start // SIDE, (down.stop - 1) // SIDE + 1):
        for column in range(across.start // SIDE, (across.stop - 1) // SIDE + 1):
            tile = shown.tile(zoom, row, column, reduce, value, head=head, batch=batch)
            to_rows, from_rows = _overlap(row, down)
            to_columns, from_columns = _overlap(column, across)
            values[to_rows, to_columns] = tile.values[from_rows, from_columns]
            states[to_rows, to_columns] = tile.states[from_rows, from_columns]
    return Picture(values, states, zoom, _cells(down, zoom, shown.q_len), _cells(across, zoom, shown.kv_len))


def part(name: str, asked: Any, length: int) -> range:
    """A range of tokens that was asked for: None is all; a slice or range of step 1 inside the matrix.

    Raises:
        OptionError: It is none of these, lies outside, or is empty.
    """
    if not length:
        raise OptionError(f"{name} must be one token or more; this map has none.")
    if asked is None:
        return range(length)
    ends = (asked.start, asked.stop) if isinstance(asked, slice | range) and asked.step in (None, 1) else None
    if ends is not None and all(end is None or _whole(end) for end in ends):
        start = 0 if ends[0] is None else int(ends[0])
        stop = length if ends[1] is None else int(ends[1])
        start, stop = (end + length if end < 0 else end for end in (start, stop))
        if 0 <= start < stop <= length:
            return range(start, stop)
    shown = f"{_end(ends[0])}:{_end(ends[1])}" if ends is not None else repr(asked)[:60]
    raise OptionError(f"{name} must be A:B, a range of one token or more within 0:{length}; got {shown}.")


def _whole(end: Any) -> bool:
    return isinstance(end, int | np.integer) and not isinstance(end, bool)


def _end(end: Any) -> str:
    return "" if end is None else repr(end)[:30]


def _pixels(cells: range, zoom: int) -> range:
    """The pixels that these cells touch."""
    return range(cells.start >> zoom, ((cells.stop - 1) >> zoom) + 1)


def _cells(pixels: range, zoom: int, length: int) -> range:
    return range(pixels.start << zoom, min(pixels.stop << zoom, length))


def _overlap(tile: int, pixels: range) -> tuple[slice, slice]:
    """Where a tile falls: in the picture, and which of its pixels do."""
    start, stop = max(pixels.start, tile * SIDE), min(pixels.stop, (tile + 1) * SIDE)
    return slice(start - pixels.start, stop - pixels.start), slice(start - tile * SIDE, stop - tile * SIDE)
