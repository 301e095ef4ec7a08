"""The generator: grammar, agreement, balance, and what training never shows."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import OptionError
from pozor.lm import lexicon
from pozor.lm.sentences import TRAINING_LENGTH, Sentence, generate, is_held_out, vocabulary, written

CONJUNCTIONS = {phrase.split()[0] for phrases in lexicon.CONJUNCTIONS.values() for phrase in phrases}
PRONOUNS = {form.split()[-1] for forms, _ in lexicon.RELATIVES for form in forms.values()}
NOMINATIVES = {g: {forms[0] for forms in people} for g, people in lexicon.PEOPLE.items()}


def some(count: int, seed: int = 5, **options) -> list[Sentence]:
    return list(islice(generate(seed, **options), count))


@given(seed=st.integers(0, 2**32), held_out=st.booleans())
@settings(max_examples=60)
def test_the_last_verb_agrees_with_the_subject_and_each_other_with_the_noun_of_its_clause(seed, held_out):
    (sentence,) = some(1, seed, held_out=held_out)
    tokens = sentence.tokens
    assert tokens[sentence.subject] in NOMINATIVES[sentence.gender]
    assert tokens[sentence.ending] == lexicon.ENDINGS[sentence.gender]
    assert tokens[sentence.ending + 1 :] == (".",)
    stems = {stem for stems in lexicon.KINDS.values() for stem in stems}
    assert tokens[sentence.verb] in stems
    assert all(tokens[place] in NOMINATIVES[sentence.inner_gender] for place in sentence.inner)
    inner_endings = [t for t in tokens[: sentence.verb] if t in lexicon.ENDINGS.values()]
    assert inner_endings == [lexicon.ENDINGS[sentence.inner_gender]] * len(sentence.inner)
    assert set(tokens) <= set(vocabulary())


@given(seed=st.integers(0, 2**32), held_out=st.booleans())
@settings(max_examples=60)
def test_nothing_but_subject_and_pronoun_changes_with_the_gender(seed, held_out):
    """What stands between is no hint: it is drawn from lists that do not know the subject's gender."""
    (sentence,) = some(1, seed, held_out=held_out)
    own = {sentence.subject, sentence.ending}
    if sentence.pronoun is not None:
        assert sentence.tokens[sentence.pronoun] in PRONOUNS
        own.add(sentence.pronoun)
    else:
        assert not PRONOUNS & set(sentence.tokens)
        clause = sentence.tokens.index(",") + 1
        assert sentence.tokens[clause] in CONJUNCTIONS
    people = {form for side in lexicon.PEOPLE.values() for forms in side for form in forms}
    neutral = set(vocabulary()) - {word for forms in people for word in forms.split()} - PRONOUNS
    rest = [t for i, t in enumerate(sentence.tokens) if i not in own | set(sentence.inner)]
    objects = {word for side in lexicon.PEOPLE.values() for forms in side for word in forms[1:]}
    objects = {word for phrase in objects for word in phrase.split()}
    assert set(rest) <= neutral | objects


def test_genders_are_balanced_and_apart_from_each_other():
    counts = Counter((s.gender, s.inner_gender) for s in some(8000))
    assert all(abs(count - 2000) < 150 for count in counts.values()), counts  # four standard deviations: 155


def test_each_verb_ends_as_often_in_either_way():
    counts = Counter((s.tokens[s.verb], s.gender) for s in some(20000))
    for stem in {stem for stem, _ in counts}:
        men, women = counts[stem, "m"], counts[stem, "f"]
        assert abs(men - women) < 4 * (men + women) ** 0.5, (stem, men, women)


def test_at_least_half_of_the_clauses_give_no_gender_away():
    for held_out in (False, True):
        sentences = some(2000, held_out=held_out)
        assert sum(s.pronoun is None for s in sentences) > len(sentences) / 2


def test_held_out_sentences_are_longer_than_any_of_training_and_pair_what_training_never_pairs():
    training, held_out = some(4000), some(500, held_out=True)
    assert max(len(s.tokens) for s in training) <= TRAINING_LENGTH < min(len(s.tokens) for s in held_out)
    pairs = {(s.tokens[s.subject], s.tokens[s.verb]) for s in training}
    assert not pairs & {(s.tokens[s.subject], s.tokens[s.verb]) for s in held_out}
    assert is_held_out(0, 0)
    assert not is_held_out(0, 1)


def test_men_and_women_stand_in_pairs_with_forms_that_differ():
    men, women = lexicon.PEOPLE["m"], lexicon.PEOPLE["f"]
    assert len(men) == len(women)
    forms = [form for side in (men, women) for person in side for form in person]
    assert len(set(forms)) == len(forms)
    for nominative, accusative, company in (*men, *women):
        assert accusative != nominative
        preposition, instrumental = company.split()
        hard = instrumental[0] in "szšž"
        assert preposition == ("se" if hard else "s")


def test_the_same_seed_gives_the_same_sentences():
    assert some(20, 3) == some(20, 3) != some(20, 4)


def test_a_sentence_is_written_as_czech_is():
    text = written(("<start>", "sestra", ",", "když", "bratr", "usnu", "l", ",", "čet", "la", "."))
    assert text == "Sestra, když bratr usnul, četla."


def test_no_sentence_of_so_few_tokens():
    with pytest.raises(OptionError, match=r"longest must be at least 12 tokens; got 5\."):
        generate(1, longest=5)
