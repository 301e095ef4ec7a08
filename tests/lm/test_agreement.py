"""The model that finds its subject: accuracy, the bigram, hidden keys, the head, and what a reader types."""

import hashlib
from itertools import islice

import numpy as np
import pytest

from pozor import OptionError
from pozor.lm import Bigram
from pozor.lm.agreement import accuracy, hiding, inner_nouns, looks, right_share, subject_and_pronoun
from pozor.lm.figures import figures, held_out, strongest_head, trained_bigram
from pozor.lm.sentences import generate, vocabulary

FRESH = 77  # a seed that neither training nor the recorded figures have


@pytest.fixture(scope="module")
def crossed():
    return [s for s in held_out(700, FRESH) if s.crossed]


def spread(count: int) -> float:
    """Four standard deviations of a share of `count` fair coins."""
    return 4 * 0.5 / count**0.5


def test_it_is_right_on_longer_sentences_than_it_ever_saw(agreement, crossed):
    sentences = held_out(700, FRESH)
    assert accuracy(agreement.predict_all(sentences), sentences) >= 0.99
    assert accuracy(agreement.predict_all(crossed), crossed) >= 0.99


def test_the_bigram_of_the_same_data_can_only_guess(agreement, crossed):
    found = accuracy(trained_bigram(agreement).predict_all(crossed), crossed)
    assert abs(found - 0.5) < spread(len(crossed))


def test_without_the_key_of_the_subject_and_of_its_pronoun_it_can_only_guess(agreement, crossed):
    found = agreement.predict_all(crossed, subject_and_pronoun)
    assert abs(right_share(found, crossed) - 0.5) < 0.05
    assert abs(accuracy(found, crossed) - 0.5) < 0.1


def test_without_the_keys_of_the_other_nouns_it_stays_right(agreement, crossed):
    assert accuracy(agreement.predict_all(crossed, inner_nouns), crossed) >= 0.99


def test_the_named_head_is_where_the_verb_looks_at_its_subject(agreement, crossed):
    sentences = crossed[:60]
    shares = looks(agreement, sentences).mean(axis=-1)
    named = agreement.head["layer"], agreement.head["head"]
    assert np.unravel_index(shares.argmax(), shares.shape) == named
    assert shares[named] > 0.8
    layer, head = named
    largest = [
        agreement.maps(s.tokens[: s.verb + 1])[layer].row(s.verb, head=head).argmax() == s.subject
        for s in sentences
    ]
    assert np.mean(largest) > 0.9


def test_what_is_recorded_is_what_is_measured(agreement):
    # other processors round otherwise: a prediction that is a guess may tip over
    assert figures(agreement) == pytest.approx(agreement.record["figures"], abs=0.01)
    assert strongest_head(agreement) == pytest.approx(agreement.record["head"], abs=0.001)


def test_the_sentences_it_was_trained_on_are_the_ones_that_are_generated(agreement):
    data = islice(generate(agreement.record["seed"]), agreement.record["sentences"])
    digest = hashlib.sha256("\n".join(s.text for s in data).encode()).hexdigest()
    assert digest == agreement.record["data_sha256"]


def test_hidden_keys_get_no_attention(agreement, crossed):
    sentence = crossed[0]
    tokens, hidden = sentence.tokens[: sentence.verb + 1], subject_and_pronoun(sentence)
    for layer in agreement.maps(tokens, hidden=hidden):
        for head in range(layer.num_heads):
            row = layer.row(sentence.verb, head=head)
            assert row[hidden].tolist() == [0.0] * len(hidden)
            assert row.sum() == pytest.approx(1)


def test_one_sentence_alone_and_in_a_batch(agreement, crossed):
    some = crossed[:5]
    for hidden in (None, subject_and_pronoun):
        batch = agreement.predict_all(some, hidden)
        for sentence, together in zip(some, batch):
            places = () if hidden is None else hidden(sentence)
            alone = agreement.predict(sentence.tokens[: sentence.verb + 1], hidden=places)
            assert alone.l == pytest.approx(together.l, rel=1e-4)
            assert alone.la == pytest.approx(together.la, rel=1e-4)


def test_before_training_it_neither_knows_nor_looks(agreement, crossed):
    blank = agreement.untrained(seed=1)
    assert abs(accuracy(blank.predict_all(crossed), crossed) - 0.5) < spread(len(crossed))
    assert looks(blank, crossed[:20]).mean() < 0.15
    assert [a.shape for a in blank.arrays.values()] == [a.shape for a in agreement.arrays.values()]


def test_mask_that_hides():
    assert hiding(3, [1]).astype(int).tolist() == [[1, 1, 1], [1, 1, 1], [1, 0, 1]]


def test_a_bigram_counts():
    sentences = list(islice(generate(1), 3))
    bigram = Bigram(sentences)
    words = vocabulary()
    assert bigram.counts.sum() == sum(len(s.tokens) - 1 for s in sentences)
    stem, gender = sentences[0].tokens[sentences[0].verb], sentences[0].gender
    assert bigram.predict(["x", stem]).gender == gender
    assert (
        bigram.counts[words.index("l"), words.index(".")] + bigram.counts[words.index("la"), words.index(".")]
        == 3
    )


def test_typed_sentences(agreement):
    want = ["<start>", "sestra", ",", "když", "otec", "spa", "l", ",", "čet"]
    assert agreement.cut("Sestra, když otec spal, čet") == want
    assert agreement.cut("sestra , když otec spal,čet") == want
    assert agreement.cut("Sestra, když otec spal, četla.")[-3:] == ["čet", "la", "."]
    assert agreement.predict(want).gender == "f"
    assert agreement.predict(agreement.cut("Otec, když sestra spala, čet")).gender == "m"


def test_a_word_that_it_never_saw(agreement):
    with pytest.raises(OptionError, match=r"every word must be one of the \d+ .* got 'drak', 'snědl'\."):
        agreement.cut("Drak, když otec spal, snědl")
