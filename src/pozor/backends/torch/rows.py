"""Some rows at a time, all their keys at once: attention of one chunk, and where its pieces come from."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from pozor import inputs
from pozor.inputs import Problem
from pozor.observables import lse

CELLS = {"cpu": 1 << 20, "cuda": 1 << 26}  # of one chunk of rows over all its heads
ROWS = 64  # heads share a chunk as long as it can have this many rows


def head_panels(problem: Problem) -> list[slice]:
    """Whole groups of heads, as many as leave a chunk its rows; never decided by the batch."""
    group = problem.group_size
    cells = group * ROWS * max(problem.kv_len, 1)
    count = group * max(1, cells_of(problem) // cells)
    return [slice(h, min(h + count, problem.num_heads)) for h in range(0, problem.num_heads, count)]


def cells_of(problem: Problem) -> int:
    """How many cells one chunk may have on this device."""
    return CELLS.get(problem.q.device.type, CELLS["cpu"])


def row_chunks(problem: Problem, b: int, heads: slice) -> Iterator[tuple[slice, list[slice]]]:
    """Rows that go together, with the key slices they may see."""
    first, limit = 0, cells_of(problem) // (heads.stop - heads.start)
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


class Chunk:
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

    def pieces(self) -> tuple[Any, Any, Any, Any, Any]:
        """What the chunk takes of q, k, v, bias and sink, in the compute dtype; spans side by side."""
        problem = self.problem
        q = problem.q[self.b, self.heads, self.rows].to(self.wide)
        sink = None if problem.sink is None else problem.sink[self.heads].to(self.wide)
        return q, self._picked(problem.k), self._picked(problem.v), self._bias(), sink

    def _picked(self, tensor: Any) -> Any:
        if tensor is None:
            return None
        held = tensor[self.b, self.kv_heads]
        parts = [held[:, span] for span in self.spans] or [held[:, :0]]
        return (parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)).to(self.wide)

    def _bias(self) -> Any:
        bias = self.problem.bias
        if bias is None:
            return None
        index = (slice(self.b, self.b + 1), self.heads, self.rows, slice(None))
        held = bias[tuple(part if size > 1 else slice(0, 1) for part, size in zip(index, bias.shape))][0]
        if bias.shape[3] == 1:
            return held.to(self.wide)
        parts = [held[..., span] for span in self.spans] or [held[..., :0]]
        return (parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)).to(self.wide)

    def collect(self, whole: list[Any], parts: list[Any]) -> None:
        """In place: the gradients of the pieces into those of q, k, v, bias and sink."""
        for place, (total, part) in enumerate(zip(whole, parts)):
            if total is None or part is None:
                continue
            if place == 0:
                total[self.b, self.heads, self.rows] += part
            elif place == 3:
                index = (slice(self.b, self.b + 1), self.heads, self.rows, slice(None))
                held = total[tuple(p if size > 1 else slice(0, 1) for p, size in zip(index, total.shape))][0]
                self._spread(held, part)
            elif place == 4:
                total[self.heads] += part
            else:
                self._spread(total[self.b, self.kv_heads].movedim(-1, -2), part.movedim(-1, -2))

    def _spread(self, held: Any, part: Any) -> None:
        """Columns of all spans back to where they were."""
        if held.shape[-1] == 1:
            held += part.sum(dim=-1, keepdim=True) if part.shape[-1] != 1 else part
            return
        first = 0
        for span in self.spans:
            width = span.stop - span.start
            held[..., span] += part[..., first : first + width]
            first += width

    def attend(self, q: Any, k: Any, v: Any, bias: Any, sink: Any) -> tuple[Any, Any]:
        """(out, lse) of the pieces, (heads, rows, …) in the compute dtype; differentiable in each."""
        logits, visible = self.logits(q, k, bias)
        top = lse.torch_top(logits, sink)
        exps = self.exps(logits, visible, top)
        total = lse.torch_total(exps, top, sink)
        row_lse = lse.torch_rows(top, total)
        if v is None:
            return row_lse.new_zeros((*self.shape, 0)), row_lse
        # divided last, by the sum itself: exp(logits - lse) would carry the rounding of a large lse
        return self.weighted_sum(exps, visible, v) / total.masked_fill(total == 0, 1)[..., None], row_lse

    def keys(self) -> Any:
        """The indices of the keys, int64 (keys,)."""
        parts = [torch.arange(s.start, s.stop, device=self.device) for s in self.spans]
        return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.int64, device=self.device)

    def logits(self, q: Any, k: Any, bias: Any) -> tuple[Any, Any]:
        """(logits, visible), (heads, rows, keys): -inf where hidden; visible None where nothing is."""
        # in float64: a scale that float32 cannot hold must not become 0 or inf
        scores = self._scores((q.double() * self.problem.scale).to(self.wide), k)
        if self.problem.softcap is not None:
            scores = self.problem.softcap * torch.tanh(scores / self.problem.softcap)
        visible = self.visible()
        if bias is not None:
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
                if not isinstance(dense, torch.Tensor):
                    dense = inputs.to_torch(np.asarray(dense))
                block = block & dense.to(self.device)
            blocks.append(block.expand(block.shape[0], count, len(keys)))
        if not blocks:
            return torch.zeros((1, count, 0), dtype=torch.bool, device=self.device)
        return torch.cat(blocks, dim=-1)

    @staticmethod
    def exps(logits: Any, visible: Any, base: Any) -> Any:
        """exp(logits - base), base (heads, rows), 0 where hidden; probs if base is lse."""
        exps = (logits - base.masked_fill(base == -np.inf, 0)[..., None]).exp()
        return exps if visible is None else exps.masked_fill(~visible, 0)

    def weighted_sum(self, exps: Any, visible: Any, v: Any) -> Any:
        """(h, q, k) x (h, k, e) -> (h, q, e), over visible keys only."""
        if visible is None or bool(torch.isfinite(v).all()):
            return self._product(exps, v)
        # 0 * NaN is NaN: add the finite values, then say where a visible one is not finite
        seen, kept, lost = visible.expand(exps.shape), exps.detach() > 0, torch.isinf(v)
        nan, vanished, up, down = (
            self._product(cells.to(self.wide), kind.to(self.wide)) > 0
            for cells, kind in (
                (seen, torch.isnan(v)),
                (seen & ~kept, lost),
                (seen & kept, lost & (v > 0)),
                (seen & kept, lost & (v < 0)),
            )
        )
        out = self._product(exps, v.masked_fill(~torch.isfinite(v), 0))
        out = out.masked_fill(up, np.inf).masked_fill(down, -np.inf)
        return out.masked_fill(nan | vanished | (up & down), np.nan)
