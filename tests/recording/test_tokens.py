"""Tokens and their labels: every one readable, every place in the text right, also inside a character."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor.errors import RecordingError
from pozor.recording import tokens as tokens_of
from pozor.recording.tokens import label


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (b"\xf0\x9f", "⟨F0 9F⟩"),  # CASE-63: U+1F4A9 in three tokens
        (b"\x92", "⟨92⟩"),
        (b"\xa9", "⟨A9⟩"),
        (b" hi", " hi"),
        ("Š".encode()[1:] + b"vejk", "⟨A0⟩vejk"),
        (b"a\xff\xfeb", "a⟨FF⟩⟨FE⟩b"),
        ("\u05e9\u05dc".encode(), "\u05e9\u05dc"),  # CASE-65: logical order, nothing added
        (b"\x00", "\x00"),  # CASE-64: the characters themselves; making them visible is the viewer's
    ],
)
def test_labels_are_the_tokens_own_characters(piece: bytes, words: str) -> None:
    assert label(piece) == words


@given(st.binary(max_size=12))
@settings(max_examples=200)
def test_a_label_is_empty_only_for_nothing_and_loses_no_byte(piece: bytes) -> None:
    words = label(piece)
    assert bool(words) == bool(piece)
    spelled = b""
    rest = words
    while "⟨" in rest:
        good, _, rest = rest.partition("⟨")
        inside, _, rest = rest.partition("⟩")
        spelled += good.encode() + bytes.fromhex(inside)
    assert spelled + rest.encode() == piece or b"\xe2\x9f\xa8" in piece


def test_items_survive_the_file(tmp_path: Path) -> None:
    labels = ["", " ", "  ", "\n", "\t", "\r", "\u00a0", "\u200b", "\x00", "\x1b"]
    q = np.ones((1, 10, 2), np.float32)
    rec = pozor.Recording.from_arrays(tmp_path / "a.pozor", q, q, q, tokens=labels, name="<b>&")
    item = rec.items[0]
    assert item.tokens == ["⟨0⟩", *labels[1:]]  # never empty
    assert item.name == "<b>&"
    assert item.starts.tolist() == item.stops.tolist() == item.token_ids.tolist() == [-1] * 10
    assert rec[0, 0].tokens == item.tokens


@pytest.mark.parametrize(
    "change",
    [
        {"starts": [0, 99]},
        {"starts": [1, 1], "stops": [0, 1]},
        {"label_stops": [0, 1]},
        {"label_bytes": [255, 254]},
    ],
)
def test_tokens_that_do_not_fit_their_text(tmp_path: Path, change: dict[str, Any]) -> None:
    from pozor.recording import tensor_file

    q = np.ones((1, 2, 2), np.float32)
    rec = pozor.Recording.from_arrays(tmp_path / "a.pozor", q, q, q, tokens=["a", "b"], text="ab")
    path = rec.path / "item-000" / "tokens.safetensors"
    shapes = {name: place.shape for name, place in tensor_file.places(path).items()}
    held = {name: np.array(array) for name, array in tensor_file.load(path, shapes).items()}
    for name, value in change.items():
        held[name] = np.array(value, held[name].dtype)
    tensor_file.save(path, held)
    with pytest.raises(RecordingError, match="holds tokens that do not fit its text"):
        _ = pozor.open(rec.path).items


def test_plain_tokens_are_numbered() -> None:
    assert tokens_of.plain(2).tokens == ["⟨0⟩", "⟨1⟩"]
