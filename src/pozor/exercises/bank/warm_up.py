"""Exercises of the warm-up: dot product, e^x, softmax."""

from decimal import Decimal

from pozor.exercises.answers import whole
from pozor.exercises.bank.common import Dice, dot, faulty, paper, words_of
from pozor.exercises.drawing import Built, Reject
from pozor.exercises.faults import rightly


def dot_product(dice: Dice) -> Built:
    """[1, 0, 1] · [1, 1, 1]."""
    a, b = [1, 0, 1], [1, 1, 1]
    if dice:
        length = dice.choice((3, 4))
        a, b = ([dice.choice((-1, 0, 1, 2, 3)) for _ in range(length)] for _ in range(2))
        if a == b or sum(x * y != 0 for x, y in zip(a, b)) < 2:
            raise Reject
    a, b = [Decimal(x) for x in a], [Decimal(x) for x in b]
    return Built(
        whole(dot(a, b)),
        lambda pen: {
            "a": pen.vector(a),
            "b": pen.vector(b),
            "terms": pen.terms(a, b),
            "dot": pen.number(dot(a, b)),
        },
        {
            "added_all": whole(sum(a + b)),
            "sums_multiplied": whole(sum(a) * sum(b)),
            "counted": whole(len(a)),
        },
    )


def row_sum(dice: Dice) -> Built:
    """What a row of weights adds up to."""
    q, k, v = paper(dice)
    row = 2 if dice is None else dice.randrange(3)
    rows = rightly(q, k, v, causal=False)
    words = words_of()
    return Built(
        whole(round(float(rows.probs[row].sum()), 12)),
        lambda pen: {
            "weights": pen.matrix(rows.probs, words, words, 3),
            "word": words[row],
            "shown": pen.sum(rows.probs[row], 3),
        },
        faulty(("not_divided", "wrong_axis"), lambda r: r.probs[row].sum(), whole, q, k, v, causal=False),
    )


EXERCISES = (("dot-product", "number", dot_product), ("row-sum", "number", row_sum))
