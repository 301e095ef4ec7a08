"""Every exercise, drawn several times: what is right passes in any spelling, each mistake is named."""

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from pozor import exercises
from pozor.exercises.answers import CLOSE, RIGHT, Number, Tokens, Vector
from pozor.exercises.drawing import Drawn
from pozor.exercises.sentences import Sentences

SEEDS = (None, 0, 1, 77)
LANGUAGES = ("cs", "en")
EXERCISES = exercises.catalog()
BY_VALUE = [exercise for exercise in EXERCISES if exercise.kind != "sentence"]
DRAWN = [
    pytest.param(exercise.draw(seed), id=f"{exercise.id}-{seed}") for exercise in BY_VALUE for seed in SEEDS
]


@pytest.mark.parametrize("drawn", DRAWN)
def test_the_right_answer_passes_in_every_spelling(drawn: Drawn, spellings: Callable) -> None:
    ways = spellings(drawn.built.answer)
    assert len(set(ways)) >= 5
    for way in ways:
        for lang in LANGUAGES:
            verdict = drawn.check(way, lang)
            assert verdict.right, f"{way!r}: {verdict.message}"
            assert verdict.diagnosis is None


@pytest.mark.parametrize("drawn", DRAWN)
def test_every_listed_mistake_is_named_as_itself(drawn: Drawn, spellings: Callable) -> None:
    assert drawn.mistakes
    for key, mistake in drawn.mistakes.items():
        for way in spellings(mistake):
            for lang in LANGUAGES:
                verdict = drawn.check(way, lang)
                if isinstance(mistake, Vector) and len(mistake.values) != len(drawn.built.answer.values):
                    assert not verdict.right
                    continue
                assert verdict.diagnosis == key, f"{key} as {way!r}: {verdict}"
                assert not verdict.right
                assert verdict.message == drawn.mistake_text(key, lang)


@pytest.mark.parametrize("exercise", BY_VALUE, ids=lambda exercise: exercise.id)
def test_most_drawings_keep_all_their_mistakes(exercise: exercises.Exercise) -> None:
    drawings = [exercise.draw(seed) for seed in range(12)]
    whole = sum(len(drawn.mistakes) == len(drawn.built.mistakes) for drawn in drawings)
    assert whole >= 9
    assert all(len(drawn.mistakes) >= 2 for drawn in drawings)


@pytest.mark.parametrize("drawn", DRAWN)
def test_random_answers_are_not_praised(drawn: Drawn) -> None:
    dice = random.Random(drawn.exercise.id)
    answer = drawn.built.answer
    for _ in range(60):
        if isinstance(answer, Tokens):
            places = frozenset(i for i in range(len(answer.words)) if dice.random() < 0.5)
            typed, right = " ".join(answer.words[i]["cs"] for i in places), places == answer.chosen
        elif isinstance(answer, Vector):
            numbers = [round(dice.uniform(-1, 3), 4) for _ in answer.values]
            typed = "; ".join(map(str, numbers))
            right = all(abs(n - float(value)) <= 0.0006 for n, value in zip(numbers, answer.values))
        else:
            number = dice.choice((dice.uniform(-2, 3), dice.uniform(0, 200), 10 ** dice.uniform(2, 11)))
            unit = dice.choice(("B", "MiB", "GB")) if answer.sized else ""
            typed = f"{number:.4f} {unit}"
            reading = answer.read(typed, "en")[0]
            near = min(
                abs(Fraction(reading.value) / (Fraction(form.value) or 1) - 1) for form in answer.forms
            )
            right = near <= Fraction(1, 10)
        if not right:
            verdict = drawn.check(typed, "cs")
            assert not verdict.right, typed
            assert not verdict.message.startswith("Ano")


@pytest.mark.parametrize("drawn", DRAWN)
def test_hints_and_documents_do_not_hold_the_answer(drawn: Drawn) -> None:
    for lang in LANGUAGES:
        for hint in drawn.hints(lang):
            assert not _holds(drawn, hint, lang), hint


@pytest.mark.parametrize("drawn", DRAWN)
def test_the_sentence_of_a_mistake_does_not_hold_the_answer(drawn: Drawn) -> None:
    for key in drawn.mistakes:
        for lang in LANGUAGES:
            assert not _holds(drawn, drawn.mistake_text(key, lang), lang), key


@pytest.mark.parametrize("drawn", DRAWN)
def test_the_solution_holds_the_answer(drawn: Drawn) -> None:
    for lang in LANGUAGES:
        assert _holds(drawn, drawn.solution(lang), lang), drawn.solution(lang)


def _holds(drawn: Drawn, text: str, lang: str) -> bool:
    """Some number, vector or all of the words of the text would be right."""
    import re

    answer = drawn.built.answer
    if isinstance(answer, Tokens):
        words = [answer.words[i]["cs"] for i in answer.chosen]
        return all(re.search(rf"(?<!\w){word}(?!\w)", text) for word in words)
    if isinstance(answer, Vector):
        return any(drawn.check(piece, lang).right for piece in re.findall(r"\[[^\]]*\]", text))
    pieces = re.findall(r"[−-]?\d(?:[\d.,\u00a0]*\d)?(?:\u00a0?(?:%|krát|times|[KMGT]?i?B))?", text)
    return any(drawn.check(piece, lang).right for piece in pieces)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_a_seed_draws_the_same_again_and_other_seeds_others(exercise: exercises.Exercise) -> None:
    questions = {seed: exercise.draw(seed).question("cs") for seed in range(8)}
    assert questions == {seed: exercise.draw(seed).question("cs") for seed in range(8)}
    assert len(set(questions.values())) >= 2
    answers = {seed: exercise.draw(seed).answer for seed in range(8)}
    assert answers == {seed: exercise.draw(seed).answer for seed in range(8)}


def test_mistakes_of_a_drawing_are_apart_from_what_is_right() -> None:
    for exercise in BY_VALUE:
        for seed in range(6):
            drawn = exercise.draw(seed)
            for key, mistake in drawn.mistakes.items():
                assert _judged(drawn.built.answer, mistake) not in (RIGHT, CLOSE), (exercise.id, seed, key)


def _judged(answer: Number | Vector | Tokens | Sentences, other: Number | Vector | Tokens) -> str:
    """What the answer says to the other's own values, as finely as they are known."""
    from pozor.exercises.reading import Quantity

    if isinstance(answer, Tokens) and isinstance(other, Tokens):
        return answer.judge(other.chosen)
    if isinstance(answer, Vector) and isinstance(other, Vector):
        if len(answer.values) != len(other.values):
            return "other"
        return answer.judge([Quantity(_exact(value), None) for value in other.values])
    assert isinstance(answer, Number)
    assert isinstance(other, Number)
    form = other.forms[0]
    return answer.judge(Quantity(_exact(form.value), None, form.units[0], form.lead))


def _exact(value: object) -> Fraction | float:
    return float(value) if value in (float("inf"), float("-inf")) else Fraction(value)  # type: ignore[arg-type]
