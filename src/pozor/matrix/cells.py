"""Cells of the matrix from q, k and one lse per row: exp(logit − lse), any block of them, when asked for."""

import threading
from typing import Any

import numpy as np

from pozor.attend import Want, block_logits, observe, squares
from pozor.inputs import Problem, as_numpy, to_numpy
from pozor.masks import Mask
from pozor.matrix.pooling import Pooled, from_observed, seeing_rows

ROWS, KEYS = 4096, 16_384  # rows or keys turned to float64 at once where one column or row is wanted


class ScoredCells:
    """Cells of a judged call. What needs a pass over all of q · k is observed once a head, and kept.

    lse: (batch, num_heads, q_len), or None: observed when it is first needed. options: those of the call.
    """

    def __init__(self, judged: Problem, options: dict[str, Any], lse: np.ndarray | None):
        self.problem = as_numpy(judged)
        self.batch, self.num_heads = judged.batch, judged.num_heads
        self.q_len, self.kv_len = judged.q_len, judged.kv_len
        self._judged, self._options, self._lse = judged, options, lse
        self._observed_lse: dict[int, np.ndarray] = {}
        self._seeing: dict[tuple[int, int], np.ndarray] = {}
        self._lock = threading.Lock()

    def observe(self, head: int, want: Want | None = None) -> Any:
        """The pass over one query head of every sequence, where q and k lie."""
        judged, kv_head = self._judged, head // self._judged.group_size
        one, one_kv = slice(head, head + 1), slice(kv_head, kv_head + 1)
        options = self._options | {
            "mask": _mask_of_head(self._options["mask"], head),
            "bias": None if judged.bias is None else _of_head(judged.bias, one),
            "sink": None if judged.sink is None else judged.sink[one],
        }
        return observe(judged.q[:, one], judged.k[:, one_kv], None, **options, want=want or Want())

    def lse(self, batch: int, head: int) -> np.ndarray:
        """lse of one head, (q_len,): the stored one, else observed."""
        if self._lse is not None:
            return self._lse[batch, head]
        with self._lock:
            if head not in self._observed_lse:
                self._observed_lse[head] = to_numpy(self.observe(head).lse)[:, 0]
        return self._observed_lse[head][batch]

    def visible(self, batch: int, head: int, rows: slice, keys: slice) -> np.ndarray | bool:
        """What the mask, and a bias of −inf, let be seen: bool (rows, keys), or True or False for all."""
        visible = self.problem.visibility.block(batch, head, rows, keys)
        if self.problem.bias is None or visible is False:
            return visible
        return self.logits(batch, head, rows, keys)[1]

    def logits(self, batch: int, head: int, rows: slice, keys: slice) -> tuple[np.ndarray, np.ndarray | bool]:
        """Softmax inputs in float64, −inf where hidden, and what is visible (True, False: all, nothing)."""
        logits, visible = block_logits(self.problem, batch, head, rows, keys)
        return logits, True if visible.all() else visible if visible.any() else False

    def probs(
        self, batch: int, head: int, rows: slice, keys: slice, dtype: Any = np.float64
    ) -> tuple[np.ndarray, np.ndarray | bool]:
        """Probs by the stored lse, 0 where hidden, and what is visible."""
        logits, visible = self.logits(batch, head, rows, keys)
        if visible is False:
            return np.zeros(logits.shape, dtype), False
        lse = self.lse(batch, head)[rows].astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            # the difference is taken in float64: logits may be large, what is left of them is not
            probs = np.exp(np.subtract(logits, lse[:, None], out=logits).astype(dtype, copy=False))
        probs[lse == -np.inf] = 0
        if visible is not True:
            probs[~visible] = 0
        return probs, visible

    def squares(
        self, batch: int, head: int, rows: slice, keys: slice, size: int, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Largest, total and count of the visible in squares, by the kernel; None where it does not do it."""
        return squares(self.problem, batch, head, rows, keys, size, self.lse(batch, head)[rows], weight)

    def counted(self, batch: int, head: int, rows: slice, keys: slice, size: int) -> np.ndarray | None:
        """Visible cells of each square, by the kernel; None where it does not do it."""
        found = squares(self.problem, batch, head, rows, keys, size)
        return None if found is None else found[2]

    def row(self, batch: int, head: int, query: int) -> np.ndarray:
        """One row in float64 from q and k by the formula, (kv_len,); the stored lse is not used."""
        logits, seen = self.row_logits(batch, head, query)
        sink = -np.inf if self.problem.sink is None else float(self.problem.sink[head])
        top = max(float(np.max(logits, where=seen, initial=-np.inf)), sink)
        if top == -np.inf:
            return np.zeros(self.kv_len)
        with np.errstate(invalid="ignore", over="ignore"):
            exps = np.where(seen, np.exp(logits - top), 0)
            return np.where(seen, exps / (exps.sum() + np.exp(sink - top)), 0)

    def row_logits(self, batch: int, head: int, query: int) -> tuple[np.ndarray, np.ndarray]:
        """What the softmax of one row takes, float64 (kv_len,), −inf where hidden; and what is visible."""
        logits, seen = np.empty(self.kv_len), np.empty(self.kv_len, dtype=bool)
        for start in range(0, self.kv_len, KEYS):
            keys = slice(start, min(start + KEYS, self.kv_len))
            part, visible = self.logits(batch, head, slice(query, query + 1), keys)
            logits[keys], seen[keys] = part[0], visible if isinstance(visible, bool) else visible[0]
        return logits, seen

    def column(self, batch: int, head: int, key: int) -> np.ndarray:
        """One column by the stored lse, float64 (q_len,)."""
        column = np.empty(self.q_len)
        for start in range(0, self.q_len, ROWS):
            rows = slice(start, min(start + ROWS, self.q_len))
            column[rows] = self.probs(batch, head, rows, slice(key, key + 1))[0][:, 0]
        return column

    def seeing(self, batch: int, head: int) -> np.ndarray:
        """Which rows see anything, bool (q_len,)."""
        asked = (batch, head)
        if asked not in self._seeing:
            self._seeing[asked] = self._rows_that_see(batch, head)
        return self._seeing[asked]

    def entropy(self, batch: int, head: int) -> np.ndarray:
        """Entropy of each row in nats, (q_len,)."""
        return to_numpy(self.observe(head, Want(entropy=True)).entropy)[batch, 0]

    def received(self, batch: int, head: int) -> np.ndarray:
        """What each key gets on average from the queries that may see it, (kv_len,); NaN where none may."""
        return to_numpy(self.observe(head, Want(received=True)).received)[batch, 0]

    def base(self, batch: int, head: int, block: int) -> Pooled:
        """The whole matrix in blocks: by the lse in the kernel, else out of one pass that finds both."""
        rows, keys = slice(0, self.q_len), slice(0, self.kv_len)
        found = self.squares(batch, head, rows, keys, block)
        if found is not None:
            return Pooled(*found, seeing_rows(self, batch, head, rows, block))
        observed = self.observe(head, Want(pooled=block)).pooled
        largest, mean = (to_numpy(x)[batch, 0] for x in (observed.max, observed.mean))
        return from_observed(self, batch, head, largest, mean, block)

    def _rows_that_see(self, batch: int, head: int) -> np.ndarray:
        seeing = np.zeros(self.q_len, dtype=bool)
        for start in range(0, self.q_len, ROWS):
            rows = slice(start, min(start + ROWS, self.q_len))
            ranges = None
            if self.problem.bias is None:
                ranges = self.problem.visibility.ranges(batch, head, rows)
            if ranges is not None:
                seeing[rows] = (ranges[1] > ranges[0]).any(axis=1)
                continue
            for first in range(0, self.kv_len, 1024):
                keys = slice(first, min(first + 1024, self.kv_len))
                visible = self.visible(batch, head, rows, keys)
                seeing[rows] |= visible if isinstance(visible, bool) else visible.any(axis=1)
        return seeing


def _of_head(array: Any, head: slice) -> Any:
    """One head of an array whose head axis, the third last, may be left out or 1."""
    if array.ndim < 3 or array.shape[-3] == 1:
        return array
    return array[..., head, :, :]


def _mask_of_head(mask: Any, head: int) -> Any:
    """The mask as a call of this one head takes it."""
    if hasattr(mask, "shape"):
        return _of_head(mask, slice(head, head + 1))
    if mask is None or isinstance(mask, Mask):
        return mask
    return lambda b, h, q_idx, kv_idx: mask(b, h + head, q_idx, kv_idx)
