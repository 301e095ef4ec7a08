"""A sheet measured in points from its upper left corner, on which words, lines and rasters are put."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pozor.figures.colours import INK, PAPER
from pozor.figures.fonts import drawable

POINTS = 72  # an inch


class Ruler:
    """How wide words are, in points, in the fonts that will draw them.

    exact: whether characters that no font here has become their numbers; else they stay what they are.
    """

    def __init__(self, families: Sequence[str], exact: bool):
        from matplotlib.backends.backend_agg import RendererAgg

        self.families, self._exact = list(families), exact
        self._renderer = RendererAgg(1, 1, POINTS)

    def font(self, size: float, bold: bool = False) -> Any:
        """The font of a size in points."""
        from matplotlib.font_manager import FontProperties

        return FontProperties(family=self.families, size=size, weight="bold" if bold else "normal")

    def safe(self, text: str) -> str:
        """The text as it can be drawn."""
        return drawable(text, self.families) if self._exact else text

    def width(self, text: str, size: float, bold: bool = False) -> float:
        """Width in points."""
        # measured large and scaled down: hinting at 8 points would round every letter
        big = self.font(50, bold)
        return self._renderer.get_text_width_height_descent(self.safe(text), big, False)[0] * size / 50

    def fitted(self, text: str, size: float, room: float) -> str:
        """As much of the text, as it can be drawn, as fits into `room` points; … where some is left out."""
        safe = self.safe(text)
        if self.width(safe, size) <= room:
            return safe
        while safe and self.width(safe + "…", size) > room:
            # the number of a character is left out whole
            safe = safe[: safe.rindex("⟨")] if safe.endswith("⟩") else safe[:-1]
        return safe + "…"

    def lines(self, text: str, size: float, room: float, bold: bool = False) -> list[str]:
        """The text in lines that fit into `room` points; a word alone may be longer."""
        found: list[str] = []
        for word in text.split(" "):
            if found and self.width(f"{found[-1]} {word}", size, bold) <= room:
                found[-1] += f" {word}"
            else:
                found.append(word)
        return found


class Page:
    """One figure of matplotlib, addressed in points from the upper left corner."""

    def __init__(self, width: float, height: float, ruler: Ruler):
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        self.width, self.height, self.ruler = width, height, ruler
        self.figure = Figure(figsize=(width / POINTS, height / POINTS), dpi=POINTS, facecolor=PAPER)
        # points from the top → inches from the bottom → the figure's own
        flipped = Affine2D().scale(1 / POINTS, -1 / POINTS).translate(0, height / POINTS)
        self._to_page = flipped + self.figure.dpi_scale_trans

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float,
        colour: str = INK,
        bold: bool = False,
        across: str = "left",
        down: str = "baseline",
        turned: bool = False,
    ) -> None:
        """Words whose anchor is at a point; never read as formulas."""
        self.figure.text(
            x, y, self.ruler.safe(words), transform=self._to_page, color=colour, ha=across, va=down,
            fontproperties=self.ruler.font(size, bold), parse_math=False,
            rotation=90 if turned else 0, rotation_mode="anchor",
        )  # fmt: skip

    def line(
        self, xs: Sequence[float], ys: Sequence[float], *, colour: str, width: float, closed: bool = False
    ) -> None:
        """A line through points."""
        from matplotlib.lines import Line2D

        if closed:
            xs, ys = [*xs, xs[0]], [*ys, ys[0]]
        drawn = Line2D(
            xs, ys, transform=self._to_page, color=colour, linewidth=width,
            solid_capstyle="butt", solid_joinstyle="miter",
        )  # fmt: skip
        self.figure.add_artist(drawn)

    def box(self, x: float, y: float, width: float, height: float, *, colour: str, line: float) -> None:
        """The outline of a rectangle."""
        xs, ys = [x, x + width, x + width, x], [y, y, y + height, y + height]
        self.line(xs, ys, colour=colour, width=line, closed=True)

    def raster(self, x: float, y: float, width: float, height: float, points: np.ndarray, name: str) -> None:
        """A picture of points, uint8 (rows, columns, 3 or 4), never smoothed."""
        axes = self.figure.add_axes(
            (x / self.width, 1 - (y + height) / self.height, width / self.width, height / self.height),
            label=name,
        )
        axes.set_axis_off()
        axes.imshow(points, interpolation="none", aspect="auto").set_gid(name)
