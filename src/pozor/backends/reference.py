"""The meaning of every call: the formula in float64, probs held whole. Every other backend answers to it."""

import numpy as np

from pozor.inputs import Problem
from pozor.observables import distance, entropy, lse, pooled, received, top_k
from pozor.observables.want import Observation, Want


def run(problem: Problem, want: Want | None) -> Observation:
    """Attention of NumPy arrays in float64, whatever the dtype; out is rounded once, to q's dtype."""
    want = want or Want()
    batch, num_heads, q_len, kv_len = problem.batch, problem.num_heads, problem.q_len, problem.kv_len
    out = np.zeros((batch, num_heads, q_len, problem.v_head_dim))
    parts: dict[str, list] = {}
    edges = distance.edges_of(problem.q_offset, q_len, kv_len)
    with np.errstate(all="ignore"):
        for b in range(batch):
            logits, visible = logits_of(problem, b)
            row_lse, row_max = lse.define(logits, None if problem.sink is None else f64(problem.sink))
            log_probs = logits - np.where(row_lse == -np.inf, 0, row_lse)[..., None]
            probs = np.where(visible, np.exp(log_probs), 0)
            if problem.v is not None:
                for h in range(num_heads):
                    v = f64(problem.v[b, h // problem.group_size])
                    out[b, h] = weighted_sum(probs[h], visible[h], v)
            seen = {"lse": row_lse, "row_max": row_max}
            if want.entropy:
                seen["entropy"] = entropy.define(probs, log_probs)
            if want.top_k:
                seen["top_probs"], seen["top_keys"] = top_k.define(logits, probs, want.top_k)
            if want.received:
                seen["received"] = received.define(probs, visible)
            if want.distance:
                seen["distance"] = distance.define(probs, np.arange(q_len) + problem.q_offset[b], edges)
            if want.pooled:
                seen |= zip(("max", "mean", "share"), pooled.define(probs, visible, want.pooled))
            for name, value in seen.items():
                parts.setdefault(name, []).append(value)
        out = out.astype(problem.q.dtype)
    whole = {name: np.stack(values) for name, values in parts.items()}
    if not batch:
        whole = _no_sequences(problem, want, edges)
    reduced = [whole.pop(name) for name in ("max", "mean", "share")] if want.pooled else None
    if not want.row_max:
        del whole["row_max"]
    return Observation(
        out,
        **whole,
        distance_edges=edges if want.distance else None,
        pooled=pooled.Pooled(want.pooled, *reduced) if reduced else None,
        backend="reference",
        path="float64",
    )


def logits_of(problem: Problem, b: int) -> tuple[np.ndarray, np.ndarray]:
    """(logits, visible) of one sequence, (num_heads, q_len, kv_len): -inf and False where hidden."""
    rows, keys = slice(0, problem.q_len), slice(0, problem.kv_len)
    shape = (problem.num_heads, problem.q_len, problem.kv_len)
    logits, visible = np.zeros(shape), np.zeros(shape, dtype=bool)
    for h in range(problem.num_heads):
        # (q, d) x (k, d) -> (q, k)
        scores = problem.scale * (f64(problem.q[b, h]) @ f64(problem.k[b, h // problem.group_size]).T)
        if problem.softcap is not None:
            scores = problem.softcap * np.tanh(scores / problem.softcap)
        visible[h] = problem.visibility.block(b, h, rows, keys)
        if problem.bias is not None:
            bias = np.broadcast_to(problem.bias, (problem.batch, *shape))[b, h]
            scores = scores + f64(bias)
            visible[h] &= bias != -np.inf
        logits[h] = np.where(visible[h], scores, -np.inf)  # select: what is hidden may be NaN
    return logits, visible


def weighted_sum(probs: np.ndarray, visible: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(q, k) x (k, e) -> (q, e), over the visible keys only."""
    if np.isfinite(v).all():
        return probs @ v
    return np.stack([row[seen] @ v[seen] for row, seen in zip(probs, visible)]) if len(probs) else probs @ v


def f64(array: np.ndarray) -> np.ndarray:
    """The array in float64."""
    return array.astype(np.float64)


def _no_sequences(problem: Problem, want: Want, edges: np.ndarray) -> dict[str, np.ndarray]:
    heads, q_len, kv_len = problem.num_heads, problem.q_len, problem.kv_len
    tails: dict[str, tuple[int, ...]] = {"lse": (q_len,), "row_max": (q_len,)}
    if want.entropy:
        tails["entropy"] = (q_len,)
    if want.top_k:
        tails |= {"top_probs": (q_len, want.top_k), "top_keys": (q_len, want.top_k)}
    if want.received:
        tails["received"] = (kv_len,)
    if want.distance:
        tails["distance"] = (q_len, len(edges) - 1)
    if want.pooled:
        tails |= dict.fromkeys(
            ("max", "mean", "share"), (-(-q_len // want.pooled), -(-kv_len // want.pooled))
        )
    return {
        name: np.zeros((0, heads, *tail), np.int64 if name == "top_keys" else np.float64)
        for name, tail in tails.items()
    }
