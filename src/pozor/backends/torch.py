"""Exact attention in torch operations, on any device, under autograd: some rows at a time, all their keys.

Memory O(q_len + kv_len): the backward pass computes each chunk of rows again. torch's own fused SDPA serves
where out alone is asked for and nothing is hidden, or a causal mask hides what was checked to be finite.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from pozor import inputs
from pozor.inputs import Problem
from pozor.masks import Causal
from pozor.observables import distance, entropy, lse, pooled, top_k
from pozor.observables.want import Observation, Want

CELLS = {"cpu": 1 << 21, "cuda": 1 << 26}  # of one chunk of rows over all its heads
ROWS = 64  # heads share a chunk as long as it can have this many rows


def run(problem: Problem, want: Want | None) -> Observation:
    """Attention of torch tensors, or of NumPy arrays by way of the CPU; want None: out alone, lse empty.

    out and lse are differentiable, with gradient 0 where a row sees nothing.
    """
    arrays = problem.kind == "numpy"
    if arrays:
        problem = _as_torch(problem)
    # autocast would take the products to half precision
    with torch.autocast(problem.q.device.type, enabled=False):
        if want is None and _fusable(problem):
            found = Observation(_fused(problem), None, backend="torch", path="sdpa")
        else:
            found = _by_rows(problem, want or Want())
    return found if not arrays else found.mapped(inputs.to_numpy)


def _as_torch(problem: Problem) -> Problem:
    q, k, v, bias, sink = (
        None if x is None else inputs.to_torch(x)
        for x in (problem.q, problem.k, problem.v, problem.bias, problem.sink)
    )
    return replace(problem, q=q, k=k, v=v, bias=bias, sink=sink, kind="torch")


def _fusable(problem: Problem) -> bool:
    """Whether a fused kernel of torch gives this meaning; its fallback, which holds all cells, is not."""
    q, v, visibility = problem.q, problem.v, problem.visibility
    if v is None or problem.bias is not None or problem.softcap is not None or problem.sink is not None:
        return False
    if not (problem.batch and problem.q_len and problem.kv_len and problem.scale > 0):
        return False
    if problem.head_dim != problem.v_head_dim:
        return False
    if visibility.hides:
        causal = len(visibility.terms) == 1 and isinstance(visibility.terms[0], Causal)
        plain = causal and not visibility.arrays and not visibility.callables
        if not plain or problem.q_len != problem.kv_len or problem.q_offset.any():
            return False
        # a hidden NaN would spoil every row of a fused kernel
        if not (torch.isfinite(problem.k).all() and torch.isfinite(v).all()):
            return False
    if q.device.type == "cuda":
        k, v = _per_head(problem)
        params = torch.backends.cuda.SDPAParams(q, k, v, None, 0.0, visibility.hides, False)
        return torch.backends.cuda.can_use_flash_attention(
            params
        ) or torch.backends.cuda.can_use_efficient_attention(params)
    return q.device.type == "cpu" and all(x.stride(-1) == 1 for x in (q, problem.k, v))


def _per_head(problem: Problem) -> tuple[Any, Any]:
    if problem.group_size == 1:
        return problem.k, problem.v
    return tuple(x.repeat_interleave(problem.group_size, dim=1) for x in (problem.k, problem.v))  # pyright: ignore


def _fused(problem: Problem) -> Any:
    k, v = _per_head(problem)
    return torch.nn.functional.scaled_dot_product_attention(
        problem.q, k, v, is_causal=problem.visibility.hides, scale=problem.scale
    )


def _by_rows(problem: Problem, want: Want) -> Observation:
    wide = torch.float64 if problem.q.dtype == torch.float64 else torch.float32
    finite = all(bool(torch.isfinite(x).all()) for x in (problem.q, problem.k))
    outs, lses, seen = [], [], _Seen(problem, want, wide)
    for b in range(problem.batch):
        panels = []
        for heads in _head_panels(problem):
            pairs = [_empty(problem, heads, wide)]  # an end that cat needs where there are no rows
            for rows, spans in _row_chunks(problem, b, heads):
                chunk = _Chunk(problem, b, heads, rows, spans, wide, finite)
                pairs.append(chunk.attend())
                with torch.no_grad():
                    seen.add(chunk, pairs[-1][1].detach())
            panels.append([torch.cat(parts, dim=1) for parts in zip(*pairs)])
        out, row_lse = (torch.cat(parts) for parts in zip(*panels))
        outs.append(out.to(problem.q.dtype))
        lses.append(row_lse)
    if not problem.batch:
        shape = (0, problem.num_heads, problem.q_len)
        out = _nothing(problem, wide).expand(*shape, problem.v_head_dim).to(problem.q.dtype)
        return seen.observation(out, _nothing(problem, wide).expand(shape))
    return seen.observation(torch.stack(outs), torch.stack(lses))


def _empty(problem: Problem, heads: slice, dtype: Any) -> tuple[Any, Any]:
    count, nothing = heads.stop - heads.start, _nothing(problem, dtype)
    return nothing.expand(count, 0, problem.v_head_dim), nothing.expand(count, 0)


def _nothing(problem: Problem, dtype: Any) -> Any:
    """A 0 that keeps q, k and v in the graph: their gradient is 0 where there are no rows, not missing."""
    given = (problem.q, problem.k, problem.v)
    return sum(x[:0].sum().to(dtype) for x in given if x is not None)


def _head_panels(problem: Problem) -> list[slice]:
    """Whole groups of heads, as many as leave a chunk its rows; never decided by the batch."""
    group = problem.group_size
    cells = group * ROWS * max(problem.kv_len, 1)
    count = group * max(1, _cells(problem) // cells)
    return [slice(h, min(h + count, problem.num_heads)) for h in range(0, problem.num_heads, count)]


def _cells(problem: Problem) -> int:
    return CELLS.get(problem.q.device.type, CELLS["cpu"])


def _row_chunks(problem: Problem, b: int, heads: slice) -> Iterator[tuple[slice, list[slice]]]:
    """Rows that go together, with the key slices they may see."""
    first, limit = 0, _cells(problem) // (heads.stop - heads.start)
    while first < problem.q_len:
        count = min(1024, problem.q_len - first)
        while True:
            rows = slice(first, first + count)
            spans = problem.visibility.spans(b, rows)
            if count == 1 or count * sum(span.stop - span.start for span in spans) <= limit:
                break
            count = (count + 1) // 2
        yield rows, spans
        first += count


class _Chunk:
    """Some rows of some heads of one sequence, and the keys any of them may see."""

    def __init__(
        self, problem: Problem, b: int, heads: slice, rows: slice, spans: list[slice], wide: Any, finite: bool
    ):
        self.problem, self.b, self.heads, self.rows, self.spans = problem, b, heads, rows, spans
        self.wide, self.finite = wide, finite
        self.shape = (heads.stop - heads.start, rows.stop - rows.start)
        self.device = problem.q.device
        group = problem.group_size
        self.kv_heads = slice(heads.start // group, (heads.stop - 1) // group + 1)

    def attend(self) -> tuple[Any, Any]:
        """(out, lse), (heads, rows, …) in the compute dtype."""
        problem = self.problem
        tensors = (problem.q, problem.k, problem.v, problem.bias, problem.sink)
        if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
            return checkpoint(self._attend, *tensors, use_reentrant=False, preserve_rng_state=False)  # pyright: ignore
        return self._attend(*tensors)

    def _attend(self, q: Any, k: Any, v: Any, bias: Any, sink: Any) -> tuple[Any, Any]:
        logits, visible = self.logits(q, k, bias)
        row_lse, _ = lse.torch_rows(logits, self.sinks(sink))
        probs = self.probs(logits, visible, row_lse)
        if v is None:
            return probs.new_zeros((*self.shape, 0)), row_lse
        return self.weighted_sum(probs, visible, self.picked(v)), row_lse

    def sinks(self, sink: Any) -> Any:
        """The heads' sinks in the compute dtype, or None."""
        return None if sink is None else sink[self.heads].to(self.wide)

    def picked(self, tensor: Any) -> Any:
        """The visible keys of k or v, (kv heads, keys, dim) in the compute dtype."""
        held = tensor[self.b, self.kv_heads]
        if len(self.spans) != 1:
            parts = [held[:, span] for span in self.spans] or [held[:, :0]]
            return torch.cat(parts, dim=1).to(self.wide)
        return held[:, self.spans[0]].to(self.wide)

    def keys(self) -> Any:
        """The indices of those keys, int64 (keys,)."""
        parts = [torch.arange(s.start, s.stop, device=self.device) for s in self.spans]
        return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.int64, device=self.device)

    def logits(self, q: Any, k: Any, bias: Any) -> tuple[Any, Any]:
        """(logits, visible), (heads, rows, keys): -inf where hidden; visible None where nothing is."""
        problem = self.problem
        # in float64: a scale that float32 cannot hold must not become 0 or inf
        q = (q[self.b, self.heads, self.rows].double() * problem.scale).to(self.wide)
        scores = self._scores(q, self.picked(k))
        if problem.softcap is not None:
            scores = problem.softcap * torch.tanh(scores / problem.softcap)
        visible = self.visible()
        if bias is not None:
            parts = [_block(bias, self.b, self.heads, self.rows, span) for span in self.spans]
            bias = torch.cat(
                [part.expand(-1, -1, s.stop - s.start) for part, s in zip(parts, self.spans)], -1
            )
            bias = bias.to(self.wide)
            shown = bias.detach() != -np.inf
            visible = shown if visible is None else visible & shown
            scores = scores + bias
        if visible is not None:
            # select, not add: what is hidden may be NaN
            scores = scores.masked_fill(~visible, -np.inf)
        return scores, visible

    def _scores(self, q: Any, k: Any) -> Any:
        if self.finite:
            return self._product(q, k.transpose(-1, -2))
        # 0 * NaN is NaN in the backward pass too: there, vectors that are not finite stand as zeros
        odd_q, odd_k = (~torch.isfinite(x).all(dim=-1, keepdim=True) for x in (q, k))
        clean = self._product(q.masked_fill(odd_q, 0), k.masked_fill(odd_k, 0).transpose(-1, -2))
        exact = self._product(q.detach(), k.detach().transpose(-1, -2))
        odd = odd_q | self._per_head(odd_k.transpose(-1, -2))
        return torch.where(odd, exact, clean)

    def _product(self, cells: Any, other: Any) -> Any:
        """(h, gq, x) x (h, x, y) -> (h, gq, y), given and returned as (heads, rows, …)."""
        rows = self.shape[0] * self.shape[1] // len(other)
        joined = cells.reshape(len(other), rows, cells.shape[-1])
        return (joined @ other).reshape(*self.shape, other.shape[-1])

    def _per_head(self, tensor: Any) -> Any:
        return tensor.repeat_interleave(self.shape[0] // len(tensor), dim=0)

    def visible(self) -> Any:
        """The visible cells, bool (heads or 1, rows, keys), or None where nothing is hidden."""
        visibility = self.problem.visibility
        if not visibility.hides:
            return None
        count = self.shape[1]
        blocks = []
        allowed, _ = visibility.row_ranges(self.b, self.rows)
        edges = None if allowed is None else [torch.from_numpy(x).to(self.device)[..., None] for x in allowed]
        for span in self.spans:
            keys = torch.arange(span.start, span.stop, device=self.device)
            block = torch.ones((1, count, len(keys)), dtype=torch.bool, device=self.device)
            if edges is not None:
                block = ((keys >= edges[0]) & (keys < edges[1])).any(dim=1)[None]
            for dense in visibility.dense(self.b, self.heads, self.rows, span):
                dense = dense if isinstance(dense, torch.Tensor) else torch.tensor(np.asarray(dense))
                block = block & dense.to(self.device)
            blocks.append(block.expand(block.shape[0], count, len(keys)))
        if not blocks:
            return torch.zeros((1, count, 0), dtype=torch.bool, device=self.device)
        return torch.cat(blocks, dim=-1)

    @staticmethod
    def probs(logits: Any, visible: Any, row_lse: Any) -> Any:
        """exp(logits - lse), 0 where hidden."""
        probs = (logits - row_lse.masked_fill(row_lse == -np.inf, 0)[..., None]).exp()
        return probs if visible is None else probs.masked_fill(~visible, 0)

    def weighted_sum(self, probs: Any, visible: Any, v: Any) -> Any:
        """(h, q, k) x (h, k, e) -> (h, q, e), over visible keys only."""
        if visible is None or bool(torch.isfinite(v).all()):
            return self._product(probs, v)
        # 0 * NaN is NaN: add the finite values, then say where a visible one is not finite
        seen, kept, lost = visible.expand(probs.shape), probs.detach() > 0, torch.isinf(v)
        nan, vanished, up, down = (
            self._product(cells.to(self.wide), kind.to(self.wide)) > 0
            for cells, kind in (
                (seen, torch.isnan(v)),
                (seen & ~kept, lost),
                (seen & kept, lost & (v > 0)),
                (seen & kept, lost & (v < 0)),
            )
        )
        out = self._product(probs, v.masked_fill(~torch.isfinite(v), 0))
        out = out.masked_fill(up, np.inf).masked_fill(down, -np.inf)
        return out.masked_fill(nan | vanished | (up & down), np.nan)


def _block(array: Any, batch: int, heads: slice, rows: slice, keys: slice) -> Any:
    """The block of a tensor whose axes are 1 or those of (batch, num_heads, q_len, kv_len)."""
    index = [slice(batch, batch + 1), heads, rows, keys]
    return array[tuple(part if size > 1 else slice(0, 1) for part, size in zip(index, array.shape))][0]


class _Seen:
    """The observables, filled chunk by chunk; logits are computed again where they are wanted."""

    def __init__(self, problem: Problem, want: Want, wide: Any):
        self.problem, self.want = problem, want
        batch, heads, q_len, kv_len = problem.batch, problem.num_heads, problem.q_len, problem.kv_len

        def full(*tail: int, value: float = 0, dtype: Any = wide) -> Any:
            return torch.full((batch, heads, *tail), value, dtype=dtype, device=problem.q.device)

        self.row_max = full(q_len, value=-np.inf) if want.row_max else None
        self.entropy = full(q_len) if want.entropy else None
        self.top_probs = full(q_len, want.top_k) if want.top_k else None
        self.top_keys = full(q_len, want.top_k, value=-1, dtype=torch.int64) if want.top_k else None
        self.edges = distance.edges_of(problem.q_offset, q_len, kv_len) if want.distance else None
        self.distance = None if self.edges is None else full(q_len, len(self.edges) - 1)
        self.received = (full(kv_len, dtype=torch.float64), full(kv_len)) if want.received else None
        self.pooled = None
        if want.pooled:
            grid = (-(-q_len // want.pooled), -(-kv_len // want.pooled))
            self.pooled = (full(*grid), full(*grid, dtype=torch.float64), full(*grid), full(grid[0]))

    def add(self, chunk: _Chunk, row_lse: Any) -> None:
        """The observables of one chunk's rows."""
        want, problem = self.want, self.problem
        if not (want.row_max or want.received or want.any_in_pass):
            return
        here = (chunk.b, chunk.heads, chunk.rows)
        logits, visible = chunk.logits(problem.q, problem.k, problem.bias)
        probs = chunk.probs(logits, visible, row_lse)
        keys = chunk.keys()
        seen = torch.ones_like(probs, dtype=torch.bool) if visible is None else visible.expand(probs.shape)
        if self.row_max is not None:
            self.row_max[here] = lse.torch_rows(logits, None)[1]
        if self.entropy is not None:
            self.entropy[here] = entropy.torch_rows(probs, logits, row_lse)
        if self.top_probs is not None and self.top_keys is not None:
            found = top_k.torch_rows(logits, probs, keys, want.top_k)
            self.top_probs[here], self.top_keys[here] = found
        if self.distance is not None and self.edges is not None:
            positions = torch.from_numpy(problem.visibility.grid.positions(chunk.b, chunk.rows))
            positions = positions.to(probs.device)
            self.distance[here] = distance.torch_rows(probs, positions, keys, self.edges)
        if self.received is not None:
            for total, part in zip(self.received, (probs, seen)):
                total[chunk.b, chunk.heads].index_add_(-1, keys, part.sum(dim=1, dtype=total.dtype))
        if self.pooled is not None:
            totals = tuple(total[chunk.b, chunk.heads] for total in self.pooled)
            pooled.torch_rows(totals, probs, seen, keys, chunk.rows, want.pooled)

    def observation(self, out: Any, row_lse: Any) -> Observation:
        """The record."""
        got, whole = None, None
        if self.received is not None:
            total, queries = self.received
            got = (total / queries).to(queries.dtype)  # 0 / 0 is NaN: no query may see it
        if self.pooled is not None:
            largest, total, cells, rows = self.pooled
            hidden = cells == 0
            reduced = (largest, total / cells, total / rows[..., None])
            whole = pooled.Pooled(
                self.want.pooled, *(x.to(row_lse.dtype).masked_fill(hidden, np.nan) for x in reduced)
            )
        return Observation(
            out,
            row_lse,
            row_max=self.row_max,
            entropy=self.entropy,
            top_probs=self.top_probs,
            top_keys=self.top_keys,
            received=got,
            distance=self.distance,
            distance_edges=self.edges,
            pooled=whole,
            backend="torch",
            path="rows",
        )
