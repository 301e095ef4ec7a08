"""A query and a key as arrows in the plane, turned by their positions, and the same after both moved on."""

import math

from pozor.lessons.pictures.svg import HAIRLINE, INK, SIGNAL, arrow, circle, line, path, picture, text

WIDTH, HEIGHT, UNIT = 360, 260, 50.0  # UNIT: how long 1 is

Arrow = tuple[float, float]


def turned(
    query: Arrow, key: Arrow, query_moved: Arrow, key_moved: Arrow, names: tuple[str, str], alternative: str
) -> str:
    """Four arrows from one point; the moved ones dotted, the angle between query and key as an arc."""
    x, y = WIDTH / 2, HEIGHT / 2

    def tip(arrow_: Arrow) -> tuple[float, float]:
        return x + UNIT * arrow_[0], y - UNIT * arrow_[1]

    body = [
        line(8, y, WIDTH - 8, y, colour=HAIRLINE, width=0.8),
        line(x, 8, x, HEIGHT - 8, colour=HAIRLINE, width=0.8),
    ]
    for one in (query, key):
        body.append(circle(x, y, UNIT * math.hypot(*one), colour=HAIRLINE, width=0.8))
    for one, colour in ((query_moved, SIGNAL), (key_moved, INK)):
        body.append(arrow(x, y, *tip(one), colour=colour, width=1.6, dashes="2 5"))
    body += [_arc(x, y, query, key, 30), _arc(x, y, query_moved, key_moved, 22, dashes=True)]
    for one, colour, name in ((query, SIGNAL, names[0]), (key, INK, names[1])):
        body.append(arrow(x, y, *tip(one), colour=colour, width=2.6))
        length = math.hypot(*one) or 1.0
        end = tip((one[0] * (1 + 0.3 / length), one[1] * (1 + 0.3 / length)))
        anchor = "middle" if abs(one[0]) < 0.4 * length else "start" if one[0] > 0 else "end"
        body.append(text(end[0], end[1] + 4, name, anchor=anchor, colour=colour, weight=600))
    return picture("".join(body), width=WIDTH, height=HEIGHT, alternative=alternative)


def _arc(x: float, y: float, one: Arrow, other: Arrow, radius: float, dashes: bool = False) -> str:
    """The smaller arc from one arrow to the other."""
    start, stop = (math.atan2(a[1], a[0]) for a in (one, other))
    left = (stop - start) % (2 * math.pi) <= math.pi
    ends = [(x + radius * math.cos(a), y - radius * math.sin(a)) for a in (start, stop)]
    sweep = 0 if left else 1
    d = f"M{ends[0][0]:.1f} {ends[0][1]:.1f} A{radius} {radius} 0 0 {sweep} {ends[1][0]:.1f} {ends[1][1]:.1f}"
    drawn = path(d, colour=INK, width=1.2)
    return drawn.replace("<path", '<path stroke-dasharray="2 4"', 1) if dashes else drawn
