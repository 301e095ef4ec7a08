"""distance: how far back (and ahead) each row looks, as the sum of p in bins of delta = i + q_offset - j.

Bins: 0, then [1, 2), [2, 4), [4, 8) … for delta > 0 and the same widths for delta < 0.
"""

from typing import Any, NamedTuple

import numpy as np

from pozor.observables.block import Block, rebase


class State(NamedTuple):
    """Sum of exp(logits - base) in each bin and whether it holds a visible cell, (heads, rows, bins)."""

    base: np.ndarray
    bins: np.ndarray
    seen: np.ndarray


def edges_for(lowest: int, highest: int) -> np.ndarray:
    """Edges of the bins that cover deltas lowest … highest: bin b holds edges[b] <= delta < edges[b + 1]."""
    ahead, behind = [0], [0, 1]
    while ahead[-1] > lowest:
        ahead.append(2 * ahead[-1] - 1)  # 0, -1, -3, -7: |delta| in [1, 2), [2, 4), [4, 8)
    while behind[-1] <= highest:
        behind.append(2 * behind[-1])
    return np.array([*ahead[:0:-1], *behind], dtype=np.int64)


def edges_of(q_offset: np.ndarray, q_len: int, kv_len: int) -> np.ndarray:
    """The edges of a whole call: they cover every pair of a query and a key in every sequence."""
    if not (len(q_offset) and q_len and kv_len):
        return edges_for(0, 0)
    return edges_for(int(q_offset.min()) - (kv_len - 1), int(q_offset.max()) + q_len - 1)


def define(probs: np.ndarray, positions: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Float64 probs (heads, rows, keys) to (heads, rows, bins)."""
    delta = positions[:, None] - np.arange(probs.shape[-1])
    inside = [(edges[b] <= delta) & (delta < edges[b + 1]) for b in range(len(edges) - 1)]
    return np.stack([np.where(cells, probs, 0).sum(axis=-1) for cells in inside], axis=-1)


def update(state: State | None, block: Block, edges: np.ndarray) -> State:
    """The state after one more block of keys."""
    # within a row delta falls as the key grows, so the bins are runs of keys, the last bin first
    first = block.positions[:, None] - edges[None, ::-1] + 1 - block.keys.start
    bounds = np.clip(first, 0, block.exps.shape[-1])
    sums = _runs(block.exps, bounds, np.float64).astype(block.exps.dtype)
    if block.visible is True:
        seen = np.broadcast_to((np.diff(bounds, axis=-1) > 0)[:, ::-1], sums.shape)
    else:
        seen = np.broadcast_to(_runs(np.asarray(block.visible), bounds, np.int64) > 0, sums.shape)
    part = State(block.base, sums, seen)
    return part if state is None else merge(state, part)


def _runs(cells: np.ndarray, bounds: np.ndarray, dtype: Any) -> np.ndarray:
    """Sums of the runs of keys between neighbouring bounds (rows, bins + 1), the last run first."""
    heads, rows, width = cells.shape
    flat = np.concatenate((cells.ravel(), [0]), dtype=dtype)  # one more: a start may be the end
    starts = bounds + width * np.arange(heads * rows).reshape(heads, rows, 1)
    sums = np.add.reduceat(flat, starts.ravel()).reshape(heads, rows, -1)[..., :-1]
    # reduceat gives a single element where a run is empty
    return np.where(np.diff(bounds, axis=-1) == 0, 0, sums)[..., ::-1]


def merge(a: State, b: State) -> State:
    """Two disjoint sets of keys."""
    base = np.maximum(a.base, b.base)
    return State(base, _moved(a, base) + _moved(b, base), a.seen | b.seen)


def finish(state: State, lse: np.ndarray) -> np.ndarray:
    """(heads, rows, bins); a row adds up to 1, less the sink's part."""
    return _moved(state, lse)


def _moved(state: State, base: np.ndarray) -> np.ndarray:
    # select: the NaN of a row must not reach a distance at which it sees nothing
    return np.where(state.seen, state.bins * rebase(state.base, base)[..., None], 0)


def torch_rows(probs: Any, positions: Any, keys: Any, edges: np.ndarray) -> Any:
    """Whole rows in torch; positions (rows,), keys (keys,)."""
    import torch

    bounds = torch.from_numpy(edges).to(probs.device)
    place = torch.bucketize(positions[:, None] - keys, bounds, right=True) - 1
    bins = probs.new_zeros((*probs.shape[:-1], len(edges) - 1))
    return bins.scatter_add(-1, place.expand(probs.shape), probs)
