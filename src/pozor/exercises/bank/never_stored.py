"""Exercises on the matrix that nobody stores: counts, bytes, blocks."""

import math
from typing import Any

import numpy as np

from pozor import footprint, merge
from pozor.costs import binary
from pozor.exercises.answers import Number, rounded, share, size, whole
from pozor.exercises.bank.common import Dice, neat, vector
from pozor.exercises.drawing import Built, Reject
from pozor.exercises.faults import rightly
from pozor.exercises.pen import Pen
from pozor.exercises.sentences import sentences_of

HEADS = (("hlava", "hlavy", "hlav"), ("head", "heads"))


def scores_count(dice: Dice) -> Built:
    """How many scores a layer has."""
    heads, tokens = _sizes(dice)
    d_model = heads * 128
    cost = footprint(tokens, num_heads=heads, d_model=d_model)
    masked = footprint(tokens, num_heads=heads, causal=True)
    return Built(
        whole(cost.scores),
        lambda pen: (
            _size_fields(pen, heads, tokens)
            | {"scores": pen.count(cost.scores), "d_model": pen.count(d_model)}
        ),
        {
            "one_head": whole(tokens * tokens),
            "not_squared": whole(heads * tokens),
            "with_d_model": whole(cost.scores * d_model),
            "heads_squared": whole(cost.scores * heads),
            "only_visible": whole(masked.exps),
        },
    )


def scores_memory(dice: Dice) -> Built:
    """Bytes of the scores of one layer."""
    heads, tokens = _sizes(dice)
    cost = footprint(tokens, num_heads=heads)

    def bytes_of(**changes: Any) -> Number:
        given: dict[str, Any] = {"tokens": tokens, "num_heads": heads}
        return size(footprint(**given | changes).scores_bytes)

    return Built(
        size(cost.scores_bytes),
        lambda pen: (
            _size_fields(pen, heads, tokens)
            | _bytes_fields(pen, cost.scores_bytes)
            | {"scores": pen.count(cost.scores)}
        ),
        {
            "one_head": bytes_of(num_heads=1),
            "float32": bytes_of(dtype="float32"),
            "one_byte": bytes_of(dtype="float8"),
            "not_squared": bytes_of(kv_len=1),
        },
    )


def kv_cache(dice: Dice) -> Built:
    """Bytes of the keys and values that generating keeps."""
    layers, heads, kv_heads, dim, tokens = 16, 32, 8, 128, 8192
    if dice:
        layers, heads, kv_heads = dice.choice((8, 24, 32)), dice.choice((16, 32)), dice.choice((2, 4, 8))
        dim, tokens = dice.choice((64, 128)), 2 ** dice.randrange(11, 15)

    def bytes_of(**changes: Any) -> int:
        given: dict[str, Any] = {
            "tokens": tokens,
            "num_heads": heads,
            "num_kv_heads": kv_heads,
            "head_dim": dim,
            "layers": layers,
        }
        return footprint(**given | changes).model_kv_cache_bytes or 0

    cache = bytes_of()
    return Built(
        size(cache),
        lambda pen: (
            _size_fields(pen, heads, tokens)
            | _bytes_fields(pen, cache)
            | {
                "layers": pen.many(layers, ("vrstva", "vrstvy", "vrstev"), ("layer", "layers")),
                "kv_heads": pen.count(kv_heads),
                "dim": pen.count(dim),
                "layer_count": pen.count(layers),
            }
        ),
        {
            "only_keys": size(cache // 2),
            "query_heads": size(bytes_of(num_kv_heads=heads)),
            "one_layer": size(bytes_of(layers=1)),
            "float32": size(bytes_of(dtype="float32")),
            "one_kv_head": size(bytes_of(num_heads=1, num_kv_heads=1)),
        },
    )


def causal_pairs(dice: Dice) -> Built:
    """How many pairs the causal mask leaves."""
    tokens = 6 if dice is None else dice.choice((8, 10, 12, 20, 50, 100))
    pairs = footprint(tokens, num_heads=1, causal=True).visible_pairs
    return Built(
        whole(pairs),
        lambda pen: {
            "tokens": pen.many(tokens, ("token", "tokeny", "tokenů"), ("token", "tokens")),
            "pairs": pen.count(pairs),
            "count": pen.count(tokens),
            "next": pen.count(tokens + 1),
        },
        {
            "all_pairs": whole(tokens**2),
            "without_diagonal": whole(tokens * (tokens - 1) // 2),
            "half_square": whole(tokens**2 / 2),
        },
    )


def running_sum(dice: Dice) -> Built:
    """Online softmax: the sum after a second block with a larger maximum."""
    first, second = [1, 0], [2, 2]
    if dice:
        low = dice.randrange(0, 4)
        first, second = [low, low - dice.randrange(0, 3)], [low + dice.randrange(1, 3), low]
        dice.shuffle(first)
    (old, first_sum), (new, second_sum) = _block(first), _block(second)
    whole_row = np.array([*first, *second], dtype=float)
    logits = rightly([[1.0]], whole_row[:, None], np.eye(4), causal=False, scale=1.0).logits[0]
    right = float(np.exp(logits - new).sum())
    return Built(
        rounded(right),
        lambda pen: {
            "first": pen.vector(first),
            "second": pen.vector(second),
            "old": pen.count(old),
            "new": pen.count(new),
            "first_sum": pen.number(first_sum, 3),
            "second_sum": pen.number(second_sum, 3),
            "gap": pen.count(new - old),
            "factor": pen.number(math.exp(old - new), 3),
            "kept": pen.number(first_sum * math.exp(old - new), 3),
            "sum": pen.number(right, 3),
        },
        {
            "not_rescaled": rounded(first_sum + second_sum),
            "wrong_way": rounded(first_sum * math.exp(new - old) + second_sum),
            "new_rescaled": rounded(first_sum + second_sum * math.exp(old - new)),
            "only_new": rounded(second_sum),
            "no_maximum": rounded(float(np.exp(whole_row).sum())),
        },
    )


def merged(dice: Dice) -> Built:
    """Two parts of the keys become one by their sums e^lse."""
    sums, outs = (3, 1), ([2, 4], [6, 0])
    if dice:
        sums = dice.choice(((1, 4), (3, 2), (4, 1), (1, 3), (7, 3), (1, 9)))
        outs = tuple([dice.randrange(0, 11) for _ in range(2)] for _ in range(2))
        if outs[0] == outs[1]:
            raise Reject
    parts = [
        (np.array([out], dtype=float), np.log(np.array([float(total)]))) for out, total in zip(outs, sums)
    ]
    right, _ = merge(parts)
    a, b = (np.array(out, dtype=float) for out in outs)
    total = sum(sums)
    swapped = (sums[1] * a + sums[0] * b) / total
    lses = np.log(np.array(sums, dtype=float))
    by_lse = (lses[0] * a + lses[1] * b) / lses.sum()
    return Built(
        vector(neat(right[0]), None),
        lambda pen: {
            "first": pen.vector(outs[0]),
            "second": pen.vector(outs[1]),
            "first_sum": pen.count(sums[0]),
            "second_sum": pen.count(sums[1]),
            "total": pen.count(total),
            "first_part": pen.number(sums[0] / total),
            "second_part": pen.number(sums[1] / total),
            "out": pen.vector(neat(right[0])),
        },
        {
            "plain_mean": vector(neat((a + b) / 2), None),
            "added": vector(neat(a + b), None),
            "swapped": vector(neat(swapped), None),
            "not_divided": vector(neat(sums[0] * a + sums[1] * b), None),
            "by_lse": vector(by_lse),
        },
    )


def cell_from_lse(dice: Dice) -> Built:
    """Any cell from its logit and the row's lse."""
    logit, lse = (
        (2, 3) if dice is None else (lambda low: (low, low + dice.randrange(1, 4)))(dice.randrange(1, 6))
    )
    return Built(
        share(math.exp(logit - lse)),
        lambda pen: {
            "logit": pen.count(logit),
            "lse": pen.count(lse),
            "gap": pen.number(logit - lse),
            "cell": pen.number(math.exp(logit - lse), 3),
        },
        {
            "ratio": share(logit / lse),
            "wrong_way": share(math.exp(lse - logit)),
            "difference": share(logit - lse),
            "ratio_of_exp_and_lse": share(math.exp(logit) / lse),
            "only_exp": share(math.exp(logit)),
        },
    )


def never_stored_why(dice: Dice) -> Built:
    """What is kept instead of the matrix, and what that changes."""
    tokens = 8192 if dice is None else dice.choice((4096, 16384, 32768))
    cost = footprint(tokens, num_heads=32)
    return Built(
        sentences_of("never-stored-why"),
        lambda pen: {
            "tokens": pen.count(tokens),
            "matrix": _binary(pen, cost.scores_bytes),
            "lse": _binary(pen, cost.lse_bytes),
            "heads": pen.many(32, *HEADS),
        },
    )


def _sizes(dice: Dice) -> tuple[int, int]:
    return (32, 1024) if dice is None else (dice.choice((4, 8, 12, 16)), 2 ** dice.randrange(9, 14))


def _size_fields(pen: Pen, heads: int, tokens: int) -> dict[str, object]:
    return {"heads": pen.many(heads, *HEADS), "count": pen.count(heads), "tokens": pen.count(tokens)}


def _bytes_fields(pen: Pen, total: int) -> dict[str, object]:
    return {"bytes": pen.count(total), "binary": _binary(pen, total), "decimal": _decimal(pen, total)}


def _binary(pen: Pen, total: int) -> str:
    amount, unit = binary(total)
    return f"{pen.number(amount)}\u00a0{unit}"


def _decimal(pen: Pen, total: int) -> str:
    power = min(max((len(str(total)) - 1) // 3, 0), 5)
    return f"{pen.number(total / 1000**power, 1)}\u00a0{('B', 'kB', 'MB', 'GB', 'TB', 'PB')[power]}"


def _block(logits: list[int]) -> tuple[int, float]:
    """The maximum of a block, and its sum of e^(logit − maximum)."""
    return max(logits), float(np.exp(np.array(logits, dtype=float) - max(logits)).sum())


EXERCISES = (
    ("scores-count", "number", scores_count),
    ("scores-memory", "number", scores_memory),
    ("kv-cache", "number", kv_cache),
    ("causal-pairs", "number", causal_pairs),
    ("running-sum", "number", running_sum),
    ("merged", "vector", merged),
    ("cell-from-lse", "number", cell_from_lse),
    ("never-stored-why", "sentence", never_stored_why),
)
