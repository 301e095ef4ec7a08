"""Finding W_O by what flows: the first weight matrix that is handed the heads' outputs as they are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def watching(model: Any, handed: Callable[[Any, Any], None]) -> Iterator[None]:
    """Call `handed(module, input)` before each module of `model` that multiplies by a weight matrix."""
    hooks = [
        module.register_forward_pre_hook(lambda module, args: handed(module, args[0]) if args else None)
        for module in model.modules()
        if _multiplies(module)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _multiplies(module: Any) -> bool:
    import torch

    weight = getattr(module, "weight", None)
    return (
        isinstance(weight, torch.Tensor)
        and weight.ndim == 2
        and not isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag))
    )


def is_handed(given: Any, out: Any) -> bool:
    """Whether `given` is `out` (batch, tokens, heads, v_head_dim) with its heads joined, else unchanged."""
    import torch

    if not isinstance(given, torch.Tensor) or given.numel() != out.numel() or given.dtype != out.dtype:
        return False
    if given.shape[-1] != out.shape[-1] * out.shape[-2]:
        return False
    flat = out.reshape(given.shape)
    return given.data_ptr() == flat.data_ptr() or bool(torch.equal(given.nan_to_num(), flat.nan_to_num()))


def rows_by_head(module: Any, heads: int, v_head_dim: int) -> Any:
    """W_O as (heads, v_head_dim, d_model), or None where the module's weight is not simply that.

    Adapters (LoRA) keep the rest of their weight elsewhere; quantised weights have no plain matrix.
    """
    weight = module.weight
    if hasattr(module, "base_layer") or not weight.dtype.is_floating_point or weight.dtype.itemsize < 2:
        return None
    into_out = type(module).__name__ == "Conv1D"  # (in, out); torch's own Linear is (out, in)
    matrix = weight.detach() if into_out else weight.detach().T
    if matrix.shape[0] != heads * v_head_dim:
        return None
    return matrix.reshape(heads, v_head_dim, -1)
