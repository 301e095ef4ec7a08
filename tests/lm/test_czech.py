"""The language model: reading, maps, a recording, sampling by a seed, manners, and its record."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pozor
from pozor import OptionError
from pozor.lm.bpe import Bpe
from pozor.lm.czech import sampled
from pozor.lm.decoder import attention_maps
from pozor.lm.loss import as_read, counted_bits, model_bits, recorded, split
from pozor.lm.manners import rude

TEXT = "Ráno jsme vyšli na kopec a dívali se na řeku."


def test_reading_gives_logits_and_q_k_v_of_every_layer(czech):
    found, pieces, config = czech.read(TEXT), czech.pieces(TEXT), czech.config
    count, head_dim = len(pieces.ids), config["d_model"] // config["num_heads"]
    assert found.logits.shape == (count, config["vocabulary"])
    assert len(found.layers) == config["num_layers"]
    for step in found.layers:
        assert step.q.shape == (config["num_heads"], count, head_dim)
        assert step.k.shape == step.v.shape == (config["num_kv_heads"], count, head_dim)


def test_a_map_a_layer_with_all_heads(czech):
    maps = czech.maps(TEXT)
    pieces = czech.pieces(TEXT)
    for held in maps:
        assert held.num_heads == czech.config["num_heads"]
        assert held.tokens == pieces.tokens
        row = held.row(5, head=1)
        assert row[6:].tolist() == [0.0] * (len(row) - 6)
        assert row.sum() == pytest.approx(1)


def test_the_newest_row_is_the_last_row_of_the_whole(czech):
    steps = list(czech.generate(TEXT, tokens=6, seed=3))
    text = steps[-1].text
    ids = [*czech.pieces(TEXT).ids, *(step.id for step in steps)]
    whole = attention_maps(czech.forward(ids).layers, [str(number) for number in ids])
    newest = attention_maps(steps[-1].layers, steps[-1].tokens)
    for layer, all_rows in zip(newest, whole):
        assert (layer.q_len, layer.kv_len) == (1, len(ids))
        assert layer.query_tokens == [steps[-1].token]
        assert_allclose(layer.row(0, head=2), all_rows.row(len(ids) - 1, head=2), atol=1e-5)
    assert czech.decode(ids[1:]) == text
    assert "".join(steps[-1].tokens[1:]) == text


def test_the_same_seed_goes_on_in_the_same_way(czech):
    def ids(seed, **options):
        return [step.id for step in czech.generate(TEXT, tokens=12, seed=seed, **options)]

    assert ids(1) == ids(1) != ids(2)
    assert ids(1, temperature=0) == ids(2, temperature=0)
    assert ids(1, top_k=1) == ids(2, temperature=0)


def test_drawing_by_hand():
    logits = np.log(np.array([0.5, 0.25, 0.25]))
    draw = np.random.default_rng(0)
    counts = np.bincount([sampled(logits, draw, 1.0, None, set()) for _ in range(4000)], minlength=3)
    assert_allclose(counts / 4000, [0.5, 0.25, 0.25], atol=0.03)  # 4 standard deviations: 0.032
    assert {sampled(logits, draw, 1.0, 2, set()) for _ in range(200)} == {0, 1}
    assert {sampled(logits, draw, 1.0, 2, {0}) for _ in range(200)} == {1, 2}
    squared = np.bincount([sampled(logits, draw, 0.5, None, set()) for _ in range(4000)], minlength=3)
    assert_allclose(squared / 4000, [4 / 6, 1 / 6, 1 / 6], atol=0.03)


def test_probabilities_are_the_models_own(czech):
    step = next(iter(czech.generate(TEXT, tokens=1, temperature=0)))
    logits = czech.read(TEXT).logits[-1].astype(np.float64)
    probs = np.exp(logits - logits.max())
    assert step.id == logits.argmax()
    assert step.probability == pytest.approx((probs / probs.sum())[step.id])


def test_rude_words_are_found_where_they_are_completed():
    assert rude("Ty debile")
    assert not rude("Ty debile", given=len("Ty debile"))  # the reader's own
    assert rude("To je debi" + "l", given=len("To je debi"))
    assert not rude("židle, svinout, srazit, sršeň, blízko, vůle, volejbal, prase")


def test_the_filter_leaves_out_what_would_complete_a_rude_word(czech, monkeypatch):
    """The likeliest token is declared rude: with the filter another is taken, without it the same."""
    first = next(iter(czech.generate(TEXT, tokens=1, temperature=0)))
    bad = first.text[len(TEXT) :]
    monkeypatch.setattr("pozor.lm.czech.rude", lambda text, given: text[given:] == bad)
    assert next(iter(czech.generate(TEXT, tokens=1, temperature=0))).id != first.id
    assert next(iter(czech.generate(TEXT, tokens=1, temperature=0, filter=False))).id == first.id


def test_nothing_rude_in_what_it_writes(czech):
    for seed in range(3):
        written = list(czech.generate("Pane, vy jste", tokens=40, seed=seed, temperature=1.1))[-1].text
        assert not rude(written)


def test_it_goes_on_beyond_its_context(czech):
    steps = list(czech.generate(TEXT, tokens=czech.context + 5, seed=1, filter=False))
    assert len(steps) == czech.context + 5
    assert steps[-1].layers[0].k.shape[-2] == len(steps[-1].tokens) == czech.context
    attention_maps(steps[-1].layers, steps[-1].tokens)


def test_a_recording_of_a_sentence(czech, tmp_path):
    recording = czech.recording(TEXT, tmp_path / "sentence.pozor")
    item, pieces = recording.items[0], czech.pieces(TEXT)
    assert (item.text, item.tokens) == (TEXT, pieces.tokens)
    assert list(item.starts) == pieces.starts
    assert list(item.stops) == pieces.stops
    assert list(item.special) == [True] + [False] * (len(pieces.ids) - 1)
    assert len(recording.layers) == czech.config["num_layers"]
    mine = czech.maps(TEXT)[2].row(7, head=3)
    assert_allclose(pozor.open(recording.path)[2, 3].row(7), mine, atol=1e-6)
    assert recording[2, 3].has_v_norm


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tokens": 0}, "tokens must be a whole number from 1; got 0"),
        ({"temperature": -1}, "temperature must be a number from 0 to 100; got -1"),
        ({"temperature": float("nan")}, "temperature must be a number from 0 to 100; got nan"),
        ({"top_k": 0}, "top_k must be a whole number from 1, or None for all; got 0"),
    ],
)
def test_numbers_that_no_draw_can_use(czech, options, words):
    with pytest.raises(OptionError, match=words):
        next(iter(czech.generate(TEXT, **options)))


def test_a_text_longer_than_the_context(czech):
    with pytest.raises(OptionError, match="ids must be at most 256 tokens, the model's context; got"):
        czech.read("kopec " * 300)


def test_what_counting_models_lose_by_hand():
    found = counted_bits(Bpe([]), "aaa", "a")  # 256 tokens, each counted once more than seen
    assert found["unigram"] == pytest.approx(-np.log2(4 / 259))
    assert found["bigram"] == pytest.approx(-np.log2((1 + 5 * 4 / 259) / 6))  # after the line break: a, once


def test_what_the_model_loses_by_hand(czech):
    text = "Šli jsme dál a nikdo nic neříkal."
    ids = [10, *czech.encode(text)]
    logits = czech.forward(ids[:-1]).logits.astype(np.float64)
    losses = [np.log2(np.exp(row - row[i]).sum()) for row, i in zip(logits, ids[1:])]
    assert model_bits(czech, text) == pytest.approx(sum(losses) / len(text), rel=1e-4)


def test_the_windows_of_a_long_text_score_each_token_once(czech, monkeypatch):
    """A model that gives all tokens the same probability loses log2(vocabulary) a token."""
    text = "Byl jednou jeden kopec a na něm stál dům. " * 40
    count = len(czech.encode(text))
    assert count > 2 * czech.context
    flat = type("Flat", (), {"logits": None})

    def forward(ids):
        flat.logits = np.zeros((*np.shape(ids), len(czech.bpe)), np.float32)
        return flat

    monkeypatch.setattr(czech, "forward", forward)
    assert model_bits(czech, text) == pytest.approx(count * np.log2(len(czech.bpe)) / len(text), rel=1e-5)


def test_a_text_is_read_with_one_character_a_line_break_and_split_at_its_last_twentieth():
    assert as_read(b"a\r\nb") == "a\nb"
    training, held_out = split("x" * 95 + "y" * 5)
    assert (training, held_out) == ("x" * 95, "y" * 5)


def test_what_is_recorded_about_a_text(czech):
    raw = b"Za kopcem tekla reka a u ni stal mlyn. " * 30
    found = recorded(czech, raw)
    assert found["held_out_characters"] == round(len(raw.decode()) * 0.05)
    assert 0 < found["bigram"] < found["unigram"]
    assert len(found["text_sha256"]) == 64


def test_the_record_says_how_it_was_trained_and_keeps_the_promise(czech):
    record, held_out = czech.record, czech.record["held_out"]
    assert held_out["model"] <= 2.27 < held_out["bigram"] < held_out["unigram"]
    assert record["text_sha256"] == held_out["text_sha256"]
    assert record["curve"][-1][2] == pytest.approx(held_out["model"], abs=0.02)
    assert record["parameters"] == sum(array.size for array in czech.arrays.values()) < 1_250_000
