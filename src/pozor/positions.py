"""Where a token stands: rotary angles, ALiBi slopes, the sinusoids of the first transformer.

Tables are worked out afresh for every call: nothing is cached, so nothing can go stale.
"""

import sys
from numbers import Real
from typing import Any, Literal

import numpy as np

from pozor.errors import DtypeError, OptionError, ShapeError

LAYOUTS = ("pairs", "halves")


def rope(
    x: Any,
    *,
    layout: Literal["pairs", "halves"],
    offset: Any = 0,
    base: float = 10_000.0,
    rotary_dim: int | None = None,
    frequencies: Any = None,
) -> Any:
    """Rotate channel pairs (a, b) of token t by the angle φ = (t + offset) · frequency of the pair.

    (a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ). Dot products of rotated queries and keys then
    depend on the difference of their positions alone.

    Args:
        x: Queries or keys, (..., tokens, head_dim), float; NumPy or torch.
        layout: Which channels make a pair; weights belong to one of the two. "pairs": (0, 1), (2, 3), … (the
            RoPE paper, original Llama, GPT-J). "halves": (i, i + rotary_dim / 2) (Hugging Face, GPT-NeoX).
        offset: Position of the first token, in tokens: an int, or integers (batch,) for x of 4 axes.
        base: frequency of pair i = base ** (−2 i / rotary_dim), radians per token.
        rotary_dim: How many leading channels are rotated, even; the rest pass through. Default head_dim.
        frequencies: Radians per token, (rotary_dim / 2,), instead of those from `base` (scaled RoPE).

    Returns:
        The rotated x: a new array of its shape, dtype and kind. Half precision is rotated in float32.

    Raises:
        OptionError: layout, offset, base, rotary_dim or frequencies cannot be.   ShapeError, DtypeError: x.

    Example:
        >>> rope(np.array([[1.0, 0.0]]), layout="pairs", offset=1, frequencies=[np.pi / 2]).round(9).tolist()
        [[0.0, 1.0]]

    Source: Su et al. 2021, RoFormer, eq. 34.
    """
    _check_rotatable(x)
    if layout not in LAYOUTS:
        raise OptionError(
            "layout must be 'pairs' (channels 0 and 1 turn together) or 'halves' (0 and rotary_dim / 2); "
            f"got {layout!r}."
        )
    head_dim = x.shape[-1]
    dim = head_dim if rotary_dim is None else rotary_dim
    if isinstance(dim, bool) or not isinstance(dim, int | np.integer) or dim % 2 or not 0 <= dim <= head_dim:
        raise OptionError(
            f"rotary_dim must be even and at most head_dim; got {dim!r} and head_dim {head_dim} "
            f"in x {tuple(x.shape)}."
        )
    dim = int(dim)
    angles = _positions(offset, x)[..., None] * _frequencies(frequencies, base, dim)  # (…, tokens, dim / 2)
    return _rotate(x, np.cos(angles), np.sin(angles), dim, layout)


def alibi_slopes(num_heads: int) -> np.ndarray:
    """The ALiBi slope of each head; the bias of a score is slope · (key position − query position) ≤ 0.

    For a power of two: 2 ** (−8 h / num_heads), h = 1 … num_heads. Otherwise the slopes of the power of two
    below, then every other slope of the power of two above (the authors' rule, BLOOM's and ggml's).

    Args:
        num_heads: Number of query heads, at least 1.

    Returns:
        (num_heads,) float64.

    Raises:
        OptionError: num_heads is not a positive int.

    Example:
        >>> np.log2(alibi_slopes(6)).tolist()
        [-2.0, -4.0, -6.0, -8.0, -1.0, -3.0]

    Source: Press et al. 2021, ALiBi, and the authors' code for the other numbers of heads.
    """
    _check_whole("num_heads", num_heads, least=1)
    num_heads = int(num_heads)
    lower = 1 << (num_heads.bit_length() - 1)
    slopes = _geometric(lower)
    return np.concatenate([slopes, _geometric(2 * lower)[::2][: num_heads - lower]])


def sinusoidal(tokens: int, d_model: int, *, offset: int = 0, base: float = 10_000.0) -> np.ndarray:
    """Sinusoidal positions: channel 2i is sin(t · base ** (−2i / d_model)), channel 2i + 1 its cosine.

    Args:
        tokens: How many positions, from 0.
        d_model: How many channels, from 1; an odd last channel is a sine.
        offset: Position of the first, in tokens.
        base: Longest wavelength over 2π, in tokens.

    Returns:
        (tokens, d_model) float64, to be added to the embeddings.

    Raises:
        OptionError: tokens, d_model, offset or base cannot be.

    Example:
        >>> sinusoidal(1, 4).tolist()
        [[0.0, 1.0, 0.0, 1.0]]

    Source: Vaswani et al. 2017, section 3.5.
    """
    _check_whole("tokens", tokens, least=0)
    _check_whole("d_model", d_model, least=1)
    _check_whole("offset", offset, least=None)
    table = np.empty((tokens, d_model))
    angles = np.arange(offset, offset + tokens)[:, None] * _powers(base, (d_model + 1) // 2, d_model)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return table


def _geometric(num_heads: int) -> np.ndarray:
    return 2.0 ** (-8.0 * np.arange(1, num_heads + 1) / num_heads)


def _powers(base: float, count: int, dim: int) -> np.ndarray:
    """base ** (−2 i / dim) for i < count."""
    if isinstance(base, bool) or not isinstance(base, Real) or not 0 < base < float("inf"):
        raise OptionError(f"base must be a finite number above 0; got {base!r}.")
    return float(base) ** (-2.0 * np.arange(count) / max(dim, 1))


def _frequencies(frequencies: Any, base: float, dim: int) -> np.ndarray:
    if frequencies is None:
        return _powers(base, dim // 2, dim)
    try:
        given = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError):
        raise DtypeError(
            f"frequencies must be numbers, one a pair of channels; got {frequencies!r}."
        ) from None
    if given.shape != (dim // 2,):
        raise ShapeError(
            f"frequencies must hold one number for each of the {dim // 2} pairs of channels; "
            f"got shape {given.shape}."
        )
    if not np.isfinite(given).all():
        raise OptionError(f"frequencies must be finite, in radians per token; got {frequencies!r}.")
    return given


def _positions(offset: Any, x: Any) -> np.ndarray:
    """Positions of the tokens, (tokens,), or (batch, 1, tokens) for an offset per batch member."""
    try:
        first = np.asarray(offset)
    except ValueError:  # rows of different lengths
        first = np.empty((0, 0))
    if first.dtype.kind not in "iu" or first.ndim > 1:
        raise OptionError(f"offset must be a whole number or whole numbers (batch,); got {offset!r}.")
    if first.ndim == 1 and (x.ndim != 4 or first.shape[0] != x.shape[0]):
        raise ShapeError(
            "offset (batch,) needs x (batch, heads, tokens, head_dim); "
            f"got offset {first.shape} and x {tuple(x.shape)}."
        )
    steps = np.arange(x.shape[-2])
    return first[:, None, None] + steps if first.ndim else int(first) + steps


def _rotate(x: Any, cos: np.ndarray, sin: np.ndarray, dim: int, layout: str) -> Any:
    """Rotate the first `dim` channels of x; cos and sin are (…, tokens, dim / 2) float64."""
    xp, cos, sin, wide = _like(x, cos, sin)
    turned = wide[..., :dim]
    if layout == "pairs":
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned[..., : dim // 2], turned[..., dim // 2 :]
    new_a, new_b = a * cos - b * sin, a * sin + b * cos
    if layout == "pairs":
        turned = xp.stack((new_a, new_b), -1).reshape(turned.shape)
    else:
        turned = xp.concatenate((new_a, new_b), -1)
    out = xp.concatenate((turned, wide[..., dim:]), -1)
    return out.astype(x.dtype) if xp is np else out.to(x.dtype)


def _like(x: Any, cos: np.ndarray, sin: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """The array module of x; cos, sin and x in the dtype to compute in (float64, or float32 for the rest)."""
    if isinstance(x, np.ndarray):
        dtype = np.float64 if x.dtype == np.float64 else np.float32
        return np, cos.astype(dtype), sin.astype(dtype), x.astype(dtype, copy=False)
    import torch

    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    on_device = [torch.as_tensor(table, dtype=dtype, device=x.device) for table in (cos, sin)]
    return torch, on_device[0], on_device[1], x.to(dtype)


def _check_rotatable(x: Any) -> None:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        dtype = str(x.dtype).removeprefix("torch.")
    elif isinstance(x, np.ndarray):
        dtype = x.dtype.name
    else:
        raise DtypeError(f"x must be a NumPy array or a torch tensor; got {type(x).__name__}.")
    if dtype not in ("float64", "float32", "float16", "bfloat16"):
        raise DtypeError(f"x must be float64, float32, float16 or bfloat16; got {dtype}.")
    if x.ndim < 2:
        raise ShapeError(f"x must be (..., tokens, head_dim); got {tuple(x.shape)}.")


def _check_whole(name: str, value: Any, *, least: int | None) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or (least is not None and value < least):
        bound = "" if least is None else f" from {least}"
        raise OptionError(f"{name} must be a whole number{bound}; got {value!r}.")
