"""The scale with its numbers, which end is more in words, and the marks that a picture uses."""

import numpy as np

from pozor.figures import colours
from pozor.figures.captions import number
from pozor.figures.colours import INK, QUIET, Scale
from pozor.figures.layout import SMALL
from pozor.figures.page import Page, Ruler
from pozor.figures.picture import Picture
from pozor.figures.words import WORDS
from pozor.matrix.tiles import NOTHING_VISIBLE, VALUE

BAR_WIDTH, BAR_HEIGHT = 150.0, 8.0
ROW = SMALL * 1.5
SWATCH = 8.0
BAR_PART = SMALL + 5 + BAR_HEIGHT + 4 + SMALL + 2  # title, bar and numbers


def legend_height(picture: Picture, scale: Scale, title: str, room: float, ruler: Ruler, lang: str) -> float:
    """In points, `room` points wide."""
    entries = _entries(picture, scale, lang)
    if _beside(entries, title, room, ruler) is None:
        return BAR_PART + 6 + ROW * len(entries)
    return max(BAR_PART, ROW * len(entries))


def legend(
    page: Page, picture: Picture, scale: Scale, title: str, left: float, top: float, room: float, lang: str
) -> None:
    """The scale, and its words beside it or, where there is no room, below."""
    page.text(left, top + SMALL, title, size=SMALL)
    bar_top = top + SMALL + 5
    gradient = np.broadcast_to(scale.table, (1, 256, 3))
    page.raster(left, bar_top, BAR_WIDTH, BAR_HEIGHT, gradient.astype(np.uint8), "scale")
    page.box(left, bar_top, BAR_WIDTH, BAR_HEIGHT, colour=QUIET, line=0.4)
    ticks = scale.ticks()
    for at, value in ticks:
        x = left + at * BAR_WIDTH
        page.line([x, x], [bar_top + BAR_HEIGHT, bar_top + BAR_HEIGHT + 2.5], colour=QUIET, width=0.5)
        beyond = _beyond(at, picture, scale)
        across = "left" if at == 0 else "right" if at == 1 else "center"
        page.text(
            x, bar_top + BAR_HEIGHT + 4 + SMALL, beyond + number(value, lang),
            size=SMALL, colour=QUIET, across=across,
        )  # fmt: skip
    entries = _entries(picture, scale, lang)
    beside = _beside(entries, title, room, page.ruler)
    x, first = (left, top + BAR_PART + 6) if beside is None else (left + beside, top)
    for line, (mark, words) in enumerate(entries):
        y = first + SMALL + line * ROW
        _swatch(page, mark, x, y)
        page.text(x + (SWATCH + 5 if mark else 0), y, words, size=SMALL, colour=QUIET)


def _beside(entries: list[tuple[str, str]], title: str, room: float, ruler: Ruler) -> float | None:
    """How far to the right the words start; None where they would run off the page."""
    start = max(BAR_WIDTH, ruler.width(title, SMALL)) + 24
    widest = max((SWATCH + 5 if mark else 0) + ruler.width(words, SMALL) for mark, words in entries)
    return start if start + widest <= room else None


def _beyond(at: float, picture: Picture, scale: Scale) -> str:
    """At an end of the scale that values lie beyond, the sign that says so."""
    shown = picture.values[picture.finite]
    if at == 1 and shown.size and float(shown.max()) > scale.high * (1 + 1e-6):
        return "≥ "
    return "≤ " if at == 0 and scale.kind == "log" else ""


def _entries(picture: Picture, scale: Scale, lang: str) -> list[tuple[str, str]]:
    """(mark, words): what this picture uses, and nothing else."""
    words = WORDS[lang]
    found = [("", words.darker if scale.more_is_darker else words.lighter)]
    if scale.kind == "log":
        found.append(("", words.decades))
    if (picture.states == NOTHING_VISIBLE).any():
        found.append(("hidden", words.hidden))
    values = picture.values[picture.states == VALUE]
    if np.isnan(values).any():
        found.append(("×", words.nan))
    if np.isinf(values).any():
        found.append(("∞", words.infinite))
    return found


def _swatch(page: Page, mark: str, x: float, baseline: float) -> None:
    """A small square of what the words are about."""
    if not mark:
        return
    y = baseline - SWATCH + 1
    if mark == "hidden":
        points = colours.hatch(24, 24, SWATCH / 24)
        page.raster(x, y, SWATCH, SWATCH, points, "hidden")
        return
    page.box(x, y, SWATCH, SWATCH, colour=QUIET, line=0.5)
    page.text(
        x + SWATCH / 2, y + SWATCH / 2, mark, size=SMALL, bold=True, across="center",
        down="center_baseline", colour=INK,
    )  # fmt: skip
