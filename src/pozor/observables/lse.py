"""lse, row_max and the row's sum: lse = ln sum exp(logits), natural, the sink's logit included.

row_max, row_sum: m and l of Milakov & Gimelshein 2018, "Online normalizer calculation for softmax".
"""

from typing import Any, NamedTuple

import numpy as np

from pozor.observables.block import Block, rebase


class State(NamedTuple):
    """row_max (the largest logit, sink left out) and row_sum = sum exp(logits - row_max), (heads, rows)."""

    row_max: np.ndarray
    row_sum: np.ndarray


def define(logits: np.ndarray, sink: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(lse, row_max) of float64 logits (heads, rows, keys), -inf where hidden; sink (heads,) or None."""
    row_max = logits.max(axis=-1, initial=-np.inf)
    top = row_max if sink is None else np.maximum(row_max, sink[:, None])
    top = np.where(top == -np.inf, 0, top)
    total = np.exp(logits - top[..., None]).sum(axis=-1)
    if sink is not None:
        total = total + np.exp(sink[:, None] - top)
    return np.log(total) + top, row_max


def update(state: State | None, block: Block) -> State:
    """The state after one more block of keys."""
    part = State(block.base, block.exps.sum(axis=-1))
    return part if state is None else merge(state, part)


def merge(a: State, b: State) -> State:
    """Two disjoint sets of keys."""
    row_max = np.maximum(a.row_max, b.row_max)
    return State(row_max, a.row_sum * rebase(a.row_max, row_max) + b.row_sum * rebase(b.row_max, row_max))


def finish(state: State, sink: np.ndarray | None) -> np.ndarray:
    """lse, (heads, rows)."""
    if sink is None:
        return np.where(state.row_max == -np.inf, -np.inf, state.row_max + np.log(state.row_sum))
    sink = np.broadcast_to(sink[:, None], state.row_max.shape)
    whole = merge(state, State(sink, np.ones_like(state.row_sum)))
    return finish(whole, None)


def torch_top(logits: Any, sink: Any) -> Any:
    """The largest of a row's logits and its sink in torch, (heads, rows), a constant; 0 if there is none."""
    top = torch_max(logits)
    top = top if sink is None else top.maximum(sink.detach()[:, None])
    return top.masked_fill(top == -np.inf, 0)


def torch_max(logits: Any) -> Any:
    """row_max of whole rows in torch, (heads, rows)."""
    logits = logits.detach()
    return logits.amax(dim=-1) if logits.shape[-1] else logits.new_full(logits.shape[:-1], -np.inf)


def torch_total(exps: Any, top: Any, sink: Any) -> Any:
    """Sum exp(logits - top) over keys and sink, (heads, rows)."""
    total = exps.sum(dim=-1)
    return total if sink is None else total + (sink[:, None] - top).exp()


def torch_rows(top: Any, total: Any) -> Any:
    """lse of whole rows in torch; differentiable, gradient 0 where a row sees nothing."""
    empty = total == 0
    # the log is taken where there is something to take it of: its gradient at 0 is infinite
    return (total.masked_fill(empty, 1).log() + top).masked_fill(empty, -np.inf)
