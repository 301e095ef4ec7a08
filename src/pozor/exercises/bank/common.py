"""What the exercises of several lessons draw from: the worked examples, and new numbers as easy as theirs."""

import random
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from pozor.examples import PAPER, Matrix, Text, decimals
from pozor.exercises.answers import Answer, Number, Tokens, Value, Vector, whole
from pozor.exercises.faults import Rows, wrongly

Dice = random.Random | None
TENTHS = tuple(Decimal(n) / 10 for n in range(10))  # 0 to 0.9


def exact(rows: Matrix | None) -> np.ndarray:
    """A matrix of an example, in exact decimals."""
    return np.array(decimals(rows or ()), dtype=object)


def grid(dice: random.Random, rows: int, columns: int, values: Sequence[Decimal]) -> np.ndarray:
    """A drawn matrix of exact decimals, no row of zeros alone."""
    drawn = np.array([[dice.choice(values) for _ in range(columns)] for _ in range(rows)], dtype=object)
    for row in drawn:
        if not any(row):
            row[dice.randrange(columns)] = max(values)
    return drawn


def paper(dice: Dice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, k, v of three words, (3, 4), in exact decimals: those of the lesson, or drawn ones like them."""
    if dice is not None:
        return grid(dice, 3, 4, TENTHS), grid(dice, 3, 4, TENTHS), grid(dice, 3, 4, TENTHS)
    x = exact(PAPER.x)
    return x @ exact(PAPER.w_q), x @ exact(PAPER.w_k), x @ exact(PAPER.w_v)


def neat(values: Iterable[float]) -> tuple[Decimal, ...]:
    """Float64 numbers as the short decimals that they stand for; ∞ stays."""
    return tuple(Decimal(repr(round(float(value), 9) + 0.0)) for value in values)


def single(value: Value) -> Number:
    """A number that comes out exactly, of the reference: without the last bits of float64."""
    return whole(neat([float(value)])[0])


def chosen(places: Iterable[int | np.integer], words: Sequence[Text]) -> Tokens:
    """A choice of words by their places."""
    return Tokens(frozenset(map(int, places)), tuple({"cs": word.cs, "en": word.en} for word in words))


def faulty(
    faults: Iterable[str],
    take: Callable[[Rows], Any],
    as_answer: Callable[[Any], Answer],
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool,
) -> dict[str, Answer]:
    """What each mistake gives in place of the answer: the part `take` of the reference with it."""
    return {name: as_answer(take(wrongly(name, q, k, v, causal=causal))) for name in faults}


def dot(a: Iterable[Any], b: Iterable[Any]) -> Decimal:
    """The dot product of exact decimals."""
    return sum((x * y for x, y in zip(a, b)), Decimal(0))


def vector(values: Iterable[Value], digits: int | None = 3, shares: bool = False) -> Vector:
    """Several numbers; an exact decimal stays one."""
    return Vector(tuple(v if isinstance(v, Decimal | int) else float(v) for v in values), digits, shares)
