"""What rows may see, as the kernel reads it: an interval, ranges of keys, a boolean array."""

from typing import Any, NamedTuple

import numpy as np

from pozor.inputs import Problem
from pozor.masks import Causal, Visibility, Window

_OPEN = 2**40  # a window this wide is open


class Sight(NamedTuple):
    """What rows may see: an interval about their position, ranges of keys, a boolean array; all ANDed."""

    left: int | None
    right: int | None
    ranges: np.ndarray | None  # int32 (batch, 1, q_len, 2 n)
    mask: np.ndarray | None  # bool, its axes 1 or those of (batch, num_heads, q_len, kv_len)


EVERYTHING = Sight(None, None, None, None)


def sight_of(problem: Problem) -> Sight | None:
    """The visibility as the kernel reads it; None where only blocks can tell."""
    visibility = problem.visibility
    if visibility.callables or len(visibility.arrays) > 1:
        return None
    if not visibility.hides:
        return EVERYTHING
    left, right, others = _interval(visibility)
    ranges = None
    if others:
        ranges = _ranges(problem, Visibility(visibility.grid, visibility.num_heads, others))
        if ranges is None:
            return None
    mask = None
    if visibility.arrays:
        (mask,) = visibility.arrays
        mask = mask.detach().cpu().numpy() if hasattr(mask, "detach") else mask
    return Sight(left, right, ranges, mask)


def _interval(visibility: Visibility) -> tuple[int | None, int | None, list[Any]]:
    """How far left and right of its position a row may see (None: open), and the masks that say otherwise."""
    left, right, others = _OPEN, _OPEN, []
    for term in visibility.terms:
        if isinstance(term, Causal):
            right = min(right, 0)
        elif isinstance(term, Window):
            left = left if term.left is None else min(left, term.left)
            right = right if term.right is None else min(right, term.right)
        else:
            others.append(term)
    return None if left == _OPEN else left, None if right == _OPEN else right, others


def _ranges(problem: Problem, visibility: Visibility) -> np.ndarray | None:
    found = []
    for b in range(problem.batch):
        allowed, finer = visibility.row_ranges(b, slice(0, problem.q_len))
        if finer or allowed is None:
            return None
        found.append(allowed)
    width = max((starts.shape[1] for starts, _ in found), default=0)
    # at least one pair: a row without ranges sees nothing
    pairs = np.zeros((problem.batch, 1, problem.q_len, max(width, 1), 2), dtype=np.int32)
    for b, (starts, stops) in enumerate(found):
        pairs[b, 0, :, : starts.shape[1], 0] = starts
        pairs[b, 0, :, : stops.shape[1], 1] = stops
    return pairs.reshape(problem.batch, 1, problem.q_len, -1)


def sight_of_part(problem: Problem, batch: int, head: int, rows: slice, keys: slice) -> Sight:
    """What some rows of one head may see of some keys, counted from the first of them."""
    visibility = problem.visibility
    left, right, others = _interval(visibility)
    starts = stops = None
    if others:
        allowed, finer = Visibility(visibility.grid, visibility.num_heads, others).row_ranges(batch, rows)
        if not finer and allowed is not None:
            starts, stops = (np.clip(ends - keys.start, 0, keys.stop - keys.start) for ends in allowed)
    if visibility.callables or len(visibility.arrays) > 1 or (others and starts is None):
        visible = visibility.block(batch, head, rows, keys)
        mask = np.full((1, 1, 1, 1), visible) if isinstance(visible, bool) else visible[None, None]
        return Sight(None, None, None, mask)
    ranges = mask = None
    if starts is not None and stops is not None:
        pairs = np.zeros((*starts.shape[:1], max(starts.shape[1], 1), 2), np.int32)
        pairs[:, : starts.shape[1], 0], pairs[:, : starts.shape[1], 1] = starts, stops
        ranges = pairs.reshape(1, 1, len(pairs), -1)
    if visibility.arrays:
        (mask,) = visibility.arrays
        mask = mask.detach().cpu().numpy() if hasattr(mask, "detach") else mask
        mask = part(mask, batch, head, rows, keys)
    return Sight(left, right, ranges, mask)


def part(array: Any, batch: int, head: int, rows: slice, keys: slice) -> Any:
    """Some rows and keys of one head, of an array whose axes may have length 1."""
    where = (slice(batch, batch + 1), slice(head, head + 1), rows, keys)
    return array[tuple(part if n > 1 else slice(None) for part, n in zip(where, array.shape))]
