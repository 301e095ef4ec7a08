"""The reference, and the reference with one usual mistake in it: what a slip of the pen or the code gives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor import attention

Array = np.ndarray


@dataclass(frozen=True)
class Rows:
    """What attention of a few tokens gives: logits and probs (q_len, kv_len), out (q_len, v_head_dim)."""

    logits: Array
    probs: Array
    out: Array


def floats(rows: Any) -> Array:
    """Decimals, or any nested numbers, as float64."""
    return np.asarray(rows, dtype=object).astype(np.float64)


def rightly(q: Any, k: Any, v: Any, *, causal: bool, scale: float | None = None) -> Rows:
    """Attention by the float64 reference; its probs are its out where v is the identity."""
    q, k, v = floats(q), floats(k), floats(v)
    scale = q.shape[1] ** -0.5 if scale is None else scale
    probs = attention(q, k, np.eye(len(k)), causal=causal, scale=scale, backend="reference")
    out = attention(q, k, v, causal=causal, scale=scale, backend="reference")
    visible = _visible(len(q), len(k), causal)
    return Rows(np.where(visible, scale * (q @ k.T), -np.inf), probs, out)


def wrongly(fault: str, q: Any, k: Any, v: Any, *, causal: bool) -> Rows:
    """The same with the mistake named `fault`, a key of FAULTS."""
    return FAULTS[fault](floats(q), floats(k), floats(v), causal)


def _visible(q_len: int, kv_len: int, causal: bool) -> Array:
    return np.tri(q_len, kv_len, dtype=bool) if causal else np.ones((q_len, kv_len), dtype=bool)


def _softmax(logits: Array, axis: int = 1) -> Array:
    with np.errstate(all="ignore"):
        top = logits.max(axis=axis, keepdims=True)
        exps = np.exp(logits - np.where(np.isfinite(top), top, 0))
        total = exps.sum(axis=axis, keepdims=True)
        return np.where(total > 0, exps / np.where(total > 0, total, 1), 0)


def _of(logits: Array, v: Array) -> Rows:
    probs = _softmax(logits)
    return Rows(logits, probs, probs @ v)


def _wrong_axis(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    logits = rightly(q, k, v, causal=causal).logits
    probs = _softmax(logits, axis=0)
    return Rows(logits, probs, probs @ v)


def _mask_after_softmax(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    rows = rightly(q, k, v, causal=False)
    probs = np.where(_visible(len(q), len(k), causal), rows.probs, 0)
    return Rows(rows.logits, probs, probs @ v)


def _zero_for_inf(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    logits = rightly(q, k, v, causal=False).logits
    return _of(np.where(_visible(len(q), len(k), causal), logits, 0.0), v)


def _polarity(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    logits = rightly(q, k, v, causal=False).logits
    return _of(np.where(_visible(len(q), len(k), causal), -np.inf, logits), v)


def _no_exp(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    logits = rightly(q, k, v, causal=causal).logits
    seen = np.where(np.isfinite(logits), logits, 0.0)
    total = seen.sum(axis=1, keepdims=True)
    probs = np.divide(seen, total, out=np.zeros_like(seen), where=total != 0)
    return Rows(logits, probs, probs @ v)


def _not_divided(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    logits = rightly(q, k, v, causal=causal).logits
    exps = np.exp(logits)
    return Rows(logits, exps, exps @ v)


def _kv_swapped(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    if v.shape != k.shape:
        raise ValueError(f"keys and values can be swapped only in one shape; got {k.shape} and {v.shape}.")
    return rightly(q, v, k, causal=causal)


def _keys_for_values(q: Array, k: Array, v: Array, causal: bool) -> Rows:
    rows = rightly(q, k, v, causal=causal)
    return Rows(rows.logits, rows.probs, rows.probs @ k)


FAULTS: dict[str, Callable[[Array, Array, Array, bool], Rows]] = {
    "no_sqrt": lambda q, k, v, causal: rightly(q, k, v, causal=causal, scale=1.0),
    "by_d": lambda q, k, v, causal: rightly(q, k, v, causal=causal, scale=1 / q.shape[1]),
    "wrong_axis": _wrong_axis,
    "no_mask": lambda q, k, v, causal: rightly(q, k, v, causal=False),
    "mask_after_softmax": _mask_after_softmax,
    "zero_for_inf": _zero_for_inf,
    "polarity": _polarity,
    "kv_swapped": _kv_swapped,
    "keys_for_values": _keys_for_values,
    "qk_swapped": lambda q, k, v, causal: rightly(k, q, v, causal=causal),
    "no_exp": _no_exp,
    "not_divided": _not_divided,
}
