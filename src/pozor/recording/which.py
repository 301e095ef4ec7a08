"""Which heads look here: every recorded head by what it gives to one cell, one row or one column.

A row is one query against its keys, in float64 by the formula; a cell is one dot product and the lse of that.
A column is the same pass with the roles turned round: the key asks all queries, −lse of each, as stored, is
its bias, and the pass's own lse is ln Σ p.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pozor.attend import Want, observe
from pozor.errors import OptionError
from pozor.matrix.which import VARIANTS, WHICH_DTYPE, asked, in_order
from pozor.recording.document import Layer, Rows
from pozor.recording.mask_form import MaskForm

if TYPE_CHECKING:
    from pozor.recording.reader import Recording

CANDIDATES = 4  # of each column, found in float32 and compared again in float64
HELD = 1 << 23  # numbers of keys that are turned to float64 at once

# layer, its arrays, its rows of the item, its mask → prob and at of each of its heads
Judge = Callable[[Layer, dict[str, np.ndarray], Rows, MaskForm], tuple[np.ndarray, np.ndarray]]


def which(recording: "Recording", query: int | None, key: int | None, item: int, variant: str) -> np.ndarray:
    """Every head, (number of heads,), the largest prob first; see `Recording.which`."""
    query, key = asked(query, key)
    if variant not in VARIANTS:
        raise OptionError(f"variant must be recorded, unmasked or causal; got {variant!r:.50}.")
    if query is None and variant != "recorded":
        raise OptionError(
            f"a column can be compared as it was recorded; got variant {variant!r}. Another mask gives every "
            "row another lse, which takes a pass over all of q · k: give a query too, or variant='recorded'."
        )
    _inside(recording, query, key, item, variant)
    judge: Judge
    if key is None:
        judge = _row_of(query or 0)
    elif query is None:
        judge = _column_of(key)
    else:
        judge = _cell_of(query, key)
    found = []
    for entry, rows in _layers(recording, item):
        lines = np.zeros(len(entry.heads), WHICH_DTYPE)
        lines["layer"], lines["kind"], lines["head"] = entry.layer, entry.kind, entry.heads
        lines["prob"], lines["at"] = np.nan, -1
        if _has(rows, query, key):
            held, mask = recording.arrays(entry.layer, item, entry.kind), _mask(rows, variant)
            with np.errstate(invalid="ignore", over="ignore"):
                lines["prob"], lines["at"] = judge(entry, held, rows, mask)
        found.append(lines)
    return in_order(np.concatenate(found))


# ---- a cell, a row, a column ------------------------------------------------------------------------------


def _cell_of(query: int, key: int) -> Judge:
    def judge(entry: Layer, held: dict, rows: Rows, mask: MaskForm) -> tuple[np.ndarray, np.ndarray]:
        nowhere = np.full(len(entry.heads), -1)
        first, stop, shown = _keys(mask, rows, query)
        if not first <= key < stop or (shown is not None and not shown[key - first]):
            return np.zeros(len(entry.heads)), nowhere
        lse = _row(entry, held, query, first, stop, shown)[0]
        logits = _logits(entry, held, np.full(len(entry.heads), query), np.full(len(entry.heads), key))
        return _probs(logits, lse), nowhere

    return judge


def _row_of(query: int) -> Judge:
    def judge(entry: Layer, held: dict, rows: Rows, mask: MaskForm) -> tuple[np.ndarray, np.ndarray]:
        first, stop, shown = _keys(mask, rows, query)
        if stop <= first or (shown is not None and not shown.any()):
            return np.zeros(len(entry.heads)), np.full(len(entry.heads), -1)
        return _row(entry, held, query, first, stop, shown)[1:]

    return judge


def _row(
    entry: Layer, held: dict, query: int, first: int, stop: int, shown: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """lse, the largest prob and its key of each head, (heads,), in float64."""
    lse, prob = np.empty(len(entry.heads)), np.empty(len(entry.heads))
    at = np.empty(len(entry.heads), np.int64)
    for heads, kv_heads in _groups(entry, stop - first):
        seen = observe(
            held["q"][heads, query : query + 1].astype(np.float64),
            held["k"][kv_heads, first:stop].astype(np.float64),
            None,
            mask=None if shown is None else shown[None],
            scale=entry.scale,
            softcap=entry.softcap,
            sink=held["sinks"][heads].astype(np.float64) if entry.has_sinks else None,
            want=Want(top_k=1),
        )
        lse[heads], prob[heads] = seen.lse[:, 0], seen.top_probs[:, 0, 0]
        found = seen.top_keys[:, 0, 0]
        at[heads] = np.where((found < 0) | np.isnan(prob[heads]), -1, found + first)
    return lse, prob, at


def _column_of(key: int) -> Judge:
    def judge(entry: Layer, held: dict, rows: Rows, mask: MaskForm) -> tuple[np.ndarray, np.ndarray]:
        count = len(entry.heads)
        first, stop = mask.ranges(rows.q_len, rows.kv_len)
        queries = np.flatnonzero((first <= key) & (key < stop))
        if not len(queries) or not mask.shown_keys(rows.kv_len)[key]:
            return np.full(count, np.nan), np.full(count, -1)
        part = slice(int(queries[0]), int(queries[-1]) + 1)
        seeing = None if len(queries) == part.stop - part.start else np.isin(np.arange(rows.q_len), queries)
        lse = held["lse"][:, part].astype(np.float64)
        keys = held["k"][_kv_rows(entry), key]
        # a row without any weight gives none to this key either
        bias = np.where(lse == -np.inf, -np.inf, -lse).astype(np.float32)
        asked = observe(
            keys[:, None],
            held["q"][:, part],
            None,
            mask=None if seeing is None else seeing[None, part],
            bias=bias[:, None],
            scale=entry.scale,
            softcap=entry.softcap,
            want=Want(top_k=CANDIDATES),
        )
        strongest = np.where(asked.top_keys[:, 0] < 0, -1, asked.top_keys[:, 0] + part.start)
        logits = _logits(entry, held, strongest, np.full(strongest.shape, key))
        probs = _probs(logits, np.take_along_axis(held["lse"], np.maximum(strongest, 0), axis=1))
        received = np.exp(asked.lse[:, 0].astype(np.float64)) / len(queries)
        return received, _best(probs, strongest)[1]

    return judge


# ---- their parts ------------------------------------------------------------------------------------------


def _logits(entry: Layer, held: dict, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Softmax inputs of some cells of each head in float64; queries and keys (heads, …)."""
    heads = np.arange(len(entry.heads)).reshape(-1, *[1] * (queries.ndim - 1))
    q = held["q"][heads, queries].astype(np.float64)
    k = held["k"][_kv_rows(entry).reshape(heads.shape), keys].astype(np.float64)
    logits = np.einsum("...d,...d->...", q, k) * entry.scale
    return logits if entry.softcap is None else entry.softcap * np.tanh(logits / entry.softcap)


def _probs(logits: np.ndarray, lse: np.ndarray) -> np.ndarray:
    lse = lse.astype(np.float64)
    return np.where(lse == -np.inf, 0, np.exp(logits - lse))


def _best(probs: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest of each line and where it is, the lower place on ties; NaN where one of them is."""
    used = places >= 0
    largest = np.max(np.where(used, probs, -1), axis=1)
    at = np.min(np.where(used & (probs == largest[:, None]), places, np.iinfo(np.int64).max), axis=1)
    return np.where(used.any(axis=1), largest, 0), np.where(at == np.iinfo(np.int64).max, -1, at)


def _keys(mask: MaskForm, rows: Rows, query: int) -> tuple[int, int, np.ndarray | None]:
    """First key and one past the last that a query may see, and which between are no padding."""
    first, stop = mask.from_row(query).ranges(1, rows.kv_len)
    part = slice(max(0, int(first[0])), min(int(stop[0]), rows.kv_len))
    shown = None if mask.key_padding is None else mask.shown_keys(rows.kv_len)[part]
    return part.start, part.stop, shown


def _mask(rows: Rows, variant: str) -> MaskForm:
    return rows.mask if variant == "recorded" else MaskForm(variant == "causal", rows.mask.q_offset)


def _kv_rows(entry: Layer) -> np.ndarray:
    """For each recorded head, the row of k that it reads."""
    kept = entry.kept_kv_heads
    return np.array([kept.index(kv_head) for kv_head in entry.kv_heads])


def _groups(entry: Layer, count: int) -> Iterator[tuple[np.ndarray, slice]]:
    """Heads and the key heads they read, so that head h of a group reads h // group_size of its keys.

    A group has at most HELD numbers in its `count` keys, or one key head.
    """
    read, kept = _kv_rows(entry), len(entry.kept_kv_heads)
    group = len(read) // kept
    even = len(read) == kept * group and (read == np.arange(len(read)) // group).all()
    step = max(1, HELD // max(1, count * entry.head_dim)) if even else 1
    for start in range(0, kept, step):
        kv_heads = slice(start, min(start + step, kept))
        yield np.flatnonzero((read >= kv_heads.start) & (read < kv_heads.stop)), kv_heads


def _layers(recording: "Recording", item: int) -> Iterator[tuple[Layer, Rows]]:
    return ((entry, entry.rows[item]) for entry in recording.layers)


def _has(rows: Rows, query: int | None, key: int | None) -> bool:
    return (query is None or query < rows.q_len) and (key is None or key < rows.kv_len)


def _inside(recording: "Recording", query: int | None, key: int | None, item: int, variant: str) -> None:
    """Some layer must have such a query and key, and a causal mask a meaning in all that have."""
    lengths = [rows for _, rows in _layers(recording, item)]
    for name, value, axis in (("query", query, "q_len"), ("key", key, "kv_len")):
        most = max((getattr(rows, axis) for rows in lengths), default=0)
        if value is not None and value >= most:
            raise OptionError(f"{name} must be below {most}, the longest {axis} of the item; got {value}.")
    if not any(_has(rows, query, key) for rows in lengths):
        raise OptionError(f"no recorded layer has both query {query} and key {key}.")
    if variant == "causal" and any(entry.kind == "cross" for entry, _ in _layers(recording, item)):
        raise OptionError("variant 'causal' has no meaning for cross-attention, which this recording holds.")
