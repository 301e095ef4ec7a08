"""entropy = -sum p ln p over keys, in nats: the sink has no term, 0 ln 0 = 0, an empty row has 0."""

from typing import Any, NamedTuple

import numpy as np

from pozor.observables.block import Block, rebase


class State(NamedTuple):
    """With t = logits - base: sum exp(t) and sum t exp(t), each (heads, rows)."""

    base: np.ndarray
    total: np.ndarray
    weighted: np.ndarray


def define(probs: np.ndarray, log_probs: np.ndarray) -> np.ndarray:
    """Float64 probs (heads, rows, keys) and their logarithms."""
    return -np.where(probs == 0, 0, probs * log_probs).sum(axis=-1) + 0.0  # + 0.0: no minus zero


def update(state: State | None, block: Block) -> State:
    """The state after one more block of keys."""
    below = np.where(block.exps == 0, 0, block.logits - block.base[..., None])  # select: 0 * -inf is NaN
    part = State(block.base, block.exps.sum(axis=-1), np.einsum("hqk,hqk->hq", block.exps, below))
    return part if state is None else merge(state, part)


def merge(a: State, b: State) -> State:
    """Two disjoint sets of keys: t moves by the change of base."""
    base = np.maximum(a.base, b.base)
    total, weighted = np.zeros_like(a.total), np.zeros_like(a.weighted)
    for part in (a, b):
        factor, shift = rebase(part.base, base), np.where(part.base == -np.inf, 0, part.base - base)
        total = total + factor * part.total
        weighted = weighted + factor * (part.weighted + np.where(factor == 0, 0, shift) * part.total)
    return State(base, total, weighted)


def finish(state: State, lse: np.ndarray) -> np.ndarray:
    """-sum p (t - (lse - base)) with p = exp(t) exp(base - lse)."""
    part = rebase(state.base, lse)
    above = np.where(part == 0, 0, lse - state.base)
    value = part * (state.total * above - state.weighted)
    return np.where(state.base == -np.inf, 0, np.maximum(value, 0))


def torch_rows(probs: Any, logits: Any, lse: Any) -> Any:
    """Whole rows (heads, rows, keys) in torch."""
    log_probs = (logits - lse.masked_fill(lse == -np.inf, 0)[..., None]).masked_fill(probs == 0, 0)
    return -(probs * log_probs).sum(dim=-1) + 0.0
