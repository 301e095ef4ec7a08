"""Lessons 0 and 1 without a browser: their prose, their notebooks, their programs, what they compute."""

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pozor import exercises
from pozor.lessons import catalog, paper, prose, saturation
from pozor.lessons.pictures import plots, sums
from pozor.lessons.pictures.beside import beside, said
from pozor.lessons.program import run_here

LESSONS = ("warm_up", "by_hand")
LANGS = ("cs", "en")
# digits that belong to a name or a formula, not to what is computed
NAMES = re.compile(r"float(16|64)|1/√d|p\(1 − p\)")


def sections(lesson: str, lang: str) -> dict[str, str]:
    return prose.read(catalog.get(lesson).prose(lang))


def source(lesson: str) -> str:
    """The notebook, and the modules that fill its prose."""
    here = catalog.HERE
    files = [catalog.get(lesson).notebook]
    if lesson == "by_hand":
        files += [here / name for name in ("paper.py", "paper_fields.py", "saturation.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


# ---- prose -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_both_languages_have_the_same_structure(lesson: str) -> None:
    czech, english = (sections(lesson, lang) for lang in LANGS)
    assert list(czech) == list(english)
    for key in czech:
        shapes = [
            {
                "fields": sorted(prose.FIELD.findall(text)),
                "headings": len(re.findall(r"^-{3,}$", text, re.MULTILINE)),
                "items": len(re.findall(r"^- ", text, re.MULTILINE)),
                "bold": text.count("**"),
                "code": prose.CODE.findall(text),
                "paragraphs": text.count("\n\n"),
            }
            for text in (czech[key], english[key])
        ]
        # a gloss is needed only where the words are not the reader's own
        shapes[1]["fields"] = [name for name in shapes[1]["fields"] if name != "gloss"]
        assert shapes[0] == shapes[1], key


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_number_is_typed(lesson: str, lang: str) -> None:
    for key, text in sections(lesson, lang).items():
        words = NAMES.sub("", "".join(prose.CODE.split(text)[::2]))
        assert not re.search(r"\d", words), f"{key}: {words}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_section_is_used(lesson: str) -> None:
    quoted = {
        node.value
        for node in ast.walk(ast.parse(source(lesson)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(sections(lesson, "cs")) <= quoted


@pytest.mark.parametrize(("lang", "foreign"), [("cs", '"”'), ("en", '"„')])
@pytest.mark.parametrize("lesson", LESSONS)
def test_each_language_has_its_own_quotes(lesson: str, lang: str, foreign: str) -> None:
    for key, text in sections(lesson, lang).items():
        assert not set(foreign) & set("".join(prose.CODE.split(text)[::2])), key


# ---- notebooks ---------------------------------------------------------------------------------------------


@pytest.fixture
def spoken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("POZOR_LANG", request.param)
    return request.param


@pytest.mark.parametrize("spoken", LANGS, indirect=True)
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_cell_runs_and_every_field_is_filled(lesson: str, spoken: str) -> None:
    notebook = importlib.import_module(f"pozor.lessons.notebooks.{lesson}")
    outputs, names = notebook.app.run()
    assert names["lesson"].lang == spoken
    html = "".join(output.text for output in outputs if hasattr(output, "text"))
    words = re.sub(r"<pre.*?</pre>|<[^>]*>", " ", html, flags=re.DOTALL)
    assert len(words) > 1000
    assert not re.search(r"\{[a-z_]+\}|\bnan\b", words)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_class_reads_the_program_and_cannot_run_it(lesson: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POZOR_LANG", "cs")
    monkeypatch.setenv("POZOR_LESSONS_PUBLIC", "1")
    outputs, _ = importlib.import_module(f"pozor.lessons.notebooks.{lesson}").app.run()
    html = "".join(output.text for output in outputs if hasattr(output, "text"))
    assert "na společném odkazu pro třídu se napsaný kód nespouští" in html
    assert "Spustit" not in html


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_of_the_lesson_stands_in_it(lesson: str) -> None:
    number = catalog.get(lesson).number
    notebook = catalog.get(lesson).notebook.read_text(encoding="utf-8")
    names = [exercise.id for exercise in exercises.catalog() if exercise.lesson == number]
    assert names
    assert [name for name in names if f'"{name}"' not in notebook] == []


def test_a_notebook_is_stored_without_outputs() -> None:
    for lesson in LESSONS:
        text = catalog.get(lesson).notebook.read_text(encoding="utf-8")
        assert text.count("@app.cell") > 8
        assert not list(Path(catalog.HERE / "notebooks").glob("__marimo__/**/*.json"))


# ---- programs ----------------------------------------------------------------------------------------------


class Words:
    """As much of a page as the program asks."""

    def word(self, key: str) -> str:
        return sections("by_hand", "cs")[key]


PROGRAM = paper.program(Words())


def printed(program: str) -> str:
    text, result = run_here(program)
    assert result["error"] is None
    return re.sub(r"\s+", " ", text)


def test_the_program_gives_the_numbers_of_the_page() -> None:
    text = printed(PROGRAM)
    # worked by hand in tests/golden/test_paper.py
    assert "kočka [1. 0. 0.]" in text
    assert "spí [0.28905 0.71095 0. ]" in text
    assert "venku [0.308793 0.296685 0.394521]" in text
    assert "venku [1.154445 1.577645 0.222037 0.343133]" in text


@pytest.mark.parametrize(
    ("old", "new", "row"),
    [
        ("causal = True", "causal = False", "kočka [0.406596 0.234585 0.358819]"),
        (" / np.sqrt(head_dim)", "", "venku [0.28126 0.259635 0.459105]"),
        (" / np.sqrt(head_dim)", " / np.sqrt(head_dim) * 10", "venku [0.075422 0.050557 0.874021]"),
        ("num_heads = 1", "num_heads = 2", "venku [0.292936 0.274875 0.432189]"),
        ("num_heads = 1", "num_heads = 2", "venku [0.337205 0.339598 0.323198]"),
        ("num_heads = 1", "num_heads = 2", "venku [1.147109 1.544653 0.196379 0.310109]"),
    ],
)
def test_what_the_page_suggests_to_change_works(old: str, new: str, row: str) -> None:
    assert PROGRAM.count(old) == 1
    assert row in printed(PROGRAM.replace(old, new))


@pytest.mark.parametrize("lang", LANGS)
def test_the_line_of_torch_hides_where_the_page_says(lang: str) -> None:
    torch = pytest.importorskip("torch")
    code = re.findall(r"```python\n(.*?)```", sections("by_hand", lang)["mask_code"], re.DOTALL)
    assert len(code) == 1
    hidden = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    names = {"logits": torch.zeros(3, 3), "hidden": hidden}
    exec(code[0], names)
    assert torch.equal(torch.isneginf(names["logits"]), hidden)
    rows = [~row.mask.visible for row in paper.rows()]
    assert np.array_equal(np.array(rows), hidden.numpy())


def test_the_program_of_the_warm_up_runs() -> None:
    notebook = catalog.get("warm_up").notebook.read_text(encoding="utf-8")
    programs = re.findall(r'_program = """(.*?)"""', notebook, re.DOTALL)
    assert len(programs) == 1
    # e², e, 1/e = 7.389, 2.718, .368, together 10.475
    assert printed(programs[0]).strip() == "[0.70538451 0.25949646 0.03511903]"


# ---- saturation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head_dim", saturation.LENGTHS)
def test_dividing_by_the_root_brings_every_length_to_the_good_place(head_dim: int) -> None:
    assert any(abs(scale - head_dim**-0.5) < 1e-15 for scale in saturation.SCALES)
    tried = saturation.Saturation(head_dim, head_dim**-0.5)
    assert tried.verdict == "scale_good"
    assert abs(tried.spread - 1) < 1e-12
    assert tried.slopes.mean() > 0.08
    assert tried.probs.max() < 0.5


def test_long_vectors_saturate_without_the_division() -> None:
    tried = saturation.Saturation(128, 1.0)
    assert abs(tried.spread - 11.3137) < 1e-4  # √128
    assert tried.verdict == "scale_saturated"
    assert tried.slopes.max() < 0.001
    assert saturation.Saturation(128, 2**-6).verdict == "scale_flat"
    assert saturation.Saturation(128, 2**-2).verdict == "scale_leaning"


def test_each_key_lies_on_the_two_curves_that_are_drawn() -> None:
    tried = saturation.Saturation(64, 0.25)
    for key, lead in enumerate(tried.leads):
        assert abs(plots._weight(lead) - tried.probs[key]) < 1e-12
        assert abs(plots._slope(lead) - tried.slopes[key]) < 1e-12
    # the slope is the derivative of a weight by its own logit
    step = 1e-6
    for key in range(len(tried.logits)):
        moved = tried.logits.copy()
        moved[key] += step
        new = np.exp(moved[key] - np.logaddexp.reduce(moved))
        assert abs((new - tried.probs[key]) / step - tried.slopes[key]) < 1e-6


def test_the_random_numbers_have_the_variance_the_page_speaks_of() -> None:
    for numbers in (saturation.QUERY, *saturation.KEYS_OF_ALL):
        assert abs(numbers.mean()) < 0.1
        assert abs(numbers.var() - 1) < 0.15


# ---- pictures ----------------------------------------------------------------------------------------------


def test_a_picture_says_what_it_shows_and_keeps_inside() -> None:
    made = [
        plots.arrows((2, 1), (0, 0), "two arrows"),
        plots.arrows((2, 1), (-3, 3), "two arrows"),
        plots.exponential([(1, "2.718")], "a curve & a point", x=(-4, 2), across=[(0, "0")], up=[(1, "1")]),
        plots.bars([0.7, 0.3, 0.0], "abc", "bars", up=[(0, "0")], values=["0.7", "0.3", "0"]),
        plots.softmax_slope([-40.0, 0.0, 40.0], "curves", across=[], up=[], below="", weight="p", slope="s"),
    ]
    for svg in made:
        assert re.search(r'role="img" aria-label="[^"]+"', svg)
        assert "nan" not in svg
        height = int(re.search(r'viewBox="0 0 360 (\d+)"', svg)[1])  # type: ignore[index]
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", svg):
            assert -0.01 <= float(x) <= 360.01
            assert -0.01 <= float(y) <= height + 0.01
    assert "a curve &amp; a point" in made[2]


def test_sums_fence_a_minus_and_escape() -> None:
    class Page:
        def number(self, value: Any) -> str:
            return str(value).replace("-", "−")

    assert sums.terms(Page(), [1, 2], [3, -4]) == "1·3 + 2·(−4)"
    line = sums.lines([("q", "1", "= 1·3 =", "<3>")])
    assert "<i>q</i><sub>1</sub> = 1·3 = <b" in line
    assert "&lt;3&gt;" in line


def test_what_stands_beside_and_what_is_said() -> None:
    class Html:
        text = "<p>w</p>"

    html = beside([Html(), "x"], "<svg></svg>", heading=True)
    assert html.index("<p>w</p>x") < html.index("<svg>")
    assert 'class="under-heading"' in html
    assert said(Html()) == '<div aria-live="polite"><p>w</p></div>'
