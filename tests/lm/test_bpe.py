"""The tokenizer: any text there and back, places in bytes, pieces that are no sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import OptionError
from pozor.lm.bpe import WORDS, Bpe

TINY = Bpe([(97, 98), (256, 97)])  # a + b, then ab + a
NO_SURROGATES = st.text(st.characters(exclude_categories=("Cs",)), max_size=80)


def test_merges_by_hand():
    assert TINY.encode("abab") == [256, 256]  # ab|ab; "aba" was learnt later than "ab"
    assert TINY.encode("aba") == [257]
    assert TINY.decode([257, 98]) == "abab"
    assert len(TINY) == 258


def test_merges_never_cross_a_blank():
    assert TINY.encode("a b") == [97, 32, 98]


@given(text=NO_SURROGATES)
@settings(max_examples=200)
def test_words_cover_every_text(text):
    assert "".join(WORDS.findall(text)) == text


@given(text=NO_SURROGATES)
@settings(max_examples=150)
def test_any_text_comes_back(czech, text):
    assert czech.decode(czech.encode(text)) == text


@given(text=NO_SURROGATES)
@settings(max_examples=100)
def test_pieces_lie_one_after_the_other_in_the_bytes_of_the_text(czech, text):
    pieces = czech.pieces(text)
    assert (pieces.starts[0], pieces.stops[0]) == (-1, -1)  # the line break before the text
    assert pieces.ids[1:] == czech.encode(text)
    raw, place = text.encode(), 0
    for number, start, stop in zip(pieces.ids[1:], pieces.starts[1:], pieces.stops[1:]):
        assert start == place < stop
        assert raw[start:stop] == czech.bpe.bytes_of[number]
        place = stop
    assert place == len(raw)
    assert all(pieces.tokens)


def test_a_lone_surrogate_is_a_question_mark():
    assert TINY.decode(TINY.encode("a\ud800b")) == "a?b"


def test_half_a_letter_is_labelled_by_its_bytes():
    assert TINY.label(0xC5) == "⟨C5⟩"
    assert TINY.decode([0xC5, 0x99, 0xC5]) == "ř\ufffd"


def test_a_number_that_is_no_token():
    with pytest.raises(OptionError, match="a token number must be from 0 to 257; got 258"):
        TINY.decode([258])


def test_no_token_is_longer_than_a_word(czech):
    """What is shipped cannot hold a sentence: merges stay within words."""
    pieces = [piece.decode(errors="replace") for piece in czech.bpe.bytes_of]
    assert len(pieces) == czech.config["vocabulary"]
    assert max(map(len, pieces)) <= 12
    assert not any(" " in piece[1:] for piece in pieces)
