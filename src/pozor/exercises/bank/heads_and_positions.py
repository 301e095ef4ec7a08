"""Exercises on several heads, W_O, and positions."""

import math
from decimal import Decimal

import numpy as np

from pozor import MultiHeadAttention, footprint, rope, sinusoidal
from pozor.examples import PAPER
from pozor.exercises.answers import rounded, share, whole
from pozor.exercises.bank.common import TENTHS, Dice, grid, neat, paper, vector
from pozor.exercises.drawing import Built, Reject
from pozor.exercises.faults import floats, rightly
from pozor.exercises.sentences import sentences_of

WORDS = PAPER.words
HEADS = (("hlava", "hlavy", "hlav"), ("head", "heads"))


def head_dim(dice: Dice) -> Built:
    """How many numbers a head gets."""
    heads, dim = (
        (32, 128) if dice is None else (dice.choice((4, 8, 12, 16, 24)), dice.choice((32, 64, 80, 96, 128)))
    )
    d_model = heads * dim
    eye = np.zeros((d_model, d_model), dtype=np.float32)
    layer = MultiHeadAttention(eye, eye, eye, eye, num_heads=heads)
    return Built(
        whole(layer.head_dim),
        lambda pen: {
            "heads": pen.many(heads, *HEADS),
            "d_model": pen.count(d_model),
            "dim": pen.count(dim),
            "count": pen.count(heads),
        },
        {
            "all_of_it": whole(d_model),
            "multiplied": whole(d_model * heads),
            "three_parts": rounded(d_model / heads / 3),
            "root": rounded(math.sqrt(d_model)),
        },
    )


def split(dice: Dice) -> Built:
    """Which numbers of q belong to a head."""
    q, heads, head = paper(None)[0][2], 2, 1
    if dice:
        heads, dim = dice.choice(((2, 3), (3, 2), (2, 4), (4, 2)))
        q = np.array(dice.sample(TENTHS, heads * dim), dtype=object)
        head = dice.randrange(1, heads)
    eye = np.eye(len(q))
    parts = MultiHeadAttention(eye, eye, eye, eye, num_heads=heads).steps(floats(q)[None]).q[:, 0]
    mine = neat(parts[head])
    return Built(
        vector(mine, None),
        lambda pen: {
            "q": pen.vector(q),
            "heads": pen.many(heads, *HEADS),
            "number": pen.count(head),
            "dim": pen.many(len(mine), ("číslo", "čísla", "čísel"), ("number", "numbers")),
            "mine": pen.vector(mine),
            "parts": ", ".join(pen.vector(neat(part)) for part in parts),
        },
        {
            "every_other": vector(q[head::heads], None),
            "first_head": vector(neat(parts[0]), None),
            "all_of_it": vector(q, None),
        },
    )


def head_divisor(dice: Dice) -> Built:
    """With several heads scores are divided by the root of head_dim, not of d_model."""
    heads, root = (
        (4, 4) if dice is None else (dice.choice((2, 4, 8, 9, 16, 25)), dice.choice((3, 4, 5, 6, 8)))
    )
    d_model = heads * root * root
    return Built(
        whole(root),
        lambda pen: {
            "heads": pen.many(heads, *HEADS),
            "count": pen.count(heads),
            "d_model": pen.count(d_model),
            "dim": pen.count(root * root),
            "root": pen.count(root),
        },
        {
            "root_of_all": rounded(math.sqrt(d_model)),
            "by_d": whole(root * root),
            "root_of_heads": rounded(math.sqrt(heads)),
            "per_head": whole(Decimal(d_model) / root),
        },
    )


def two_heads(dice: Dice) -> Built:
    """The weights of one head of two."""
    q, k, v = paper(None)
    head = 0
    if dice:
        q, k, v = (grid(dice, 3, 4, tuple(map(Decimal, range(4)))) for _ in range(3))
        head = dice.randrange(2)
    mine, others = (slice(2 * h, 2 * h + 2) for h in (head, 1 - head))

    def weights(columns: slice, scale: float | None = None) -> np.ndarray:
        return rightly(q[:, columns], k[:, columns], v, causal=True, scale=scale).probs[2]

    right = weights(mine)
    if right.max() > 0.98:
        raise Reject
    logits = rightly(q[:, mine], k[:, mine], v, causal=True).logits[2]
    return Built(
        vector(right, 3, shares=True),
        lambda pen: {
            "q": pen.vector(q[2]),
            "k": pen.matrix(k, pen.labels(WORDS), corner="k"),
            "word": pen.word(WORDS[2]),
            "number": pen.count(head),
            "mine": pen.vector(q[2][mine]),
            "all": pen.word(PAPER.sentence),
            "products": pen.vector(list(k[:, mine] @ q[2][mine])),
            "logits": pen.vector(logits, 3),
            "weights": pen.vector(right, 3),
        },
        {
            "other_head": vector(weights(others), 3, shares=True),
            "one_head": vector(weights(slice(0, 4)), 3, shares=True),
            "root_of_all": vector(weights(mine, 0.5), 3, shares=True),
            "no_sqrt": vector(weights(mine, 1.0), 3, shares=True),
        },
    )


def w_o_why(dice: Dice) -> Built:
    """What W_O is for when the heads are done."""
    heads = 8 if dice is None else dice.choice((4, 6, 12, 16, 32))
    return Built(sentences_of("w-o-why"), lambda pen: {"heads": pen.many(heads, *HEADS)})


def w_o_share(dice: Dice) -> Built:
    """Which part of the attention parameters is W_O."""
    heads, kv_heads, dim = (
        (32, 32, 128) if dice is None else (dice.choice((8, 16, 32)), dice.choice((1, 2, 4, 8)), 64)
    )
    cost = footprint(1, num_heads=heads, num_kv_heads=kv_heads, d_model=heads * dim)
    assert cost.w_o_share is not None
    d_model, kv = heads * dim, kv_heads * dim
    if dice and heads == kv_heads:
        raise Reject
    return Built(
        share(cost.w_o_share),
        lambda pen: {
            "count": pen.count(heads),
            "kv_heads": pen.count(kv_heads),
            "d_model": pen.count(d_model),
            "q_shape": f"{pen.count(d_model)} × {pen.count(d_model)}",
            "kv_shape": f"{pen.count(d_model)} × {pen.count(kv)}",
            "w_o": pen.count(d_model * d_model),
            "total": pen.count(cost.parameters or 0),
            "share": pen.percent(cost.w_o_share or 0, 1),
        },
        {
            "against_others": share(1 / (1 / cost.w_o_share - 1)),
            "kv_as_q": share(1 / 4),
            "one_kv": share(d_model / (2 * d_model + kv)),
            "w_o_forgotten": share(0),
        },
    )


def order_blind(dice: Dice) -> Built:
    """Words to the left trade places and the last one's out stays."""
    first, second = (0, 1) if dice is None else dice.sample((0, 1), 2)
    return Built(
        sentences_of("order-blind"),
        lambda pen: {
            "word": pen.word(WORDS[2]),
            "first": pen.word(WORDS[first]),
            "second": pen.word(WORDS[second]),
        },
    )


def position_zero(dice: Dice) -> Built:
    """The sinusoids of position zero."""
    d_model = 4 if dice is None else dice.choice((2, 6, 8, 10))
    row = sinusoidal(1, d_model)[0]
    return Built(
        vector(neat(row), None),
        lambda pen: {
            "d_model": pen.count(d_model),
            "row": pen.vector(neat(row)),
        },
        {
            "cosine_first": vector(neat(row[::-1]), None),
            "zeros": vector([0] * d_model, None),
            "ones": vector([1] * d_model, None),
            "halves": vector([0] * (d_model // 2) + [1] * (d_model // 2), None),
        },
    )


def turn(dice: Dice) -> Built:
    """A pair of numbers turned by its position, a quarter of a turn each."""
    pair, position = ([1, 0], 3) if dice is None else (dice.sample(range(4), 2), dice.randrange(1, 8))

    def turned(place: int, quarter: float = math.pi / 2) -> np.ndarray:
        return rope(np.array([pair], dtype=float), layout="pairs", offset=place, frequencies=[quarter])[0]

    return Built(
        vector(neat(turned(position)), None),
        lambda pen: {
            "pair": pen.vector(pair),
            "position": pen.count(position),
            "steps": " → ".join(pen.vector(neat(turned(place))) for place in range(position + 1)),
            "quarters": pen.many(
                position, ("čtvrtotočka", "čtvrtotočky", "čtvrtotoček"), ("quarter turn", "quarter turns")
            ),
        },
        {
            "clockwise": vector(neat(turned(-position)), None),
            "from_one": vector(neat(turned(position - 1)), None),
            "one_too_many": vector(neat(turned(position + 1)), None),
        },
    )


def rope_distance(dice: Dice) -> Built:
    """Rotary positions: the same distance, the same score."""
    query, key, moved = (
        (5, 2, 9) if dice is None else (dice.randrange(6, 12), dice.randrange(1, 6), dice.randrange(13, 40))
    )
    x = np.array([[1.0, 0.0], [0.5, 1.0]])

    def rotated_score(i: int, j: int) -> float:
        q, k = (
            rope(x[n : n + 1], layout="pairs", offset=place, frequencies=[0.05])[0]
            for n, place in ((0, i), (1, j))
        )
        return float(q @ k)

    # 0.05 radians a token: no two of these places are a whole turn apart
    places = [j for j in range(moved + 60) if abs(rotated_score(moved, j) - rotated_score(query, key)) < 1e-9]
    same = [j for j in places if j <= moved]
    if len(same) != 1:
        raise Reject
    return Built(
        whole(same[0]),
        lambda pen: {
            "query": pen.count(query),
            "key": pen.count(key),
            "moved": pen.count(moved),
            "place": pen.count(same[0]),
            "distance": pen.count(query - key),
        },
        {
            "stays": whole(key),
            "other_side": whole(moved + query - key),
            "distance_itself": whole(query - key),
            "moved_twice": whole(moved + query + key),
        },
    )


EXERCISES = (
    ("head-dim", "number", head_dim),
    ("split", "vector", split),
    ("head-divisor", "number", head_divisor),
    ("two-heads", "vector", two_heads),
    ("w-o-why", "sentence", w_o_why),
    ("w-o-share", "number", w_o_share),
    ("order-blind", "sentence", order_blind),
    ("position-zero", "vector", position_zero),
    ("turn", "vector", turn),
    ("rope-distance", "number", rope_distance),
)
