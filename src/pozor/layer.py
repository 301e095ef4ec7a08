"""Multi-head attention as a layer with its weights, and the cache of keys and values it decodes with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.attend import attention
from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.inputs import FLOATS, dtype_name, number
from pozor.positions import LAYOUTS
from pozor.positions import rope as rotate

ROPE_OPTIONS = ("layout", "base", "rotary_dim", "frequencies")


class KVCache:
    """Keys and values of the tokens so far, of one layer and one batch of sequences.

    A step appends its new tokens and attends over what comes back. With a window nothing is let go while
    there are at most left + 1 tokens; after that exactly the last left + 1 stay. A step copies what it keeps.

    Args:
        window: (left, 0) in tokens, as in `attention`; None keeps everything.

    Attributes:
        k, v: (…, num_kv_heads, kept, head_dim or v_head_dim), or None before the first append.
        length: Tokens appended so far, kept or not.
        q_offset: Place of the last append's first token among the keys that this append returned.

    Raises:
        OptionError: window is not (left, 0).

    Example:
        >>> cache = KVCache(window=(2, 0))
        >>> for token in (10.0, 11.0, 12.0, 13.0):
        ...     k, v = cache.append(np.array([[token]]), np.array([[token]]))
        >>> cache.k.ravel().tolist(), cache.positions.tolist(), cache.q_offset
        ([11.0, 12.0, 13.0], [1, 2, 3], 2)
    """

    def __init__(self, *, window: tuple[int | None, int] | None = None):
        self.window = None if window is None else _window(window)
        self.k: Any = None
        self.v: Any = None
        self.length = 0
        self.q_offset = 0

    @property
    def positions(self) -> np.ndarray:
        """Positions of the kept keys, int64 (kept,)."""
        return np.arange(self.dropped, self.length)

    @property
    def dropped(self) -> int:
        """How many of the first tokens were let go."""
        return self.length - (0 if self.k is None else self.k.shape[-2])

    def append(self, k: Any, v: Any) -> tuple[Any, Any]:
        """Add new tokens; gives the keys and values that they may have to see, their own the last.

        Args:
            k: New keys, (…, num_kv_heads, tokens, head_dim), of 2, 3 or 4 axes.
            v: New values, (…, num_kv_heads, tokens, v_head_dim).

        Returns:
            (k, v) to attend over, with q_offset=cache.q_offset and window=cache.window.

        Raises:
            ShapeError, DtypeError: k and v disagree, or do not fit what is kept.
        """
        self._check(k, v)
        new = k.shape[-2]
        k, v = (x if old is None else _joined(old, x) for old, x in ((self.k, k), (self.v, v)))
        self.k, self.v = k, v
        self.length += new
        if self.window is not None and self.window[0] is not None:
            left = self.window[0]
            self.k, self.v = (_last(x, left + 1) for x in (k, v))
            k, v = (_last(x, left + new) for x in (k, v))  # the first new token sees `left` before it
        self.q_offset = k.shape[-2] - new
        return k, v

    def _check(self, k: Any, v: Any) -> None:
        _floating("k", k)
        _floating("v", v)
        if k.ndim not in (2, 3, 4) or v.ndim != k.ndim or k.shape[:-1] != v.shape[:-1]:
            raise ShapeError(
                "k and v must be (…, num_kv_heads, tokens, head_dim) and share all axes but the last; "
                f"got {tuple(k.shape)} and {tuple(v.shape)}."
            )
        for name, x, old in (("k", k, self.k), ("v", v, self.v)):
            if old is None:
                continue
            if type(x) is not type(old) or x.dtype != old.dtype:
                raise DtypeError(
                    f"{name} must be the kind and dtype of what the cache keeps; got {type(x).__name__} "
                    f"{x.dtype} and {type(old).__name__} {old.dtype}."
                )
            if x.ndim != old.ndim or x.shape[:-2] != old.shape[:-2] or x.shape[-1] != old.shape[-1]:
                raise ShapeError(
                    f"{name} must fit what the cache keeps in all axes but tokens; got {tuple(x.shape)} "
                    f"and {tuple(old.shape)}."
                )


@dataclass(frozen=True)
class LayerSteps:
    """What a layer works out, in order; without the batch axis where x has none.

    `xq`, `xk`, `xv` are x W + b, (…, tokens, heads · head_dim), not split yet. `k` and `v` are those attended
    over: with a cache also those of earlier tokens.
    """

    x: Any  # (…, tokens, d_model)
    xq: Any
    xk: Any
    xv: Any
    q: Any  # (…, num_heads, tokens, head_dim), split and rotated
    k: Any  # (…, num_kv_heads, kv_len, head_dim), split and rotated
    v: Any  # (…, num_kv_heads, kv_len, v_head_dim)
    out: Any  # (…, num_heads, tokens, v_head_dim), of each head
    joined: Any  # (…, tokens, num_heads · v_head_dim)
    projected: Any  # (…, tokens, d_out) = joined W_O + b_o
    y: Any  # projected, plus x if the layer has a residual
    q_offset: int  # position of the first query among the keys attended over


class MultiHeadAttention:
    """y = concat(heads) W_O (+ x), each head softmax(scale · q kᵀ) v over q, k, v = x W_Q, x W_K, x W_V.

    Weights multiply from the right, x @ w, so they are (in, out): transpose those of torch.nn.Linear. Head h
    is columns h · head_dim … of w_q; it uses kv head h // (num_heads / num_kv_heads).

    Args:
        w_q: (d_model, num_heads · head_dim).   w_k: (d_model, num_kv_heads · head_dim).
        w_v: (d_model, num_kv_heads · v_head_dim).   w_o: (num_heads · v_head_dim, d_out).
        num_heads: Query heads.   num_kv_heads: Heads of k and v; default num_heads.
        b_q, b_k, b_v, b_o: Biases added to the four products, (out,); None for none.
        causal: Whether a token sees only itself and those before it.
        rope: Turn q and k by their positions: "pairs", "halves", or the options of `pozor.rope` as a mapping,
            such as {"layout": "halves", "base": 100_000.0}. None for none.
        residual: Whether x is added to the result.
        scale: Multiplies q·k; default head_dim ** -0.5.

    Attributes:
        All of the above under their names (`rope` as a dict), and d_model, head_dim, v_head_dim.

    Raises:
        ShapeError, DtypeError, OptionError: The weights disagree, in one sentence.

    Example:
        >>> eye = np.eye(2)
        >>> layer = MultiHeadAttention(eye, eye, eye, eye, num_heads=1, causal=True, residual=True)
        >>> layer(np.array([[1.0, 0.0]])).tolist()        # a lone token attends to itself: x W_V W_O + x
        [[2.0, 0.0]]
    """

    def __init__(
        self,
        w_q: Any,
        w_k: Any,
        w_v: Any,
        w_o: Any,
        *,
        num_heads: int,
        num_kv_heads: int | None = None,
        b_q: Any = None,
        b_k: Any = None,
        b_v: Any = None,
        b_o: Any = None,
        causal: bool = False,
        rope: str | Mapping[str, Any] | None = None,
        residual: bool = False,
        scale: float | None = None,
    ):
        self.w_q, self.w_k, self.w_v, self.w_o = w_q, w_k, w_v, w_o
        self.b_q, self.b_k, self.b_v, self.b_o = b_q, b_k, b_v, b_o
        self.num_heads = _count("num_heads", num_heads)
        self.num_kv_heads = self.num_heads if num_kv_heads is None else _count("num_kv_heads", num_kv_heads)
        self.causal, self.residual = _switch("causal", causal), _switch("residual", residual)
        self.scale = None if scale is None else number("scale", scale)
        self.rope = _rope_options(rope)
        if self.num_heads % self.num_kv_heads:
            raise ShapeError(
                f"num_heads must be a multiple of num_kv_heads; got {num_heads} and {self.num_kv_heads}."
            )
        self._check_arrays()
        self.d_model = w_q.shape[0]
        self.head_dim = _per_head("w_q", w_q, 1, "num_heads", self.num_heads)
        self.v_head_dim = _per_head("w_v", w_v, 1, "num_kv_heads", self.num_kv_heads)
        self._check_widths()

    def __call__(self, x: Any, *, mask: Any = None, cache: KVCache | None = None) -> Any:
        """The layer's result for each token.

        Args:
            x: (tokens, d_model) or (batch, tokens, d_model), kind and dtype of the weights.
            mask: As in `attention`, ANDed with `causal`: over the keys attended over, so with a cache over
                those it returns.
            cache: Keys and values of the tokens before x; x's own are appended. Decoding piece by piece
                gives what one pass over the whole gives.

        Returns:
            (tokens, d_out) or (batch, tokens, d_out), kind and dtype of x.

        Raises:
            ShapeError, DtypeError: x does not fit the weights.
            OptionError: A cache where a token would have to see later ones, or a mask over keys let go.
        """
        return self.steps(x, mask=mask, cache=cache).y

    def steps(self, x: Any, *, mask: Any = None, cache: KVCache | None = None) -> LayerSteps:
        """Everything between x and the result, as a record; arguments as in a call."""
        self._check_call(x, mask, cache)
        xq, xk, xv = (
            _affine(x, w, b) for w, b in ((self.w_q, self.b_q), (self.w_k, self.b_k), (self.w_v, self.b_v))
        )
        q = _split(xq, self.num_heads)
        k, v = _split(xk, self.num_kv_heads), _split(xv, self.num_kv_heads)
        if self.rope is not None:
            first = 0 if cache is None else cache.length
            q, k = (rotate(part, offset=first, **self.rope) for part in (q, k))
        window, q_offset = None, 0
        if cache is not None:
            k, v = cache.append(k, v)
            window, q_offset = cache.window, cache.q_offset
        out = attention(
            q, k, v, causal=self.causal, window=window, q_offset=q_offset, mask=mask, scale=self.scale
        )
        joined = out.swapaxes(-2, -3).reshape((*x.shape[:-1], self.num_heads * self.v_head_dim))
        projected = _affine(joined, self.w_o, self.b_o)
        y = projected + x if self.residual else projected
        return LayerSteps(x, xq, xk, xv, q, k, v, out, joined, projected, y, q_offset)

    def _check_arrays(self) -> None:
        biases = [name for name in ("b_q", "b_k", "b_v", "b_o") if getattr(self, name) is not None]
        for name in ("w_q", "w_k", "w_v", "w_o", *biases):
            array = getattr(self, name)
            _floating(name, array)
            axes, form = (2, "(in, out)") if name.startswith("w_") else (1, "(out,)")
            if array.ndim != axes:
                raise ShapeError(f"{name} must be {form}; got {tuple(array.shape)}.")
            _same_kind(name, array, "w_q", self.w_q)

    def _check_widths(self) -> None:
        kv = self.num_kv_heads
        for name, axis, want, words in (
            ("w_k", 0, self.d_model, "d_model, as w_q has it"),
            ("w_v", 0, self.d_model, "d_model, as w_q has it"),
            ("w_k", 1, kv * self.head_dim, f"num_kv_heads · head_dim = {kv} · {self.head_dim}"),
            ("w_o", 0, self.num_heads * self.v_head_dim, "num_heads · v_head_dim"),
        ):
            array = getattr(self, name)
            if array.shape[axis] != want:
                raise ShapeError(
                    f"axis {axis} of {name} must be {want} ({words}); got {tuple(array.shape)}. "
                    "Weights are (in, out), for x @ w."
                )
        if self.residual and self.w_o.shape[1] != self.d_model:
            raise ShapeError(
                f"residual=True needs w_o (…, d_model={self.d_model}); got {tuple(self.w_o.shape)}."
            )
        for letter in "qkvo":
            weight, bias = getattr(self, f"w_{letter}"), getattr(self, f"b_{letter}")
            if bias is not None and bias.shape[0] != weight.shape[1]:
                raise ShapeError(
                    f"b_{letter} must be ({weight.shape[1]},) to fit w_{letter}; got {tuple(bias.shape)}."
                )

    def _check_call(self, x: Any, mask: Any, cache: KVCache | None) -> None:
        _floating("x", x)
        if x.ndim not in (2, 3) or x.shape[-1] != self.d_model:
            raise ShapeError(
                f"x must be (tokens, d_model) or (batch, tokens, d_model) with d_model={self.d_model}; "
                f"got {tuple(x.shape)}."
            )
        _same_kind("x", x, "w_q", self.w_q)
        if cache is None:
            return
        if not isinstance(cache, KVCache):
            raise DtypeError(f"cache must be a KVCache; got {type(cache).__name__}.")
        if not self.causal and mask is None and cache.window is None:
            raise OptionError(
                "cache needs causal=True, a window or a mask: without one, earlier tokens would have to see "
                "later ones."
            )
        if mask is not None and cache.dropped:
            raise OptionError(
                f"mask does not know that the cache has let go of {cache.dropped} keys. Leave mask out, or "
                "give the cache no window."
            )

    def __repr__(self) -> str:
        heads = f"{self.num_heads} heads" + (
            "" if self.num_kv_heads == self.num_heads else f", {self.num_kv_heads} kv heads"
        )
        return f"<MultiHeadAttention: d_model {self.d_model}, {heads} of {self.head_dim}>"


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    """x W + b; half precision of NumPy is multiplied in float32, as torch does."""
    if isinstance(x, np.ndarray) and x.dtype.itemsize == 2:
        product = x.astype(np.float32) @ weight.astype(np.float32)
        return (product if bias is None else product + bias.astype(np.float32)).astype(x.dtype)
    product = x @ weight
    return product if bias is None else product + bias


def _split(x: Any, heads: int) -> Any:
    """(…, tokens, heads · width) to (…, heads, tokens, width)."""
    return x.reshape((*x.shape[:-1], heads, x.shape[-1] // heads)).swapaxes(-2, -3)


def _joined(old: Any, new: Any) -> Any:
    if isinstance(new, np.ndarray):
        return np.concatenate((old, new), axis=-2)
    import torch

    return torch.cat((old, new), dim=-2)


def _last(x: Any, count: int) -> Any:
    return x[..., max(x.shape[-2] - count, 0) :, :]


def _window(window: Any) -> tuple[int | None, int]:
    if isinstance(window, tuple | list) and len(window) == 2 and window[1] == 0:
        left = window[0]
        if left is None or (isinstance(left, int) and not isinstance(left, bool) and left >= 0):
            return left, 0
    raise OptionError(
        f"window of a cache must be (left, 0), left in tokens or None; got {window!r}. "
        "Use (size - 1, 0) for the last `size` tokens."
    )


def _rope_options(rope: Any) -> dict[str, Any] | None:
    if rope is None:
        return None
    options = {"layout": rope} if isinstance(rope, str) else dict(rope) if isinstance(rope, Mapping) else {}
    if options.get("layout") not in LAYOUTS or not set(options) <= set(ROPE_OPTIONS):
        raise OptionError(
            "rope must be 'pairs', 'halves', or a mapping of layout and, if need be, "
            f"{', '.join(ROPE_OPTIONS[1:])}; got {rope!r}."
        )
    return options


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise OptionError(f"{name} must be a whole number from 1; got {value!r}.")
    return int(value)


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise DtypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def _per_head(name: str, weight: Any, axis: int, word: str, heads: int) -> int:
    width = weight.shape[axis]
    if not width or width % heads:
        raise ShapeError(
            f"axis {axis} of {name} must be a multiple of {word}={heads}; got {tuple(weight.shape)}. "
            "Weights are (in, out), for x @ w."
        )
    return width // heads


def _floating(name: str, array: Any) -> None:
    dtype = dtype_name(array) if hasattr(array, "dtype") and hasattr(array, "shape") else type(array).__name__
    if dtype not in FLOATS:
        raise DtypeError(f"{name} must be a floating NumPy array or torch tensor; got {dtype}.")


def _same_kind(name: str, array: Any, other: str, want: Any) -> None:
    numpy_too = isinstance(array, np.ndarray) == isinstance(want, np.ndarray)
    if not numpy_too or dtype_name(array) != dtype_name(want):
        kinds = ("NumPy" if isinstance(x, np.ndarray) else "torch" for x in (array, want))
        mine, theirs = kinds
        raise DtypeError(
            f"{name} must share kind and dtype with {other}; got {mine} {dtype_name(array)} and "
            f"{theirs} {dtype_name(want)}."
        )
