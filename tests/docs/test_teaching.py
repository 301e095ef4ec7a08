"""The plan of a class keeps its word, in both languages: exercises, commands, headings, minutes, numbers."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer

import pozor
from pozor import exercises
from pozor.cli.app import app
from pozor.examples import PAPER, PUB, floats
from pozor.lessons import catalog, prose

PAGE = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text(encoding="utf-8")
HALVES = dict(zip(("cs", "en"), PAGE.split("\n## Ninety minutes\n"), strict=True))
IDS = {exercise.id for exercise in exercises.catalog()}


def commands(lang: str) -> list[list[str]]:
    """Every command of the page as its words."""
    lines = re.findall(r"^    (pozor .+)$|`(pozor [^`]+)`", HALVES[lang], re.M)
    return [shlex.split(one or other) for one, other in lines]


def ids(lang: str) -> list[str]:
    words = re.findall(r"`([a-z]+(?:-[a-z]+)*)`", HALVES[lang])
    return [word for word in words if word in IDS or "-" in word]


def test_both_languages_give_the_same_class() -> None:
    czech, english = HALVES.values()
    assert ids("cs") == ids("en")
    for pattern in (r"^#{2,3} ", r"^\| ", r"^\| [0-9]+–[0-9]+ ", r"[0-9]+–[0-9]+"):
        found = [re.findall(pattern, half, re.M) for half in (czech, english)]
        # the English half lost its own heading to the split
        assert len(found[0]) - (pattern[1] == "#") == len(found[1]), pattern
    assert re.findall(r"[0-9]+–[0-9]+", czech) == re.findall(r"[0-9]+–[0-9]+", english)
    options = [[[w for w in c if w.startswith("-")] for c in commands(lang)] for lang in HALVES]
    assert options[0] == options[1]
    assert all("en" not in command for command in commands("cs"))
    assert all("cs" not in command for command in commands("en"))


@pytest.mark.parametrize("lang", HALVES)
def test_every_exercise_named_is_there(lang: str) -> None:
    assert len(ids(lang)) >= 12
    assert set(ids(lang)) <= IDS


@pytest.mark.parametrize("lang", HALVES)
def test_every_command_and_option_is_there(lang: str) -> None:
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert len(commands(lang)) >= 8
    for _, name, *rest in commands(lang):
        options = {word: one for one in known[name].params for word in (*one.opts, *one.secondary_opts)}
        given = [word for word in rest if word.startswith("-")]
        assert set(given) <= set(options), (name, given)
        if name == "exercise" and not rest[0].startswith("-"):
            assert rest[0] in IDS
        # parsed as the command would parse it, without running it
        known[name].make_context(name, rest)


@pytest.mark.parametrize("lang", HALVES)
def test_the_minutes_follow_each_other(lang: str) -> None:
    whole, short = HALVES[lang].split("45")[0], HALVES[lang].split("45", 1)[1]
    for part, end in ((whole, 90), (short, 45)):
        spans = [tuple(map(int, span)) for span in re.findall(r"([0-9]+)–([0-9]+)", part)]
        assert spans[0][0] == 0
        assert spans[-1][1] == end
        assert all(left[1] == right[0] for left, right in pairwise(spans))


@pytest.mark.parametrize("lang", HALVES)
def test_every_heading_named_is_in_a_lesson(lang: str) -> None:
    headings = [
        text.split("\n", 1)[0]
        for lesson in catalog.LESSONS
        for text in prose.read(lesson.prose(lang)).values()
        if re.match(r".+\n-{3,}\n", text)
    ]
    quotes = "„([^“]+)“" if lang == "cs" else "“([^”]+)”"
    screens = re.findall(r"^\| [0-9]+–[0-9]+ \|([^|]+)\|", HALVES[lang], re.M)
    named = [name for screen in screens for name in re.findall(quotes, screen)]
    assert len(named) >= 5
    for name in named:
        assert any(heading.startswith(name) for heading in headings), name


@pytest.mark.parametrize("lang", HALVES)
def test_every_number_is_computed(lang: str) -> None:
    def matrix(given: object) -> np.ndarray:
        return np.array(floats(given))  # type: ignore[arg-type]

    x = matrix(PAPER.x)
    paper = pozor.AttentionMap(x @ matrix(PAPER.w_q), x @ matrix(PAPER.w_k), causal=True)
    row, large = paper.row(2), np.exp(10 * paper.logits(2))
    pub = [pozor.AttentionMap(matrix(PUB.q), matrix(PUB.k), causal=c).row(3)[2] for c in (False, True)]
    mark = "," if lang == "cs" else "."
    texts = [f"{100 * share:.0f}\u00a0%" for share in row]
    texts += [f"{100 * share:.1f}\u00a0%".replace(".", mark) for share in pub]
    texts += [f"{n:.3f}".replace(".", mark) for n in (row.min(), large.min() / large.sum())]
    texts += [f"{sum(round(share, 3) for share in row):.3f}".replace(".", mark)]  # 0.309 + 0.297 + 0.395
    assert [text for text in texts if text not in HALVES[lang]] == []
    printed = re.findall(r"\d+(?:[.,]\d+)?\u00a0%|\d+[.,]\d{3}", HALVES[lang])
    assert set(printed) == set(texts)
