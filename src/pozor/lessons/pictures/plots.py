"""Curves, bars and arrows of the first two lessons. What they show is computed by the notebook."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pozor.lessons.pictures import svg

QUIET = "var(--pozor-quiet, #6b6f76)"
PAPER = "var(--pozor-paper, #fbfaf7)"
WIDTH = 360  # of a picture, in its own units: as wide as a phone, so that its letters stay readable there
MARGIN = 14
PIECES = 96  # straight pieces of a curve

Ticks = Sequence[tuple[float, str]]  # where, and the number in the reader's language


@dataclass
class Plane:
    """A piece of the plane, x to the right and y upwards; marks are placed by their numbers."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int = 200
    left: int = 40
    bottom: int = 34
    marks: list[str] = field(default_factory=list)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point stands in the picture; what lies beyond the edge stands at the edge."""
        across = _share(x, self.x) * (WIDTH - MARGIN - self.left)
        up = _share(y, self.y) * (self.height - self.bottom - MARGIN)
        return self.left + across, self.height - self.bottom - up

    def line(self, *points: tuple[float, float], colour: str = svg.INK, width: float = 2) -> None:
        """A line through points."""
        places = " L".join(f"{x:.1f} {y:.1f}" for x, y in (self.place(*point) for point in points))
        self.marks.append(svg.path(f"M{places}", colour=colour, width=width))

    def curve(self, function: Callable[[float], float], colour: str = svg.INK) -> None:
        """The curve of a function."""
        low, high = self.x
        xs = [low + (high - low) * piece / PIECES for piece in range(PIECES + 1)]
        self.line(*((x, function(x)) for x in xs), colour=colour)

    def point(self, x: float, y: float, colour: str = svg.INK) -> None:
        """A dot with a rim of paper, so that dots near each other can be told apart."""
        self.marks.append(svg.circle(*self.place(x, y), 4.5, colour=PAPER, fill=colour))

    def bar(self, x: float, y: float, wide: float) -> None:
        """An upright bar around x, from the bottom to y; a share of almost nothing is still a line."""
        (left, top), (right, foot) = self.place(x - wide / 2, y), self.place(x + wide / 2, self.y[0])
        top = min(top, foot - 1)
        corners = f"M{left:.1f} {foot:.1f} V{top:.1f} H{right:.1f} V{foot:.1f} Z"
        self.marks.append(svg.path(corners, width=0, fill=svg.INK))

    def say(
        self, x: float, y: float, words: str, *, right: float = 0, down: float = 0, anchor: str = "middle",
        colour: str = svg.INK,
    ) -> None:  # fmt: skip
        """Words at a point, moved by units of the picture."""
        across, at = self.place(x, y)
        self.marks.append(svg.text(across + right, at + down, words, anchor=anchor, colour=colour))

    def axes(self, across: Ticks = (), up: Ticks = (), below: str = "") -> None:
        """Hairlines with their numbers, and what is counted below."""
        low, floor = self.x[0], self.y[0]
        for at, words in up:
            self.line((low, at), (self.x[1], at), colour=svg.HAIRLINE, width=0.6)
            self.say(low, at, words, right=-6, down=4, anchor="end", colour=QUIET)
        for at, words in across:
            self.say(at, floor, words, down=15, colour=QUIET)
        if below:
            self.say((low + self.x[1]) / 2, floor, below, down=31, colour=QUIET)

    def picture(self, alternative: str) -> str:
        """The SVG; `alternative` says in words what it shows."""
        body = "".join(self.marks)
        return svg.picture(body, width=WIDTH, height=self.height, alternative=alternative)


def arrows(a: tuple[float, float], b: tuple[float, float], alternative: str) -> str:
    """Two vectors from one point: a in ink, b in the signal colour."""
    plane = Plane((-4.5, 4.5), (-3.2, 3.2), height=250, left=MARGIN, bottom=MARGIN)
    for at in range(-4, 5):
        plane.line((at, -3.2), (at, 3.2), colour=svg.HAIRLINE, width=0.4 if at else 1.2)
        if abs(at) <= 3:
            plane.line((-4.5, at), (4.5, at), colour=svg.HAIRLINE, width=0.4 if at else 1.2)
    for name, (x, y), colour in (("a", a, svg.INK), ("b", b, svg.SIGNAL)):
        if x or y:
            plane.marks.append(svg.arrow(*plane.place(0, 0), *plane.place(x, y), colour=colour, width=2.5))
        else:
            plane.point(0, 0, colour)
        length = math.hypot(x, y) or 1
        plane.say(x, y, name, right=13 * x / length, down=4 - 13 * y / length, colour=colour)
    return plane.picture(alternative)


def exponential(
    points: Sequence[tuple[float, str]], alternative: str, *, x: tuple[float, float], across: Ticks, up: Ticks
) -> str:
    """The curve of e to x.

    Args:
        points: Marked ones, (x, label).
        alternative: The picture in words.
        x: From where to where.
        across, up: Numbers along the axes.
    """
    plane = Plane(x, (0, math.exp(x[1])), bottom=24)
    plane.axes(across, up)
    plane.curve(math.exp)
    for at, label in points:
        high = math.exp(at)
        plane.line((at, 0), (at, high), (x[0], high), colour=svg.SIGNAL, width=0.8)
        plane.point(at, high, svg.SIGNAL)
        plane.say(at, high, label, right=-8, down=-6, anchor="end", colour=svg.SIGNAL)
    return plane.picture(alternative)


def bars(
    shares: Sequence[float], labels: Sequence[str], alternative: str, *, up: Ticks, values: Sequence[str] = ()
) -> str:
    """Shares of a whole as upright bars, each with its label below and its value above."""
    plane = Plane((0, len(shares)), (0, 1.08), height=170, bottom=22)
    plane.axes(up=up)
    for number, (share, label) in enumerate(zip(shares, labels)):
        plane.bar(number + 0.5, share, 0.56)
        plane.say(number + 0.5, 0, label, down=15, colour=QUIET)
        if values:
            plane.say(number + 0.5, share, values[number], down=-5)
    return plane.picture(alternative)


def softmax_slope(
    leads: Sequence[float],
    alternative: str,
    *,
    across: Ticks,
    up: Ticks,
    below: str,
    weight: str,
    slope: str,
) -> str:
    """The weight of one key by the lead of its logit, the slope of the weight, and keys as points on both.

    With all else fixed a key's weight is p = 1 / (1 + e^−lead), where lead is its logit less the log-sum-exp
    of the others, and its slope is p(1 − p): every key of every softmax lies on these two curves.
    """
    plane = Plane((-8, 8), (0, 1.04), height=240)
    plane.axes(across, up, below)
    plane.curve(_weight)
    plane.curve(_slope, svg.SIGNAL)
    for lead in leads:
        plane.point(lead, _weight(lead))
        plane.point(lead, _slope(lead), svg.SIGNAL)
    plane.say(2.2, 0.93, weight, anchor="end", right=-4)
    plane.say(-1.4, 0.24, slope, anchor="end", colour=svg.SIGNAL)
    return plane.picture(alternative)


def _weight(lead: float) -> float:
    return 1 / (1 + math.exp(-min(max(lead, -700.0), 700.0)))  # beyond that exp overflows


def _slope(lead: float) -> float:
    return _weight(lead) * _weight(-lead)


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return (min(max(value, low), high) - low) / (high - low)
