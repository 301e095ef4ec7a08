"""Visible cells of blocks where rows see ranges of keys: O(rows + blocks), no cell is looked at."""

import numpy as np

from pozor.masks import Ranges


def counted(ranges: Ranges, keys: slice, height: int, width: int) -> np.ndarray:
    """Visible cells of blocks of height × width, int64 (lines, columns); edge blocks are smaller."""
    starts, stops = (np.clip(ends, keys.start, keys.stop) - keys.start for ends in ranges)
    lines, columns = -(-len(starts) // height), -(-(keys.stop - keys.start) // width)
    line, place = np.nonzero(stops > starts)
    start, stop = starts[line, place], stops[line, place]
    line //= height
    first, last = start // width, (stop - 1) // width
    many = last > first
    # the two ends of a range by themselves, the whole blocks between them as a difference to sum up
    ends = _added(
        (line, first, np.where(many, (first + 1) * width, stop) - start),
        (line[many], last[many], stop[many] - last[many] * width),
        shape=(lines, columns),
    )
    between = _added(
        (line[many], first[many] + 1, np.full(many.sum(), width)),
        (line[many], last[many], np.full(many.sum(), -width)),
        shape=(lines, columns),
    )
    return ends + np.cumsum(between, axis=1)


def _added(*parts: tuple[np.ndarray, np.ndarray, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Sums of values by (line, column); exact: they stay far below 2^53."""
    total = np.zeros(shape[0] * shape[1])
    for line, column, value in parts:
        total += np.bincount(line * shape[1] + column, value, minlength=total.size)
    return total.astype(np.int64).reshape(shape)
