"""Exercises on three words on paper, from x to the residual stream."""

import math
from collections.abc import Iterable
from decimal import Decimal

import numpy as np

from pozor import MultiHeadAttention
from pozor.examples import PAPER
from pozor.exercises.answers import Answer, Value, fall, rounded, whole
from pozor.exercises.bank.common import TENTHS, Dice, dot, exact, faulty, grid, neat, paper, single, vector
from pozor.exercises.drawing import Built, Reject
from pozor.exercises.faults import floats, rightly
from pozor.exercises.pen import Pen
from pozor.exercises.sentences import sentences_of

WORDS = PAPER.words
MASKING = ("no_mask", "mask_after_softmax", "zero_for_inf", "polarity")
SCALING = ("no_sqrt", "by_d")


def project(dice: Dice) -> Built:
    """A query is x times a matrix."""
    x, w = exact(PAPER.x)[2], exact(PAPER.w_q)
    if dice:
        x = np.array([Decimal(n) for n in dice.sample((1, 1, 1, 0, 0, 2), 4)], dtype=object)
        w = grid(dice, 4, 4, (Decimal(0), *TENTHS))
        if sum(map(bool, x)) < 2 or all(w.ravel()):
            raise Reject
    q = MultiHeadAttention(*(floats(w),) * 4, num_heads=1).steps(floats(x)[None]).xq[0]
    return Built(
        vector(neat(q), None),
        lambda pen: {
            "x": pen.vector(x),
            "w": pen.matrix(w, ["1", "2", "3", "4"]),
            "q": pen.vector(x @ w),
            "first": f"{pen.terms(x, w[:, 0])} = {pen.number((x @ w)[0])}",
        },
        {
            "transposed": vector(w @ x, None),
            "columns_summed": vector(w.sum(axis=0), None),
            "by_places": vector([x[i] * w[i, i] for i in range(4)], None),
        },
    )


def score(dice: Dice) -> Built:
    """One score: q · k divided by √d."""
    q, k, v = paper(dice)
    row, key = (2, 0) if dice is None else dice.sample(range(3), 2)
    product = dot(q[row], k[key])
    logit = rightly(q, k, v, causal=False).logits[row, key]
    return Built(
        single(logit),
        lambda pen: {
            "q": pen.vector(q[row]),
            "k": pen.vector(k[key]),
            "query": pen.word(WORDS[row]),
            "key": pen.word(WORDS[key]),
            "terms": pen.terms(q[row], k[key]),
            "product": pen.number(product),
            "score": pen.number(product / 2),
            "d": pen.count(q.shape[1]),
            "root": pen.count(math.isqrt(q.shape[1])),
        },
        {
            "no_sqrt": whole(product),
            "by_d": whole(product / 4),
            "times_sqrt": whole(product * 2),
            "added_all": whole(sum(q[row]) + sum(k[key])),
        },
    )


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


def scale_why(dice: Dice) -> Built:
    """Why scores are divided by √head_dim."""
    d = 128 if dice is None else dice.choice((64, 96, 256, 512))
    return Built(
        sentences_of("scale-why"),
        lambda pen: {"d": pen.count(d), "root": pen.number(math.sqrt(d), 1)},
    )


def causal_logits(dice: Dice) -> Built:
    """The logits of the second word under the mask: the third is −∞."""
    q, k, v = paper(dice)
    right = rightly(q, k, v, causal=True).logits[1]
    open_row = neat(rightly(q, k, v, causal=False).logits[1])
    endless = Decimal("-Infinity")

    def masked(row: list) -> Answer:
        return vector([*row[:2], endless], None)

    return Built(
        vector(neat(right), None),
        lambda pen: {
            "scores": pen.vector(open_row),
            "word": pen.word(WORDS[1]),
            "hidden": pen.word(WORDS[2]),
            "logits": pen.vector([float(n) for n in neat(right)]),
            "all": pen.word(PAPER.sentence),
        },
        {
            "no_mask": vector(open_row, None),
            "zero_for_inf": vector([*open_row[:2], Decimal(0)], None),
            "plus_infinity": vector([*open_row[:2], -endless], None),
            "polarity": vector([endless, endless, open_row[2]], None),
            "hides_itself": vector([open_row[0], endless, endless], None),
            "divided_again": masked([n / 2 for n in open_row]),
        },
    )


def weights_row(dice: Dice) -> Built:
    """The weights of the third word, which sees all."""
    q, k, v = paper(dice)
    right = rightly(q, k, v, causal=True)
    products = [dot(q[2], key) for key in k]
    exps = np.exp(right.logits[2])
    faults = (*SCALING, "wrong_axis", "no_exp", "not_divided", "qk_swapped")
    mistakes = faulty(faults, lambda rows: rows.probs[2], _shares, q, k, v, causal=True)
    return Built(
        _shares(right.probs[2]),
        lambda pen: (
            _qkv(pen, q, k)
            | {
                "word": pen.word(WORDS[2]),
                "products": pen.vector(products),
                "logits": pen.vector(neat(right.logits[2])),
                "exps": pen.vector(exps, 3),
                "sum": pen.number(float(exps.sum()), 3),
                "weights": pen.vector(right.probs[2], 3),
                "all": pen.word(PAPER.sentence),
            }
        ),
        mistakes,
    )


def first_token_out(dice: Dice) -> Built:
    """The first token can draw on nothing but itself: its out is its own value."""
    q, k, v = paper(dice)
    out = rightly(q, k, v, causal=True).out[0]
    faults = (*MASKING, "keys_for_values")
    return Built(
        vector(neat(out), None),
        lambda pen: (
            _qkv(pen, q, k, v)
            | {
                "word": pen.word(WORDS[0]),
                "out": pen.vector(v[0]),
                "weights": pen.vector([1, 0, 0]),
            }
        ),
        faulty(faults, lambda rows: rows.out[0], vector, q, k, v, causal=True)
        | {"own_query": vector(q[0], None), "plain_mean": vector(floats(v).mean(axis=0))},
    )


def first_token_why(dice: Dice) -> Built:
    """Why, and what it says about context to the left."""
    count = 3 if dice is None else dice.randrange(5, 13)
    nouns = ("slovo", "slova", "slov"), ("word", "words")
    return Built(sentences_of("first-token-why"), lambda pen: {"words": pen.many(count, *nouns)})


def second_token_out(dice: Dice) -> Built:
    """The second token mixes two values."""
    q, k, v = paper(dice)
    right = rightly(q, k, v, causal=True)
    faults = (*MASKING, *SCALING, "wrong_axis", "kv_swapped", "keys_for_values")
    mistakes = faulty(faults, lambda rows: rows.out[1], vector, q, k, v, causal=True)
    return Built(
        vector(right.out[1]),
        lambda pen: (
            _qkv(pen, q, k, v)
            | {
                "word": pen.word(WORDS[1]),
                "logits": pen.vector(neat(right.logits[1][:2])),
                "weights": pen.vector(right.probs[1][:2], 3),
                "out": pen.vector(right.out[1], 3),
                "terms": " + ".join(
                    f"{pen.number(right.probs[1][i], 3)}·{pen.vector(v[i])}" for i in range(2)
                ),
            }
        ),
        mistakes,
    )


def times_ten(dice: Dice) -> Built:
    """Scores ten times as large: the weights."""
    logits, _ = _ten(dice)
    right, wrong, exps = _weights(logits * 10), _times_mistakes(logits), np.exp(logits * 10)
    return Built(
        _shares(right),
        lambda pen: (
            _ten_fields(pen, logits)
            | {
                "large": pen.vector(neat(logits * 10)),
                "exps": pen.vector(exps, 1),
                "sum": pen.number(float(exps.sum()), 1),
                "double": pen.vector(_weights(logits * 2), 3),
            }
        ),
        {key: _shares(row) for key, row in wrong.items()},
    )


def times_ten_fall(dice: Dice) -> Built:
    """Scores ten times as large: how far the weakest weight falls."""
    logits, weakest = _ten(dice)
    before, after = _weights(logits), _weights(logits * 10)
    wrong = _times_mistakes(logits)
    strongest = int(np.argmax(before))
    return Built(
        fall(before[weakest], after[weakest]),
        lambda pen: (
            _ten_fields(pen, logits)
            | {
                "difference": pen.number(before[weakest] - after[weakest], 3),
                "times": pen.number(before[weakest] / after[weakest], 1),
                "to": pen.percent(after[weakest] / before[weakest]),
                "by": pen.percent(1 - after[weakest] / before[weakest]),
                "low": pen.number(before[weakest], 3),
                "lower": pen.number(after[weakest], 3),
                "weakest": pen.word(WORDS[weakest]),
            }
        ),
        {
            "twice_for_ten": fall(before[weakest], wrong["twice_for_ten"][weakest]),
            "new_weight": rounded(after[weakest]),
            "strongest": fall(before[strongest], after[strongest]),
        },
    )


def residual(dice: Dice) -> Built:
    """The first word's out through W_O and onto x."""
    x, out, w_o = exact(PAPER.x)[0], paper(None)[2][0], exact(PAPER.w_o)
    if dice:
        halves = (Decimal(0), Decimal(0), Decimal("0.5"), Decimal(1))
        x, out, w_o = (
            grid(dice, 1, 4, (Decimal(0), Decimal(1)))[0],
            grid(dice, 1, 4, TENTHS)[0],
            grid(dice, 4, 4, halves),
        )
    zeros = np.zeros((4, 4))
    layer = MultiHeadAttention(zeros, zeros, np.eye(4), floats(w_o), num_heads=1)
    y = layer.steps(floats(out)[None]).y[0] + floats(x)  # one token: its out is its own value
    return Built(
        vector(neat(y), None),
        lambda pen: {
            "x": pen.vector(x),
            "out": pen.vector(out),
            "w_o": pen.matrix(w_o, ["1", "2", "3", "4"]),
            "word": pen.word(WORDS[0]),
            "mixed": pen.vector(out @ w_o),
            "y": pen.vector(out @ w_o + x),
            "first": f"{pen.terms(out, w_o[:, 0])} = {pen.number((out @ w_o)[0])}",
        },
        {
            "no_w_o": vector(out + x, None),
            "no_residual": vector(out @ w_o, None),
            "transposed": vector(w_o @ out + x, None),
            "nothing_done": vector(out, None),
            "residual_first": vector((out + x) @ w_o, None),
        },
    )


def _shares(values: Iterable[Value]) -> Answer:
    return vector(values, 3, shares=True)


def _qkv(pen: Pen, q: np.ndarray, k: np.ndarray, v: np.ndarray | None = None) -> dict[str, str]:
    """Queries, keys and values as tables."""
    labels = pen.labels(WORDS)
    tables = {
        "d": pen.count(q.shape[1]),
        "q": pen.matrix(q, labels, corner="q"),
        "k": pen.matrix(k, labels, corner="k"),
    }
    return tables if v is None else tables | {"v": pen.matrix(v, labels, corner="v")}


def _ten(dice: Dice) -> tuple[np.ndarray, int]:
    """Three logits, and the place of the one whose weight is the least."""
    q, k, v = paper(None)
    logits = rightly(q, k, v, causal=True).logits[2]
    if dice:
        logits = np.array(dice.sample(range(2, 16), 3), dtype=float) / 20
    logits = floats(neat(logits))
    return logits, int(np.argmin(logits))


def _weights(logits: np.ndarray) -> np.ndarray:
    """Their softmax, by the reference."""
    return rightly([[1.0]], logits[:, None], np.eye(len(logits)), causal=False, scale=1.0).probs[0]


def _times_mistakes(logits: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "twice_for_ten": _weights(logits * 2),
        "ten_and_no_sqrt": _weights(logits * 20),
        "unchanged": _weights(logits),
        "weights_times_ten": _weights(logits) * 10,
    }


def _ten_fields(pen: Pen, logits: np.ndarray) -> dict[str, str]:
    return {
        "d": pen.count(paper(None)[0].shape[1]),
        "all": pen.word(PAPER.sentence),
        "logits": pen.vector(neat(logits)),
        "weights": pen.vector(_weights(logits), 3),
        "ten": pen.vector(_weights(logits * 10), 3),
    }


EXERCISES = (
    ("project", "vector", project),
    ("score", "number", score),
    ("divisor", "number", divisor),
    ("scale-why", "sentence", scale_why),
    ("causal-logits", "vector", causal_logits),
    ("weights-row", "vector", weights_row),
    ("first-token-out", "vector", first_token_out),
    ("first-token-why", "sentence", first_token_why),
    ("second-token-out", "vector", second_token_out),
    ("times-ten", "vector", times_ten),
    ("times-ten-fall", "number", times_ten_fall),
    ("residual", "vector", residual),
)
