"""Exercises of the warm-up: dot product, e^x, softmax."""

import math
from decimal import Decimal

import numpy as np

from pozor.examples import PAPER, PUB
from pozor.exercises.answers import ratio, rounded, share, whole, whole_share
from pozor.exercises.bank.common import Dice, chosen, dot, faulty, neat, paper, vector
from pozor.exercises.drawing import Built, Reject
from pozor.exercises.faults import rightly
from pozor.exercises.sentences import sentences_of


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


def most_alike(dice: Dice) -> Built:
    """Which key answers a query best: the one with the largest dot product."""
    words = [PUB.words[i] for i in (1, 2, 3, 5)]
    query, keys = [2, 1, 0], [[1, 1, 3], [2, 0, 1], [0, 1, 3], [1, 0, 0]]
    if dice:
        query = dice.sample((0, 1, 2, 3), 3)
        keys = [[dice.randrange(4) for _ in range(3)] for _ in words]
    scores = [sum(q * k for q, k in zip(query, key)) for key in keys]
    lengths = [sum(k * k for k in key) for key in keys]
    best, worst, longest = np.argmax(scores), np.argmin(scores), np.argmax(lengths)
    if (
        sorted(scores)[-2] == scores[best]
        or scores.count(scores[worst]) > 1
        or lengths.count(max(lengths)) > 1
    ):
        raise Reject
    return Built(
        chosen([best], words),
        lambda pen: {
            "query": pen.vector(query),
            "keys": pen.matrix(keys, pen.labels(words)),
            "scores": pen.matrix([[s] for s in scores], pen.labels(words), ["q · k"]),
            "best": pen.word(words[best]),
        },
        {"lowest": chosen([worst], words), "longest": chosen([longest], words)},
    )


def exp_ratio(dice: Dice) -> Built:
    """How many times more weight a larger logit gets: e to the difference."""
    low, gap = (1, 1) if dice is None else (dice.randrange(1, 6), dice.randrange(1, 4))
    weights = rightly([[1]], [[low + gap], [low]], [[1], [1]], causal=False, scale=1.0).probs[0]
    return Built(
        ratio(float(weights[0] / weights[1])),
        lambda pen: {
            "high": pen.count(low + gap),
            "low": pen.count(low),
            "gap": pen.count(gap),
            "ratio": pen.number(math.exp(gap), 3),
        },
        {
            "no_exp": ratio((low + gap) / low),
            "difference": ratio(gap),
            "whole_exp": ratio(math.exp(low + gap)),
        },
    )


def softmax_exps(dice: Dice) -> Built:
    """Numbers e^x are there; the weights are their shares."""
    exps = [1, 3, 4]
    if dice:
        total = dice.choice((5, 8, 10, 20, 25))
        cuts = sorted(dice.sample(range(1, total), 2))
        exps = [cuts[0], cuts[1] - cuts[0], total - cuts[1]]
        if max(exps) == 1 or len(set(exps)) < 2:
            raise Reject
    logits = np.log(np.array(exps, dtype=float))
    weights = neat(rightly([[1]], logits[:, None], np.eye(3), causal=False, scale=1.0).probs[0])
    twice = rightly([[1]], np.array(exps, dtype=float)[:, None], np.eye(3), causal=False, scale=1.0).probs[0]
    return Built(
        vector(weights, None, shares=True),
        lambda pen: {
            "exps": pen.vector(exps),
            "sum": pen.sum(exps),
            "total": pen.count(sum(exps)),
            "weights": pen.vector(weights),
        },
        {
            "not_divided": vector(map(Decimal, exps), None),
            "by_largest": vector((e / max(exps) for e in exps), 3, shares=True),
            "exp_twice": vector(twice, 3, shares=True),
        },
    )


def row_sum(dice: Dice) -> Built:
    """What a row of weights adds up to."""
    q, k, v = paper(dice)
    row = 2 if dice is None else dice.randrange(3)
    rows = rightly(q, k, v, causal=False)
    words = PAPER.words
    return Built(
        whole_share(neat([float(rows.probs[row].sum())])[0]),
        lambda pen: {
            "weights": pen.matrix(rows.probs, pen.labels(words), pen.labels(words), 3),
            "word": pen.word(words[row]),
            "shown": pen.sum(rows.probs[row], 3),
        },
        faulty(("not_divided", "wrong_axis"), lambda r: r.probs[row].sum(), rounded, q, k, v, causal=False),
    )


def equal_logits(dice: Dice) -> Built:
    """Equal logits share equally, whatever they are."""
    count, logit = (
        (4, Decimal("0.7")) if dice is None else (dice.randrange(2, 11), Decimal(dice.randrange(1, 40)) / 10)
    )
    weights = rightly([[1.0]], [[logit]] * count, np.eye(count), causal=False, scale=1.0).probs[0]
    return Built(
        share(float(weights[0])),
        lambda pen: {
            "keys": pen.many(count, ("klíč", "klíče", "klíčů"), ("key", "keys")),
            "logit": pen.number(logit),
            "count": pen.count(count),
            "weight": pen.number(float(weights[0]), 3),
        },
        {
            "logit_kept": share(logit),
            "not_divided": share(math.exp(logit)),
            "logits_summed": share(logit / count),
            "all_of_it": share(1),
        },
    )


def shift_why(dice: Dice) -> Built:
    """Why the largest logit may be subtracted, and why one does."""
    top = 1000 if dice is None else dice.choice((800, 900, 1200, 1500, 2000))
    return Built(
        sentences_of("shift-why"),
        lambda pen: {
            "logits": pen.vector([top, top - 1, top - 2]),
            "less": pen.vector([0, -1, -2]),
            "top": pen.count(top),
        },
    )


EXERCISES = (
    ("dot-product", "number", dot_product),
    ("most-alike", "tokens", most_alike),
    ("exp-ratio", "number", exp_ratio),
    ("softmax-exps", "vector", softmax_exps),
    ("row-sum", "number", row_sum),
    ("equal-logits", "number", equal_logits),
    ("shift-why", "sentence", shift_why),
)
