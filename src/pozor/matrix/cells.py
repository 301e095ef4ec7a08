"""Cells of the matrix from q, k and one lse per row: exp(logit − lse), any block of them, when asked for."""

import threading
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from pozor.attend import Want, block_logits, solve, squares
from pozor.inputs import Problem, as_numpy, to_numpy
from pozor.masks import Ranges
from pozor.matrix.counting import counted
from pozor.matrix.part import part
from pozor.matrix.precise import precise
from pozor.matrix.tracks import Tracks

ROWS, KEYS = 4096, 16_384  # rows or keys turned to float64 at once where one column or row is wanted
LSE_ROWS = 2048  # rows whose lse is observed at once
POOLED = 64  # side of blocks that the pass which finds lse reduces to as well
TRACK_CELLS = 1 << 28  # cells of a band of rows: a step of a tenth of a second or two


class ScoredCells:
    """Cells of a judged call.

    lse: (batch, num_heads, q_len), or None: observed for the rows that are looked at, and kept.
    """

    def __init__(self, judged: Problem, lse: np.ndarray | None):
        self.problem = as_numpy(judged)
        self.batch, self.num_heads = judged.batch, judged.num_heads
        self.q_len, self.kv_len = judged.q_len, judged.kv_len
        self.backend = "auto"  # of the passes over q · k, which run where q and k lie
        self._judged, self._lse = judged, lse
        # of a head: lse, and where it is known
        self._observed: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self._seeing: dict[tuple[int, int], np.ndarray] = {}
        self._lock = threading.Lock()

    @property
    def lse_is_stored(self) -> bool:
        """Whether lse was given; else it is kept in float64 here."""
        return self._lse is not None

    def observe(self, batch: int, head: int, want: Want | None = None, rows: slice | None = None) -> Any:
        """The pass over some rows of one head, where q and k lie; arrays have the axes (1, 1, …)."""
        whole = slice(0, self.q_len) if rows is None else rows
        return solve(part(self._judged, batch, head, whole), want or Want(), self.backend)

    def lse(self, batch: int, head: int, rows: slice | None = None) -> np.ndarray:
        """lse of some rows of one head (None: all), (rows,): the stored one, else observed."""
        rows = slice(0, self.q_len) if rows is None else rows
        if self._lse is not None:
            return self._lse[batch, head, rows]
        with self._lock:
            found, known = self._observed_of(batch, head)
            for start in range(rows.start // LSE_ROWS * LSE_ROWS, rows.stop, LSE_ROWS):
                some = slice(start, min(start + LSE_ROWS, self.q_len))
                if not known[some].all():
                    found[some] = to_numpy(self._observed_precisely(batch, head, some, Want()).lse)[0, 0]
                    known[some] = True
        return found[rows]

    def _observed_precisely(self, batch: int, head: int, rows: slice, want: Want) -> Any:
        return solve(precise(part(self._judged, batch, head, rows)), want, self.backend)

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
        lse = self.lse(batch, head, rows).astype(np.float64)
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
        """Largest, total and count of the visible in squares, where q and k lie; None: cell by cell."""
        if size == POOLED and weight is None and (found := self._pooled(batch, head, rows, keys)) is not None:
            return found
        lse = self.lse(batch, head, rows)
        return squares(self._judged, batch, head, rows, keys, size, lse, weight, self.backend)

    def _pooled(
        self, batch: int, head: int, rows: slice, keys: slice
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """As squares, lse and all in one pass; None where lse is stored or the mask alone does not count.

        Also where lse is known by now: the last digits must not depend on what was asked for before.
        """
        ranges = None if self._lse is not None else self.ranges(batch, head, rows)
        if ranges is None or not self.kv_len:
            return None
        with self._lock:
            found, known = self._observed_of(batch, head)
            seen = self._observed_precisely(batch, head, rows, Want(pooled=POOLED))
            found[rows] = np.where(known[rows], found[rows], to_numpy(seen.lse)[0, 0])
            known[rows] = True
        columns = slice(keys.start // POOLED, -(-keys.stop // POOLED))
        largest, mean = (to_numpy(x)[0, 0, :, columns] for x in (seen.pooled.max, seen.pooled.mean))
        count = counted(ranges, keys, POOLED, POOLED)
        total = np.where(count > 0, mean.astype(np.float64) * count, 0)
        return np.where(count > 0, largest, 0).astype(np.float32), total, count

    def _observed_of(self, batch: int, head: int) -> tuple[np.ndarray, np.ndarray]:
        if (batch, head) not in self._observed:
            self._observed[batch, head] = np.zeros(self.q_len), np.zeros(self.q_len, dtype=bool)
        return self._observed[batch, head]

    def row(self, batch: int, head: int, query: int, hidden: Sequence[int] = ()) -> np.ndarray:
        """One row in float64 from q and k by the formula, (kv_len,); the stored lse is not used."""
        logits, seen = self.row_logits(batch, head, query)
        seen[list(hidden)] = False
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

    def ranges(self, batch: int, head: int, rows: slice) -> Ranges | None:
        """The ranges of keys that each row sees; None where only blocks can tell."""
        if self.problem.bias is not None:
            return None
        return self.problem.visibility.ranges(batch, head, rows)

    def spans(self, batch: int, head: int, rows: slice) -> list[slice]:
        """Slices of keys outside which none of these rows sees anything."""
        return self.problem.visibility.spans(batch, rows)

    def thinned(self, batch: int, head: int, every: int) -> "ScoredCells":
        """Every so many-th row of one head, from the first."""
        rows = slice(0, self.q_len, every)
        lse = None if self._lse is None else self._lse[batch : batch + 1, head : head + 1, rows]
        thin = ScoredCells(part(self._judged, batch, head, rows), lse)
        thin.backend = self.backend
        return thin

    def entropy(self, batch: int, head: int) -> np.ndarray:
        """Entropy of each row in nats, (q_len,)."""
        return to_numpy(self.observe(batch, head, Want(entropy=True)).entropy)[0, 0]

    def received(self, batch: int, head: int) -> np.ndarray:
        """What each key gets on average from the queries that may see it, (kv_len,); NaN where none may."""
        return to_numpy(self.observe(batch, head, Want(received=True)).received)[0, 0]

    def tracks(self, batch: int, head: int) -> Generator[float, None, Tracks]:
        """Both of them in one pass by bands of rows; yields how far it is."""
        entropy = np.zeros(self.q_len, np.float32)
        total, queries = np.zeros(self.kv_len), np.zeros(self.kv_len, np.int64)
        step = max(1, TRACK_CELLS // max(self.kv_len, 1))
        for start in range(0, self.q_len, step):
            rows = slice(start, min(start + step, self.q_len))
            seen = self.observe(batch, head, Want(entropy=True, received=True), rows)
            entropy[rows] = to_numpy(seen.entropy)[0, 0]
            count = self._queries(batch, head, rows)
            mean = to_numpy(seen.received)[0, 0].astype(np.float64)
            total += np.where(count > 0, mean * count, 0)
            queries += count
            yield rows.stop / self.q_len
        received = np.where(queries > 0, total / np.maximum(queries, 1), np.nan)
        return Tracks(entropy, received.astype(np.float32))

    def _queries(self, batch: int, head: int, rows: slice) -> np.ndarray:
        """How many of these rows see each key, (kv_len,)."""
        ranges = self.ranges(batch, head, rows)
        if ranges is not None:
            return counted(ranges, slice(0, self.kv_len), max(1, rows.stop - rows.start), 1)[0]
        count = np.zeros(self.kv_len, np.int64)
        for start in range(0, self.kv_len, 1024):
            keys = slice(start, min(start + 1024, self.kv_len))
            visible = self.visible(batch, head, rows, keys)
            some = rows.stop - rows.start
            count[keys] = visible * some if isinstance(visible, bool) else visible.sum(axis=0)
        return count

    def _rows_that_see(self, batch: int, head: int) -> np.ndarray:
        seeing = np.zeros(self.q_len, dtype=bool)
        for start in range(0, self.q_len, ROWS):
            rows = slice(start, min(start + ROWS, self.q_len))
            ranges = self.ranges(batch, head, rows)
            if ranges is not None:
                seeing[rows] = (ranges[1] > ranges[0]).any(axis=1)
                continue
            for first in range(0, self.kv_len, 1024):
                keys = slice(first, min(first + 1024, self.kv_len))
                visible = self.visible(batch, head, rows, keys)
                seeing[rows] |= visible if isinstance(visible, bool) else visible.any(axis=1)
        return seeing
