"""Where float32 keeps probs within 1e-5 of the float64 matrix, and the same call in float64 where not."""

from dataclasses import replace
from typing import Any

import numpy as np

from pozor.inputs import Problem, to_numpy

EXACT = 40.0  # the largest logit whose float32 sums keep probs within 1e-5
ROWS = 256  # of a boolean block


def precise(problem: Problem) -> Problem:
    """A call of one head, with q, k and bias in float64 where float32 would not do."""
    if str(problem.q.dtype).endswith("float64") or fits_float(problem):
        return problem
    bias = None if problem.bias is None else _wide(problem.bias)
    return replace(problem, q=_wide(problem.q), k=_wide(problem.k), bias=bias)


def fits_float(problem: Problem) -> bool:
    """Whether logits stay small: none is larger than ‖q‖ ‖k‖ times the scale, of rows and keys that count.

    With a bias there is no telling which keys count, so that the answer is no.
    """
    if problem.bias is not None:
        return False
    rows, keys = _seen(problem)
    with np.errstate(all="ignore"):
        return bool(abs(problem.scale) * _longest(problem.q, rows) * _longest(problem.k, keys) <= EXACT)


def _seen(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Rows that see something, and keys that are seen: what is hidden must not change a bit."""
    visibility, whole = problem.visibility, slice(0, problem.q_len)
    rows, keys = np.zeros(problem.q_len, dtype=bool), np.zeros(problem.kv_len, dtype=bool)
    ranges = visibility.ranges(0, 0, whole)
    if ranges is not None:
        rows[:] = (ranges[1] > ranges[0]).any(axis=1)
        for span in visibility.spans(0, whole):
            keys[span] = True
        return rows, keys
    for start in range(0, problem.q_len, ROWS):
        some = slice(start, min(start + ROWS, problem.q_len))
        visible = np.broadcast_to(
            visibility.block(0, 0, some, slice(0, problem.kv_len)), (some.stop - start, problem.kv_len)
        )
        rows[some] = visible.any(axis=1)
        keys |= visible.any(axis=0)
    return rows, keys


def _longest(vectors: Any, counted: np.ndarray) -> float:
    """The largest norm along the last axis of those that count; NaN where a number of them is."""
    if not counted.any():
        return 0.0
    if isinstance(vectors, np.ndarray):
        wide = vectors[0, 0].astype(np.float32, copy=False)
        squares = np.einsum("id,id->i", wide, wide)
    else:
        squares = to_numpy(vectors[0, 0].float().square().sum(dim=-1))
    return float(np.sqrt(squares[counted].max()))


def _wide(array: Any) -> Any:
    return array.astype(np.float64) if isinstance(array, np.ndarray) else array.double()
