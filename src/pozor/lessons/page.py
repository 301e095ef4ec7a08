"""What a notebook builds on: `lesson = page.start(mo, "by_hand")`, then texts, numbers, code, pictures.

marimo is handed in by the notebook, so that this file and its tests need none.
"""

import html
import os
import re
import sys
from collections.abc import Iterable
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.language import LANGUAGES, choose
from pozor.lessons import catalog, prose
from pozor.working.numbers import Number, Numbers

IN_BROWSER = sys.platform == "emscripten"


def start(mo: Any, name: str, lang: str | None = None) -> "Page":
    """The page of a lesson.

    Args:
        mo: The module marimo, as the notebook imported it.
        name: The lesson's name in the catalogue.
        lang: cs or en, as an export writes it into its pages. Left out: the reader's language.
    """
    return Page(mo, catalog.get(name), lang or _language(mo))


class Page:
    """One reader's page of one lesson."""

    def __init__(self, mo: Any, lesson: catalog.Lesson, lang: str) -> None:
        self.mo, self.lesson, self.lang = mo, lesson, lang
        self.public = os.environ.get("POZOR_LESSONS_PUBLIC") == "1"
        self.presenter = os.environ.get("POZOR_LESSONS_PRESENTER") == "1"
        self._sections = prose.read(lesson.prose(lang))
        self._alive: list[Any] = []  # marimo forgets controls that nobody holds

    # ---- words and numbers ---------------------------------------------------------------------------------

    def text(self, key: str, **values: Any) -> Any:
        """A section of the prose as Markdown, its `{fields}` filled in.

        Args:
            key: The section's heading.
            **values: What to fill in: text, numbers (written with 3 decimals), or marimo's own Html.

        Raises:
            OptionError: The section or a value is missing.
        """
        return self.mo.Html(_rendered(self.mo.md, self.markdown(key, **values)))

    def markdown(self, key: str, **values: Any) -> str:
        """The same as plain text, to be put between other things."""
        if key not in self._sections:
            raise OptionError(
                f"{self.lesson.prose(self.lang).name} must have the section {key!r}; "
                f"it has {', '.join(self._sections)}."
            )
        where = f"Section {key!r} of {self.lesson.prose(self.lang).name}"
        written = {name: self._written(value) for name, value in values.items()}
        return prose.fill(self._sections[key], written, where, self.lang)

    def word(self, key: str, **values: Any) -> str:
        """A short section as one line of plain text: labels, heads of tables, a picture in words."""
        plain = html.unescape(self.markdown(key, **values))
        return re.sub(r"[ \n]+", " ", plain).strip()

    def number(self, value: Number | int, digits: int = 3) -> str:
        """A number in the reader's language: 0.3088 -> "0,309", 8192 -> "8 192"."""
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return Numbers(digits, self.lang).count(int(value))
        return Numbers(digits, self.lang).write(_clean(value)).text

    def numbers(self, values: Iterable[Number | int], digits: int = 3) -> str:
        """A row of numbers: "[0,309; 0,297; 0,395]"."""
        between = Numbers(digits, self.lang).between
        return f"[{between.join(self.number(value, digits) for value in values)}]"

    def percent(self, share: float) -> str:
        """A share in whole percent: 0.91 -> "91 %"."""
        return Numbers(3, self.lang).percent(float(share))

    def _written(self, value: Any) -> str:
        if isinstance(value, str):
            return prose.escaped(value)
        if hasattr(value, "text") and hasattr(value, "_mime_"):
            return value.text
        if isinstance(value, int | float | Decimal | np.number):
            return self.number(value)  # type: ignore[arg-type]
        return self.numbers(value)

    # ---- the page ------------------------------------------------------------------------------------------

    def top(self) -> Any:
        """The heading, the switch of the language, and how many exercises of the lesson are done."""
        from pozor.lessons.frame import top

        return self.mo.Html(top(self.lesson, self.lang, _places()))

    def next(self) -> Any:
        """The way to the next lesson, or back to all of them."""
        from pozor.lessons.frame import onward

        return self.mo.Html(onward(self.lesson, self.lang, _places()))

    def working(self, working: Any) -> Any:
        """The working of a row, as `pozor.by_hand` gives it."""
        return self.mo.Html(working.html)

    def code(self, name: str, source: str) -> Any:
        """An editor with a Run button and a namespace of its own; in a class the program to read.

        Args:
            name: Tells the editors of one lesson apart.
            source: The program that stands in it at first.
        """
        from pozor.lessons.code_cell import code_cell

        return code_cell(self, name, source.strip("\n") + "\n")

    def heatmap(self, probs: Any, words: Any, **options: Any) -> Any:
        """The project's own map as a widget."""
        from pozor.lessons import widgets

        return self.keep(self.mo.ui.anywidget(widgets.Heatmap(probs, words, lang=self.lang, **options)))

    def exercise(self, id: str, seed: int | None = None) -> Any:
        """An exercise as a widget."""
        from pozor.lessons import widgets

        return self.keep(
            self.mo.ui.anywidget(widgets.ExerciseWidget(id, seed=seed, lang=self.lang, lock=self._lock))
        )

    @cached_property
    def _lock(self) -> Any:
        """Of this page alone: the pause after a wrong code holds up nobody else."""
        from pozor.exercises import Lock

        return Lock(os.environ.get("POZOR_SOLUTION_CODE") or None)

    def keep(self, control: Any) -> Any:
        """Hold a control for as long as the page lives, and give it back."""
        self._alive.append(control)
        return control


def _places() -> Any:
    from pozor.lessons.frame import Places

    return Places(exported=IN_BROWSER or os.environ.get("POZOR_LESSONS_EXPORT") == "1")


@lru_cache(1024)
def _rendered(md: Any, text: str) -> str:
    """Markdown as HTML, kept for the next reader: rendering is most of what opening a page costs."""
    return md(text).text


def _language(mo: Any) -> str:
    asked = _query(mo, "lang") or os.environ.get("POZOR_LANG")
    if asked in LANGUAGES:
        return asked
    preferred = _browsers(mo)
    if preferred is None:
        return choose(None)
    return "cs" if preferred.lower().startswith("cs") else "en"


def _query(mo: Any, name: str) -> str | None:
    try:
        value = mo.query_params().get(name)
    except Exception as error:  # outside of a page marimo has no parameters; its error's class is private
        if "ontext" not in type(error).__name__:
            raise
        return None
    return value[-1] if isinstance(value, list) else value


def _browsers(mo: Any) -> str | None:
    """The language that the browser prefers; None where there is no browser."""
    if IN_BROWSER:
        import js  # type: ignore[import-not-found]

        return str(js.navigator.language)
    request = mo.app_meta().request
    return None if request is None else request.headers.get("accept-language", "")


def _clean(value: Any) -> Number:
    # what float64 adds to 0.1 + 0.2 is no number of the lesson
    return value if isinstance(value, Decimal) else float(f"{float(value):.12g}")
