"""Key ranges per query row: the arithmetic of masks, O(rows) whatever the number of keys."""

from typing import Any

import numpy as np

MAX_RANGES = 8
_FAR = np.iinfo(np.int64).max

# (starts, stops), each (rows, n) int64: sorted, disjoint, start <= key < stop; start == stop where unused
Ranges = tuple[np.ndarray, np.ndarray]


def block_of_ranges(ranges: Ranges, keys: slice) -> np.ndarray:
    """The cells inside the ranges, bool (rows, keys)."""
    index = np.arange(keys.start, keys.stop, dtype=np.int64)
    visible = np.zeros((len(ranges[0]), len(index)), dtype=bool)
    for start, stop in zip(ranges[0].T, ranges[1].T):
        visible |= (index >= start[:, None]) & (index < stop[:, None])
    return visible


def block_or_flag(ranges: Ranges, keys: slice) -> np.ndarray | bool:
    """The same, or True or False where it is all or nothing."""
    starts, stops = ranges
    if not ((stops > keys.start) & (starts < keys.stop) & (stops > starts)).any():
        return False
    if ((starts <= keys.start) & (stops >= keys.stop)).any(axis=1).all():
        return True
    return block_of_ranges(ranges, keys)


def clip(starts: np.ndarray, stops: np.ndarray, kv_len: int) -> Ranges:
    """One range a row, cut to the keys there are."""
    starts = np.clip(starts, 0, kv_len)
    return starts[:, None], np.maximum(np.clip(stops, 0, kv_len), starts)[:, None]


def intersect(a: Ranges, b: Ranges) -> Ranges | None:
    """The keys in both; None if a row is left with more than 8 ranges."""
    starts = np.maximum(a[0][:, :, None], b[0][:, None, :])
    stops = np.minimum(a[1][:, :, None], b[1][:, None, :])
    shape = (starts.shape[0], starts.shape[1] * starts.shape[2])  # not -1: there may be no rows
    return tidy(starts.reshape(shape), stops.reshape(shape))


def tidy(starts: np.ndarray, stops: np.ndarray) -> Ranges | None:
    """Sort each row's ranges, join those that touch, drop empty ones; None if more than 8 are left."""
    if starts.shape[1] < 2:
        return starts, np.maximum(starts, stops)
    empty = stops <= starts
    starts, stops = np.where(empty, _FAR, starts), np.where(empty, _FAR, stops)
    order = np.argsort(starts, axis=1, kind="stable")
    starts, stops = np.take_along_axis(starts, order, 1), np.take_along_axis(stops, order, 1)
    reach = np.maximum.accumulate(stops, axis=1)
    first = np.ones(starts.shape, dtype=bool)
    first[:, 1:] = starts[:, 1:] > reach[:, :-1]
    last = np.ones_like(first)
    last[:, :-1] = first[:, 1:]
    used = starts < _FAR
    group = np.cumsum(first, axis=1) - 1
    width = int(group[used].max()) + 1 if used.any() else 0
    if width > MAX_RANGES:
        return None
    tidy = np.zeros((2, len(starts), width), dtype=np.int64)
    for place, ends, values in ((0, first & used, starts), (1, last & used, reach)):
        row, column = np.nonzero(ends)
        tidy[place, row, group[row, column]] = values[row, column]
    return tidy[0], tidy[1]


def tidy_line(starts: np.ndarray, stops: np.ndarray) -> Ranges:
    """Any number of ranges, joined into disjoint sorted ones."""
    keep = stops > starts
    order = np.argsort(starts[keep], kind="stable")
    starts, reach = starts[keep][order], np.maximum.accumulate(stops[keep][order])
    first = np.ones(len(starts), dtype=bool)
    first[1:] = starts[1:] > reach[:-1]
    last = np.append(first[1:], True)[: len(starts)]
    return starts[first], reach[last]


def to_numpy(array: Any) -> np.ndarray:
    """A tensor or array-like as a NumPy array."""
    return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)
