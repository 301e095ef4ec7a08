"""What the exercises of several lessons draw from: the worked examples, and new numbers as easy as theirs."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from pozor.examples import PAPER, PUB, Matrix, decimals
from pozor.exercises.answers import Answer, Value, Vector
from pozor.exercises.faults import Rows, wrongly

Dice = random.Random | None
TENTHS = tuple(Decimal(n) / 10 for n in range(10))  # 0 to 0.9
QUARTERS = tuple(Decimal(n) / 2 for n in range(3))  # 0, 0.5, 1


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


def words_of(lang_word: str = "paper") -> list[str]:
    """The words of an example, as they stand in the sentence."""
    return [word.cs for word in (PAPER if lang_word == "paper" else PUB).words]


def faulty(
    faults: Iterable[str],
    take: Callable[[Rows], Any],
    as_answer: Callable[[Any], Answer],
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool,
) -> Mapping[str, Answer]:
    """What each mistake gives in place of the answer: the part `take` of the reference with it."""
    return {name: as_answer(take(wrongly(name, q, k, v, causal=causal))) for name in faults}


def dot(a: Iterable[Any], b: Iterable[Any]) -> Decimal:
    """The dot product of exact decimals."""
    return sum((x * y for x, y in zip(a, b)), Decimal(0))


def vector(values: Iterable[Value], digits: int | None = 3, shares: bool = False) -> Vector:
    """Several numbers; an exact decimal stays one."""
    return Vector(tuple(v if isinstance(v, Decimal | int) else float(v) for v in values), digits, shares)
