"""What the map shows beside the working, and how far apart float32 rounding may put them.

With u = 2⁻²⁴, |fl(a ∘ b) − a ∘ b| ≤ u |a ∘ b| for each operation; n of them give γ_n = n u / (1 − n u)
(Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Holds in any order of summation.
"""

import math
from typing import Any

import numpy as np

from pozor.working.exact import floats
from pozor.working.records import Comparison, Mask, Scores, Softmax

UNIT = 2.0**-24
EXP = 4 * UNIT  # relative error allowed to exp, log and tanh: 4 units, which every C library keeps
TINY = 2.0**-126  # below this float32 may give 0


def gamma(operations: int) -> float:
    """Relative error after so many float32 operations."""
    return operations * UNIT / (1 - operations * UNIT)


def logit_bounds(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """(magnitude, bound): |scale| Σ|q_i k_i| of each key, and how far a float32 logit may be off."""
    magnitude = abs(scores.scale.value) * (np.abs(floats(scores.k)) @ np.abs(floats(scores.q)))
    # n products and n − 1 sums, the scale rounded and multiplied
    bound = gamma(len(scores.q) + 2) * magnitude
    if scores.capped is not None:
        # cap · tanh(score / cap): the slope is at most 1; a division, tanh, a product
        bound = bound + (EXP + 2 * UNIT) * (np.abs(floats(scores.scaled)) + np.abs(scores.capped))
    if scores.bias is not None:
        bound = bound + UNIT * (bound + np.abs(floats(scores.logits)))
    return magnitude, bound


def lse_bound(bounds: np.ndarray, keys: int, lse: float) -> float:
    """How far a stored float32 lse may be off: errors of the logits, of the sum, of the logarithm.

    The logits move lse by at most their largest error. In the sum of n exps each operand is off by EXP and
    by u |a − m|, and |a − m| e^(a − m) ≤ 1/e; adding and rescaling takes up to 2 n operations: in all
    (3 n + 16) u.
    """
    return float(np.max(bounds, initial=0.0)) + gamma(3 * keys + 16) + (EXP + 2 * UNIT) * abs(lse)


def compare(shown_map: Any, scores: Scores, mask: Mask, softmax: Softmax, head: int) -> Comparison:
    """The cell asked for, or the cell of the row that comes closest to its bound."""
    query, focus = scores.query.index, scores.focus
    magnitude, bounds = logit_bounds(scores)
    bounds = np.where(mask.visible, bounds, 0.0)
    if focus is None:
        keys = np.arange(len(scores.keys))
        # a tile at zoom 0 holds these same cells as float32
        shown = shown_map.block(slice(query, query + 1), slice(0, len(keys)), head=head)[0].astype(np.float32)
    else:
        keys = np.array([focus])
        tile = shown_map.tile(0, query // 256, focus // 256, head=head)
        shown = np.array(
            [0.0 if tile.states[query % 256, focus % 256] else tile.values[query % 256, focus % 256]]
        )
    stored = float(shown_map.lse[0, head, query])
    lse_off = _apart(stored, softmax.lse)
    lse_may = lse_bound(bounds, int(mask.visible.sum()), softmax.lse if math.isfinite(softmax.lse) else 0.0)
    probs = softmax.probs[keys]
    logits = np.where(mask.visible, floats(mask.logits), 0.0)[keys]
    size = np.abs(logits) + (abs(softmax.lse) if math.isfinite(softmax.lse) else 0.0)
    exponents = bounds[keys] + lse_may + 2 * UNIT * size
    may = np.where(
        mask.visible[keys], probs * (np.expm1(exponents) + 2 * EXP * np.exp(exponents)) + TINY, 0.0
    )
    off = np.array([_apart(float(a), float(b)) for a, b in zip(shown, probs)])
    # NaN is the worst of all
    ratio = np.where(may > 0, off / np.where(may > 0, may, 1.0), np.where(off > 0, math.inf, 0.0))
    at = int(np.argmax(np.where(np.isnan(ratio), math.inf, ratio)))
    key = int(keys[at])
    return Comparison(
        key=scores.keys[key], whole_row=focus is None, prob=float(probs[at]), shown=float(shown[at]),
        difference=float(off[at]), bound=float(may[at]), lse=softmax.lse, stored_lse=stored,
        lse_difference=lse_off, lse_bound=lse_may, gamma=gamma(len(scores.q) + 2),
        magnitude=float(magnitude[key]), head_dim=len(scores.q), kv_len=len(scores.keys),
        logit_bound=float(bounds[key]), exponent_bound=float(exponents[at]),
    )  # fmt: skip


def _apart(a: float, b: float) -> float:
    """|a − b|; 0 where both are the same infinity."""
    return 0.0 if a == b else abs(a - b)
