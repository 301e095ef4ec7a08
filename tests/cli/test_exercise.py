"""`pozor exercise`: the list, one answer from a script, and a talk at the terminal."""

import io
import re
import sys

import pytest

from pozor import cli, exercises


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as stop:
        cli.main(["exercise", *map(str, words)])
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def typing(monkeypatch):
    """Somebody at a terminal who types these lines."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def types(*lines: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr("pozor.cli.exercise._asking", lambda: True)

    return types


def test_without_a_terminal_the_exercises_are_listed(capsys) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert out == run(capsys, "--list")[1]
    for exercise in exercises.catalog():
        assert re.search(rf"^{exercise.lesson} +{exercise.id} ", out, re.M)
    assert out.rstrip().endswith("Open one like this: pozor exercise dot-product")
    assert all(line == line.rstrip() for line in out.splitlines())


def test_one_lesson_in_czech(capsys) -> None:
    out = run(capsys, "--list", "--lesson", 5, "--lang", "cs")[1]
    assert "paměť klíčů a hodnot" in out
    assert "Skalární součin" not in out
    assert "Jednu otevřete třeba takhle: pozor exercise scores-count --lang cs" in out


def test_a_question_says_how_to_answer(capsys) -> None:
    code, out, _ = run(capsys, "first-token-out", "--lang", "cs")
    assert code == 0
    assert "venku  0,9  0,8  0,2  0,1" in out
    assert "4 čísla za sebou" in out
    assert '--answer "…"' in out
    assert "[0,2; 0,8; 0; 0,1]" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("scores-memory", "--answer", "67.1 MB"), 0, "Yes, exactly."),
        (("scores-memory", "--answer", "64 MB"), 1, "Number and unit do not belong together"),
        (("divisor", "--answer", "16"), 1, "The division is by the square root of d"),
        (("divisor", "--answer", "−4"), 1, "Not there yet"),
        (("dot-product", "--seed", 5, "--answer", "2"), 0, "Yes, exactly."),
        (("turn", "--answer", "0 −1"), 0, "Yes, all the numbers fit."),
        (("masked-looks", "--answer", "vypil", "--lang", "cs"), 0, "Ano, přesně tak."),
        (("divisor", "--answer", "[red]4[/red]"), 1, "I do not understand"),
    ],
)
def test_an_answer_is_checked_and_the_exit_code_tells(capsys, words, code: int, said: str) -> None:
    got, out, err = run(capsys, *words)
    assert (got, err) == (code, "")
    assert out.startswith(said)


def test_a_sentence_gets_the_model_answer_beside(capsys) -> None:
    code, out, _ = run(capsys, "w-o-why", "--answer", "The heads are joined.")
    assert code == 1
    assert out.startswith("Found: in what state")
    assert "Model answer" in out
    assert "mixes them" in out


def test_the_solution_has_its_working(capsys) -> None:
    code, out, _ = run(capsys, "score", "--solution", "--lang", "cs")
    assert code == 0
    assert "0,9·0,9 + 0,8·0,1 + 0,2·0,4 + 0,1·0 = 0,97" in out
    assert out.rstrip().endswith("Děleno √4 = 2 to dá 0,485.")


def test_unbreakable_spaces_are_not_broken(capsys) -> None:
    out = run(capsys, "masked-why", "--seed", 3)[1]
    assert not re.search(r"\d\s*\n\s*%", out)
    assert "94.7\u00a0%" in out


def test_a_talk_at_the_terminal(capsys, typing) -> None:
    typing("16", "?", "?", "?", "=", "4", "")
    code, out, err = run(capsys, "divisor")
    assert (code, err) == (0, "")
    for said in (
        "The division is by",
        "Hint 1 of 2",
        "Hint 2 of 2",
        "There are no more hints",
        "√16 = 4",
        "Yes, exactly.",
    ):
        assert said in out
    assert (
        out.index("The division is by") < out.index("Hint 1 of 2") < out.index("√16 = 4") < out.index("Yes")
    )


def test_all_of_a_lesson_one_after_another(capsys, typing) -> None:
    typing("2", "", "vypil", "", "+", ".")
    code, out, _ = run(capsys, "--lesson", 0, "--lang", "cs")
    assert code == 0
    assert "Skalární součin" in out
    assert "Co udělá e na x" in out
    assert re.search(r"exp-ratio · čísla \d+", out), "new numbers"
    assert out.rstrip().endswith("Správně 2 z 2.")


def test_the_end_of_the_input_ends_it(capsys, typing) -> None:
    typing()
    assert run(capsys, "divisor")[0] == 0
    assert run(capsys)[1].rstrip().endswith("0 of 0 right.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing",), "id must be an exercise; got 'nothing'. pozor exercise --list names them."),
        (("--lesson", 6), "--lesson must be from 0 to 5; got 6."),
        (("divisor", "--seed", -1), "--seed must be from 0 to 9007199254740991; got -1."),
        (("--seed", -1, "--list"), "--seed must be from 0 to 9007199254740991; got -1."),
        (
            ("--answer", "4"),
            "--answer and --solution need an exercise; got none. pozor exercise --list names them.",
        ),
        (("divisor", "--lesson", 2), "--lesson must be that of the exercise; got 2, and divisor is in 1."),
        (("divisor", "--lang", "de"), "--lang must be cs or en; got 'de'."),
    ],
)
def test_errors_are_one_sentence(capsys, words, sentence: str) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err == f"pozor: {sentence}\n"
