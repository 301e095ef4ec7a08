"""What a smaller dtype does to q and k, and what that changes of the probabilities."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pozor.errors import OptionError

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap

CELLS = 1 << 22  # looked at together
ROWS = 16  # rows that are compared in float64


def rounded(shown: "AttentionMap", dtype: str) -> "AttentionMap":
    """The map of q and k rounded to `dtype`, lse observed anew; the map itself where that changes nothing.

    Raises:
        OptionError: A finite number is too large for the dtype.
    """
    from pozor.matrix import AttentionMap

    problem = shown.problem
    assert problem is not None, "a map of probs is rounded as probs"
    q, k = (_as(name, array, dtype) for name, array in (("q", problem.q), ("k", problem.k)))
    if _same(q, problem.q) and _same(k, problem.k):
        return shown
    options = cast(Any, shown)._remake[3]
    made = AttentionMap(
        q, k, **options, tokens=shown.tokens, query_tokens=shown.query_tokens, v_norm=shown.v_norm
    )
    made.causal_ok, made.source = shown.causal_ok, shown.source
    return made


def _as(name: str, array: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        small = array.astype(dtype)
    if dtype == "float16" and not np.array_equal(np.isfinite(small), np.isfinite(array)):
        largest = np.max(np.abs(array), where=np.isfinite(array), initial=0)
        raise OptionError(
            f"dtype='float16' holds numbers up to 65504; got {float(largest):.6g} in {name}. "
            "Use dtype='float32'."
        )
    return small.astype(np.float32)  # of which every float16 is one


def _same(small: np.ndarray, array: np.ndarray) -> bool:
    return bool(np.array_equal(small.astype(array.dtype), array, equal_nan=True))


def largest_change(before: "AttentionMap", after: "AttentionMap", *, head: int, batch: int) -> float:
    """The largest change of a probability.

    Where the kernel can, it looks at every cell in float32 and tells the rows that change most, which are
    compared in float64. All rows are where q was float64, of which float32 takes less than the kernel sees.
    """
    assert before.problem is not None
    place = {"head": head, "batch": batch}
    step = max(1, CELLS // before.kv_len)
    blocks = [slice(start, min(start + step, before.q_len)) for start in range(0, before.q_len, step)]
    if before.problem.q.dtype != np.float64:
        blocks = _changing(before, after, head, batch, blocks) or blocks
    keys = slice(0, before.kv_len)
    changes = (after.block(rows, keys, **place) - before.block(rows, keys, **place) for rows in blocks)
    return max(float(np.max(np.abs(change), where=np.isfinite(change), initial=0)) for change in changes)


def _changing(
    before: "AttentionMap", after: "AttentionMap", head: int, batch: int, blocks: list[slice]
) -> list[slice] | None:
    """The rows that change most, by the kernel; None where it cannot tell."""
    tops = []
    for rows in blocks:
        one, other = (
            shown._cells.squares(batch, head, rows, slice(0, shown.kv_len), 1) for shown in (before, after)
        )
        if one is None or other is None:
            return None
        change = np.abs(one[0] - other[0])
        tops.append(np.max(change, axis=1, where=np.isfinite(change), initial=0))
    most = np.argsort(-np.concatenate(tops), kind="stable")[:ROWS]
    return [slice(row, row + 1) for row in sorted(most.tolist())]
