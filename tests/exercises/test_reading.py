"""What is typed is read as people write numbers, in both languages, and never evaluated."""

import math
from fractions import Fraction

import pytest

from pozor import exercises
from pozor.errors import DtypeError
from pozor.exercises.reading import Unread, read_number, read_vector

EXERCISES = exercises.catalog()

NUMBERS = [
    ("0,309", "0.309"), ("0.309", "0.309"), (".5", "0.5"), ("−2", "-2"), ("- 2", "-2"), ("–0,5", "-0.5"),
    ("1 234,5", "1234.5"), ("1,234.5", "1234.5"), ("1.234,5", "1234.5"), ("33\u202f554\u00a0432", "33554432"),
    ("33.554.432", "33554432"), ("33,554,432", "33554432"), ("33'554'432", "33554432"), ("33_554_432",
    "33554432"),
    ("1/3", "1/3"), ("1 1/2", "3/2"), ("½", "1/2"), ("2½", "5/2"), ("31 %", "31/100"), ("31\u00a0procent",
    "31/100"),
    ("2^25", "33554432"), ("2²⁵", "33554432"), ("32·1024·1024", "33554432"), ("32 x 1024 x 1024", "33554432"),
    ("√16", "4"), ("sqrt(16)", "4"), ("odmocnina z 16", "4"), ("3,2e7", "32000000"), ("3.2·10^7", "32000000"),
    ("1,5 milionu", "1500000"), ("1.5 million", "1500000"), ("2 tis.", "2000"), ("asi 5,9krát méně", "5.9"),
    ("x = 4", "4"), ("≈ 0,31", "0.31"), ("４", "4"), ("(4)", "4"), ("4.", "4"), ("6÷4", "3/2"),
    ("3:4", "3/4"), ("1+0+1", "2"), ("1 + 0 + 1", "2"), ("0,5 + 0,25 = 0,75", "3/4"), ("1·1+0·1+1·1", "2"),
    ("2·0,5 - 1/4", "3/4"), ("1 + −2", "-1"), ("e^0", "1"), ("2·e^0", "2"), ("1·1 + 1·0 = 1", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "value"), NUMBERS)
def test_a_number_in_many_spellings(typed: str, value: str) -> None:
    for lang in ("cs", "en"):
        assert read_number(typed, lang)[0].value == Fraction(value)


@pytest.mark.parametrize("typed", ["e", "e^1", "e¹", "exp(1)", "e na 1", "e^1 = 2,718", "≈ e"])
def test_the_number_e(typed: str) -> None:
    value = read_number(typed, "cs")[0].value
    assert abs(float(value) - 2.718281828) < 0.0005
    drawn = exercises.get("exp-ratio").draw()  # e to the difference 1
    assert drawn.check(typed, "cs").right


def test_powers_of_e() -> None:
    assert float(read_number("e^-1", "cs")[0].value) == pytest.approx(0.36787944117144233, rel=1e-15)
    assert float(read_number("e^(0,5) + 1", "cs")[0].value) == pytest.approx(2.6487212707001282, rel=1e-15)


def test_a_plus_before_infinity_is_a_mistake_of_its_own() -> None:
    drawn = exercises.get("causal-logits").draw()
    row = drawn.solution("cs")
    assert "−∞" in row
    for typed in ("0,5; 0,5; +∞", "0,5; 0,5; ∞"):
        said = drawn.check(typed.replace("0,5; 0,5", first_two(drawn)), "cs")
        assert said.diagnosis == "plus_infinity"
        assert "−∞, ne +∞" in said.message


def first_two(drawn: exercises.Drawn) -> str:
    return "; ".join(str(value).replace(".", ",") for value in drawn.built.answer.values[:2])  # type: ignore


def test_one_mark_with_three_digits_after_it_is_two_things_the_likelier_first() -> None:
    assert [q.value for q in read_number("1,024", "en")] == [1024, Fraction("1.024")]
    assert [q.value for q in read_number("1,024", "cs")] == [Fraction("1.024"), 1024]
    assert [q.value for q in read_number("1.024", "en")] == [Fraction("1.024"), 1024]
    assert [q.value for q in read_number("0,309", "en")] == [Fraction("0.309")]


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("64 MiB", "MiB", 64 * 2**20), ("64MiB", "MiB", 64 * 2**20), ("64 mib", "MiB", 64 * 2**20),
        ("512 Mib", "MiB", 2**29),
        ("67,1 MB", "MB", Fraction("67.1") * 10**6), ("0.0625 GiB", "GiB", 2**26), ("512 kB", "kB", 512_000),
        ("67 108 864 bajtů", "B", 2**26), ("64 mebibajtů", "MiB", 2**26), ("4 gigabytes", "GB", 4 * 10**9),
        ("17 %", "%", Fraction("0.17")), ("2 p. b.", "points", Fraction("0.02")), ("5,9 ×", "times",
        Fraction("5.9")),
        ("2 procentní body", "points", Fraction("0.02")), ("6 times less", "times", 6), ("5,9x", "times",
        Fraction("5.9")),
    ],
)  # fmt: skip
def test_the_unit_that_is_written_is_read(typed: str, unit: str, value: object) -> None:
    reading = read_number(typed, "cs")[0]
    assert (reading.unit, reading.value) == (unit, value)


def test_by_and_to_are_kept_apart() -> None:
    assert [read_number(text, "cs")[0].lead for text in ("o 83 %", "na 17 %", "by 0.2", "to 17 %",
    "17 %")] == [
        "by", "to", "by", "to", "",
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["∞", "inf", "+∞", "nekonečno"])
def test_infinity(typed: str) -> None:
    assert read_number(typed, "cs")[0].value == math.inf
    assert read_number(f"−{typed.lstrip('+')}", "cs")[0].value == -math.inf


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("", "empty"), ("   ", "empty"), ("čtyři", "no_number"), ("1/0", "zero"), ("0^-1", "zero"),
        ("1e401", "too_big"),
        ("1e999999999999", "too_big"), ("9^9^9", "several"), ("9^999", "too_big"), ("NaN", "no_number"),
        ("4 jablka", "words"), ("ne 4", "words"), ("3 nebo 4", "several"), ("0.3 0.4", "several"),
        ("1,2,3", "several"), ("1.2.3,4", "no_number"), ("9" * 201, "too_long"), ("__import__('os')",
        "no_number"),
        ("<b>4</b>", "words"), ("10**10**10", "several"), ("4 MiBB", "words"), ("∞ MiB", "words"),
        ("v1", "name"), ("v₁", "name"), ("K_2", "name"), ("e^401", "too_big"),
        ("3-4", "several"), ("e jablek", "words"),
    ],
)  # fmt: skip
def test_what_is_no_number_says_why(typed: str, reason: str) -> None:
    with pytest.raises(Unread) as said:
        read_number(typed, "cs")
    assert said.value.reason == reason


VECTORS = [
    "0,309 0,297 0,395", "0.309 0.297 0.395", "0,309; 0,297; 0,395", "[0.309, 0.297, 0.395]",
    "(0,309;0,297;0,395)",
    "0,309, 0,297, 0,395", "0.309,0.297,0.395", "0,309,0,297,0,395", "p = [0,309; 0,297; 0,395]",
    "⟨0.309 0.297 0.395⟩^T",
    "array([0.309, 0.297, 0.395])", "np.array([.309, .297, .395])", "30,9 % 29,7 % 39,5 %",
    "30,9 29,7 39,5 %",
    "0,309 | 0,297 | 0,395", "0,309\n0,297\n0,395", "309/1000 297/1000 395/1000", "0,309 ; 0,297 ;0,395",
]  # fmt: skip


@pytest.mark.parametrize("typed", VECTORS)
def test_a_vector_in_many_spellings(typed: str) -> None:
    want = [Fraction(n) for n in ("0.309", "0.297", "0.395")]
    assert want in [[q.value for q in way] for way in read_vector(typed, "cs", 3)]


def test_signs_stay_with_their_numbers() -> None:
    assert [q.value for q in read_vector("0 −1", "cs", 2)[0]] == [0, -1]
    assert [q.value for q in read_vector("- 1; 2", "cs", 2)[0]] == [-1, 2]
    assert [q.value for q in read_vector("0,05; 0,95; −∞", "cs", 3)[0]] == [
        Fraction("0.05"),
        Fraction("0.95"),
        -math.inf,
    ]


def test_a_vector_of_another_length_says_both_lengths() -> None:
    with pytest.raises(Unread) as said:
        read_vector("1 2 3", "cs", 4)
    assert said.value.fields == {"expected": 4, "came": 3}


@pytest.mark.parametrize("typed", ["0,2,0,8,0,0,1", "1,2,3"])
def test_numbers_that_run_together_are_asked_to_be_kept_apart(typed: str) -> None:
    with pytest.raises(Unread) as said:
        read_vector(typed, "cs", 4)
    assert said.value.reason == "apart"


def test_a_missing_number_is_not_made_of_the_digits_of_its_neighbours() -> None:
    with pytest.raises(Unread) as said:
        read_vector("0,2 0,8 0,1", "cs", 4)
    assert (said.value.reason, said.value.fields) == ("count", {"expected": 4, "came": 3})


HOSTILE = [
    "", " ", "\n", "\0", "1/0", "0/0", "1e400", "-1e400", "1e-400", "1e9999999999",
    "9" * 190, "9" * 300, "NaN", "nan nan nan",
    "inf", "−∞", "<script>alert(1)</script>", "<b>1</b>",
    "a" * 10_000, "1 " * 5_000, "1," * 5_000, "(" * 10_000, "-" * 190,
    "2^2^2^2", "9^400^400", "√√√√2", "√-1", "1 234,5", "1,234.5", "1.2.3.4", "1\u2009234", "−\u20095", "٣٤",
    "½½½", "²³",
    "__import__('os').system('x')", "1 if True else 2", "{0}", "{word}", "%s%n", "[red]1[/red]", "* * *",
    "| a | b |",
    "1; DROP TABLE", "../../etc/passwd", "\u202e123", "\ud800", "💥", "0x10", "1e", "e", "1e+", "+", "1%%",
    "%", ";;;", ",,,",
    "1,,2", "1 ;; 2", "0.1.2,3.4", "^2", "2^", "2^-", "1/", "/1", "1//2", "1*", "1**", "· ·", "=", "x=",
    "===1",
]  # fmt: skip


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_hostile_answers_get_a_sentence(exercise: exercises.Exercise) -> None:
    drawn = exercise.draw()
    for typed in HOSTILE:
        for lang in ("cs", "en"):
            verdict = drawn.check(typed, lang)
            assert verdict.message.endswith((".", "!", "?")), (typed, verdict)
            assert len(verdict.message) < 500
            assert typed.strip() not in verdict.message or len(typed) < 30


def test_an_answer_that_is_no_text_is_refused() -> None:
    with pytest.raises(DtypeError, match="answer must be a str; got int"):
        exercises.get("divisor").draw().check(4, "cs")  # type: ignore[arg-type]
