"""Exact attention in NumPy, block by block: memory O(q_len + kv_len), blocks that cannot be seen are skipped.

Online softmax: Milakov & Gimelshein 2018; blocks and rescaling: Rabe & Staats 2021, Dao et al. 2022.
"""

from typing import Any

import numpy as np

from pozor.inputs import Problem
from pozor.observables import distance, entropy, lse, pooled, received, top_k
from pozor.observables.block import Block, rebase
from pozor.observables.want import Observation, Want

BLOCK_Q = 512  # rows of one product, the heads of a group together
BLOCK_KV = 1024
CELLS = 1 << 19  # of one block over all its heads: 2 MiB in float32


def run(problem: Problem, want: Want | None) -> Observation:
    """Attention of NumPy arrays; sums in float64 for float64, in float32 for the rest."""
    want = want or Want()
    results = _Results(problem, want)
    with np.errstate(all="ignore"):
        for b in range(problem.batch):
            for heads in _head_panels(problem):
                _run_panel(problem, want, results, b, heads)
    return results.observation()


def block_logits(
    problem: Problem, batch: int, head: int, rows: slice, keys: slice, dtype: Any = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """(logits, visible) of one head's rows x keys, computed in dtype: -inf and False where hidden.

    `visible` is bool (rows, keys), a bias of -inf counted as hidden. O(rows · keys) memory.
    """
    panel = _Panel(problem, batch, slice(head, head + 1), np.dtype(dtype), keys)
    with np.errstate(all="ignore"):
        logits, visible = panel.logits(panel.queries(rows), rows, keys)
    shape = logits.shape[1:]
    return logits[0], np.array(np.broadcast_to(np.asarray(visible), (1, *shape))[0])


def _head_panels(problem: Problem) -> list[slice]:
    """Whole groups of heads, as many at once as one block's cells allow; never decided by the batch."""
    rows = min(max(problem.q_len, 1), block_q(problem))
    cells = problem.group_size * rows * min(max(problem.kv_len, 1), BLOCK_KV)
    count = max(1, CELLS // cells) * problem.group_size
    return [slice(h, min(h + count, problem.num_heads)) for h in range(0, problem.num_heads, count)]


def block_q(problem: Problem) -> int:
    """Rows of one block, for each head of the group."""
    return max(16, BLOCK_Q // problem.group_size)


class _Panel:
    """Query heads of one sequence and their kv heads; the keys of `span` are held in the compute dtype."""

    def __init__(self, problem: Problem, batch: int, heads: slice, dtype: Any, span: slice):
        self.problem, self.batch, self.heads, self.dtype, self.span = problem, batch, heads, dtype, span
        group = problem.group_size
        self.kv_heads = slice(heads.start // group, (heads.stop - 1) // group + 1)
        self.k = np.ascontiguousarray(problem.k[batch, self.kv_heads, span], dtype=dtype)

    def queries(self, rows: slice) -> np.ndarray:
        """Scaled queries, (kv heads, heads of one kv head · rows, head_dim)."""
        q = self.problem.q[self.batch, self.heads, rows]
        # in float64: a scale that float32 cannot hold must not become 0 or inf
        q = (q.astype(np.float64) * self.problem.scale).astype(self.dtype)
        return q.reshape(len(self.k), q.shape[0] // len(self.k) * q.shape[1], q.shape[-1])

    def logits(self, q: np.ndarray, rows: slice, keys: slice) -> tuple[np.ndarray, np.ndarray | bool]:
        """(logits, visible) of one block, (heads, rows, keys); visible may be True or False as a whole."""
        problem = self.problem
        shape = (self.heads.stop - self.heads.start, rows.stop - rows.start, keys.stop - keys.start)
        visible = problem.visibility.panel(self.batch, self.heads, rows, keys)
        if visible is False:
            return np.full(shape, -np.inf, self.dtype), False
        held = self.k[:, keys.start - self.span.start : keys.stop - self.span.start]
        logits = np.matmul(q, held.transpose(0, 2, 1)).reshape(shape)  # (h, gq, d) x (h, k, d) -> (h, gq, k)
        if problem.softcap is not None:
            logits /= problem.softcap
            np.tanh(logits, out=logits)
            logits *= problem.softcap
        if problem.bias is not None:
            bias = _cells(problem.bias, self.batch, self.heads, rows, keys)
            logits += bias.astype(self.dtype)
            shown = bias != -np.inf
            if not shown.all():
                # a bias of one row or column stands for all of them: whoever counts cells needs each
                shown = np.broadcast_to(shown, (shown.shape[0], *shape[1:]))
                visible = shown if visible is True else visible & shown
        if visible is not True:
            # select, not add: what is hidden may be NaN
            np.copyto(logits, -np.inf, where=~visible)
        return logits, visible


def _cells(array: np.ndarray, batch: int, heads: slice, rows: slice, keys: slice) -> np.ndarray:
    """The block of an array that broadcasts to (batch, num_heads, q_len, kv_len)."""
    index = [slice(batch, batch + 1), heads, rows, keys]
    picked = tuple(part if size > 1 else slice(0, 1) for part, size in zip(index, array.shape))
    return array[picked][0]


def _run_panel(problem: Problem, want: Want, results: "_Results", b: int, heads: slice) -> None:
    dtype = problem.compute_dtype
    panel = _Panel(problem, b, heads, dtype, slice(0, problem.kv_len))
    v = None if problem.v is None else np.ascontiguousarray(problem.v[b, panel.kv_heads], dtype=dtype)
    clean = (
        v is None or not (problem.visibility.hides or problem.bias is not None) or bool(np.isfinite(v).all())
    )
    got = received.start(heads.stop - heads.start, problem.kv_len) if want.received else None
    totals = None
    if want.pooled:
        totals = pooled.start(heads.stop - heads.start, problem.q_len, problem.kv_len, want.pooled, dtype)
    step = block_q(problem)
    for first in range(0, problem.q_len, step):
        rows = slice(first, min(first + step, problem.q_len))
        q = panel.queries(rows)
        state = _Rows(panel, want, rows, v, clean)
        for keys in _key_blocks(problem, b, rows):
            logits, visible = panel.logits(q, rows, keys)
            if visible is not False:
                state.update(logits, visible, keys)
        row_lse = state.finish(results, b)
        if totals is not None:
            pooled.add_rows(totals, state.pooled or [], row_lse, rows, want.pooled)
        if got is not None:
            for keys in _key_blocks(problem, b, rows):  # pass 2: the same cells, now that lse is known
                logits, visible = panel.logits(q, rows, keys)
                if visible is not False:
                    logits -= np.where(row_lse == -np.inf, 0, row_lse)[..., None]
                    np.exp(logits, out=logits)
                    if visible is not True:
                        logits = np.where(visible, logits, 0)
                    received.update(got, logits, visible, keys)
    if got is not None:
        results.received[b, heads] = received.finish(got, dtype)
    if totals is not None:
        for whole, part in zip(results.pooled, pooled.finish(totals, dtype)):
            whole[b, heads] = part


def _key_blocks(problem: Problem, batch: int, rows: slice) -> list[slice]:
    return [
        slice(first, min(first + BLOCK_KV, span.stop))
        for span in problem.visibility.spans(batch, rows)
        for first in range(span.start, span.stop, BLOCK_KV)
    ]


class _Rows:
    """The running softmax of some rows, with the observables that share its pass."""

    def __init__(self, panel: _Panel, want: Want, rows: slice, v: np.ndarray | None, clean: bool):
        self.panel, self.want, self.rows, self.v, self.clean = panel, want, rows, v, clean
        problem, dtype = panel.problem, panel.dtype
        shape = (panel.heads.stop - panel.heads.start, rows.stop - rows.start)
        self.softmax = lse.State(np.full(shape, -np.inf, dtype), np.zeros(shape, dtype))
        self.out = np.zeros((*shape, problem.v_head_dim), dtype)
        self.positions = problem.visibility.grid.positions(panel.batch, rows)
        if want.distance:
            self.edges = distance.edges_of(problem.q_offset, problem.q_len, problem.kv_len)
        self.entropy = self.top_k = self.distance = self.pooled = None

    def update(self, logits: np.ndarray, visible: np.ndarray | bool, keys: slice) -> None:
        """One more block of keys; logits are overwritten unless an observable needs them."""
        base = np.maximum(self.softmax.row_max, logits.max(axis=-1))
        safe = np.where(base == -np.inf, 0, base)[..., None]
        watched = self.want.any_in_pass
        exps = np.subtract(logits, safe, out=None if watched else logits)
        np.exp(exps, out=exps)
        if visible is not True and np.isnan(base).any():
            exps = np.where(visible, exps, 0)  # a NaN base spoils the hidden cells too
        block = Block(logits, exps, base, visible, self.positions, keys)
        factor = rebase(self.softmax.row_max, base)
        self.softmax = lse.State(base, self.softmax.row_sum * factor + exps.sum(axis=-1))
        if self.v is not None:
            self.out *= factor[..., None]
            self.out += self._values(exps, visible, keys)
        if self.want.entropy:
            self.entropy = entropy.update(self.entropy, block)
        if self.want.top_k:
            self.top_k = top_k.update(self.top_k, block, self.want.top_k)
        if self.want.distance:
            self.distance = distance.update(self.distance, block, self.edges)
        if self.want.pooled:
            self.pooled = pooled.update(self.pooled, block, self.want.pooled)

    def _values(self, exps: np.ndarray, visible: np.ndarray | bool, keys: slice) -> np.ndarray:
        assert self.v is not None
        v = self.v[:, keys]
        if self.clean or visible is True or np.isfinite(v).all():
            return _grouped_product(exps, v)
        # 0 * NaN is NaN: add the finite values, then say where a visible one is not finite
        seen = np.broadcast_to(visible, exps.shape)
        lost, kept = np.isinf(v), exps > 0
        reached = [
            _grouped_product(cells.astype(exps.dtype), kind.astype(exps.dtype)) > 0
            for cells, kind in (
                (seen, np.isnan(v)),
                (seen & ~kept, lost),
                (seen & kept, lost & (v > 0)),
                (seen & kept, lost & (v < 0)),
            )
        ]
        nan, vanished, up, down = reached
        out = _grouped_product(exps, np.where(np.isfinite(v), v, 0))
        out[up], out[down] = np.inf, -np.inf
        out[nan | vanished | (up & down)] = np.nan
        return out

    def finish(self, results: "_Results", b: int) -> np.ndarray:
        """Write the rows' results; gives lse, (heads, rows)."""
        problem, heads, rows = self.panel.problem, self.panel.heads, self.rows
        sink = None if problem.sink is None else problem.sink[heads].astype(self.panel.dtype)
        row_lse = lse.finish(self.softmax, sink)
        here = (b, heads, rows)
        results.lse[here] = row_lse
        if self.v is not None:
            total = self.softmax.row_sum
            if sink is not None:  # the sink's part of the denominator
                total = total + np.exp(sink[:, None] - np.where(total == 0, 0, self.softmax.row_max))
            results.out[here] = self.out / np.where(total == 0, 1, total)[..., None]
        if self.want.row_max:
            results.row_max[here] = self.softmax.row_max
        if self.want.entropy and self.entropy is not None:
            results.entropy[here] = entropy.finish(self.entropy, row_lse)
        if self.want.top_k and self.top_k is not None:
            results.top_probs[here], results.top_keys[here] = top_k.finish(self.top_k, row_lse)
        if self.want.distance and self.distance is not None:
            results.distance[here] = distance.finish(self.distance, row_lse)
        return row_lse


def _grouped_product(cells: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(h, gq, k) x (h, k, e) -> (h, gq, e), given and returned as (heads, rows, …)."""
    heads, rows, width = cells.shape
    joined = cells.reshape(len(v), heads // len(v) * rows, width)
    return np.matmul(joined, v).reshape(heads, rows, v.shape[-1])


class _Results:
    """The arrays of one Observation, filled as the rows are done."""

    def __init__(self, problem: Problem, want: Want):
        dtype, lead = problem.compute_dtype, (problem.batch, problem.num_heads)
        q_len, kv_len = problem.q_len, problem.kv_len
        self.want = want
        self.out = np.zeros((*lead, q_len, problem.v_head_dim), problem.q.dtype)
        self.lse = np.full((*lead, q_len), -np.inf, dtype)
        if want.row_max:
            self.row_max = np.full((*lead, q_len), -np.inf, dtype)
        if want.entropy:
            self.entropy = np.zeros((*lead, q_len), dtype)
        if want.top_k:
            self.top_probs = np.zeros((*lead, q_len, want.top_k), dtype)
            self.top_keys = np.full((*lead, q_len, want.top_k), -1, np.int64)
        if want.received:
            self.received = np.full((*lead, kv_len), np.nan, dtype)
        if want.distance:
            self.edges = distance.edges_of(problem.q_offset, q_len, kv_len)
            self.distance = np.zeros((*lead, q_len, len(self.edges) - 1), dtype)
        if want.pooled:
            shape = (*lead, -(-q_len // want.pooled), -(-kv_len // want.pooled))
            self.pooled = tuple(np.full(shape, np.nan, dtype) for _ in range(3))

    def observation(self) -> Observation:
        """The record."""
        want = self.want
        return Observation(
            self.out,
            self.lse,
            row_max=self.row_max if want.row_max else None,
            entropy=self.entropy if want.entropy else None,
            top_probs=self.top_probs if want.top_k else None,
            top_keys=self.top_keys if want.top_k else None,
            received=self.received if want.received else None,
            distance=self.distance if want.distance else None,
            distance_edges=self.edges if want.distance else None,
            pooled=pooled.Pooled(want.pooled, *self.pooled) if want.pooled else None,
            backend="blocked",
            path="numpy",
        )
