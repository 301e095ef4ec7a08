"""A matrix that somebody already has, such as the attentions of a layer: judged, then read as it is."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.inputs import FLOATS, to_numpy
from pozor.masks import Ranges
from pozor.matrix.making import Steps
from pozor.matrix.pooling import CHUNK_ROWS
from pozor.matrix.tracks import Tracks
from pozor.observables import entropy, received

# how far a row may be from 1, by the bytes of a number: rounding of the probs themselves and of long sums
TOLERANCE = {2: 2e-2, 4: 1e-3, 8: 1e-6}
NO_WEIGHTS = (
    "Fused attention returns no weights: record the model with pozor.record, or load it with "
    "attn_implementation='eager'."
)


class GivenCells:
    """Cells of a matrix (batch, num_heads, q_len, kv_len); mask is bool of 4 axes, each its length or 1."""

    def __init__(self, probs: np.ndarray, mask: np.ndarray | None, sink: bool = False):
        self._sink = sink
        self.batch, self.num_heads, self.q_len, self.kv_len = probs.shape
        self._probs = probs
        self._mask = None if mask is None else np.broadcast_to(mask, probs.shape)

    def visible(self, batch: int, head: int, rows: slice, keys: slice) -> np.ndarray | bool:
        """What the mask lets be seen; all of it without one."""
        if self._mask is None:
            return True
        seen = self._mask[batch, head, rows, keys]
        return True if seen.all() else seen if seen.any() else False

    def probs(
        self, batch: int, head: int, rows: slice, keys: slice, dtype: Any = np.float64
    ) -> tuple[np.ndarray, np.ndarray | bool]:
        """Probs as given, 0 where hidden, and what is visible."""
        visible = self.visible(batch, head, rows, keys)
        probs = self._probs[batch, head, rows, keys].astype(dtype)
        return (probs if visible is True else np.where(visible, probs, probs.dtype.type(0))), visible

    def squares(self, *_: object) -> None:
        """The kernel does not read a matrix that is given."""

    def row(self, batch: int, head: int, query: int, hidden: Sequence[int] = ()) -> np.ndarray:
        """One row as given, float64 (kv_len,); without hidden keys the rest, a sink's part too, grows."""
        probs = self.probs(batch, head, slice(query, query + 1), slice(0, self.kv_len))[0][0]
        if not hidden:
            return probs
        whole = probs.sum()
        probs[list(hidden)] = 0
        rest = probs.sum() + (max(0.0, 1 - whole) if self._sink else 0.0)
        return probs / rest if rest else probs

    def column(self, batch: int, head: int, key: int) -> np.ndarray:
        """One column as given, float64 (q_len,)."""
        return self.probs(batch, head, slice(0, self.q_len), slice(key, key + 1))[0][:, 0]

    def seeing(self, batch: int, head: int) -> np.ndarray:
        """Which rows see anything, bool (q_len,)."""
        if self._mask is None:
            return np.full(self.q_len, self.kv_len > 0)
        return self._mask[batch, head].any(axis=-1)

    def entropy(self, batch: int, head: int) -> np.ndarray:
        """Entropy of each row in nats, float64 (q_len,)."""
        out = np.zeros(self.q_len)
        for start in range(0, self.q_len, CHUNK_ROWS):
            rows = slice(start, min(start + CHUNK_ROWS, self.q_len))
            probs = self.probs(batch, head, rows, slice(0, self.kv_len))[0]
            with np.errstate(divide="ignore", invalid="ignore"):
                out[rows] = entropy.define(probs, np.log(probs))
        return out

    def received(self, batch: int, head: int) -> np.ndarray:
        """What each key gets on average from the queries that may see it, float64 (kv_len,)."""
        state = received.start(1, self.kv_len)
        keys = slice(0, self.kv_len)
        for start in range(0, self.q_len, CHUNK_ROWS):
            rows = slice(start, min(start + CHUNK_ROWS, self.q_len))
            probs, visible = self.probs(batch, head, rows, keys)
            seen = visible if isinstance(visible, bool) else visible[None]
            if seen is not False:
                state = received.update(state, probs[None], seen, keys)
        return received.finish(state, np.float64)[0]

    def ranges(self, batch: int, head: int, rows: slice) -> Ranges | None:
        """All the keys of each row; None under a mask."""
        if self._mask is not None:
            return None
        count = rows.stop - rows.start
        return np.zeros((count, 1), np.int64), np.full((count, 1), self.kv_len, np.int64)

    def spans(self, batch: int, head: int, rows: slice) -> list[slice]:
        """All the keys: a mask is not searched."""
        return [slice(0, self.kv_len)] if self.kv_len else []

    def thinned(self, batch: int, head: int, every: int) -> "GivenCells":
        """Every so many-th row of one head."""
        one = (slice(batch, batch + 1), slice(head, head + 1), slice(0, None, every))
        return GivenCells(self._probs[one], None if self._mask is None else self._mask[one], self._sink)

    def tracks(self, batch: int, head: int) -> Steps[Tracks]:
        """Entropy of each row and what each key receives, in one step."""
        both = self.entropy(batch, head), self.received(batch, head)
        yield 0.5
        return Tracks(*(array.astype(np.float32) for array in both))


def judge(probs: Any, mask: Any, batch: Any, sink: bool, has_tokens: bool) -> GivenCells:
    """Cells of `probs`, or one sentence about why it is no attention matrix of one layer."""
    array = _array(probs)
    shape = array.shape
    if array.ndim not in (2, 3, 4):
        advice = " Pick a layer: probs[layer]." if array.ndim == 5 else ""
        raise ShapeError(
            "probs must be (q_len, kv_len), (num_heads, q_len, kv_len) or (batch, num_heads, q_len, kv_len); "
            f"got {shape}.{advice}"
        )
    array = array.reshape((1,) * (4 - array.ndim) + shape)  # the axes of size 1 that came stay as they are
    if not array.shape[1]:
        raise ShapeError(f"num_heads must be 1 or more; got 0 in probs {shape}.")
    if batch is not None:
        if (
            isinstance(batch, bool)
            or not isinstance(batch, int | np.integer)
            or not 0 <= batch < array.shape[0]
        ):
            raise OptionError(
                f"batch must be from 0 to {array.shape[0] - 1} for probs {shape}; got {batch!r}."
            )
        batch = int(batch)
        array = array[batch : batch + 1]
    elif array.shape[0] != 1 and has_tokens:
        raise OptionError(
            f"probs {shape} holds a batch of {array.shape[0]}, and tokens are those of one sequence. "
            f"Give batch=, from 0 to {array.shape[0] - 1}."
        )
    hidden = None if mask is None else _mask(mask, array.shape, batch)
    _check_rows(array, hidden, shape, sink)
    return GivenCells(array, hidden, sink)


def _array(probs: Any) -> np.ndarray:
    if probs is None:
        raise DtypeError(f"probs must be an array; got None. {NO_WEIGHTS}")
    if isinstance(probs, tuple | list):
        kind = type(probs).__name__
        if not probs:
            raise DtypeError(f"probs must be an array; got an empty {kind}. {NO_WEIGHTS}")
        if all(layer is None for layer in probs):
            raise DtypeError(f"probs must be an array; got a {kind} of {len(probs)} None. {NO_WEIGHTS}")
        raise DtypeError(
            f"probs must be one array; got a {kind} of {len(probs)}. Pass one layer: attentions[layer]."
        )
    torch = sys.modules.get("torch")
    if not isinstance(probs, np.ndarray) and (torch is None or not isinstance(probs, torch.Tensor)):
        raise DtypeError(f"probs must be a NumPy array or a torch tensor; got {type(probs).__name__}.")
    array = to_numpy(probs)
    if array.dtype.name not in FLOATS:
        raise DtypeError(f"probs must be {', '.join(FLOATS[:3])} or bfloat16; got {array.dtype.name}.")
    return array


def _mask(mask: Any, shape: tuple[int, ...], batch: int | None) -> np.ndarray:
    array = to_numpy(mask) if hasattr(mask, "shape") else np.asarray(mask)
    if array.dtype != np.bool_:
        raise DtypeError(f"mask must be boolean (True = may attend); got {array.dtype}.")
    full = array.reshape((1,) * (4 - array.ndim) + array.shape) if array.ndim <= 4 else array
    if batch is not None and full.ndim == 4 and full.shape[0] > 1:
        full = full[batch : batch + 1]
    if full.ndim != 4 or any(length not in (1, want) for length, want in zip(full.shape, shape)):
        raise ShapeError(
            f"mask must broadcast to (batch, num_heads, q_len, kv_len) = {shape}; got {array.shape}."
        )
    return full


def _check_rows(array: np.ndarray, mask: np.ndarray | None, shape: tuple[int, ...], sink: bool) -> None:
    """Each row must sum to 1 or 0 (up to 1 with a sink), of numbers from 0."""
    if not array.size:
        return
    tolerance = TOLERANCE[array.dtype.itemsize]
    for batch, head in np.ndindex(array.shape[:2]):
        probs = array[batch, head].astype(np.float64)
        if mask is not None:
            probs = np.where(np.broadcast_to(mask, array.shape)[batch, head], probs, 0)
        if (probs < 0).any():
            raise OptionError(
                f"probs must be 0 or more; got {probs.min():.6g}. Pass what the softmax gave, not its input."
            )
        rows = probs.sum(axis=-1)
        # NaN rows are shown as they are
        wrong = (rows > 1 + tolerance) | ((rows < 1 - tolerance) & (rows > tolerance) & (not sink))
        if not wrong.any():
            continue
        worst = int(np.argmax(wrong))
        columns = probs.sum(axis=-2)
        found = f"got {rows[worst]:.6g} in row {worst} of head {head} in probs {shape}"
        if (np.abs(columns - 1) <= tolerance).all():
            raise OptionError(
                f"each row of probs (a query over the keys) must sum to 1 or 0; {found}, while each column "
                "sums to 1. The axes are the other way round: pass probs.swapaxes(-1, -2)."
            )
        raise OptionError(
            f"each row of probs (a query over the keys) must sum to 1 or 0; {found}. Pass probabilities "
            "before dropout; say sink=True if the rest of a row went to a sink."
        )
