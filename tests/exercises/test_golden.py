"""The numbers of the lesson, worked by hand elsewhere; what the mistakes give; the words around them."""

import re

import numpy as np
import pytest

from pozor import exercises
from pozor.errors import DtypeError, OptionError
from pozor.exercises.bank.common import paper
from pozor.exercises.faults import FAULTS, floats, rightly, wrongly


def check(name: str, typed: str, lang: str = "cs", seed: int | None = None):
    return exercises.get(name).draw(seed).check(typed, lang)


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("dot-product", "2"), ("divisor", "4"), ("row-sum", "1"), ("score", "0,485"),
        ("first-token-out", "0,2 0,8 0 0,1"),  # v of the first word
        ("second-token-out", "0,555 0,302 0,213 0,029"),
        ("weights-row", "0,309 0,297 0,395"), ("times-ten", "0,075 0,051 0,874"),
        ("times-ten-fall", "o 0,246"), ("times-ten-fall", "na 17 %"), ("times-ten-fall", "5,9krát"),
        ("times-ten-fall", "na 0,051"),
        ("causal-logits", "0,05 0,95 −∞"), ("two-heads", "0,293 0,275 0,432"),
        ("scores-count", "33 554 432"), ("scores-memory", "64 MiB"), ("scores-memory", "67,1 MB"),
        ("scores-memory", "0,0625 GiB"), ("scores-memory", "0,0671 GB"), ("head-dim", "128"), ("w-o-share",
        "1/4"),
        ("masked-looks", "vypil"), ("masked-weight", "96,8 %"), ("looks-at", "pan, švejk, pivo"),
        ("looks-at", "pan svejk a pivo"), ("mask-hides", "v, hospodě"), ("asks-in-vain", "1/2"),
        ("turn", "0 -1"), ("gradient", "0,09"), ("bits", "3"), ("causal-pairs", "21"),
    ],
)  # fmt: skip
def test_the_numbers_of_the_lesson(name: str, typed: str) -> None:
    verdict = check(name, typed)
    assert verdict.right, verdict.message


@pytest.mark.parametrize(
    ("name", "typed", "diagnosis"),
    [
        ("weights-row", "0,281 0,260 0,459", "no_sqrt"),  # logits .97, .89, 1.46
        ("times-ten", "0,281 0,260 0,459", "twice_for_ten"),
        ("first-token-out", "0,281 0,420 0,393 0,184", "no_mask"),  # probs .4066, .2346, .3588
        ("scores-memory", "64 MB", "unit_slip"), ("scores-memory", "64 GiB", "unit_slip"),
        ("scores-memory", "67,1 MiB", "unit_slip"), ("scores-memory", "64", "no_unit"),
        ("scores-memory", "2 MiB", "one_head"), ("scores-memory", "0,06 GiB", "rough"),
        ("weights-row", "0,309 0,297 0,394", "rounding"), ("weights-row", "0,3 0,3 0,4", "rough"),
        ("weights-row", "0,395 0,297 0,309", "order"), ("times-ten-fall", "o 17 %", "by_for_to"),
        ("times-ten-fall", "0,051", "new_weight"),
        ("divisor", "16", "by_d"), ("divisor", "4 MiB", "unit_not_asked"), ("dot-product", "8 %",
        "unit_not_asked"),
        ("times-ten-fall", "24,6 %", "points_for_percent"), ("times-ten-fall", "83", "percent_missing"),
        ("row-sum", "100", "percent_missing"), ("equal-logits", "25", "percent_missing"),
        # k of the first word, as short as it is
        ("first-token-out", "0,9 0,1 0,4 0", "keys_for_values"),
        ("split", "0,9 0,8 0,2 0,1", "all_of_it"),  # q of the third word, both heads of it
        ("two-heads", "0,337 0,34 0,323", "other_head"),  # .340 without its last zero
        ("row-sum", "0,991", None), ("score", "0,49", "rough"), ("score", "0,5", "rough"),
        ("masked-weight", "94,7 %", "mask_after_softmax"), ("masked-looks", "v hospode", "polarity"),
        ("looks-at", "pan švejk pivo hospodě", "transposed"), ("causal-logits", "0,05 0,95 0",
        "zero_for_inf"),
        ("residual", "1,2 0,8 1 0,1", "no_w_o"), ("position-zero", "1 0 1 0", "cosine_first"),
    ],
)  # fmt: skip
def test_what_the_checker_recognises(name: str, typed: str, diagnosis: str | None) -> None:
    verdict = check(name, typed)
    assert not verdict.right
    assert verdict.diagnosis == diagnosis, verdict.message


def test_a_right_answer_in_another_form_is_not_called_wrong() -> None:
    for name, ways in {
        "w-o-share": ("25 %", "0,25", "1/4", "0.250", "25,0 procent"),
        "equal-logits": ("1/4", "25 %", "0,25", "2/8", ".25"),
        "scores-count": ("2^25", "32·1024·1024", "33.554.432", "33,554,432", "32·2^20"),
        "divisor": ("√16", "4,0", "16/4", "+4", "= 4", "odmocninou ze 16", "the square root of 16"),
        "times-ten": ("0,075 0,051 0,874", "0,0754 0,0506 0,874", "7,5 % 5,1 % 87,4 %"),
        "row-sum": ("1", "100 %", "1,00", "3/3"),
        "causal-logits": ("0,05; 0,95; −∞", "0,05 0,95 mínus nekonečno", "0.05 0.95 - ∞"),
        "kv-cache": ("512 MiB", "0,5 GiB", "537 MB", "0.54 GB", "536 870 912 B"),
    }.items():
        for typed in ways:
            assert check(name, typed).right, (name, typed)


def test_near_the_right_one_is_told_to_look_at_the_rounding() -> None:
    assert check("masked-weight", "0,967").message == "Skoro: zkontrolujte zaokrouhlení."
    assert check("masked-weight", "0.967", "en").message == "Close: check the rounding."
    assert check("masked-weight", "0,9677").right
    assert check("masked-weight", "0,97").diagnosis == "rough"
    assert check("masked-weight", "97 %").right  # whole per cent are what one says


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_no_message_speaks_of_wrong(lang: str) -> None:
    for exercise in exercises.catalog():
        drawn = exercise.draw()
        for typed in ("7,7", "vypil", "7 7 7 7", "něco docela jiného"):
            assert not re.search(
                r"\b(špatně|chybně|wrong|incorrect|false)\b", drawn.check(typed, lang).message
            )


def test_the_mistakes_are_computations_on_the_paper_example() -> None:
    q, k, v = paper(None)

    def row(fault: str, place: int = 2) -> list[float]:
        return wrongly(fault, q, k, v, causal=True).probs[place].round(6).tolist()

    assert rightly(q, k, v, causal=True).probs[2].round(6).tolist() == [0.308793, 0.296685, 0.394521]
    assert row("no_sqrt") == [0.28126, 0.259635, 0.459105]
    assert row("no_mask", 0) == [0.406596, 0.234585, 0.358819]
    assert row("mask_after_softmax", 0) == [0.406596, 0, 0]
    assert row("polarity", 2) == [0, 0, 0]
    assert row("polarity", 0)[0] == 0
    # .55, 0, 0 after zeros for −∞: e^.55 = 1.733253, over 3.733253
    assert row("zero_for_inf", 0) == [0.464274, 0.267863, 0.267863]
    assert np.isclose(wrongly("wrong_axis", q, k, v, causal=True).probs.sum(axis=0), 1).all()
    assert np.isclose(sum(row("no_exp")), 1)
    assert row("no_exp") == [0.292169, 0.268072, 0.439759]  # .97, .89, 1.46 over 3.32
    assert np.isclose(sum(row("not_divided")), 5.259746)
    assert np.allclose(
        wrongly("keys_for_values", q, k, v, causal=True).out[2],
        rightly(q, k, v, causal=True).probs[2] @ floats(k),
    )
    swapped = wrongly("kv_swapped", q, k, v, causal=True)
    assert np.allclose(swapped.logits[2], floats(v) @ floats(q)[2] / 2)
    assert set(FAULTS) >= {
        "no_sqrt",
        "by_d",
        "wrong_axis",
        "mask_after_softmax",
        "zero_for_inf",
        "polarity",
        "kv_swapped",
    }


def test_keys_and_values_of_two_shapes_are_not_swapped() -> None:
    with pytest.raises(ValueError, match="keys and values can be swapped only in one shape"):
        wrongly("kv_swapped", np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 2)), causal=False)


def test_a_seed_must_be_a_seed() -> None:
    exercise = exercises.get("divisor")
    with pytest.raises(DtypeError, match="seed must be a whole number; got str"):
        exercise.draw("7")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"seed must be from 0 to 9007199254740991; got -1\."):
        exercise.draw(-1)
    with pytest.raises(OptionError, match="lang must be cs or en; got 'de'"):
        exercise.draw().question("de")
    with pytest.raises(OptionError, match="id must be an exercise; got 'x'"):
        exercises.get("x")


def test_there_are_thirty_and_more_spread_over_the_lessons() -> None:
    lessons = [exercise.lesson for exercise in exercises.catalog()]
    assert len(lessons) >= 30
    assert all(lessons.count(lesson) >= 5 for lesson in range(6))
    assert {exercise.kind for exercise in exercises.catalog()} == {"number", "vector", "tokens", "sentence"}
