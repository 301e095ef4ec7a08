"""One layer of a forward: compared with the model, cut to what is kept, joined by its W_O once known."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pozor.capture import compare
from pozor.capture.call import Call
from pozor.capture.choices import Choices
from pozor.errors import CaptureError
from pozor.recording import FIDELITY_BOUNDS, Layer, MaskForm, Rows


@dataclass
class Pending:
    """A layer that is compared and waits to see which weights its outputs are handed to."""

    entry: Layer
    arrays: list[dict[str, Any]]
    values: list[Any]  # (kv heads, kv_len, v_head_dim) of each item, on the model's device
    out: Any  # (batch, tokens, heads, v_head_dim), as the model goes on with it
    dtype: str
    weights: dict[str, Any] = field(default_factory=dict)


def reproduced(
    number: int,
    tensors: tuple[Any, Any, Any],
    out: Any,
    spans: Sequence[tuple[int, int]],
    forms: Sequence[MaskForm],
    call: Call,
    choices: Choices,
) -> Pending:
    """Compute a layer again and keep it.

    Args:
        number: Of the layer in the model.
        tensors: q, k, v, each (batch, heads, tokens, …), key heads not repeated.
        out: The model's own, (batch, tokens, heads, v_head_dim).
        spans: First and one past the last position of each item; the rest is padding.
        forms: The mask of each item.
        call: Scale of the attention.
        choices: Heads and queries to keep.

    Raises:
        CaptureError: The outputs are further from the model's than the dtype allows.
    """
    q, k, v = (as_computed(tensor.detach()) for tensor in tensors)
    out = out.detach()
    dtype = str(q.dtype).removeprefix("torch.")
    heads, group = choices.heads_of(q.shape[1]), q.shape[1] // k.shape[1]
    kv_heads = tuple(head // group for head in heads)
    rows, arrays, errors = [], [], []
    for item, ((start, stop), form) in enumerate(zip(spans, forms, strict=True)):
        a, b = choices.queries_of(stop - start)
        one = q[item, :, start + a : start + b], k[item, :, start:stop], v[item, :, start:stop]
        model = out[item, start + a : start + b].transpose(0, 1)
        made = compare.reproduce(*one, model, form.from_row(a), call.scale)
        errors.append(made.error)
        arrays.append(_kept(*one, made.lse, heads, sorted(set(kv_heads))))
        rows.append(Rows(b - a, stop - start, form.from_row(a)))
    error = _judged(errors, dtype)
    sizes = q.shape[3], v.shape[3]
    entry = Layer(
        number, "self", heads, kv_heads, *sizes, call.scale, None, error, False, False, 0, tuple(rows)
    )  # fmt: skip
    values = [v[item, :, start:stop] for item, (start, stop) in enumerate(spans)]
    return Pending(entry, arrays, values, out, dtype)


def add_w_o(pending: Pending, matrix: Any, *, keep: bool) -> None:
    """Add ‖v_j W_O‖, and W_O itself where it is kept; `matrix` is (heads, v_head_dim, d_model)."""
    entry = pending.entry
    kept = matrix[list(entry.heads)]
    for held, value in zip(pending.arrays, pending.values, strict=True):
        held["v_norm"] = compare.to_numpy(compare.value_norms(value, kept, entry.kv_heads))
    pending.entry = replace(entry, has_v_norm=True, d_model=matrix.shape[2] if keep else 0)
    if keep:
        weights = kept.reshape(-1, matrix.shape[2]).to(pending.values[0].dtype)
        pending.weights["w_o"] = compare.to_numpy(weights)


def as_computed(tensor: Any) -> Any:
    """Under autocast the attention itself runs in the lower dtype."""
    import torch

    kind = tensor.device.type
    return tensor.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else tensor


def _judged(errors: Sequence[float], dtype: str) -> float:
    """The largest error of the items, refused above the bound of the dtype; NaN is above any bound."""
    error = next((e for e in errors if e != e), max(errors))
    bound = FIDELITY_BOUNDS.get(dtype)
    if bound is None:
        raise CaptureError(f"q must be one of {', '.join(FIDELITY_BOUNDS)}; got {dtype}.")
    if not error <= bound:
        raise CaptureError(
            f"pozor's outputs differ from the model's by {error:.1e} (relative), and {dtype} allows "
            f"{bound:.0e}; nothing is written."
        )
    return error


def _kept(q: Any, k: Any, v: Any, lse: Any, heads: Sequence[int], kv_heads: Sequence[int]) -> dict[str, Any]:
    """The chosen heads as NumPy arrays."""
    chosen, kv_chosen = list(heads), list(kv_heads)
    return {
        "q": compare.to_numpy(q[chosen]),
        "k": compare.to_numpy(k[kv_chosen]),
        "v": compare.to_numpy(v[kv_chosen]),
        "lse": compare.to_numpy(lse[chosen]),
    }
