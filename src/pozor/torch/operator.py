"""`torch.ops.pozor.attention`: pozor's attention as an operator that torch.compile keeps whole.

Called outside a graph, `attention` goes straight to the front door: an operator costs some microseconds.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from pozor import attend
from pozor.errors import BackendUnavailable, DtypeError, OptionError

_FORWARD_ONLY = ("reference", "blocked", "native")
_GIVEN = 6  # q, k, v, mask, bias, sink


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    q_offset: int | None = None,
    mask: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sink: torch.Tensor | None = None,
    backend: str = "auto",
) -> torch.Tensor:
    """`pozor.attention` of tensors that torch.compile traces without a graph break.

    Inside a graph it is one call of `torch.ops.pozor.attention`; outside, it is `pozor.attention`.
    With gradients "auto" means "torch"; the other backends compute forward and refuse in the backward.

    Args:
        q: Queries, (batch, num_heads, q_len, head_dim); the arguments are those of `pozor.attention`.
        k: Keys.
        v: Values.
        causal: As there.
        window: As there.
        q_offset: One number of tokens.
        mask: A boolean tensor; no mask object, no callable.
        bias: As there.
        scale: As there.
        softcap: As there.
        sink: As there.
        backend: As there.
    Returns:
        out, (batch, num_heads, q_len, v_head_dim), dtype and device of q.
    Raises:
        The errors of `pozor.attention`.   BackendUnavailable: In the backward of a backend without gradients.
    Example:
        >>> import torch, pozor.torch
        >>> x, v = torch.zeros(1, 1, 2, 4), torch.tensor([[[[1.0], [3.0]]]])
        >>> pozor.torch.attention(x, x, v, causal=True).ravel().tolist()
        [1.0, 2.0]
    """
    differentiable = torch.is_grad_enabled() and any(
        x is not None and x.requires_grad for x in (q, k, v, bias, sink)
    )
    if not _in_a_graph(q) and not (differentiable and backend in _FORWARD_ONLY):
        return attend.attention(
            q,
            k,
            v,
            causal=causal,
            window=window,
            q_offset=q_offset,
            mask=mask,
            bias=bias,
            scale=scale,
            softcap=softcap,
            sink=sink,
            backend=backend,
        )
    _check(window, q_offset, mask)
    left, right = (None, None) if window is None else window
    backend = "torch" if differentiable and backend == "auto" else backend
    return torch.ops.pozor.attention(
        q, k, v, mask, bias, sink, causal, window is not None, left, right, q_offset, scale, softcap, backend
    )


def _in_a_graph(q: Any) -> bool:
    """Whether somebody is tracing: q is then no tensor with numbers in it."""
    return torch.compiler.is_compiling() or type(q) not in (torch.Tensor, torch.nn.Parameter)


def _check(window: Any, q_offset: Any, mask: Any) -> None:
    """What the operator's own signature would refuse without a word of ours."""
    if window is not None and (not isinstance(window, (tuple, list)) or len(window) != 2):
        raise OptionError(
            f"window must be a pair (left, right) in tokens, None = open; got {window!r}. "
            "Use (size - 1, 0) for the last `size` tokens."
        )
    if mask is not None and not isinstance(mask, torch.Tensor):
        raise DtypeError(
            f"mask must be a boolean tensor inside a graph; got {type(mask).__name__}. "
            "Use causal= and window=, or call pozor.attention outside the graph."
        )
    if isinstance(q_offset, torch.Tensor):
        raise DtypeError(
            "q_offset must be one integer inside a graph; got a tensor. "
            "Use mask=, or call pozor.attention outside the graph."
        )


@torch.library.custom_op("pozor::attention", mutates_args=())
def _operator(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    bias: torch.Tensor | None,
    sink: torch.Tensor | None,
    causal: bool,
    windowed: bool,
    left: int | None,
    right: int | None,
    q_offset: int | None,
    scale: float | None,
    softcap: float | None,
    backend: str,
) -> torch.Tensor:
    # below autograd: what "auto" means where gradients are wanted was decided before
    given = q, k, v, mask, bias, sink
    return _call(given, causal, windowed, left, right, q_offset, scale, softcap, backend).contiguous()


def _call(
    given: Sequence[torch.Tensor | None],
    causal: bool,
    windowed: bool,
    left: int | None,
    right: int | None,
    q_offset: int | None,
    scale: float | None,
    softcap: float | None,
    backend: str,
) -> torch.Tensor:
    q, k, v, mask, bias, sink = given
    return attend.attention(
        q,
        k,
        v,
        causal=causal,
        window=(left, right) if windowed else None,
        q_offset=q_offset,
        mask=mask,
        bias=bias,
        scale=scale,
        softcap=softcap,
        sink=sink,
        backend=backend,
    )


@_operator.register_fake
def _shape_of_out(q: Any, k: Any, v: Any, *options: Any) -> Any:
    batch = torch.broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3])
    return q.new_empty((*batch, *q.shape[-3:-1], v.shape[-1]))


@torch.library.custom_op("pozor::attention_backward", mutates_args=())
def _backward_operator(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    bias: torch.Tensor | None,
    sink: torch.Tensor | None,
    causal: bool,
    windowed: bool,
    left: int | None,
    right: int | None,
    q_offset: int | None,
    scale: float | None,
    softcap: float | None,
    backend: str,
    needed: Sequence[bool],
) -> list[torch.Tensor]:
    """Gradients of those of q, k, v, mask, bias, sink that are needed; the others are empty."""
    if backend in _FORWARD_ONLY:
        raise BackendUnavailable(
            f"backend={backend!r} gives no gradients, and the backward pass asks for them. "
            "Use backend='torch' or 'auto', or call inside torch.no_grad()."
        )
    options = causal, windowed, left, right, q_offset, scale, softcap, backend
    # in a thread of its own: inside an operator torch's autograd is switched off
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_gradients, grad, (q, k, v, mask, bias, sink), options, needed).result()


def _gradients(grad: Any, arrays: Any, options: Any, needed: Sequence[bool]) -> list[torch.Tensor]:
    given = [None if x is None else x.detach() for x in arrays]
    wanted = [x.requires_grad_() for x, need in zip(given, needed) if need and x is not None]
    found = iter(torch.autograd.grad(_call(given, *options), wanted, grad))
    # copied: an operator gives no view of what it was given, and the strides that its shapes promise
    return [next(found).contiguous().clone() if need else grad.new_empty(0) for need in needed]


@_backward_operator.register_fake
def _shapes_of_gradients(grad: Any, *given: Any) -> Any:
    arrays, needed = given[:_GIVEN], given[-1]
    return [
        x.new_empty(x.shape) if need and x is not None else grad.new_empty(0)
        for x, need in zip(arrays, needed)
    ]


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:_GIVEN])
    ctx.options = inputs[_GIVEN:]


def _backward(ctx: Any, grad: Any) -> Any:
    needed = [bool(need) for need in ctx.needs_input_grad[:_GIVEN]]
    grads = torch.ops.pozor.attention_backward(grad.contiguous(), *ctx.saved_tensors, *ctx.options, needed)
    return (*(g if need else None for g, need in zip(grads, needed)), *(None for _ in ctx.options))


_operator.register_autograd(_backward, setup_context=_save)
