"""Exact attention in torch operations, on any device, under autograd: some rows at a time, all their keys.

Memory O(q_len + kv_len): the backward pass computes each chunk of rows again. torch's own fused SDPA serves
where out alone is asked for and nothing is hidden, or a causal mask hides what was checked to be finite.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from pozor import inputs
from pozor.backends.torch.rows import Chunk, head_panels, row_chunks
from pozor.backends.torch.seen import Seen
from pozor.inputs import Problem
from pozor.masks import Causal
from pozor.observables.want import Observation, Want


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
    finite = all(bool(torch.isfinite(x).all()) for x in (problem.q, problem.k))
    given = (problem.q, problem.k, problem.v, problem.bias, problem.sink)
    out, row_lse = _Rows.apply(problem, finite, *given)  # pyright: ignore[reportGeneralTypeIssues]
    seen = Seen(problem, want, _wide(problem))
    with torch.no_grad():
        for chunk in _chunks(problem, finite):
            seen.add(chunk, row_lse[chunk.b, chunk.heads, chunk.rows])
    return seen.observation(out, row_lse)


def _wide(problem: Problem) -> Any:
    return torch.float64 if problem.q.dtype == torch.float64 else torch.float32


def _chunks(problem: Problem, finite: bool) -> Iterator[Chunk]:
    for b in range(problem.batch):
        for heads in head_panels(problem):
            for rows, spans in row_chunks(problem, b, heads):
                yield Chunk(problem, b, heads, rows, spans, _wide(problem), finite)


class _Rows(torch.autograd.Function):
    """(out, lse); no probs are kept for the backward pass, each chunk is computed again."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, finite: bool, *given: Any) -> Any:
        """Chunk by chunk into arrays made before: nothing of a chunk outlives it."""
        ctx.problem, ctx.finite = replace(problem, q=None, k=None, v=None, bias=None, sink=None), finite
        ctx.save_for_backward(*given)
        shape = (problem.batch, problem.num_heads, problem.q_len)
        out = problem.q.new_zeros((*shape, problem.v_head_dim))
        row_lse = problem.q.new_zeros(shape, dtype=_wide(problem))
        for chunk in _chunks(problem, finite):
            here = (chunk.b, chunk.heads, chunk.rows)
            out[here], row_lse[here] = chunk.attend(*chunk.pieces())
        return out, row_lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Gradients of q, k, v, bias and sink, summed in the compute dtype."""
        (d_out, d_lse), given = grad_outputs, ctx.saved_tensors
        q, k, v, bias, sink = given
        problem, needed = replace(ctx.problem, q=q, k=k, v=v, bias=bias, sink=sink), ctx.needs_input_grad[2:]
        wide = _wide(problem)
        whole = [torch.zeros_like(x, dtype=wide) if need else None for x, need in zip(given, needed)]
        with torch.autocast(q.device.type, enabled=False):
            for chunk in _chunks(problem, ctx.finite):
                here = (chunk.b, chunk.heads, chunk.rows)
                leaves = [None if x is None else x.detach() for x in chunk.pieces()]
                asked = [leaf for leaf, need in zip(leaves, needed) if need and leaf is not None]
                wanted = [leaf.requires_grad_() for leaf in asked]
                with torch.enable_grad():
                    found = chunk.attend(*leaves)
                grads = iter(
                    torch.autograd.grad(
                        found, wanted, (d_out[here].to(wide), d_lse[here].to(wide)), allow_unused=True
                    )
                )
                chunk.collect(whole, [next(grads) if need else None for need in needed])
        return None, None, *(None if g is None else g.to(x.dtype) for g, x in zip(whole, given))
