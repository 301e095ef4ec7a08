"""The door: the only place that judges shapes, dtypes and options; yields one `Problem`."""

import inspect
import math
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError, PozorError, ShapeError
from pozor.masks import Causal, Grid, Mask, Visibility, Window

FLOATS = ("float64", "float32", "float16", "bfloat16")
FARTHEST = 2**60  # tokens: a position and a window stay inside int64


@dataclass(frozen=True)
class Problem:
    """One attention call, judged. Arrays are views of what came, all of one kind ("numpy" or "torch")."""

    q: Any  # (batch, num_heads, q_len, head_dim)
    k: Any  # (batch, num_kv_heads, kv_len, head_dim)
    v: Any  # (batch, num_kv_heads, kv_len, v_head_dim), or None where only probs are asked for
    visibility: Visibility
    bias: Any  # broadcasts to (batch, num_heads, q_len, kv_len), or None
    scale: float
    softcap: float | None
    sink: Any  # (num_heads,) or None
    q_offset: np.ndarray  # int64 (batch,)
    ndim: int  # axes the caller wrote
    kind: str

    @property
    def batch(self) -> int:
        """Sequences."""
        return self.q.shape[0]

    @property
    def num_heads(self) -> int:
        """Query heads."""
        return self.q.shape[1]

    @property
    def num_kv_heads(self) -> int:
        """Key and value heads."""
        return self.k.shape[1]

    @property
    def group_size(self) -> int:
        """Query heads to a kv head: kv_head = head // group_size."""
        return self.q.shape[1] // self.k.shape[1]

    @property
    def q_len(self) -> int:
        """Queries, in tokens."""
        return self.q.shape[2]

    @property
    def kv_len(self) -> int:
        """Keys, in tokens."""
        return self.k.shape[2]

    @property
    def head_dim(self) -> int:
        """Width of q and k."""
        return self.q.shape[3]

    @property
    def v_head_dim(self) -> int:
        """Width of v and out; 0 without v."""
        return 0 if self.v is None else self.v.shape[3]

    @property
    def compute_dtype(self) -> Any:
        """What sums are kept in, as a NumPy dtype: float64 for float64, float32 for the rest."""
        return np.dtype(np.float64 if dtype_name(self.q) == "float64" else np.float32)


def problem(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    q_offset: Any = None,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    sink: Any = None,
    positions_for: str | None = None,
) -> Problem:
    """Judge a call once; v may be None. positions_for: one more option, as written, that needs q_offset."""
    arrays = {"q": q, "k": k} | ({} if v is None else {"v": v})
    kind = _one_kind(arrays)
    ndim = max(array.ndim for array in arrays.values())
    q, k, v = _four_axes(arrays)
    batch, num_heads, q_len, kv_len = q.shape[0], q.shape[1], q.shape[2], k.shape[2]
    whole = (batch, num_heads, q_len, kv_len)

    if not isinstance(causal, (bool, np.bool_)):
        raise DtypeError(f"causal must be True or False; got {causal!r}.")
    terms: list[Mask] = [Causal()] if causal else []
    needing = ["causal=True"] if causal else []
    if window is not None:
        terms.append(_window(window))
        needing.append(f"window={window!r}")
    visible_arrays, callables = [], []
    if isinstance(mask, Mask):
        terms.append(mask)
        needing += [f"mask={mask!r}"] if mask.needs_position else []
    elif _kind(mask) is not None:
        visible_arrays.append(_mask_array(mask, whole))
    elif isinstance(mask, type) and issubclass(mask, Mask):
        raise DtypeError(
            f"mask must be a mask object; got the class {mask.__name__}. Call it: {mask.__name__}(…)."
        )
    elif callable(mask):
        callables.append(_mask_mod(mask))
    elif mask is not None:
        raise DtypeError(
            f"mask must be a boolean array, a mask object or a callable; got {type(mask).__name__}. "
            "Use np.asarray(mask, dtype=bool)."
        )
    needing += [positions_for] if positions_for else []
    offsets = _offsets(q_offset, batch, q_len, kv_len, needing)
    grid = Grid(batch, q_len, kv_len, offsets)
    for term in terms:
        term.check(grid)
    device = q.device if kind == "torch" else None
    return Problem(
        q=q,
        k=k,
        v=v,
        visibility=Visibility(grid, num_heads, terms, visible_arrays, callables, device),
        bias=None if bias is None else _bias(bias, whole, kind, device),
        scale=number("scale", scale) if scale is not None else q.shape[3] ** -0.5,
        softcap=None if softcap is None else _softcap(softcap),
        sink=None if sink is None else _sink(sink, num_heads, kind, device),
        q_offset=offsets,
        ndim=ndim,
        kind=kind,
    )


def as_numpy(problem: Problem) -> Problem:
    """The same problem with NumPy arrays: zero-copy for tensors on the CPU, without gradients."""
    if problem.kind == "numpy":
        return problem
    q, k, v, bias, sink = (
        None if x is None else to_numpy(x)
        for x in (problem.q, problem.k, problem.v, problem.bias, problem.sink)
    )
    return replace(problem, q=q, k=k, v=v, bias=bias, sink=sink, kind="numpy")


def to_numpy(tensor: Any) -> np.ndarray:
    """A tensor as a NumPy array; bfloat16 becomes ml_dtypes.bfloat16."""
    if isinstance(tensor, np.ndarray):
        return tensor
    tensor = tensor.detach().cpu().resolve_neg()
    if dtype_name(tensor) != "bfloat16":
        return tensor.numpy()
    import ml_dtypes
    import torch

    return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)  # NumPy has no bfloat16 of its own


def to_torch(array: np.ndarray) -> Any:
    """A NumPy array as a CPU tensor: zero-copy where torch can hold it (writable, no negative strides)."""
    import torch

    if not array.flags.writeable or not array.dtype.isnative or any(step < 0 for step in array.strides):
        array = array.astype(array.dtype.newbyteorder("="), copy=True)
    if dtype_name(array) == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def dtype_name(array: Any) -> str:
    """'float32' for NumPy and torch alike."""
    return _name(array.dtype, isinstance(array, np.ndarray))


@lru_cache(maxsize=64)  # NumPy spells a name anew at each asking, which takes longer than a small head
def _name(dtype: Any, numpy: bool) -> str:
    return dtype.name if numpy else str(dtype).removeprefix("torch.")


def _kind(array: Any) -> str | None:
    if isinstance(array, np.ndarray):
        return "numpy"
    torch = sys.modules.get("torch")  # who holds a tensor has imported torch
    return "torch" if torch is not None and isinstance(array, torch.Tensor) else None


def _one_kind(arrays: dict[str, Any]) -> str:
    kinds = {}
    for name, array in arrays.items():
        kinds[name] = _kind(array)
        if kinds[name] is None:
            raise DtypeError(
                f"{name} must be a NumPy array or a torch tensor; got {type(array).__name__}. "
                f"Use np.asarray({name}, dtype=np.float32)."
            )
    _same("kind of array", kinds)
    dtypes = {name: dtype_name(array) for name, array in arrays.items()}
    for name, dtype in dtypes.items():
        if dtype not in FLOATS:
            raise DtypeError(
                f"{name} must be {', '.join(FLOATS[:3])} or bfloat16; got {dtype}. Convert it first."
            )
    _same("dtype", dtypes)
    if kinds["q"] == "torch":
        _same("device", {name: array.device for name, array in arrays.items()})
    return kinds["q"]


def _same(what: str, found: dict[str, Any]) -> None:
    if len(set(found.values())) > 1:
        names = [*found]
        said = ", ".join(f"{value} ({name})" for name, value in found.items())
        raise DtypeError(f"{', '.join(names[:-1])} and {names[-1]} must share one {what}; got {said}.")


def _four_axes(arrays: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Q, k, v as (batch, heads, tokens, dim) with one batch; the shapes are judged here."""
    shapes = {name: tuple(array.shape) for name, array in arrays.items()}
    for name, shape in shapes.items():
        if len(shape) not in (2, 3, 4):
            raise ShapeError(
                f"{name} must have 2, 3 or 4 axes: (tokens, head_dim), (heads, tokens, head_dim) or "
                f"(batch, heads, tokens, head_dim); got {len(shape)} in {shape}."
            )
    full = {name: (1,) * (4 - len(shape)) + shape for name, shape in shapes.items()}
    for name, shape in full.items():
        dim = "v_head_dim" if name == "v" else "head_dim"
        for axis, length in ((dim, shape[3]), ("num_heads" if name == "q" else "num_kv_heads", shape[1])):
            if length == 0:
                raise ShapeError(f"{axis} must be 1 or more; got 0 in {name} {shapes[name]}.")
    q, k, v = full["q"], full["k"], full.get("v")
    if q[3] != k[3]:
        raise ShapeError(
            f"k must share head_dim with q; got {q[3]} in q {shapes['q']} and {k[3]} in k {shapes['k']}."
        )
    if q[1] % k[1]:
        raise ShapeError(f"num_heads must be a multiple of num_kv_heads; got {q[1]} (q) and {k[1]} (k).")
    if v is not None and v[1] != k[1]:
        raise ShapeError(
            f"v must share num_kv_heads with k; got {k[1]} in k {shapes['k']} and {v[1]} in v {shapes['v']}."
        )
    if v is not None and v[2] != k[2]:
        raise ShapeError(
            f"v must share kv_len with k; got {k[2]} in k {shapes['k']} and {v[2]} in v {shapes['v']}."
        )
    batches = {shape[0] for shape in full.values()} - {1}
    if len(batches) > 1:
        said = ", ".join(f"{shape[0]} ({name})" for name, shape in full.items())
        raise ShapeError(f"the batch axes of q, k and v must be equal or 1; got {said}.")
    batch = batches.pop() if batches else 1
    views = {name: _expand(array, full[name], (batch, *full[name][1:])) for name, array in arrays.items()}
    return views["q"], views["k"], views.get("v")


def _expand(array: Any, full: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    if tuple(array.shape) == shape:
        return array
    array = array.reshape(full)
    return np.broadcast_to(array, shape) if isinstance(array, np.ndarray) else array.expand(shape)


def _window(window: Any) -> Window:
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise OptionError(
            f"window must be a pair (left, right) in tokens, None = open; got {window!r}. "
            "Use (size - 1, 0) for the last `size` tokens."
        )
    try:
        return Window(*window)
    except PozorError as error:
        raise type(error)(f"window={window!r}: {error}") from None


def _mask_mod(function: Any) -> Any:
    try:
        inspect.signature(function).bind(0, 0, 0, 0)
    except TypeError as error:
        raise DtypeError(
            f"mask must be callable as mask_mod(b, h, q_idx, kv_idx); {error} in "
            f"{getattr(function, '__name__', type(function).__name__)}."
        ) from None
    except ValueError:  # a built-in that does not tell its parameters
        pass
    return function


def _mask_array(mask: Any, whole: tuple[int, ...]) -> Any:
    if dtype_name(mask) != "bool":
        advice = (
            "Pass additive values as bias=."
            if dtype_name(mask).startswith(("float", "bfloat"))
            else "Use mask != 0 if nonzero means may attend."
        )
        raise DtypeError(f"mask must be boolean (True = may attend); got {dtype_name(mask)}. {advice}")
    return _grid_array("mask", mask, whole)


def _bias(bias: Any, whole: tuple[int, ...], kind: str, device: Any) -> Any:
    if _kind(bias) != kind:
        came = _kind(bias) or type(bias).__name__
        raise DtypeError(f"bias must be the kind of array that q is, {kind}; got {came}.")
    if dtype_name(bias) not in FLOATS:
        advice = " Pass booleans as mask=." if dtype_name(bias) == "bool" else " Convert it first."
        raise DtypeError(f"bias must be floating; got {dtype_name(bias)}.{advice}")
    _on_device("bias", bias, device)
    return _grid_array("bias", bias, whole)


def _on_device(name: str, array: Any, device: Any) -> None:
    if device is not None and array.device != device:
        raise DtypeError(f"{name} must be on the device of q, {device}; got {array.device}.")


def _grid_array(name: str, array: Any, whole: tuple[int, ...]) -> Any:
    """The array with four axes; each is 1 or that of (batch, num_heads, q_len, kv_len)."""
    shape = tuple(array.shape)
    full = (1,) * (4 - len(shape)) + shape
    if len(full) != 4 or any(length not in (1, want) for length, want in zip(full, whole)):
        raise ShapeError(
            f"{name} must broadcast to (batch, num_heads, q_len, kv_len) = {whole}; got {shape}."
        )
    return array.reshape(full)


def _offsets(q_offset: Any, batch: int, q_len: int, kv_len: int, needing: list[str]) -> np.ndarray:
    if q_offset is None:
        if needing and q_len != kv_len:
            raise OptionError(
                f"{needing[0]} is ambiguous for q_len={q_len}, kv_len={kv_len}. Give q_offset: "
                f"{kv_len - q_len} aligns the last query with the last key (FlashAttention), "
                "0 aligns the first with the first (PyTorch is_causal)."
            )
        return np.zeros(batch, dtype=np.int64)
    if type(q_offset) is int and -FARTHEST <= q_offset <= FARTHEST:
        return np.full(batch, q_offset, dtype=np.int64)
    try:
        given = to_numpy(q_offset) if _kind(q_offset) == "torch" else np.asarray(q_offset)
    except ValueError:  # lists of different lengths
        given = np.empty(0, dtype=object)
    huge = isinstance(q_offset, int) and abs(q_offset) > FARTHEST
    if given.dtype.kind not in "iu" and not huge:
        came = type(q_offset).__name__ if given.dtype.kind == "O" else given.dtype
        raise DtypeError(f"q_offset must be an integer or an integer array (batch,), in tokens; got {came}.")
    if huge or (given > FARTHEST).any() or (given < -FARTHEST).any():
        raise OptionError(f"q_offset must be from -2**60 to 2**60 tokens; got {q_offset!r}.")
    if given.shape not in ((), (batch,)):
        raise ShapeError(f"q_offset must be one integer or (batch,) = ({batch},); got shape {given.shape}.")
    return np.broadcast_to(given.astype(np.int64), (batch,))


def number(name: str, value: Any) -> float:
    """A finite float, or one sentence."""
    if getattr(value, "requires_grad", False):
        raise DtypeError(f"{name} must be a number, without a gradient; got a tensor that requires one.")
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            raise TypeError
        found = float(value)
    except (TypeError, ValueError):
        raise DtypeError(f"{name} must be a number; got {type(value).__name__}.") from None
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise OptionError(f"{name} must be finite; got {found}.")
    return found


def _softcap(softcap: Any) -> float:
    cap = number("softcap", softcap)
    if cap <= 0:
        raise OptionError(f"softcap must be greater than 0; got {cap:g}. Leave it out for no cap.")
    return cap


def _sink(sink: Any, num_heads: int, kind: str, device: Any) -> Any:
    came = _kind(sink)
    if came is None:
        raise DtypeError(f"sink must be an array (num_heads,), one logit a head; got {type(sink).__name__}.")
    if came != kind:
        raise DtypeError(f"sink must be the kind of array that q is, {kind}; got {came}.")
    if dtype_name(sink) not in FLOATS:
        raise DtypeError(f"sink must be floating; got {dtype_name(sink)}.")
    _on_device("sink", sink, device)
    if tuple(sink.shape) != (num_heads,):
        raise ShapeError(f"sink must be (num_heads,) = ({num_heads},); got {tuple(sink.shape)}.")
    return sink
