"""A position as clocks: each pair of a sine and a cosine is the hand of one."""

import math
from collections.abc import Sequence

from pozor.lessons.pictures.svg import HAIRLINE, INK, SIGNAL, arrow, circle, line, picture, text

WIDTH = 360


def clocks(angles: Sequence[float], written: Sequence[str], alternative: str) -> str:
    """One clock a hand, side by side.

    Args:
        angles: Of each hand, in radians, clockwise from the top.
        written: The angles as text, to stand below.
        alternative: The picture in words.
    """
    step = WIDTH / len(angles)
    radius = min(step / 2 - 8, 40)
    body = []
    for hand, (angle, label) in enumerate(zip(angles, written)):
        x, y = step * (hand + 0.5), 50.0
        body.append(circle(x, y, radius, colour=HAIRLINE, width=1.5))
        for tick in range(12):
            turn = tick * math.pi / 6
            sine, cosine = math.sin(turn), math.cos(turn)
            inner = radius - (6 if tick % 3 == 0 else 3)
            body.append(
                line(x + inner * sine, y - inner * cosine, x + radius * sine, y - radius * cosine,
                     colour=HAIRLINE, width=1)
            )  # fmt: skip
        long = radius - 9
        colour = SIGNAL if hand == 0 else INK
        body.append(
            arrow(x, y, x + long * math.sin(angle), y - long * math.cos(angle), colour=colour, width=2.2)
        )
        body.append(text(x, 2 * 50 + 12, label, anchor="middle", colour=colour))
    return picture("".join(body), width=WIDTH, height=122, alternative=alternative)
