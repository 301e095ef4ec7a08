"""From the mask a model passed to its attention to the few numbers that a recording holds.

The numbers are guessed from the mask and then compared with it, row by row; what they cannot say is refused.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.errors import CaptureError
from pozor.recording import MaskForm

ROWS_AT_ONCE = 256  # rows of the model's own mask looked at together


@dataclass(frozen=True)
class Summary:
    """The visible keys of each row of one item, in the item's own positions: all (tokens,).

    `first`, `stop`: ends of the visible keys; `count`: how many they are; `shown`: keys that some row sees.
    """

    first: np.ndarray
    stop: np.ndarray
    count: np.ndarray
    shown: np.ndarray


def form_of(
    mask: Any, item: int, span: tuple[int, int], kv_len: int, *, causal: bool, window: Any
) -> MaskForm:
    """The mask of one item of the batch, whose tokens are the positions [start, stop) of `span`.

    Args:
        mask: What the model passed: None, bool or float (batch, heads, q_len, kv_len), bool (batch, kv_len).
        item: Number of the sequence in the batch.
        span: The item's tokens, without padding.
        kv_len: Keys of the attention call.
        causal: Whether the attention hides later keys where the mask does not say so.
        window: Number of keys of a sliding window that the attention applies beside the mask, or None.

    Raises:
        CaptureError: The item looks at padding, or at keys that no recording can describe.
    """
    if mask is not None and mask.ndim == 4:
        summary = _read(mask, item, span, kv_len)
    else:
        summary = _implied(mask, item, span, kv_len, causal, window)
    for form in _guesses(summary):
        if _says(form, summary):
            return form
    raise CaptureError(
        "the model's mask is neither causal, window, prefix, documents nor padding, and a recording holds no "
        f"other; row {int(np.argmax(summary.count))} sees {int(summary.count.max())} keys."
    )


def _read(mask: Any, item: int, span: tuple[int, int], kv_len: int) -> Summary:
    """Look through a materialised mask, some rows at a time."""
    start, stop = span
    length = stop - start
    one = mask[item if mask.shape[0] > 1 else 0]
    first, last, count = (np.zeros(length, np.int64) for _ in range(3))
    shown = np.zeros(length, bool)
    for at in range(0, length, ROWS_AT_ONCE):
        rows = slice(start + at, min(start + at + ROWS_AT_ONCE, stop))
        block = one[:, rows if one.shape[1] > 1 else slice(None), :kv_len]
        visible = _visible(block)
        if visible.shape[0] > 1 and not bool((visible == visible[:1]).all()):
            raise CaptureError("the model masks its heads differently; a recording holds one mask a layer.")
        visible = visible[0].expand(rows.stop - rows.start, -1)
        if bool(visible[:, :start].any()) or bool(visible[:, stop:].any()):
            raise _looks_at_padding()
        inner = visible[:, start:stop].to("cpu").numpy()
        here = slice(at, at + inner.shape[0])
        first[here], last[here] = inner.argmax(1), length - inner[:, ::-1].argmax(1)
        count[here] = inner.sum(1)
        shown |= inner.any(0)
    return Summary(first, np.where(count > 0, last, first), count, shown)


def _visible(block: Any) -> Any:
    """Bool of a block of the mask; a float mask may hold 0 and the dtype's least number or −inf, no more."""
    import torch

    if block.dtype == torch.bool:
        return block
    if not block.dtype.is_floating_point:
        raise CaptureError(f"the model's attention mask must be bool or float; got {block.dtype}.")
    shown, hidden = block == 0, block <= torch.finfo(block.dtype).min / 2
    if not bool((shown | hidden).all()):
        raise CaptureError(
            "the model adds a bias to its scores (its mask is not 0 or hidden); not recorded yet."
        )
    return shown


def _implied(mask: Any, item: int, span: tuple[int, int], kv_len: int, causal: bool, window: Any) -> Summary:
    """What an attention sees that got no mask, or one that lists padding keys only."""
    start, stop = span
    length = stop - start
    position = np.arange(start, stop)
    first = np.zeros(length, np.int64) if window is None else np.maximum(0, position - int(window) + 1)
    last = position + 1 if causal else np.full(length, kv_len if window is None else 0, np.int64)
    if window is not None and not causal:
        last = np.minimum(kv_len, position + int(window))
    shown = np.ones(kv_len, bool)
    if mask is not None:
        if mask.ndim != 2:
            raise CaptureError(f"the model's attention mask must have 2 or 4 axes; got {tuple(mask.shape)}.")
        shown = mask[item, -kv_len:].to("cpu").numpy() != 0
    seen = np.concatenate([[0], np.cumsum(shown)])
    if np.any(seen[start] - seen[np.minimum(first, start)]) or np.any(
        seen[np.maximum(last, stop)] - seen[stop]
    ):
        raise _looks_at_padding()
    first, last = np.clip(first, start, stop), np.clip(last, start, stop)
    return Summary(first - start, last - start, seen[last] - seen[first], shown[start:stop])


def _looks_at_padding() -> CaptureError:
    return CaptureError(
        "the model looks at padding: attention_mask marks tokens as padding, but the attention sees them. "
        "Record the texts one at a time."
    )


def _guesses(seen: Summary) -> list[MaskForm]:
    """Forms worth comparing, plain ones first."""
    length = len(seen.count)
    position, some = np.arange(length), seen.count > 0
    left = int(max(0, (position - seen.first)[some].max(initial=0)))
    right = int(max(0, (seen.stop - 1 - position)[some].max(initial=0)))
    padding = None if seen.shown.all() else _runs(seen.shown)
    ahead = some & (seen.stop - 1 > position)
    causal = not ahead.any()
    whole = right == 0 and causal
    documents = _documents(seen, position, some)
    window = (left, 0 if whole else right)
    forms = [
        MaskForm(causal=causal),
        MaskForm(causal=causal, window=window),
        MaskForm(causal=causal, window=(left, None)),
        MaskForm(causal=causal, window=(None, right)),
        MaskForm(causal=True, prefix=int(seen.stop[ahead].max(initial=0))),
        MaskForm(causal=causal, documents=documents),
        MaskForm(causal=causal, documents=documents, window=window),
    ]
    return [MaskForm(f.causal, 0, f.window, f.prefix, f.documents, padding) for f in forms]


def _documents(seen: Summary, position: np.ndarray, some: np.ndarray) -> tuple[int, ...]:
    """Lengths of the pieces between which no row looks across."""
    crossed = np.zeros(len(position) + 1, np.int64)
    lower = np.minimum(seen.first, position)[some]
    upper = np.maximum(seen.stop - 1, position)[some]
    np.add.at(crossed, lower + 1, 1)  # boundary b lies between the keys b - 1 and b
    np.add.at(crossed, upper + 1, -1)
    free = np.flatnonzero(np.cumsum(crossed)[1:-1] == 0) + 1
    return tuple(int(n) for n in np.diff(np.concatenate([[0], free, [len(position)]])))


def _runs(shown: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Ranges [start, stop) of the True places."""
    edges = np.flatnonzero(np.diff([0, *shown.astype(np.int8), 0]))
    return tuple((int(a), int(b)) for a, b in edges.reshape(-1, 2))


def _says(form: MaskForm, seen: Summary) -> bool:
    """Whether the form lets each row see exactly the keys of the summary."""
    length = len(seen.count)
    first, stop = form.ranges(length, length)
    first, stop = np.clip(first, 0, length), np.clip(stop, 0, length)
    before = np.concatenate([[0], np.cumsum(form.shown_keys(length))])
    some = seen.count > 0
    covers = (first <= seen.first) & (stop >= seen.stop)
    return bool(np.all(before[stop] - before[first] == seen.count) and np.all(covers | ~some))
