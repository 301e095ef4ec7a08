"""top_k: the k largest logits of each row, lower index first on ties; unused places: prob 0, key -1."""

from typing import Any, NamedTuple

import numpy as np

from pozor.observables.block import Block


class State(NamedTuple):
    """Up to k candidates of each row, best first: logits and keys, (heads, rows, n); key -1 where unused."""

    logits: np.ndarray
    keys: np.ndarray
    k: int


def define(logits: np.ndarray, probs: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(top_probs, top_keys) of float64 logits (heads, rows, keys), -inf where hidden."""
    order = np.argsort(_descending(logits), axis=-1, kind="stable")[..., :k]
    top, used = np.take_along_axis(probs, order, -1), np.take_along_axis(logits, order, -1) != -np.inf
    spare = [(0, 0), (0, 0), (0, k - order.shape[-1])]
    return (
        np.pad(np.where(used, top, 0), spare),
        np.pad(np.where(used, order, -1), spare, constant_values=-1),
    )


def update(state: State | None, block: Block, k: int) -> State:
    """The state after one more block of keys; blocks come in the order of the keys."""
    keys = np.arange(block.keys.start, block.keys.stop, dtype=np.int64)
    part = _best(block.logits, np.broadcast_to(keys, block.logits.shape), k)
    return part if state is None else merge(state, part)


def merge(a: State, b: State) -> State:
    """Two disjoint sets of keys, those of a before those of b."""
    return _best(np.concatenate((a.logits, b.logits), -1), np.concatenate((a.keys, b.keys), -1), a.k)


def finish(state: State, lse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(top_probs, top_keys), each (heads, rows, k)."""
    used = state.logits != -np.inf
    probs = np.where(used, np.exp(state.logits - np.where(used, lse[..., None], 0)), 0)
    spare = [(0, 0), (0, 0), (0, state.k - probs.shape[-1])]
    return (
        np.pad(probs.astype(lse.dtype), spare),
        np.pad(np.where(used, state.keys, -1), spare, constant_values=-1),
    )


def _best(logits: np.ndarray, keys: np.ndarray, k: int) -> State:
    """The k best of each row; NaN ranks first, ties keep their order."""
    if logits.shape[-1] > k:
        rank = np.where(np.isnan(logits), np.inf, logits)
        bar = -np.partition(-rank, k - 1, axis=-1)[..., k - 1 : k]
        above, level = rank > bar, rank == bar
        room = k - above.sum(axis=-1, keepdims=True)
        chosen = above | (level & (np.cumsum(level, axis=-1) <= room))
        shape = (*logits.shape[:-1], k)
        logits, keys = logits[chosen].reshape(shape), keys[chosen].reshape(shape)
    order = np.argsort(_descending(logits), axis=-1, kind="stable")
    return State(np.take_along_axis(logits, order, -1), np.take_along_axis(keys, order, -1), k)


def _descending(logits: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(logits), -np.inf, -logits)


def torch_rows(logits: Any, probs: Any, keys: Any, k: int) -> tuple[Any, Any]:
    """(top_probs, top_keys) of whole rows in torch; keys (keys,) are the indices of the columns."""
    import torch

    n = min(k, logits.shape[-1])
    rank = logits.detach().nan_to_num(nan=np.inf, posinf=np.inf, neginf=-np.inf)
    if n == 0:
        order = torch.zeros((*rank.shape[:-1], 0), dtype=torch.int64, device=rank.device)
    else:
        bar = rank.topk(n, dim=-1).values[..., -1:]
        above, level = rank > bar, rank == bar
        room = n - above.sum(dim=-1, keepdim=True)
        chosen = above | (level & (level.cumsum(dim=-1) <= room))
        columns = torch.arange(rank.shape[-1], device=rank.device).expand(rank.shape)
        order = columns[chosen].reshape(*rank.shape[:-1], n)
        order = order.gather(-1, rank.gather(-1, order).argsort(dim=-1, descending=True, stable=True))
    used = logits.gather(-1, order) != -np.inf
    top_probs = probs.new_zeros((*rank.shape[:-1], k))
    top_keys = keys.new_full((*rank.shape[:-1], k), -1)
    top_probs[..., :n] = probs.gather(-1, order).where(used, 0)
    top_keys[..., :n] = keys[order].where(used, -1)
    return top_probs, top_keys
