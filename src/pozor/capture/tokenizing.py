"""Tokens with their words and places, from a tokenizer and its ids."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from pozor.errors import CaptureError
from pozor.recording import Tokens
from pozor.recording.tokens import OUTSIDE, label, plain

FALLBACK = re.compile(r"<0x([0-9A-Fa-f]{2})>")  # a byte as SentencePiece tokenizers write it


@dataclass(frozen=True)
class Piece:
    """A token as the tokenizer names it; `special` marks are of the tokenizer, not of the text."""

    id: int
    name: str
    special: bool


def items_of(
    tokenizer: Any, texts: Sequence[Tokens] | None, ids: Sequence[np.ndarray | None], lengths: Sequence[int]
) -> list[Tokens]:
    """The items of a recording: those known with their texts, else what the ids and the tokenizer say."""
    if texts is not None:
        if [len(item) for item in texts] != list(lengths):
            raise CaptureError(
                f"the texts have {[len(t) for t in texts]} tokens, the model saw {list(lengths)}."
            )
        return list(texts)
    return [
        _item(tokenizer, own, length, str(n))
        for n, (own, length) in enumerate(zip(ids, lengths, strict=True))
    ]


def _item(tokenizer: Any, ids: np.ndarray | None, length: int, name: str) -> Tokens:
    if ids is None:
        return plain(length, name)
    if tokenizer is None:
        tokens = plain(length, name, [f"⟨{i}⟩" for i in ids])
        return Tokens(name, "", ids, tokens.starts, tokens.stops, tokens.special, tokens.labels)
    return of_ids(tokenizer, ids, name)


def of_ids(tokenizer: Any, ids: Iterable[int], name: str = "") -> Tokens:
    """Tokens of ids whose text is not known: it is joined from their bytes, or decoded and found again."""
    pieces = pieces_of(tokenizer, ids)
    byte_level = is_byte_level(tokenizer)
    own_bytes = [None if piece.special else _bytes(piece.name) for piece in pieces]
    if byte_level:
        text = b"".join(b for b in own_bytes if b is not None).decode("utf-8", "ignore")
        placed = _place_bytes(pieces, text.encode(), _unspelled(tokenizer))
        if placed is not None:
            return _tokens(name, text, pieces, *placed)
    plain_ids = [piece.id for piece in pieces if not piece.special]
    text = tokenizer.decode(plain_ids, clean_up_tokenization_spaces=False)
    again = encode(tokenizer, text, special=False)
    if again is not None and again[0] == plain_ids:
        offsets = iter(again[1])
        spans = [(0, 0) if piece.special else next(offsets) for piece in pieces]
        return _tokens(name, text, pieces, *_place_offsets(pieces, spans, text))
    spelled = [label(own) if own else "" for own in own_bytes] if byte_level else [""] * len(pieces)
    labels = [word or piece.name for word, piece in zip(spelled, pieces, strict=True)]
    bare = plain(len(pieces), name, labels)
    special = np.array([piece.special for piece in pieces], bool)
    return Tokens(
        name, "", np.array([p.id for p in pieces], np.int64), bare.starts, bare.stops, special, bare.labels
    )


def of_text(tokenizer: Any, text: str, name: str, max_tokens: int | None = None) -> Tokens:
    """Tokens of a text, special tokens of the model included; the text ends with the last token kept.

    Raises:
        CaptureError: The tokenizer cannot say where its tokens stand.
    """
    found = encode(tokenizer, text, special=True, max_tokens=max_tokens)
    if found is None:
        return of_ids(tokenizer, tokenizer(text)["input_ids"][:max_tokens], name)
    ids, spans = found
    if max_tokens is not None and len(ids) > max_tokens:  # so few that its own marks do not fit
        raise CaptureError(
            f"max_tokens must leave room for a token beside the {len(tokenizer('')['input_ids'])} marks that "
            f"this tokenizer adds; got {max_tokens}."
        )
    pieces = pieces_of(tokenizer, ids)
    placed = _place_bytes(pieces, text.encode(), _unspelled(tokenizer)) if is_byte_level(tokenizer) else None
    starts, stops = placed if placed is not None else _place_offsets(pieces, spans, text)
    if max_tokens is not None and len(ids) >= max_tokens:
        text = text.encode()[: int(stops.max(initial=0))].decode("utf-8", "ignore")
        outside = stops > len(text.encode())
        starts, stops = np.where(outside, OUTSIDE, starts), np.where(outside, OUTSIDE, stops)
    return _tokens(name, text, pieces, starts, stops)


def encode(
    tokenizer: Any, text: str, *, special: bool, max_tokens: int | None = None
) -> tuple[list[int], list[tuple[int, int]]] | None:
    """Ids and character offsets, or None where the tokenizer knows no offsets."""
    if not getattr(tokenizer, "is_fast", False):
        return None
    found = tokenizer(
        text,
        add_special_tokens=special,
        return_offsets_mapping=True,
        truncation=max_tokens is not None,
        max_length=max_tokens,
        verbose=False,
    )
    return list(found["input_ids"]), [tuple(pair) for pair in found["offset_mapping"]]


def pieces_of(tokenizer: Any, ids: Iterable[int]) -> list[Piece]:
    """The tokenizer's own names of the ids."""
    ids = [int(i) for i in ids]
    marks = {i for i, token in getattr(tokenizer, "added_tokens_decoder", {}).items() if token.special}
    marks |= set(tokenizer.all_special_ids)
    names = tokenizer.convert_ids_to_tokens(ids)
    return [Piece(i, str(name), i in marks) for i, name in zip(ids, names, strict=True)]


def is_byte_level(tokenizer: Any) -> bool:
    """Whether its pieces spell bytes, one character each (GPT-2's way)."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend is not None and "ByteLevel" in repr(backend.decoder)


@cache
def _byte_of() -> dict[str, int]:
    """GPT-2's spelling: printable bytes stand for themselves, the others for characters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}


def _bytes(piece: str) -> bytes | None:
    try:
        return bytes(_byte_of()[character] for character in piece)
    except KeyError:
        return None


def _unspelled(tokenizer: Any) -> frozenset[int]:
    """Bytes that the vocabulary has no token for; such a tokenizer leaves them out without a mark."""
    known = tokenizer.backend_tokenizer.token_to_id
    return frozenset(byte for character, byte in _byte_of().items() if known(character) is None)


def _place_bytes(
    pieces: Sequence[Piece], text: bytes, unspelled: frozenset[int]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Byte places of pieces that spell the text byte by byte; None if they do not."""
    starts, stops, at = [], [], 0
    for piece in pieces:
        own = piece.name.encode() if piece.special else _bytes(piece.name)
        while own and at < len(text) and text[at] in unspelled and not text.startswith(own, at):
            at += 1
        if own is not None and text.startswith(own, at):
            starts.append(at)
            at += len(own)
            stops.append(at)
        elif piece.special or at + len(own or b"") > len(text):
            starts.append(OUTSIDE)
            stops.append(OUTSIDE)
        else:
            return None
    return np.array(starts, np.int64), np.array(stops, np.int64)


def _place_offsets(
    pieces: Sequence[Piece], spans: Sequence[tuple[int, int]], text: str
) -> tuple[np.ndarray, np.ndarray]:
    """Byte places from character offsets; tokens that are single bytes of a character share it out."""
    byte_at = np.concatenate([[0], np.cumsum([len(c.encode("utf-8", "replace")) for c in text])]).astype(
        np.int64
    )
    starts = np.array([byte_at[a] for a, _ in spans], np.int64)
    stops = np.array([byte_at[b] for _, b in spans], np.int64)
    for first, last in _alike(spans):
        group = pieces[first:last]
        if all(FALLBACK.fullmatch(p.name) for p in group) and last - first == stops[first] - starts[first]:
            starts[first:last] = starts[first] + np.arange(last - first)
            stops[first:last] = starts[first:last] + 1
    nowhere = np.array([p.special and a == b for p, (a, b) in zip(pieces, spans, strict=True)], bool)
    starts[nowhere] = stops[nowhere] = OUTSIDE
    return starts, stops


def _alike(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of neighbours with one and the same span."""
    edges = [0, *(i for i in range(1, len(spans)) if spans[i] != spans[i - 1]), len(spans)]
    return [(a, b) for a, b in pairwise(edges) if b - a > 1]


def _tokens(name: str, text: str, pieces: Sequence[Piece], starts: np.ndarray, stops: np.ndarray) -> Tokens:
    held = text.encode("utf-8", "replace")
    labels = []
    for piece, start, stop in zip(pieces, starts, stops, strict=True):
        own = held[start:stop] if start >= 0 else b""
        spelled = _bytes(piece.name) if not piece.special else None
        fallback = FALLBACK.fullmatch(piece.name)
        if not own and fallback:
            own = bytes.fromhex(fallback[1])
        elif not own and start < 0 and spelled:
            own = spelled
        labels.append(label(own) or piece.name or f"⟨{piece.id}⟩")
    ids = np.array([piece.id for piece in pieces], np.int64)
    special = np.array([piece.special for piece in pieces], bool)
    return Tokens(name, text, ids, starts, stops, special, tuple(labels))
