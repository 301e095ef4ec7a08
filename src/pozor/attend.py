"""The front door: `attention`, `observe`, `merge`; inputs judged, backend chosen, axes and kind restored."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib import import_module, util
from typing import Any

import numpy as np

from pozor import inputs, threads
from pozor.backends.blocked import block_logits as _block_logits
from pozor.errors import BackendUnavailable, DtypeError, OptionError, ShapeError
from pozor.inputs import Problem
from pozor.observables.want import Observation, Want
from pozor.plain import plain

__all__ = ["Observation", "Want", "attention", "available_backends", "block_logits", "merge", "observe"]

BACKENDS = ("reference", "blocked", "torch", "native")
_WITHOUT_GRADIENT = ("reference", "blocked")


def attention(
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
    backend: str = "auto",
) -> Any:
    """Exact attention: out = softmax(scale · q kᵀ + bias) v, over the keys the mask allows.

    A query that may see nothing gives out = 0; what is hidden cannot reach it, NaN included. Memory grows
    with q_len + kv_len, never with their product. Axes: (tokens, head_dim), (heads, tokens, head_dim)
    or (batch, heads, tokens, head_dim); any strides; batch axes of 1 broadcast.

    Args:
        q: Queries, (batch, num_heads, q_len, head_dim); NumPy or torch; float64, 32, 16 or bfloat16.
        k: Keys, (batch, num_kv_heads, kv_len, head_dim), dtype of q; head h uses kv head h // group_size.
        v: Values, (batch, num_kv_heads, kv_len, v_head_dim), dtype of q.
        causal: Whether key j is hidden from queries whose position, i + q_offset, is before j.
        window: (left, right) in tokens: position - left <= j <= position + right; None leaves a side open.
        q_offset: Position of the first query among the keys, in tokens: an int, or (batch,). By causal,
            window and their mask objects it is needed if q_len != kv_len; else it is 0.
        mask: Boolean (True = may attend) that broadcasts to (batch, num_heads, q_len, kv_len); a mask object;
            or mask_mod(b, h, q_idx, kv_idx) -> bool on integer arrays, q_idx without offset. All masks given
            are ANDed.
        bias: Floats added to the logits after softcap, broadcasting like mask; -inf hides a key.
        scale: Multiplies q·k; any real number; head_dim ** -0.5 if left out.
        softcap: Scores become softcap · tanh(scores / softcap); greater than 0; None for no cap.
        sink: One logit per head, (num_heads,), that takes part in the denominator and has no value.
        backend: "auto", "reference" (float64 formula), "blocked" (NumPy), "torch" or "native"; a name is used
            or refused, never replaced.
    Returns:
        out, (batch, num_heads, q_len, v_head_dim) with the caller's axes; dtype and kind of q. Sums are kept
        in float32, for float64 in float64.
    Raises:
        ShapeError: Axes disagree.   DtypeError: A type or dtype that the meaning does not allow.
        OptionError: A value outside its range, or q_offset needed.
        BackendUnavailable: Not in this install, or without gradients; no fallback.
    Example:
        >>> import math, numpy as np
        >>> q, k, v = np.array([[1., 0.]]), np.array([[1., 0.], [0., 1.]]), np.array([[10.], [20.]])
        >>> round(attention(q, k, v, scale=math.log(3)).item(), 12)          # by hand: probs 3/4, 1/4
        12.5

    Source: Vaswani et al. 2017, eq. 1.
    """
    if window is None and mask is None and bias is None and softcap is None and sink is None:
        out = plain(q, k, v, causal, scale, q_offset) if backend == "auto" else None
        if out is not None:
            return out
    if v is None:
        raise DtypeError(
            "v must be a NumPy array or a torch tensor; got None. Use pozor.observe without values."
        )
    problem = inputs.problem(
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
    )
    return solve(problem, None, backend).out


def observe(
    q: Any,
    k: Any,
    v: Any,
    *,
    want: Want | None = None,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    q_offset: Any = None,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    sink: Any = None,
    backend: str = "auto",
) -> Observation:
    """Attention with what it did: out, lse = ln Σ exp(logits), and the observables that `want` names.

    Args:
        q: Queries; this and every argument but want as in `attention`.
        k: Keys.
        v: Values; None leaves out None and everything else as it is.
        want: Which observables; Want() gives out and lse alone.
        causal: As in `attention`.
        window: As in `attention`.
        q_offset: As in `attention`; needed by Want(distance=True) too if q_len != kv_len.
        mask: As in `attention`.
        bias: As in `attention`.
        scale: As in `attention`.
        softcap: As in `attention`.
        sink: As in `attention`; lse includes it.
        backend: As in `attention`.
    Returns:
        Observation, each array with the caller's axes and kind; None where not asked for.
    Raises:
        The errors of `attention`.
    Example:
        >>> import numpy as np
        >>> q, k, v = np.zeros((1, 1)), np.zeros((4, 1)), np.array([[1.], [2.], [3.], [6.]])
        >>> seen = observe(q, k, v, want=Want(top_k=1))           # 4 equal probs: lse = ln 4
        >>> round(seen.lse.item(), 6), seen.top_probs.item(), seen.top_keys.item(), seen.out.item()
        (1.386294, 0.25, 0, 3.0)
    """
    want = Want() if want is None else want
    if not isinstance(want, Want):
        raise DtypeError(
            f"want must be a pozor.Want; got {type(want).__name__}. Use want=Want(entropy=True)."
        )
    problem = inputs.problem(
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
        positions_for="want=Want(distance=True)" if want.distance else None,
    )
    return solve(problem, want, backend)


def solve(problem: Problem, want: Want | None, backend: str = "auto") -> Observation:
    """Run a judged problem; arrays come back in the caller's kind and axes; out is None if v was.

    want None asks for out alone.
    """
    name = _choose(problem, want, backend)
    if problem.kind == "torch" and name != "torch":
        found = _run(name, inputs.as_numpy(problem), want, from_torch=True)
        device = problem.q.device
        found = _shaped(problem, found, lambda array: inputs.to_torch(array).to(device))
        # a backend without gradients says so in the backward, where they are asked for
        return _forward_only(problem, found, name) if _wants_gradient(problem) else found
    found = _run(name, problem, want)
    if problem.ndim == 4 and problem.v is not None:
        return found
    return _shaped(problem, found, lambda array: array)


@cache
def _backend(name: str) -> Any:
    return import_module(f"pozor.backends.{name}")


def _run(name: str, problem: Problem, want: Want | None, from_torch: bool = False) -> Observation:
    module = _backend(name)
    if name != "native":
        return module.run(problem, want)
    count = threads.num_threads()
    if from_torch:
        count = min(count, sys.modules["torch"].get_num_threads())
    return module.run(problem, want, count, from_torch)


def _forward_only(problem: Problem, found: Observation, name: str) -> Observation:
    """The same record; a backward through out is refused with a sentence."""
    import torch

    class ForwardOnly(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, out: Any, *_: Any) -> Any:
            return out.clone()

        @staticmethod
        def backward(ctx: Any, *_: Any) -> Any:
            raise BackendUnavailable(
                f"backend={name!r} gives no gradients; got a backward through its out. "
                "Use backend='torch' or 'auto'."
            )

    if found.out is None:
        return found
    given = [x for x in (problem.q, problem.k, problem.v, problem.bias, problem.sink) if x is not None]
    return replace(found, out=ForwardOnly.apply(found.out, *given))


def block_logits(
    problem: Problem, batch: int, head: int, rows: slice, keys: slice, dtype: Any = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """(logits, visible) of one head's rows x keys as NumPy arrays in dtype: -inf and False where hidden."""
    return _block_logits(inputs.as_numpy(problem), batch, head, rows, keys, dtype)


def squares(
    problem: Problem,
    batch: int,
    head: int,
    rows: slice,
    keys: slice,
    size: int,
    lse: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    backend: str = "auto",
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """One head's rows x keys in squares of size x size: (largest float32, total float64, count int64).

    exp(logit - lse) by the lse of the rows, each within 1e-5 of its float64, times its key's weight where
    weight, (kv_len,), is given. count: visible cells; without an lse it alone has a meaning. By the native
    kernel, or off the CPU, where the arrays lie, by torch (and where backend="torch" asks for that). None
    without the kernel, or where size is no power of two up to 64.
    """
    if problem.kind == "torch" and (backend == "torch" or problem.q.device.type != "cpu"):
        return import_module("pozor.backends.torch.squares").squares(
            problem, batch, head, rows, keys, size, lse, weight
        )
    judged, count = inputs.as_numpy(problem), threads.num_threads()
    return _backend("native").squares(judged, batch, head, rows, keys, size, lse, weight, count)


def merge(parts: Iterable[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Attention over the union of disjoint key sets: lse = ln Σ exp(lse_i), out = Σ exp(lse_i - lse) out_i.

    (0, -inf) is neutral. A sink belongs into one part only.

    Args:
        parts: Pairs (out, lse): out (…, q_len, v_head_dim), lse (…, q_len), natural; all of one shape.
    Returns:
        (out, lse), kind and dtypes of the first part; sums are kept in lse's dtype or wider.
    Raises:
        OptionError: No parts.   ShapeError: Parts differ in shape.   DtypeError: Not arrays of one kind.
    Example:
        >>> import numpy as np
        >>> a = np.array([[0.]]), np.array([0.])                  # 1 key of score 0, value 0
        >>> b = np.array([[4.]]), np.array([np.log(3.)])          # 3 keys of score 0, value 4
        >>> out, lse = merge([a, b])
        >>> round(out.item(), 12), round(lse.item(), 6)
        (3.0, 1.386294)
    """
    given = [*parts] if isinstance(parts, Iterable) else [parts]
    if not all(isinstance(part, tuple | list) for part in given):
        odd = next(part for part in given if not isinstance(part, tuple | list))
        raise DtypeError(f"parts must be a list of pairs [(out, lse), …]; got {type(odd).__name__} in it.")
    pairs = [tuple(part) for part in given]
    if not pairs:
        raise OptionError("parts must hold one (out, lse) or more; got none.")
    torch = sys.modules.get("torch")
    tensors = torch is not None and isinstance(pairs[0][0], torch.Tensor)
    kind = torch.Tensor if torch is not None and tensors else np.ndarray
    for place, pair in enumerate(pairs):
        if len(pair) != 2 or not all(isinstance(array, kind) for array in pair):
            raise DtypeError(f"parts must be pairs (out, lse) of arrays of one kind; part {place} is not.")
        for name, array in zip(("out", "lse"), pair):
            if inputs.dtype_name(array) not in inputs.FLOATS:
                raise DtypeError(
                    f"parts must be floating; got {inputs.dtype_name(array)} as {name} of part {place}."
                )
        shapes = tuple(pair[0].shape), tuple(pair[1].shape)
        if shapes[0][:-1] != shapes[1] or shapes[0] != tuple(pairs[0][0].shape):
            raise ShapeError(
                f"parts must share the shapes out (…, q_len, v_head_dim) and lse (…, q_len); "
                f"got {shapes[0]} and {shapes[1]} in part {place}"
                + (f", out {tuple(pairs[0][0].shape)} in part 0." if place else ".")
            )
    out_dtype, lse_dtype = pairs[0][0].dtype, pairs[0][1].dtype
    if tensors and torch is not None:
        wide = torch.float64 if torch.float64 in (out_dtype, lse_dtype) else torch.float32
        lses = torch.stack([lse.to(wide) for _, lse in pairs])
        outs = torch.stack([out.to(wide) for out, _ in pairs])
        lse = torch.logsumexp(lses, dim=0)
        parts_of = (lses - lse.masked_fill(lse == -np.inf, 0)).exp()[..., None]
        # select, not multiply: an empty part must not bring a NaN
        return (outs * parts_of).masked_fill(parts_of == 0, 0).sum(dim=0).to(out_dtype), lse.to(lse_dtype)
    wide = np.float64 if np.float64 in (out_dtype, lse_dtype) else np.float32
    with np.errstate(all="ignore"):
        lses = np.stack([lse.astype(wide) for _, lse in pairs])
        outs = np.stack([out.astype(wide) for out, _ in pairs])
        lse = np.logaddexp.reduce(lses, axis=0)
        parts_of = np.exp(lses - np.where(lse == -np.inf, 0, lse))[..., None]
        out = np.where(parts_of == 0, 0, outs * parts_of).sum(axis=0)
    return out.astype(out_dtype), np.asarray(lse.astype(lse_dtype))


def available_backends() -> tuple[str, ...]:
    """The names that `backend=` takes in this install, "auto" apart.

    Returns:
        Names, the one nearest to the definition first.
    Example:
        >>> "reference" in available_backends()
        True
    """
    return tuple(name for name in BACKENDS if _installed(name))


def _installed(name: str) -> bool:
    if name == "native":
        return _backend("native").available()
    return name != "torch" or util.find_spec("torch") is not None


def _choose(problem: Problem, want: Want | None, backend: str) -> str:
    differentiable = _wants_gradient(problem)
    if backend == "auto":
        on_cpu = problem.kind == "numpy" or problem.q.device.type == "cpu"
        if differentiable or not on_cpu:
            return "torch"
        return "native" if _installed("native") and not _not_covered(problem, want) else "blocked"
    if backend not in BACKENDS:
        raise OptionError(
            f"backend must be auto, {', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}; got {backend!r}."
        )
    if not _installed(backend):
        advice = "Install torch" if backend == "torch" else "Install a wheel with the kernel"
        raise BackendUnavailable(
            f"backend={backend!r} is not in this install. {advice}, or use backend='blocked'."
        )
    if differentiable and backend in _WITHOUT_GRADIENT:
        raise BackendUnavailable(
            f"backend={backend!r} gives no gradients; got inputs that require them. "
            "Use backend='torch', or call inside torch.no_grad()."
        )
    return backend


def _not_covered(problem: Problem, want: Want | None) -> str | None:
    return _backend("native").refusal(problem, want)


def _wants_gradient(problem: Problem) -> bool:
    if problem.kind == "numpy":
        return False
    import torch

    given = (problem.q, problem.k, problem.v, problem.bias, problem.sink)
    return torch.is_grad_enabled() and any(array is not None and array.requires_grad for array in given)


def _shaped(problem: Problem, found: Observation, convert: Callable[[Any], Any]) -> Observation:
    """The caller's axes and kind of array."""
    spare = 4 - problem.ndim
    # distance_edges alone has no batch and head axes
    found = found.mapped(
        lambda array: convert(array.reshape(array.shape[spare:]) if spare and array.ndim > 1 else array)
    )
    return found if problem.v is not None else replace(found, out=None)
