"""The page: heading, axes, raster, numbers and glyphs in cells, legend, caption."""

from typing import Any

import numpy as np

from pozor.figures import colours
from pozor.figures.captions import Said, number
from pozor.figures.colours import PAPER, QUIET, Scale
from pozor.figures.layout import BETWEEN, HEADING, LABEL, MARGIN, SMALL, Layout
from pozor.figures.legend import legend, legend_height
from pozor.figures.page import Page, Ruler
from pozor.figures.picture import Picture
from pozor.figures.words import WORDS

LINE = 1.38  # from line to line, in sizes of letters
MOST_NUMBERS = 12  # up to so many cells a side, the numbers stand in them
LINED = 9.0  # cells this wide, in points, have a hairline between them
GLYPH = 7.0  # points a glyph needs


def draw(picture: Picture, scale: Scale, said: Said, place: Layout, ruler: Ruler, lang: str) -> Page:
    """The finished page."""
    room = place.width - place.left - MARGIN
    heading = ruler.lines(said.heading, HEADING, room, bold=True)
    caption = ruler.lines(said.caption, SMALL, room)
    top = MARGIN + len(heading) * HEADING * LINE + 10 + LABEL * LINE + place.above
    legend_top = top + place.map_height + 16
    caption_top = legend_top + legend_height(picture, scale, said.scale_title, room, ruler, lang) + 12
    height = caption_top + len(caption) * SMALL * LINE + MARGIN - 4
    # whole points of the raster, so that a PNG shows each of them once
    place_left, height = _whole(place.left, place.point), _whole(height, place.point)
    top = height - _whole(height - top - place.map_height, place.point) - place.map_height
    page = Page(place.width, height, ruler)
    for line, words in enumerate(heading):
        page.text(
            place_left, MARGIN + HEADING + line * HEADING * LINE, words, size=HEADING, bold=True
        )  # fmt: skip
    raster = colours.raster(picture, scale, place.down, place.across, place.point)
    page.raster(place_left, top, place.map_width, place.map_height, raster, "map")
    _inside(page, picture, scale, place, place_left, top, lang)
    page.box(place_left, top, place.map_width, place.map_height, colour=QUIET, line=0.5)
    _axes(page, picture, place, place_left, top, lang)
    legend(page, picture, scale, said.scale_title, place_left, legend_top, room, lang)
    for line, words in enumerate(caption):
        y = caption_top + SMALL + line * SMALL * LINE
        page.text(place_left, y, words, size=SMALL, colour=QUIET)
    return page


def _whole(length: float, point: float) -> float:
    """So many whole raster points."""
    return float(np.ceil(length / point - 1e-6) * point)


def _axes(page: Page, picture: Picture, place: Layout, left: float, top: float, lang: str) -> None:
    words = WORDS[lang]
    across, down = (place.point * n / picture.side for n in (place.across, place.down))
    row = top - place.above - LABEL * 0.5
    page.text(left - BETWEEN, row, words.queries_down, size=SMALL, colour=QUIET, across="right")
    page.text(left, row, words.keys_across, size=SMALL, colour=QUIET)
    for index, text in place.keys.marks:
        x = left + (index - picture.keys.start + 0.5) * across
        if place.keys.turned:
            page.text(x, top - BETWEEN, text, size=LABEL, turned=True, down="center_baseline")
        else:
            page.text(x, top - BETWEEN, text, size=LABEL, across="center")
        if place.keys.every > 1:
            page.line([x, x], [top, top - 2.5], colour=QUIET, width=0.5)
    for index, text in place.queries.marks:
        y = top + (index - picture.queries.start + 0.5) * down
        page.text(left - BETWEEN, y, text, size=LABEL, across="right", down="center_baseline")
        if place.queries.every > 1:
            page.line([left, left - 2.5], [y, y], colour=QUIET, width=0.5)


def _inside(
    page: Page, picture: Picture, scale: Scale, place: Layout, left: float, top: float, lang: str
) -> None:
    """What stands over the raster: hairlines between large cells, numbers, glyphs."""
    rows, columns = picture.values.shape
    across, down = place.point * place.across, place.point * place.down
    if not picture.zoom and min(across, down) >= LINED:
        for row in range(1, rows):
            y = top + row * down
            page.line([left, left + place.map_width], [y, y], colour=PAPER, width=0.4)
        for column in range(1, columns):
            x = left + column * across
            page.line([x, x], [top, top + place.map_height], colour=PAPER, width=0.4)
    if not picture.zoom and max(rows, columns) <= MOST_NUMBERS:
        _numbers(page, picture, scale, (left, top), (across, down), lang)
    for row, column, glyph in glyphs(picture, across, down):
        x, y = left + column * across, top + row * down
        size = min(max(GLYPH, 0.6 * min(across, down)), 14.0)
        page.text(x, y, glyph, size=size, bold=True, across="center", down="center_baseline")


def _numbers(
    page: Page,
    picture: Picture,
    scale: Scale,
    corner: tuple[float, float],
    cell: tuple[float, float],
    lang: str,
) -> None:
    for row, column in np.argwhere(picture.finite):
        value = float(picture.values[row, column])
        text = cell_number(value, 3 if cell[0] >= 36 else 2, lang)
        size = min(LABEL, cell[0] / page.ruler.width(text, 1.0) * 0.86, cell[1] * 0.8)
        if size >= 4.5:
            page.text(
                corner[0] + (column + 0.5) * cell[0], corner[1] + (row + 0.5) * cell[1], text,
                size=size, colour=colours.readable(scale.paint(picture.values[row, column])),
                across="center", down="center_baseline",
            )  # fmt: skip


def cell_number(value: float, decimals: int, lang: str) -> str:
    """A number inside a cell: decimals below 10, else a short one."""
    return f"{value:.{decimals}f}".replace(".", WORDS[lang].point) if value < 10 else number(value, lang)


def glyphs(picture: Picture, across: float, down: float) -> list[tuple[float, float, str]]:
    """(row, column, glyph) of NaN and infinities, in pixels; near neighbours share one."""
    every_row, every_column = (max(1, int(np.ceil(GLYPH / pitch))) for pitch in (down, across))
    found: dict[tuple[int, int, str], tuple[float, float]] = {}
    for row, column in np.argwhere(picture.odd):
        value: Any = picture.values[row, column]
        glyph = "×" if np.isnan(value) else "∞" if value > 0 else "−∞"
        # the first of its neighbourhood stands for them: a glyph always lies on what it is about
        found.setdefault((row // every_row, column // every_column, glyph), (row + 0.5, column + 0.5))
    return [(*middle, glyph) for (*_, glyph), middle in found.items()]
