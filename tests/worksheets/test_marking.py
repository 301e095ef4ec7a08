"""Typed answers: right ones, each slip by its name, what follows from it counted as right."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pozor.errors import OptionError
from pozor.worksheets import Sheet, draw, mark
from pozor.worksheets.answers import STEPS, places, read, template
from pozor.worksheets.mistakes import MISTAKES, Numbers, rightly


def csv_of(sheet: Sheet, own: Numbers, path: Path, *, comma: bool = True, digits: int = 3) -> str:
    """A pupil's line; with decimal commas the fields are apart by semicolons."""
    names, values = ["name", "sheet"], ["Jana", sheet.code]
    for name, (step, index) in places(sheet):
        value = own[step][index]
        text = "−∞" if value == -np.inf else f"{value:.{digits}f}"
        names.append(name)
        values.append(text.replace(".", ",") if comma else text)
    between = ";" if comma else ","
    path.write_text(between.join(names) + "\n" + between.join(values) + "\n", encoding="utf-8")
    return str(path)


def after(sheet: Sheet, step: str, wrong: Any) -> Numbers:
    """Everything done rightly after one wrong step."""
    own = dict(sheet.right)
    own[step] = wrong
    for later in STEPS[STEPS.index(step) + 1 :]:
        with np.errstate(all="ignore"):
            own[later] = rightly(later, sheet, own)
    return own


@pytest.mark.parametrize(("dim", "heads"), [(4, 1), (4, 2)])
@pytest.mark.parametrize("comma", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_right_answers_get_every_point(
    tmp_path: Path, seed: int, comma: bool, dim: int, heads: int
) -> None:
    sheet = draw(seed, dim=dim, heads=heads)
    (answers,) = read(csv_of(sheet, sheet.right, tmp_path / "a.csv", comma=comma), "cs" if comma else "en")
    marks = mark(answers)
    assert marks.points == marks.most == sum(sheet.right[step].size for step in STEPS)
    assert marks.sentences("cs") == ["Všechno správně."]
    assert marks.sentences("en") == ["Everything right."]


CASES = [(step, key) for step, mistakes in MISTAKES.items() for key in mistakes]


@pytest.mark.parametrize(("step", "key"), CASES)
def test_each_slip_is_named_and_costs_its_own_step_only(tmp_path: Path, step: str, key: str) -> None:
    named = 0
    for seed in range(1, 5):
        sheet = draw(seed, dim=4, heads=2 if key == "whole_vectors" else 1)
        with np.errstate(all="ignore"):
            wrong = MISTAKES[step][key](sheet, sheet.right)
        if not np.isfinite(np.where(wrong == -np.inf, 0, wrong)).all() or np.isnan(wrong).any():
            continue
        path = csv_of(sheet, after(sheet, step, wrong), tmp_path / "a.csv", comma=False)
        if np.allclose(wrong, sheet.right[step], atol=0.03, equal_nan=True):
            continue  # on this sheet the slip makes no difference
        (answers,) = read(path, "en")
        marks = mark(answers)
        found = {marked.step: marked for marked in marks.steps}
        same = [
            other for other, make in MISTAKES[step].items() if np.allclose(_of(make, sheet), wrong, atol=0.03)
        ]
        assert found[step].mistakes
        assert found[step].mistakes[0] in same
        named += 1
        for later in STEPS[STEPS.index(step) + 1 :]:
            assert found[later].right + found[later].follows == found[later].boxes, later
    assert named >= 1


def _of(make: Any, sheet: Sheet) -> Any:
    with np.errstate(all="ignore"):
        return make(sheet, sheet.right)


def test_random_numbers_get_no_praise(tmp_path: Path) -> None:
    sheet, rng = draw(5), np.random.default_rng(0)
    own = {step: rng.uniform(3, 9, size=right.shape) for step, right in sheet.right.items()}
    (answers,) = read(csv_of(sheet, own, tmp_path / "a.csv"), "cs")
    marks = mark(answers)
    assert marks.points <= 2
    assert not any(step.mistakes for step in marks.steps)


def test_an_empty_template_is_all_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(template([draw(1), draw(2)]), encoding="utf-8")
    first, second = (mark(answers) for answers in read(str(path), "cs"))
    assert first.points == second.points == 0
    assert (first.sheet, second.sheet) == ("1-3-4-1", "2-3-4-1")
    assert all(step.empty == step.boxes for step in first.steps)


def test_json_nested_as_the_tables_are_with_one_head_left_out(tmp_path: Path) -> None:
    sheet = draw(7)
    probs = [[round(float(p), 3) for p in row] for row in sheet.right["probs"][0]]
    logits = [["-inf" if x == -np.inf else float(x) for x in row] for row in sheet.right["logits"][0]]
    entry = {
        "name": "Ota",
        "sheet": "7-3-4-1",
        "answers": {"probs": probs, "logits": logits, "out": ["0,645", "1/2"]},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    (answers,) = read(str(path), "cs")
    steps = {step.step: step for step in mark(answers).steps}
    assert steps["probs"].right == steps["logits"].right == 9
    assert steps["out"].right == 1
    assert steps["out"].empty == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "must have the columns name and sheet"),
        ("a.csv", "name,sheet\n", "must hold one pupil or more; got none."),
        ("a.csv", "name,sheet\nJana,7\n", "line 2 must name its sheet, such as 7-3-4-1; got '7'."),
        ("a.csv", "name,sheet,q.9.9\nJana,7-3-4-1,1\n", "sheet 7-3-4-1 has no box q.9.9 (line 2)."),
        ("a.csv", "name,sheet\nJana,7-9-4-1\n", "tokens must be from 2 to 5"),
        ("a.json", "[1]", "entry 1 must be {name, sheet, answers}."),
        ("a.json", "{", "must be .csv, or JSON; got neither."),
        ("a.json", "[" * 100_000, "must be .csv, or JSON; got neither."),
        ("a.json", '{"sheet": "7-3-4-1", "answers": {"w": []}}', "a sheet has no step 'w' (entry 1)."),
        ("b.csv", None, "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_said(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(OptionError) as caught:
        read(str(tmp_path / name), "cs")
    assert said in str(caught.value)


def test_hostile_texts_are_places_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "name,sheet,q.1.1,q.1.2,q.1.3\n=cmd(),7-3-4-1,__import__('os'),1e999999,<b>\n", encoding="utf-8"
    )
    (answers,) = read(str(path), "en")
    marks = mark(answers)
    assert marks.points == 0
    assert "q.1.1" in marks.unread
    assert "Not readable" in " ".join(marks.sentences("en"))
