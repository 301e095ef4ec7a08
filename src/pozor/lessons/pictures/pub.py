"""The noisy pub: one ear, tables with their talk, and how much of each the ear takes in."""

from collections.abc import Sequence

from pozor.lessons.pictures.svg import HAIRLINE, INK, SIGNAL, circle, line, path, picture, text

WIDTH, ROW = 380, 112
EAR = (52, 0)  # its middle; the height is that of the picture's middle
TABLE_X = 268


def pub(topics: Sequence[str], shares: Sequence[float], written: Sequence[str], alternative: str) -> str:
    """Tables one under another, a line from each to the ear, as thick as its share.

    Args:
        topics: What each table talks about.
        shares: How much of it the ear takes in, adding up to 1.
        written: The shares as text.
        alternative: The picture in words.
    """
    height = ROW * len(topics)
    middle = height / 2
    most = max(range(len(shares)), key=lambda table: shares[table])
    uneven = shares[most] > 1.05 * min(shares)
    lines, tables = [], []
    for table, (topic, share, label) in enumerate(zip(topics, shares, written)):
        y = ROW * table + 62
        chosen = uneven and table == most
        colour = SIGNAL if chosen else INK
        lines.append(
            line(EAR[0] + 44, middle + 4, TABLE_X - 62, y - 6, colour=colour, width=0.6 + 11 * share)
        )
        # beside the far end of the line, on the side that no line crosses
        down = 18 if y - 6 > middle + 30 else -10
        where = TABLE_X - 66, y - 6 + down
        lines.append(text(*where, label, anchor="end", colour=colour, weight=600 if chosen else 400))
        tables.append(_table(TABLE_X, y, topic, bold=chosen))
    return picture(
        "".join(lines) + _ear(EAR[0], middle) + "".join(tables),
        width=WIDTH,
        height=height,
        alternative=alternative,
        largest=480,
    )


def _ear(x: float, y: float) -> str:
    outer = (
        f"M{x - 14} {y + 46} C{x - 30} {y + 18} {x - 36} {y - 14} {x - 24} {y - 36} "
        f"C{x - 10} {y - 60} {x + 30} {y - 56} {x + 34} {y - 22} "
        f"C{x + 36} {y - 2} {x + 20} {y + 8} {x + 16} {y + 24} "
        f"C{x + 13} {y + 42} {x + 10} {y + 58} {x - 4} {y + 60} "
        f"C{x - 14} {y + 61} {x - 16} {y + 52} {x - 14} {y + 46}"
    )
    fold = (
        f"M{x - 14} {y - 4} C{x - 20} {y - 30} {x - 4} {y - 42} {x + 10} {y - 38} "
        f"C{x + 24} {y - 32} {x + 20} {y - 14} {x + 8} {y - 8} "
        f"C{x - 2} {y - 4} {x - 6} {y + 4} {x + 2} {y + 12}"
    )
    return path(outer, width=2.2) + path(fold, width=1.8)


def _table(x: float, y: float, topic: str, bold: bool) -> str:
    """Two people over mugs, and what they talk about in a bubble above."""
    colour = SIGNAL if bold else INK
    top = f'<ellipse cx="{x}" cy="{y + 26}" rx="58" ry="9" stroke="{INK}" stroke-width="1.6"/>'
    legs = line(x - 30, y + 35, x - 36, y + 46) + line(x + 30, y + 35, x + 36, y + 46)
    people = _person(x - 40, y) + _person(x + 40, y)
    mugs = _mug(x - 12, y + 10) + _mug(x + 12, y + 12)
    wide = max(72, 8 * len(topic) + 20)
    left, right, above = x - wide / 2, x + wide / 2, y - 50
    bubble = (
        f"M{left + 9} {above} H{right - 9} Q{right} {above} {right} {above + 9} V{above + 15} "
        f"Q{right} {above + 24} {right - 9} {above + 24} H{x - 12} "
        f"L{x - 24} {above + 33} L{x - 26} {above + 24} "
        f"H{left + 9} Q{left} {above + 24} {left} {above + 15} V{above + 9} "
        f"Q{left} {above} {left + 9} {above} Z"
    )
    return (
        top
        + legs
        + people
        + mugs
        + path(bubble, colour=colour if bold else HAIRLINE, width=2 if bold else 1.4)
        + text(x, above + 17, topic, anchor="middle", colour=colour, weight=600 if bold else 400)
    )


def _person(x: float, y: float) -> str:
    return circle(x, y - 6, 8.5) + path(
        f"M{x - 13} {y + 22} C{x - 13} {y + 2} {x + 13} {y + 2} {x + 13} {y + 22}"
    )


def _mug(x: float, y: float) -> str:
    return path(
        f"M{x - 5} {y} V{y + 13} H{x + 4} V{y} Z M{x + 4} {y + 3} Q{x + 10} {y + 6} {x + 4} {y + 10}"
    ) + path(f"M{x - 6} {y} Q{x - 4} {y - 4} {x - 1} {y - 1} Q{x + 2} {y - 5} {x + 5} {y}", width=1.2)
