"""Texts, fields and numbers of a page, in both languages."""

from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pozor.errors import OptionError
from pozor.lessons import catalog, page, prose

TEXT = """
## row
Řádek {probs} má v součtu {total}.

## code
`{not_a_field}` a $\\frac{1}{2}$

```python
f"{x}"
```
"""


@pytest.fixture
def made(tmp_path: Path) -> page.Page:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "own.cs.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "texts" / "own.en.md").write_text(TEXT, encoding="utf-8")
    return make(tmp_path, "cs")


def make(folder: Path, lang: str) -> page.Page:
    lesson = catalog.Lesson(1, "own", {"cs": "Vlastní", "en": "Own"}, folder)
    mo = SimpleNamespace(md=lambda text: SimpleNamespace(text=text), Html=lambda text: text)
    return page.Page(mo, lesson, lang)


def test_numbers_are_written_as_each_language_writes_them(made: page.Page, tmp_path: Path) -> None:
    english = make(tmp_path, "en")
    row = np.array([0.30883, 0.29701, 0.39416])
    assert made.numbers(row) == "[0,309; 0,297; 0,394]"
    assert english.numbers(row) == "[0.309, 0.297, 0.394]"
    assert (made.number(8192), english.number(8192)) == ("8\u00a0192", "8,192")
    assert made.number(0.1 + 0.2) == "0,3"
    assert made.number(Decimal("0.25")) == "0,25"
    assert made.number(-1.5) == "−1,5"
    assert made.number(0.30883, digits=2) == "0,31"
    assert made.percent(0.914) == "91\u00a0%"


def test_fields_are_filled_and_code_stays(made: page.Page) -> None:
    assert made.text("row", probs=[0.5, 0.25], total=1) == "Řádek [0,5; 0,25] má v\u00a0součtu 1."
    assert made.text("code") == '`{not_a_field}` a $\\frac{1}{2}$\n\n```python\nf"{x}"\n```'


def test_a_word_from_elsewhere_is_no_markup(made: page.Page) -> None:
    shown = made.text("row", probs="<b>*x*</b>", total=1)
    assert "<b>" not in shown
    assert "*" not in shown


def test_what_is_missing_is_named(made: page.Page, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"Section 'row' of own\.cs\.md must be given total; got probs\."):
        made.text("row", probs=1)
    with pytest.raises(OptionError, match=r"own\.cs\.md must have the section 'nothing'; it has row, code\."):
        made.text("nothing")
    with pytest.raises(OptionError, match=r"lesson must be one of 0 \(warm_up\), .*; got 'none'\."):
        catalog.get("none")
    (tmp_path / "twice.md").write_text("## a\n\n## a\n", encoding="utf-8")
    with pytest.raises(OptionError, match=r"twice\.md must have each section once; 'a' comes twice\."):
        prose.read(tmp_path / "twice.md")
    (tmp_path / "early.md").write_text("hello\n## a\n", encoding="utf-8")
    with pytest.raises(OptionError, match=r"early\.md must start with '## key'; got 'hello'\."):
        prose.read(tmp_path / "early.md")


@pytest.mark.parametrize(
    ("asked", "environment", "browser", "lang"),
    [
        ("en", "cs", "cs", "en"),
        (None, "cs", "en-US,en", "cs"),
        (None, None, "cs-CZ,cs;q=0.9", "cs"),
        (None, None, "de", "en"),
        ("xx", None, "cs", "cs"),
    ],
)
def test_the_language_is_the_readers(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, environment: str | None, browser: str, lang: str
) -> None:
    monkeypatch.delenv("POZOR_LANG", raising=False)
    if environment is not None:
        monkeypatch.setenv("POZOR_LANG", environment)
    parameters: dict[str, Any] = {} if asked is None else {"lang": asked}
    request = SimpleNamespace(headers={"accept-language": browser})
    mo = SimpleNamespace(query_params=lambda: parameters, app_meta=lambda: SimpleNamespace(request=request))
    assert page._language(mo) == lang


def test_a_one_letter_word_stays_with_the_next_one_where_the_source_line_ends() -> None:
    assert (
        prose.fill("Jdeme\nk moři a\nz hor,\na pak", {}, "", "cs")
        == "Jdeme\nk\u00a0moři a\u00a0z\u00a0hor,\na\u00a0pak"
    )
    assert prose.fill("- a\n- b a\n  c", {}, "", "cs") == "- a\n- b a\u00a0c"


def test_a_wrong_code_holds_up_its_own_page_alone(
    made: page.Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POZOR_SOLUTION_CODE", "sedmička")
    other = make(tmp_path, "cs")
    assert not made._lock.opens("osm")
    assert made._lock.waits
    assert not made._lock.opens("sedmička")  # at once, it is not even tried
    assert other._lock.opens("sedmička")
