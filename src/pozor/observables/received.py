"""received[j] = sum over i of p_ij / the number of queries that may see j; NaN where none may."""

from typing import Any, NamedTuple

import numpy as np


class State(NamedTuple):
    """Sum of probs and number of queries for each key, (heads, kv_len)."""

    total: np.ndarray
    queries: np.ndarray


def define(probs: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Float64 probs (heads, rows, keys), 0 where hidden."""
    queries = visible.sum(axis=-2)
    return np.where(queries == 0, np.nan, probs.sum(axis=-2) / np.maximum(queries, 1))


def start(heads: int, kv_len: int) -> State:
    """Nothing received yet; totals are float64, for q_len may be large."""
    return State(np.zeros((heads, kv_len)), np.zeros((heads, kv_len), dtype=np.int64))


def update(state: State, probs: np.ndarray, visible: np.ndarray | bool, keys: slice) -> State:
    """In place: the rows of one block, (heads, rows, keys), once lse is known."""
    state.total[:, keys] += probs.sum(axis=-2)
    seen = probs.shape[-2] if visible is True else np.asarray(visible).sum(axis=-2)
    state.queries[:, keys] += seen
    return state


def merge(a: State, b: State) -> State:
    """Two disjoint sets of queries."""
    return State(a.total + b.total, a.queries + b.queries)


def finish(state: State, dtype: Any) -> np.ndarray:
    """(heads, kv_len)."""
    mean = state.total / np.maximum(state.queries, 1)
    return np.where(state.queries == 0, np.nan, mean).astype(dtype)
