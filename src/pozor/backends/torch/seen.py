"""The observables of the torch backend, filled chunk by chunk from whole rows."""

from typing import Any

import numpy as np
import torch

from pozor.backends.torch.rows import Chunk
from pozor.inputs import Problem
from pozor.observables import distance, entropy, lse, pooled, top_k
from pozor.observables.want import Observation, Want


class Seen:
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

    def add(self, chunk: Chunk, row_lse: Any) -> None:
        """The observables of one chunk's rows."""
        want, problem = self.want, self.problem
        if not (want.row_max or want.received or want.any_in_pass):
            return
        here = (chunk.b, chunk.heads, chunk.rows)
        q, k, _, bias, _ = chunk.pieces()
        logits, visible = chunk.logits(q, k, bias)
        probs = chunk.exps(logits, visible, row_lse)
        keys = chunk.keys()
        seen = torch.ones_like(probs, dtype=torch.bool) if visible is None else visible.expand(probs.shape)
        if self.row_max is not None:
            self.row_max[here] = lse.torch_max(logits)
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
