"""The native kernel (C++, `native/`) behind the seam of the backends: buffers in, an Observation out.

Arrays go in without a copy, whatever their strides; bfloat16 goes in as its bits. Nothing (q_len, kv_len) is
built: mask objects become an interval or ranges per row, boolean arrays and biases are read where they lie.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from pozor.backends.native.sight import Sight, part, sight_of, sight_of_part
from pozor.errors import BackendUnavailable, OptionError
from pozor.inputs import Problem, dtype_name
from pozor.observables import distance
from pozor.observables.pooled import Pooled
from pozor.observables.want import Observation, Want

_native: Any  # compiled, so there is nothing to read its types from
try:
    from pozor import _native  # pyright: ignore[reportAttributeAccessIssue]
except ImportError:  # a pure wheel: the compiler was missing where it was built
    _native = None

MOST_DIM = 576
SHORT = 16  # queries, at most, whose keys are split into parts
ISA = "POZOR_NATIVE_ISA"  # the environment variable that forces an instruction set
_NOTHING = Want()
_SQUARE = 64  # cells along the side of a square, at most
_EXACT = 40.0  # the largest logit and lse together whose probs float32 keeps within 1e-5
_ROWS = 256  # of a boolean block made for a callable


def available() -> bool:
    """Whether the compiled kernel is in this install."""
    return _native is not None


def refusal(problem: Problem, want: Want | None) -> str | None:
    """Why the kernel does not cover this call, as `argument · rule · what came`; None if it does."""
    head_dim, v_head_dim = problem.head_dim, problem.v_head_dim
    if head_dim > MOST_DIM or v_head_dim > MOST_DIM:
        name, width = ("head_dim", head_dim) if head_dim > MOST_DIM else ("v_head_dim", v_head_dim)
        return f"backend='native' takes {name} up to {MOST_DIM}; got {width}"
    block = 0 if want is None else want.pooled
    if block and (block & (block - 1) or not 16 <= block <= 1024):
        return f"backend='native' takes Want(pooled) as a power of two from 16 to 1024; got {block}"
    return None


def instruction_set() -> str:
    """The instruction set that calls run on: the machine's best, or the one that the environment forces."""
    can = _runnable()
    forced = os.environ.get(ISA, "")
    if forced and forced not in can:
        raise OptionError(f"{ISA} must be one of {', '.join(can)} on this machine; got {forced!r}.")
    return forced or can[0]


@cache
def _runnable() -> tuple[str, ...]:
    return tuple(_native.runnable())


def run(problem: Problem, want: Want | None, threads: int = 1, in_torch: bool = False) -> Observation:
    """Attention of NumPy arrays; sums in float64 for float64, in float32 for the rest.

    in_torch: the caller works in torch, whose threads are then the ones to use.
    """
    want = want or _NOTHING
    refused = refusal(problem, want)
    if refused:
        raise BackendUnavailable(f"{refused}. Use backend='blocked', or 'auto'.")
    problem = _prepared(problem)
    results = _Results(problem, want)
    seen = sight_of(problem)
    if seen is not None:
        results.fill(problem, want, seen, threads, in_torch)
    else:
        for part, sight, where in _pieces(problem, want):
            piece = _Results(part, want, problem.q_offset, problem.q_len)
            piece.fill(part, want, sight, threads, in_torch)
            results.place(piece, part, sight, where)
    return results.observation(problem, want)


def plain(
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    causal: bool,
    q_offset: int | None,
    scale: float,
    threads: Callable[[], int],
    in_torch: bool = False,
) -> bool:
    """Attention written into out, where the arrays plainly agree; False, and nothing done, where they do not.

    Each array is a NumPy array or, of a tensor, (address, shape, strides in items, type as a buffer says it);
    threads is asked where there is work for more than one; in_torch as in `run`.
    """
    if _native is None:
        return False
    return _native.plain(q, k, v, out, causal, q_offset, scale, instruction_set(), threads, in_torch)


def _prepared(problem: Problem) -> Problem:
    """Arrays in the machine's byte order."""
    arrays = {"q": problem.q, "k": problem.k, "v": problem.v, "bias": problem.bias}
    swapped = {
        name: array.astype(array.dtype.newbyteorder("="))
        for name, array in arrays.items()
        if array is not None and not array.dtype.isnative
    }
    return replace(problem, **swapped) if swapped else problem


def _pieces(problem: Problem, want: Want) -> Iterator[tuple[Problem, Sight, tuple[slice, slice, slice]]]:
    """The call in pieces of rows, each with its boolean block: (piece, sight, its batch, heads and rows)."""
    visibility = problem.visibility
    count = max(_ROWS, want.pooled)
    step = problem.group_size if visibility.by_head else problem.num_heads
    for b in range(problem.batch):
        for h in range(0, problem.num_heads, step):
            heads, batch = slice(h, h + step), slice(b, b + 1)
            kv_heads = slice(h // problem.group_size, (h + step) // problem.group_size)
            for first in range(0, problem.q_len, count):
                rows = slice(first, min(first + count, problem.q_len))
                visible = visibility.panel(b, heads, rows, slice(0, problem.kv_len))
                mask = np.atleast_3d(visible)[None] if not isinstance(visible, bool) else None
                if mask is None:
                    mask = np.full((1, 1, 1, 1), visible)
                bias = problem.bias
                if bias is not None:
                    index = (batch, heads, rows, slice(None))
                    bias = bias[tuple(part if n > 1 else slice(None) for part, n in zip(index, bias.shape))]
                piece = replace(
                    problem,
                    q=problem.q[batch, heads, rows],
                    k=problem.k[batch, kv_heads],
                    v=None if problem.v is None else problem.v[batch, kv_heads],
                    bias=bias,
                    sink=None if problem.sink is None else problem.sink[heads],
                    q_offset=problem.q_offset[batch] + first,
                )
                yield piece, Sight(None, None, None, mask), (batch, heads, rows)


def squares(
    problem: Problem,
    batch: int,
    head: int,
    rows: slice,
    keys: slice,
    size: int,
    lse: np.ndarray | None,
    weight: np.ndarray | None,
    threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Cells of one head of NumPy arrays in squares of size × size: (largest, total, number of the visible).

    Probs by lse, (rows,), times weight, (keys,), where there is one; without an lse only the number has a
    meaning. None where the kernel is missing or does not cover the call.
    """
    arrays = (problem.q, problem.k, problem.bias)
    if _native is None or refusal(problem, None) or size > _SQUARE or size & (size - 1):
        return None
    if any(array is not None and not array.dtype.isnative for array in arrays):
        return None
    kv_head = head // problem.group_size
    q = problem.q[batch : batch + 1, head : head + 1, rows]
    k = problem.k[batch : batch + 1, kv_head : kv_head + 1, keys]
    bias = problem.bias
    shape = (-(-q.shape[2] // size), -(-k.shape[2] // size))
    largest, total, count = np.zeros(shape, np.float32), np.zeros(shape), np.zeros(shape, np.int64)
    if not (count.size and problem.head_dim):
        return None
    alone = lse is None and bias is None  # a bias may hide: then there is no number without logits
    lse = np.zeros(q.shape[2]) if lse is None else np.ascontiguousarray(lse, np.float64)
    sight = sight_of_part(problem, batch, head, rows, keys)
    wide = problem.bias is not None or problem.softcap is not None or q.dtype == np.float64
    if not (alone or wide):
        # by what is seen alone: hidden rows and keys must not change a bit
        seen = problem.visibility.seen_keys(batch, head, rows, keys)
        q_seen, k_seen = _some(q[0, 0], lse > -np.inf), _some(k[0, 0], seen)
        wide = not _fits_float(problem.scale, q_seen, k_seen, lse)
    _native.squares(
        _bits(q),
        _bits(k),
        problem.q_offset[batch : batch + 1] + (rows.start - keys.start),
        problem.scale,
        problem.softcap or 0.0,
        None if bias is None else _bits(part(bias, batch, head, rows, keys)),
        sight.mask,
        sight.ranges,
        sight.left,
        sight.right,
        size,
        lse,
        None if weight is None else np.ascontiguousarray(weight[keys], np.float64),
        None if alone else largest,
        total,
        count,
        wide,
        instruction_set(),
        threads,
    )
    return largest, total, count


def _some(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some of the rows in float32, without a copy where none is needed."""
    return (array if rows.all() else array[rows]).astype(np.float32, copy=False)


def _fits_float(scale: float, q: np.ndarray, k: np.ndarray, lse: np.ndarray) -> bool:
    """Whether float32 keeps probs within 1e-5: its error grows with the logits, which are at most ‖q‖ ‖k‖."""
    with np.errstate(all="ignore"):
        longest = [np.sqrt(np.einsum("ij,ij->i", x, x).max(initial=0)) for x in (q, k)]
        largest = np.abs(lse[np.isfinite(lse)]).max(initial=0.0)
        return bool(abs(scale) * float(longest[0]) * float(longest[1]) + largest <= _EXACT)


class _Results:
    """The arrays that the kernel writes."""

    def __init__(
        self, problem: Problem, want: Want, q_offset: np.ndarray | None = None, q_len: int | None = None
    ):
        shape, wide = (problem.batch, problem.num_heads, problem.q_len), problem.compute_dtype
        by_key = (problem.batch, problem.num_heads, problem.kv_len)
        self.out = None if problem.v is None else np.empty((*shape, problem.v_head_dim), problem.q.dtype)
        self.lse = np.empty(shape, wide)
        self.row_max = np.empty(shape, wide) if want.row_max else None
        self.entropy = np.empty(shape, wide) if want.entropy else None
        self.top_probs = np.empty((*shape, want.top_k), wide) if want.top_k else None
        self.top_keys = np.empty((*shape, want.top_k), np.int64) if want.top_k else None
        self.received = np.full(by_key, np.nan, wide) if want.received else None
        self.edges = self.distance = None
        if want.distance:
            offsets = problem.q_offset if q_offset is None else q_offset
            self.edges = distance.edges_of(offsets, q_len or problem.q_len, problem.kv_len)
            self.distance = np.empty((*shape, len(self.edges) - 1), wide)
        self.pooled = None
        if want.pooled:
            grid = (*shape[:2], -(-problem.q_len // want.pooled), -(-problem.kv_len // want.pooled))
            self.pooled = tuple(np.empty(grid, wide) for _ in range(3))
        self.queries = np.zeros(by_key, np.int64) if want.received else None

    def fill(self, problem: Problem, want: Want, sight: Sight, threads: int, in_torch: bool) -> None:
        """One call of the kernel."""
        if self.lse.size == 0:
            return
        sink = None if problem.sink is None else np.asarray(problem.sink, dtype=np.float64)
        pooled = self.pooled or (None, None, None)
        _native.run(
            _bits(problem.q),
            _bits(problem.k),
            _bits(problem.v),
            _bits(self.out),
            self.lse,
            np.ascontiguousarray(problem.q_offset),
            problem.scale,
            problem.softcap or 0.0,
            sink,
            _bits(problem.bias),
            sight.mask,
            sight.ranges,
            sight.left,
            sight.right,
            row_max=self.row_max,
            entropy=self.entropy,
            top_probs=self.top_probs,
            top_keys=self.top_keys,
            distance=self.distance,
            ahead=0 if self.edges is None else int(np.searchsorted(self.edges, 0)),
            received=self.received,
            pooled=want.pooled,
            pooled_max=pooled[0],
            pooled_mean=pooled[1],
            pooled_share=pooled[2],
            isa=instruction_set(),
            threads=threads,
            in_torch=in_torch,
        )

    def place(
        self, piece: "_Results", part: Problem, sight: Sight, where: tuple[slice, slice, slice]
    ) -> None:
        """The results of some rows into those of the whole."""
        for name in ("out", "lse", "row_max", "entropy", "top_probs", "top_keys", "distance"):
            whole, found = getattr(self, name), getattr(piece, name)
            if whole is not None:
                whole[where] = found
        if self.pooled is not None and piece.pooled is not None:
            block = -(-self.lse.shape[2] // self.pooled[0].shape[2]) if self.pooled[0].shape[2] else 1
            first = where[2].start // block
            for whole, found in zip(self.pooled, piece.pooled):
                whole[where[0], where[1], first : first + found.shape[2]] = found
        if self.received is not None and piece.received is not None and self.queries is not None:
            here = where[:2]
            shape = (*part.q.shape[:3], part.kv_len)
            visible = np.broadcast_to(sight.mask if sight.mask is not None else True, shape)
            if part.bias is not None:
                visible = visible & (part.bias != -np.inf)
            count = visible.sum(axis=2)
            before = np.where(self.queries[here] == 0, 0, self.received[here]) * self.queries[here]
            more = np.where(count == 0, 0, piece.received) * count
            self.queries[here] += count
            with np.errstate(invalid="ignore"):
                self.received[here] = (before + more) / self.queries[here]

    def observation(self, problem: Problem, want: Want) -> Observation:
        """The record."""
        way = "split" if problem.q_len <= SHORT else "rows"
        return Observation(
            self.out,
            self.lse,
            row_max=self.row_max,
            entropy=self.entropy,
            top_probs=self.top_probs,
            top_keys=self.top_keys,
            received=self.received,
            distance=self.distance,
            distance_edges=self.edges,
            pooled=None if self.pooled is None else Pooled(want.pooled, *self.pooled),
            backend="native",
            path=f"{instruction_set()} {way}",
        )


def _bits(array: Any) -> Any:
    """What exports a buffer: bfloat16 as uint16."""
    if array is None or dtype_name(array) != "bfloat16":
        return array
    return array.view(np.uint16)
