"""Where everything stands on the page, in points: large enough for every token to be read."""

from dataclasses import dataclass

from pozor.errors import OptionError
from pozor.figures import labels
from pozor.figures.page import POINTS, Ruler
from pozor.figures.picture import Picture

CENTIMETRE = POINTS / 2.54
MARGIN = 16.0
LABEL, SMALL, HEADING = 8.0, 7.5, 11.0  # sizes of letters, points
LONGEST = 96.0  # points of a label
BETWEEN = 4.0  # from a label to the map
DENSE = 9.4  # room of a label where every token has one; where some have, there is more air
AIRY = 15.0
USUAL, WIDEST, NARROWEST = 16 * CENTIMETRE, 24 * CENTIMETRE, 10.5 * CENTIMETRE
SIZES = (6.0, 60.0)  # centimetres
LARGEST_CELL, THINNEST_STRIP = 46.0, 40.0
TALLEST = 1.25  # height of a map, in widths of the page
POINTS_AN_INCH = 220  # of the raster, at least, where there are few cells
MOST_RASTER = 4096  # raster points a side


@dataclass(frozen=True)
class Axis:
    """The labels of one axis: (index, text), and whether they lie on their side."""

    marks: list[tuple[int, str]]
    every: int
    length: float  # how far the longest reaches, points
    turned: bool = False


@dataclass(frozen=True)
class Layout:
    """Sizes in points. A pixel of the picture is `down` × `across` dots of the raster, each `point` wide."""

    width: float
    left: float
    above: float  # from the top of the map's labels to the map
    point: float
    down: int
    across: int
    map_width: float
    map_height: float
    queries: Axis
    keys: Axis

    @property
    def dots(self) -> float:
        """Raster points an inch, so that a PNG has exactly one of its own for each."""
        return POINTS / self.point


def width_of(size: float | None) -> float | None:
    """Centimetres as points.

    Raises:
        OptionError: No number, or one that no page has.
    """
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int | float) or not SIZES[0] <= size <= SIZES[1]:
        raise OptionError(f"size must be from {SIZES[0]:g} to {SIZES[1]:g}, in centimetres; got {size!r}.")
    return size * CENTIMETRE


def layout(
    picture: Picture,
    query_tokens: list[str] | None,
    key_tokens: list[str] | None,
    ruler: Ruler,
    size: float | None,
) -> Layout:
    """Sizes for this picture; `size` is the width of the page in points, None: what suits it."""
    rows, columns = picture.values.shape
    pitch = 0.0
    width, left = size or USUAL, 60.0
    queries = keys = Axis([], 1, 0)
    for _ in range(3):  # the labels need room, and the room decides how many labels there are
        if size is None:
            width = _width(columns, picture.zoom, left)
        pitch_x, pitch_y = _pitches(rows, columns, width - left - MARGIN, width * TALLEST)
        queries = _axis(query_tokens, picture.queries, pitch_y / picture.side, ruler)
        keys = _axis(key_tokens, picture.keys, pitch_x / picture.side, ruler, sideways=True)
        left = MARGIN + max(queries.length, 34.0) + BETWEEN
        pitch = pitch_x
    pitch_x, pitch_y = _pitches(rows, columns, width - left - MARGIN, width * TALLEST)
    pitch = pitch_x
    across = max(1, min(round(pitch * POINTS_AN_INCH / POINTS), MOST_RASTER // columns))
    point = pitch / across
    down = max(1, min(round(pitch_y / point), MOST_RASTER // rows))
    return Layout(
        width, left, keys.length + BETWEEN, point, down, across,
        point * across * columns, point * down * rows, queries, keys,
    )  # fmt: skip


def _width(columns: int, zoom: int, left: float) -> float:
    """A page just wide enough for large cells, or for every token; else the usual one."""
    large = left + MARGIN + columns * LARGEST_CELL
    if large <= USUAL:
        return max(large, NARROWEST)
    dense = left + MARGIN + columns * DENSE
    return dense if not zoom and USUAL < dense <= WIDEST else USUAL


def _pitches(rows: int, columns: int, room: float, tallest: float) -> tuple[float, float]:
    """Points a pixel, across and down: square, unless the map would be a thread."""
    pitch = min(max(room, 30.0) / columns, tallest / rows, LARGEST_CELL)
    across = max(pitch, min(THINNEST_STRIP, room) / columns) if columns * pitch < THINNEST_STRIP else pitch
    down = THINNEST_STRIP / rows if rows * pitch < THINNEST_STRIP else pitch
    return min(across, LARGEST_CELL), min(down, LARGEST_CELL)


def _axis(tokens: list[str] | None, cells: range, pitch: float, ruler: Ruler, sideways: bool = False) -> Axis:
    every = labels.step(pitch, DENSE)
    if every > 1:
        every = labels.step(pitch, AIRY)
    indices = labels.chosen(cells, every)
    texts = labels.labels(tokens, indices, numbered=every > 1)
    texts = [ruler.fitted(text, LABEL, LONGEST) for text in texts]
    widths = [ruler.width(text, LABEL) for text in texts]
    longest = max(widths, default=0.0)
    marks = list(zip(indices, texts))
    if sideways and longest + BETWEEN <= pitch * every:
        return Axis(marks, every, LABEL)
    return Axis(marks, every, longest, turned=sideways)
