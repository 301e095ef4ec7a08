"""Exercises on three words on paper, from x to the residual stream."""

import math
from decimal import Decimal

from pozor.exercises.answers import whole
from pozor.exercises.bank.common import Dice, faulty, paper, vector, words_of
from pozor.exercises.drawing import Built
from pozor.exercises.faults import rightly
from pozor.exercises.sentences import sentences_of

MASKING = ("no_mask", "mask_after_softmax", "zero_for_inf", "polarity", "keys_for_values", "kv_swapped")


def divisor(dice: Dice) -> Built:
    """What scores are divided by, for d = 16."""
    d = 16 if dice is None else dice.choice((9, 16, 25, 36, 49, 64, 81, 100, 144, 256))
    return Built(
        whole(math.isqrt(d)),
        lambda pen: {"d": pen.count(d), "root": pen.count(math.isqrt(d))},
        {
            "by_d": whole(d),
            "halved": whole(Decimal(d) / 2),
            "squared": whole(d * d),
            "scale": whole(1 / Decimal(d)),
        },
    )


def first_token_out(dice: Dice) -> Built:
    """The first token can draw on nothing but itself: its out is its own value."""
    q, k, v = paper(dice)
    out = rightly(q, k, v, causal=True).out[0]
    words = words_of()
    return Built(
        vector((Decimal(repr(round(float(n), 9))) for n in out), None),
        lambda pen: {
            "q": pen.matrix(q, words), "k": pen.matrix(k, words), "v": pen.matrix(v, words),
            "word": words[0], "out": pen.vector(v[0]),
        },
        faulty(MASKING, lambda rows: rows.out[0], vector, q, k, v, causal=True),
    )  # fmt: skip


def first_token_why(dice: Dice) -> Built:
    """Why, and what it says about context to the left."""
    count = 3 if dice is None else dice.randrange(3, 9)
    return Built(
        sentences_of("first-token-why"),
        lambda pen: {"count": pen.count(count), "words": pen.count(count)},
    )


EXERCISES = (
    ("divisor", "number", divisor),
    ("first-token-out", "vector", first_token_out),
    ("first-token-why", "sentence", first_token_why),
)
