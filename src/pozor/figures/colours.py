"""From values to colours: a scale that starts at 0 (or a thousandth, in powers of ten), and the raster."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.figures.picture import Picture
from pozor.matrix.tiles import NOTHING_VISIBLE, OUTSIDE

PAPER, INK, QUIET, HAIRLINE = "#fbfaf7", "#1d1f23", "#6b6f76", "#e4e1da"
MASK, MASK_LINE = "#e6e3dc", "#d3cfc6"
SCALES = ("linear", "log")
COLOURS = ("viridis", "cividis", "magma", "paper")
NEAR_END = 0.2
DECADES = 3  # powers of ten that a logarithmic scale spans, as in the app
STRIPE = 4.0  # from line to line over hidden cells, in points: no grey is to be taken for a value


@dataclass(frozen=True, eq=False)
class Scale:
    """How values become colours; table is uint8 (256, 3), from least to most."""

    kind: str
    colour: str
    low: float
    high: float
    table: np.ndarray

    @property
    def more_is_darker(self) -> bool:
        """Which end of the scale is more."""
        return self.colour == "paper"

    def place(self, values: np.ndarray) -> np.ndarray:
        """Place on the scale, 0 to 1, of finite values; what lies outside is at an end."""
        exact = np.asarray(values, np.float64)
        if self.kind == "log":
            exact = np.log(np.maximum(exact, self.low) / self.low) / np.log(self.high / self.low)
        else:
            exact = exact / self.high
        return np.clip(exact, 0, 1)

    def paint(self, values: np.ndarray) -> np.ndarray:
        """Colours, uint8 (…, 3)."""
        return self.table[np.rint(self.place(values) * 255).astype(np.intp)]

    def ticks(self) -> list[tuple[float, float]]:
        """(place, value) of the legend's marks: 0, half, all; or the ends and powers of ten between."""
        if self.kind == "linear":
            return [(part, part * self.high) for part in (0.0, 0.5, 1.0)]
        powers = [10.0**n for n in range(-46, 40) if self.low < 10.0**n < self.high]
        inner = [(float(self.place(np.array(power))), power) for power in powers]
        # numbers at the ends need room
        inner = [(at, power) for at, power in inner if NEAR_END < at < 1 - NEAR_END]
        return [(0.0, self.low), *inner, (1.0, self.high)]


def scale_for(picture: Picture, kind: str, colour: str, top: float | None) -> Scale:
    """The scale up to `top`, or up to the largest value that is shown."""
    if kind not in SCALES:
        raise OptionError(f"scale must be linear or log; got {kind!r}.")
    if colour not in COLOURS:
        raise OptionError(f"colour must be viridis, cividis, magma or paper; got {colour!r}.")
    if top is None:
        high = float(np.max(picture.values, where=picture.finite, initial=0)) or 1.0
    elif not isinstance(top, int | float | np.number) or isinstance(top, bool) or not 0 < top < np.inf:
        raise OptionError(f"top must be a finite number above 0; got {top!r}.")
    else:
        high = float(top)
    return Scale(kind, colour, high * 10.0**-DECADES if kind == "log" else 0.0, high, _table(colour))


def raster(picture: Picture, scale: Scale, down: int, across: int, point: float) -> np.ndarray:
    """RGBA, uint8: each pixel `down` × `across` dots of the raster; NaN and infinities are bare paper.

    point: Width of a dot, in points of the page.
    """
    small = np.zeros((*picture.values.shape, 4), np.uint8)
    small[picture.finite, :3] = scale.paint(picture.values[picture.finite])
    small[picture.odd, :3] = rgb(PAPER)
    small[..., 3] = np.where(picture.states == OUTSIDE, 0, 255)
    large = small.repeat(down, axis=0).repeat(across, axis=1)
    hidden = (picture.states == NOTHING_VISIBLE).repeat(down, axis=0).repeat(across, axis=1)
    stripes = hatch(hidden.shape[0], hidden.shape[1], point)
    large[..., :3][hidden] = stripes[hidden]
    return large


def hatch(height: int, width: int, point: float) -> np.ndarray:
    """The neutral grey of what a mask hides, with slanting lines: uint8 (height, width, 3)."""
    period, line = max(4, round(STRIPE / point)), max(1, round(STRIPE / 5 / point))
    lined = (np.arange(height)[:, None] + np.arange(width)) % period < line
    return np.where(lined[..., None], rgb(MASK_LINE), rgb(MASK)).astype(np.uint8)


def readable(colour: np.ndarray) -> str:
    """Black or white, whichever has more contrast (WCAG) on this colour."""
    part = colour.astype(np.float64) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "#ffffff" if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else "#000000"


def rgb(colour: str) -> np.ndarray:
    """#rrggbb as uint8 (3,)."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], np.uint8)


def _table(colour: str) -> np.ndarray:
    import matplotlib
    from matplotlib.colors import LinearSegmentedColormap

    # both ends are nearly neutral, so that even steps of sRGB are nearly even steps of lightness
    paper = LinearSegmentedColormap.from_list("paper", [PAPER, INK])
    found: Any = paper if colour == "paper" else matplotlib.colormaps[colour]
    return found(np.arange(256), bytes=True)[:, :3]
