"""The proof before the clock: some rows of a peer's result against the formula in float64."""

from typing import Any

import numpy as np

from pozor.attend import attention
from pozor.bench.cases import Case

# of the result's largest value; float16 is judged as bfloat16, in which some peers compute it
LIMIT = {"float64": 1e-11, "float32": 2e-5, "float16": 3e-2, "bfloat16": 3e-2}
_CELLS = 1 << 23  # of the rows looked at, over all heads


def rows_of(case: Case) -> np.ndarray:
    """The query rows that are compared, first and last among them."""
    count = max(2, min(32, _CELLS // (case.heads * case.kv_len)))
    return np.unique(np.linspace(0, case.q_len - 1, min(count, case.q_len)).astype(np.int64))


def expected(case: Case, q: Any, k: Any, v: Any) -> np.ndarray:
    """Those rows by the formula, float64 (batch, heads, rows, head_dim)."""
    rows = rows_of(case)
    q, k, v = (np.asarray(x).astype(np.float64) for x in (q[:, :, rows], k, v))
    return attention(q, k, v, mask=case.visible(rows), backend="reference")


def error(case: Case, got: Any, want: np.ndarray) -> float:
    """Largest difference over the largest value; inf where the shape is another or a number is not finite."""
    got = np.asarray(got)
    if got.shape != (case.batch, case.heads, case.q_len, case.head_dim):
        return float("inf")
    here = got[:, :, rows_of(case)].astype(np.float64)
    if not np.isfinite(here).all():
        return float("inf")
    return float(np.abs(here - want).max() / np.abs(want).max())


def is_right(case: Case, wrong: float) -> bool:
    """Whether that error is one of rounding."""
    return wrong <= LIMIT[case.dtype]
