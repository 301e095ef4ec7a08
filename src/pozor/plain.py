"""The short way for calls that need no judging: arrays that agree, and causal, q_offset, scale alone.

Whatever it does not take goes through `inputs`; the kernel and every bit of the result are the same.
"""

import math
import sys
from typing import Any

import numpy as np

from pozor import threads
from pozor.backends import native
from pozor.inputs import FARTHEST

_BUFFER_TYPES = {"torch.float32": "f", "torch.float64": "d", "torch.float16": "e", "torch.bfloat16": "H"}


def plain(q: Any, k: Any, v: Any, causal: Any, scale: Any, q_offset: Any = None) -> Any | None:
    """`attention` of four axes, three or two that agree; None where a judge is needed."""
    if causal is not False and causal is not True:
        return None
    if scale is not None and (type(scale) is not float or not math.isfinite(scale)):
        return None
    if q_offset is not None and (type(q_offset) is not int or not -FARTHEST <= q_offset <= FARTHEST):
        return None
    kind = type(q)
    if kind is np.ndarray:
        if type(k) is not kind or type(v) is not kind or q.ndim < 2 or v.ndim < 2 or not q.shape[-1]:
            return None
        factor: float = q.shape[-1] ** -0.5 if scale is None else scale
        out = np.empty(q.shape[:-1] + v.shape[-1:], q.dtype)
        return out if native.plain(q, k, v, out, causal, q_offset, factor, threads.num_threads) else None
    torch = sys.modules.get("torch")  # who holds a tensor has imported torch
    if torch is None or kind is not torch.Tensor or type(k) is not kind or type(v) is not kind:
        return None
    return _of_tensors(torch, q, k, v, causal, scale, q_offset)


def _of_tensors(
    torch: Any, q: Any, k: Any, v: Any, causal: bool, scale: float | None, q_offset: int | None
) -> Any | None:
    if not (_numbers(torch, q) and _numbers(torch, k) and _numbers(torch, v)):
        return None
    if (q.requires_grad or k.requires_grad or v.requires_grad) and torch.is_grad_enabled():
        return None
    dtype, shape, width = q.dtype, q.shape, v.shape[-1:]
    letter = _BUFFER_TYPES.get(str(dtype))
    if letter is None or k.dtype is not dtype or v.dtype is not dtype or len(shape) < 2 or not width:
        return None
    if not shape[-1]:
        return None
    factor: float = shape[-1] ** -0.5 if scale is None else scale
    alike = width == shape[-1:] and q.is_contiguous()
    out = torch.empty_like(q) if alike else torch.empty((*shape[:-1], *width), dtype=dtype)
    try:
        seen = (
            (q.data_ptr(), shape, q.stride(), letter),
            (k.data_ptr(), k.shape, k.stride(), letter),
            (v.data_ptr(), v.shape, v.stride(), letter),
            (out.data_ptr(), out.shape, out.stride(), letter),
        )
    except RuntimeError:  # a tensor without numbers of its own: somebody is tracing
        return None
    return out if native.plain(*seen, causal, q_offset, factor, _threads, True) else None


def _threads() -> int:
    return min(threads.num_threads(), sys.modules["torch"].get_num_threads())


def _numbers(torch: Any, x: Any) -> bool:
    return x.is_cpu and x.layout is torch.strided and not x.is_nested and not x.is_neg()
