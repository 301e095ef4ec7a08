"""A mask as recording.json holds it: a few numbers, from which the keys of every row follow."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pozor.errors import RecordingError

FIELDS = ("causal", "q_offset", "window", "prefix", "documents", "key_padding")


@dataclass(frozen=True)
class MaskForm:
    """Which keys a query may see; every part narrows it, but `prefix` opens keys to a causal mask.

    Positions count keys. `documents` are the lengths of consecutive documents; `key_padding` the ranges
    [start, stop) of keys that are no padding.
    """

    causal: bool = False
    q_offset: int = 0
    window: tuple[int | None, int | None] | None = None
    prefix: int | None = None
    documents: tuple[int, ...] | None = None
    key_padding: tuple[tuple[int, int], ...] | None = None

    def ranges(self, q_len: int, kv_len: int) -> tuple[np.ndarray, np.ndarray]:
        """First key and one past the last key of each row, int64 (q_len,); padding is not taken out."""
        position = np.arange(q_len, dtype=np.int64) + self.q_offset
        first, stop = np.zeros(q_len, np.int64), np.full(q_len, kv_len, np.int64)
        if self.causal:
            stop = np.minimum(stop, position + 1)
        if self.window is not None:
            left, right = self.window
            first = first if left is None else np.maximum(first, position - left)
            stop = stop if right is None else np.minimum(stop, position + right + 1)
        if self.prefix is not None:
            stop = np.maximum(stop, min(self.prefix, kv_len))
        if self.documents is not None:
            ends = np.cumsum(self.documents)
            document = np.searchsorted(ends, position, side="right")
            inside = document < len(ends)
            document = np.minimum(document, len(ends) - 1)
            first = np.maximum(first, (ends - np.asarray(self.documents))[document])
            stop = np.where(inside, np.minimum(stop, ends[document]), 0)
        return first, np.maximum(first, stop)

    def shown_keys(self, kv_len: int) -> np.ndarray:
        """True where a key is no padding, bool (kv_len,)."""
        shown = np.full(kv_len, self.key_padding is None)
        for start, stop in self.key_padding or ():
            shown[start:stop] = True
        return shown

    def from_row(self, start: int) -> "MaskForm":
        """The mask of the queries from `start` on."""
        return replace(self, q_offset=self.q_offset + start)

    def options(self, q_len: int, kv_len: int) -> dict[str, Any]:
        """The same mask as keyword arguments of `attention`, `observe` and `AttentionMap`."""
        from pozor.masks import Causal, Documents, Padding, Prefix

        parts: list[Any] = []
        causal = self.causal
        if self.prefix is not None:
            parts.append(Causal() | Prefix(self.prefix))
            causal = False
        if self.documents is not None:
            ids = np.repeat(np.arange(len(self.documents)), self.documents)
            parts.append(Documents(ids[self.q_offset : self.q_offset + q_len], ids))
        if self.key_padding is not None:
            parts.append(Padding(self.shown_keys(kv_len)[None]))
        mask = None
        for part in parts:
            mask = part if mask is None else mask & part
        return {"causal": causal, "window": self.window, "q_offset": self.q_offset, "mask": mask}

    def words(self) -> str:
        """The mask in words, such as "causal & window (511, 0)"."""
        parts = ["causal"] if self.causal else []
        if self.prefix is not None:
            parts = [f"causal | prefix {self.prefix}"]
        if self.window is not None:
            left, right = ("open" if side is None else side for side in self.window)
            parts.append(f"window ({left}, {right})")
        if self.documents is not None:
            parts.append(f"{len(self.documents)} documents")
        if self.key_padding is not None:
            parts.append("key padding")
        return " & ".join(parts) or "none"

    def to_json(self) -> dict[str, Any]:
        """The fields of recording.json."""
        return {name: getattr(self, name) for name in FIELDS}


def from_json(value: Any, where: str, q_len: int, kv_len: int) -> MaskForm:
    """Judge a mask of recording.json.

    Raises:
        RecordingError: A field is missing, unknown, or does not fit the lengths.
    """
    if not isinstance(value, dict) or set(value) != set(FIELDS):
        raise RecordingError(
            f"{where}: mask must have exactly the fields {', '.join(FIELDS)}; got {value!r:.80}."
        )
    form = MaskForm(
        value["causal"],
        value["q_offset"],
        None if value["window"] is None else _tuple(value["window"], where),
        value["prefix"],
        None if value["documents"] is None else _tuple(value["documents"], where),
        None
        if value["key_padding"] is None
        else tuple(_tuple(pair, where) for pair in _tuple(value["key_padding"], where)),
    )
    if not sound(form, q_len, kv_len):
        raise RecordingError(
            f"{where}: mask does not fit q_len={q_len}, kv_len={kv_len}; got {value!r:.120}."
        )
    return form


def _tuple(value: Any, where: str) -> tuple:
    if not isinstance(value, list):
        raise RecordingError(f"{where}: mask must hold lists of whole numbers; got {value!r:.80}.")
    return tuple(value)


def sound(form: MaskForm, q_len: int, kv_len: int) -> bool:
    """Whether every field has its type and range, and no two fields contradict each other."""

    def whole(n: Any) -> bool:
        return type(n) is int and 0 <= n <= kv_len

    window, documents, padding = form.window, form.documents, form.key_padding
    return (
        type(form.causal) is bool
        and type(form.q_offset) is int
        and abs(form.q_offset) <= 2**53
        and (
            window is None
            or (len(window) == 2 and all(n is None or (type(n) is int and n >= 0) for n in window))
        )
        and (
            form.prefix is None
            or (whole(form.prefix) and form.causal and window is None and documents is None)
        )
        and (documents is None or (all(whole(n) for n in documents) and sum(documents) == kv_len))
        and (documents is None or 0 <= form.q_offset <= form.q_offset + q_len <= kv_len)
        and (
            padding is None
            or all(len(p) == 2 and whole(p[0]) and whole(p[1]) and p[0] <= p[1] for p in padding)
        )
    )
