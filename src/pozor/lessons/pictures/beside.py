"""A picture beside its words where the page is wide, else below them; what a control changes, said aloud."""

from typing import Any


def beside(words: list[Any], picture: Any, *, heading: bool = False) -> str:
    """HTML of both, texts and controls of marimo or HTML; `heading` says whether the words start with one.

    A control that stands beside what it changes keeps the keyboard: marimo updates the page in place.
    """
    left = "".join(_html(part) for part in words)
    place = ' class="under-heading"' if heading else ""
    return f'<div class="pozor-beside"><div>{left}</div><div{place}>{_html(picture)}</div></div>'


def said(*parts: Any) -> str:
    """HTML of what a control changes: a screen reader says it when it has changed."""
    return f'<div aria-live="polite">{"".join(_html(part) for part in parts)}</div>'


def _html(part: Any) -> str:
    return part if isinstance(part, str) else part.text
