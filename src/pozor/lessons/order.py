"""Order and positions of lesson 3: shuffled words, clocks, distances, turned arrows, each with its words."""

from typing import Any

import numpy as np

import pozor
from pozor.lessons.pictures import plots
from pozor.lessons.pictures.clocks import clocks
from pozor.lessons.pictures.turned import turned

HANDS, BASE = 4, 10_000.0  # of the clock
WIDE, FAR = 64, 60  # of the curve: numbers a row, positions ahead
ANGLE = 0.25  # radians per word, of the one pair that turns
ASKS, OFFERS = np.array([[2.0, 0.5]]), np.array([[1.5, 1.0]])
PAIRS = [(4, 1), (7, 4), (104, 101), (4, 4), (1, 4)]


def shuffled(many: int, order: str, seed: int) -> np.ndarray:
    """The places of the words in a new order."""
    if order == "order_shuffled":
        return np.random.default_rng(seed).permutation(many)
    return np.arange(many)[::-1] if order == "order_reversed" else np.arange(many)


def weights(q: np.ndarray, k: np.ndarray, order: np.ndarray, positions: str) -> np.ndarray:
    """The attention of words in that order, with or without positions."""
    asked, offered = q[order], k[order]
    if positions == "positions_sinusoidal":
        place = pozor.sinusoidal(len(q), q.shape[1])
        asked, offered = asked + place, offered + place
    elif positions == "positions_rotary":
        asked, offered = (pozor.rope(rows, layout="pairs", base=100.0) for rows in (asked, offered))
    held = pozor.AttentionMap(asked, offered)
    return np.array([held.row(i) for i in range(len(q))])


def clock_steps() -> list[float]:
    """How far each hand turns from one position to the next, read off its sine and cosine, in radians."""
    second = pozor.sinusoidal(2, 2 * HANDS, base=BASE)[1]
    return [float(np.arctan2(second[2 * hand], second[2 * hand + 1])) for hand in range(HANDS)]


def clock(page: Any, position: int) -> tuple[str, np.ndarray]:
    """The picture of a position, and its row of numbers."""
    row = pozor.sinusoidal(1, 2 * HANDS, offset=position, base=BASE)[0]
    angles = [float(np.arctan2(row[2 * i], row[2 * i + 1]) % (2 * np.pi)) for i in range(HANDS)]
    written = [f"{page.number(np.degrees(angle), 1)}°" for angle in angles]
    alternative = page.word("picture_clocks", position=position, angles="; ".join(written))
    return clocks(angles, written, alternative), row


def distances(page: Any, start: int) -> tuple[str, dict[str, Any]]:
    """The curve of products with the positions ahead, and what `distance_reading` waits for."""
    table, from_zero = (pozor.sinusoidal(FAR + 1, WIDE, offset=first) for first in (start, 0))
    products = table @ table[0]
    plane = plots.Plane((0, FAR), (0, float(products[0])), height=200)
    across, up = (
        [(n, page.number(n)) for n in range(0, end + 1, by)] for end, by in ((FAR, 10), (WIDE // 2, 8))
    )
    plane.axes(across, up, page.word("axis_distance"))
    plane.line(*enumerate(products.tolist()))
    first, second, last = (page.number(products[i], 2) for i in (0, 1, -1))
    picture = plane.picture(page.word("picture_curve", first=first, second=second, last=last))
    difference = np.abs(products - from_zero @ from_zero[0]).max()
    return picture, {"start": start, "width": WIDE, "same": first, "difference": difference}


def turns(page: Any, query_at: int, key_at: int, shift: int) -> tuple[str, dict[str, Any]]:
    """The arrows of a query and a key at their positions, and what `rotary_reading` waits for."""

    def at(pair: np.ndarray, position: int) -> np.ndarray:
        return pozor.rope(pair, layout="pairs", offset=position, frequencies=[ANGLE])[0]

    def degrees(angle: float) -> str:
        return page.number(np.degrees(angle), 1)

    query, key = at(ASKS, query_at), at(OFFERS, key_at)
    later, later_key = at(ASKS, query_at + shift), at(OFFERS, key_at + shift)
    names = ("at_query", "at_key", "query_shifted", "key_shifted")
    arrows = (query, key, later, later_key)
    said = {name: degrees(np.arctan2(one[1], one[0])) for name, one in zip(names, arrows)}
    pairs = [(float(one[0]), float(one[1])) for one in arrows]
    labels = page.word("arrow_query"), page.word("arrow_key")
    picture = turned(pairs[0], pairs[1], pairs[2], pairs[3], labels, page.word("picture_arrows", **said))
    return picture, {
        "at_query": query_at,
        "query_angle": degrees(ANGLE * query_at),
        "at_key": key_at,
        "key_angle": degrees(ANGLE * key_at),
        "product": query @ key,
        "shift": shift,
        "shifted": later @ later_key,
        "gap": query_at - key_at,
        "length": np.linalg.norm(query),
        "length_key": np.linalg.norm(key),
    }


def program(page: Any) -> str:
    """The turning in NumPy, to be changed and run."""
    return f"""
import numpy as np

q = np.array({ASKS[0].tolist()})
k = np.array({OFFERS[0].tolist()})
angle = {ANGLE}  # {page.word("comment_angle")}


def turn(pair, position):
    a, b = pair
    phi = angle * position
    return np.array([a * np.cos(phi) - b * np.sin(phi), a * np.sin(phi) + b * np.cos(phi)])


# {page.word("comment_pairs")}
for m, n in {PAIRS}:
    print(f"{{m:4}} {{n:4}} {{turn(q, m) @ turn(k, n):8.4f}}")
"""
