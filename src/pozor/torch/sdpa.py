"""torch's scaled_dot_product_attention, by its own signature and meaning, and a block that swaps it in."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.plain import plain
from pozor.torch.operator import attention

_TORCHS = torch.nn.functional.scaled_dot_product_attention


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention, computed by pozor.

    is_causal is aligned at the top left, as torch does; a row that may attend nothing gives 0; what a mask
    hides cannot reach the result even if it is NaN. With gradients it is backend="torch" that computes.

    Args:
        query: (…, q_len, head_dim), float.
        key: (…, kv_len, head_dim); the leading axes broadcast with those of query.
        value: (…, kv_len, v_head_dim).
        attn_mask: Boolean (True = may attend) or floats that are added; broadcasts to (…, q_len, kv_len).
        dropout_p: Must be 0.
        is_causal: Whether key j is hidden from query i < j.
        scale: Multiplies q·k; head_dim ** -0.5 if left out.
        enable_gqa: Whether fewer heads of key and value, on axis -3, each serve a group of query heads.
    Returns:
        out, (…, q_len, v_head_dim), dtype of query.
    Raises:
        ShapeError, DtypeError, OptionError: The arguments disagree, or dropout_p > 0.
    Example:
        >>> import torch, pozor.torch
        >>> x, v = torch.zeros(1, 1, 2, 4), torch.tensor([[[[1.0], [3.0]]]])
        >>> pozor.torch.scaled_dot_product_attention(x, x, v, is_causal=True).ravel().tolist()
        [1.0, 2.0]
    """
    usual = attn_mask is None and not dropout_p and query.shape[:-2] == key.shape[:-2]
    if usual and not torch.compiler.is_compiling() and not torch.is_autocast_enabled("cpu"):
        out = plain(query, key, value, is_causal, scale, 0)  # aligned at the top left
        if out is not None:
            return out
    if dropout_p > 0:
        raise OptionError(
            f"dropout_p must be 0, pozor drops nothing; got {dropout_p}. "
            "Call model.eval(), or use torch's own."
        )
    query, key, value = _in_autocast(query, key, value)
    named = {"query": query, "key": key, "value": value}
    for name, tensor in named.items():
        if tensor.dim() < 2:
            raise ShapeError(f"{name} must have 2 axes or more, (…, tokens, dim); got {tuple(tensor.shape)}.")
        if tensor.is_nested or tensor.layout != torch.strided:
            raise DtypeError(
                f"{name} must be an ordinary dense tensor; got a nested or sparse one. "
                "Pad it, and pass attn_mask."
            )
    lead = _lead(query, key, value, enable_gqa)
    q, k, v = _with_batch_and_heads(query, key, value, lead, enable_gqa)
    mask = bias = None
    if attn_mask is not None:
        given = _mask(attn_mask, query, (*lead, query.shape[-2], key.shape[-2]))
        mask, bias = (given, None) if attn_mask.dtype == torch.bool else (None, given)
    out = attention(q, k, v, causal=is_causal, q_offset=0, mask=mask, bias=bias, scale=scale)
    return out if query.dim() == out.dim() else out.reshape(*lead, query.shape[-2], value.shape[-1])


def _in_autocast(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """Under autocast torch takes SDPA's inputs to the lower precision, float64 apart."""
    device = tensors[0].device.type
    if not torch.is_autocast_enabled(device):
        return list(tensors)
    dtype = torch.get_autocast_dtype(device)
    return [x if x.dtype == torch.float64 else x.to(dtype) for x in tensors]


def _lead(query: Any, key: Any, value: Any, enable_gqa: bool) -> tuple[int, ...]:
    """The axes before (tokens, dim) of the result."""
    leads = [x.shape[:-2] for x in (query, key, value)]
    if leads[0] == leads[1] == leads[2]:
        return tuple(leads[0])
    if enable_gqa:
        if min(len(lead) for lead in leads) < 1:
            raise ShapeError("enable_gqa=True needs an axis of heads, (…, heads, tokens, dim); got 2 axes.")
        heads = [lead[-1] for lead in leads]
        for name, count in zip(("key", "value"), heads[1:]):
            if count == 0 or heads[0] % count:
                raise ShapeError(
                    f"the heads of query must be a multiple of those of {name}; got {heads[0]} and {count}."
                )
        leads = [(*lead[:-1], heads[0]) for lead in leads]
    try:
        return tuple(torch.broadcast_shapes(*leads))
    except RuntimeError:
        said = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ShapeError(
            f"the axes of query, key and value before the last two must broadcast; got {said}."
        ) from None


def _with_batch_and_heads(
    query: Any, key: Any, value: Any, lead: tuple[int, ...], enable_gqa: bool
) -> tuple[Any, Any, Any]:
    """Views of four axes; one kv head where all queries share it, groups where enable_gqa says so."""
    heads = lead[-1] if lead else 1
    if query.dim() == 4 and query.shape[:2] == lead and key.shape[:2] == value.shape[:2] == lead:
        return query, key, value
    tensors = [_four(x, lead) for x in (query, key, value)]
    q, k, v = (
        x.expand(-1, heads, -1, -1) if x.shape[1] == 1 and i == 0 else x for i, x in enumerate(tensors)
    )
    if k.shape[1] != v.shape[1]:  # groups of k and v differ: both get a head for every query head
        grow = (lambda x: x.repeat_interleave(heads // x.shape[1], 1)) if enable_gqa else _each_head(heads)
        k, v = grow(k), grow(v)
    return q, k, v


def _each_head(heads: int) -> Any:
    return lambda x: x.expand(-1, heads, -1, -1)


def _four(x: Any, lead: tuple[int, ...]) -> Any:
    """(batch or 1, heads or 1, tokens, dim); more leading axes than two become one."""
    while x.dim() < max(len(lead) + 2, 4):
        x = x.unsqueeze(0)
    if x.dim() == 4:
        return x
    if any(size != 1 for size in x.shape[:-3]):
        x = x.expand(*lead[:-1], *x.shape[-3:])
    return x.flatten(0, -4)


def _mask(attn_mask: Any, query: Any, whole: tuple[int, ...]) -> Any:
    """The mask with four axes, each 1 or the whole's."""
    allowed = (torch.bool, query.dtype, torch.float32)
    if attn_mask.dtype not in allowed and not torch.is_autocast_enabled(query.device.type):
        raise DtypeError(
            f"attn_mask must be bool, float32 or the dtype of query, {query.dtype}; got {attn_mask.dtype}."
        )
    shape = tuple(attn_mask.shape)
    fits = len(shape) <= len(whole) and all(size in (1, want) for size, want in zip(shape[::-1], whole[::-1]))
    if not fits:
        raise ShapeError(f"attn_mask must broadcast to (…, q_len, kv_len) = {whole}; got {shape}.")
    return _four(attn_mask, whole[:-2])


class _Replacing(TorchFunctionMode):
    """Hands calls of torch's SDPA to ours, by whatever name they came."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Called by torch for each of its functions in this thread; off while it runs itself."""
        if func is _TORCHS:
            return scaled_dot_product_attention(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


@contextmanager
def replace_sdpa() -> Iterator[None]:
    """In this block, and in this thread only, torch's scaled_dot_product_attention is pozor's.

    It reaches every caller, also those that imported the function by name before. Nothing is patched: other
    threads, and the code after the block however it was left, see torch's own. Blocks nest. Each torch
    function called in the block costs about a microsecond more.

    Returns:
        A context manager.
    Example:
        >>> import torch, pozor.torch
        >>> x, v = torch.zeros(1, 1, 2, 4), torch.tensor([[[[1.0], [3.0]]]])
        >>> with pozor.torch.replace_sdpa():
        ...     torch.nn.functional.scaled_dot_product_attention(x, x, v).ravel().tolist()
        [2.0, 2.0]
    """
    with _Replacing():
        yield
