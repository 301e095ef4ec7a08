"""What the prose of lesson 1 is filled with: one function a section, numbers from the records."""

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from pozor import footprint
from pozor.costs import Footprint, binary, gb, gib
from pozor.language import decimal
from pozor.lessons.paper import Row
from pozor.lessons.pictures.sums import terms
from pozor.lessons.saturation import Saturation

Fields = dict[str, Any]
NUM_HEADS, D_MODEL = 32, 4096  # a model of the size that people know
LONG, KNOWN = 8192, 1024  # tokens


def float_(page: Any, row: Row) -> Fields:
    """The third number of a value and a score, as float64 prints them."""
    value, score = row.projections["v", 1].dot(2), row.scores.dot(2)
    return {
        "printed": decimal(repr(value.float64), page.lang),
        "exact": value.total,
        "printed_score": decimal(repr(score.float64), page.lang),
        "exact_score": score.total,
    }


def scale(page: Any, row: Row) -> Fields:
    """The division, and how far long dot products stray."""
    head_dim, large = row.scores.q.size, 128
    root = math.isqrt(head_dim)
    return {
        "root_text": f"√{page.number(head_dim)} = {page.number(root)}",
        "root": root,
        "scores": page.numbers(row.scores.dots),
        "scaled": page.numbers(row.scores.scaled),
        "large_dim": large,
        "large_std": page.number(math.sqrt(large), 1),
    }


def scale_read(page: Any, tried: Saturation) -> Fields:
    """What the two sliders give."""
    return {
        "head_dim": tried.head_dim,
        "std": page.number(math.sqrt(tried.head_dim), 2),
        "scale": tried.scale,
        "spread": page.number(tried.spread, 2),
        "top": tried.probs.max(),
        "slope": page.number(tried.slopes.mean(), 4),
    }


def exp_rounding(page: Any, row: Row) -> Fields:
    """An exponential whose third decimal depends on rounding once."""
    exact = Decimal(row.exps[1])
    once = exact.quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return {
        "logit": row.softmax.logits[1],
        "long": page.number(float(exact), 6),
        "right": page.number(float(exact)),
        "wrong": once.quantize(Decimal("0.001"), ROUND_HALF_UP),
    }


def softmax(page: Any, row: Row) -> Fields:
    """Exponentials, their sum, weights, and the weights in per cent."""
    parts = dict(zip(("first", "second", "third"), map(page.percent, row.softmax.probs)))
    return {
        "exps": " + ".join(map(page.number, row.exps)),
        "total": row.softmax.plain_sum,
        "probs": page.numbers(row.softmax.probs),
        **parts,
    }


def softmax_sum(page: Any, row: Row) -> Fields:
    """Three rounded weights that add up to more than one."""
    rounded = [Decimal(f"{prob:.3f}") for prob in row.softmax.probs]
    return {
        "rounded": " + ".join(map(page.number, rounded)),
        "rounded_sum": sum(rounded),
        "last": page.number(row.softmax.probs[2], 6),
        "last_rounded": rounded[2],
        "forced": 1 - rounded[0] - rounded[1],
    }


def softmax_saturated(page: Any) -> Fields:
    """Softmax of logits far apart, and the misprint that leaves the third weight out."""
    logits = np.array([10.0, 2.0, 1.0])
    probs = np.exp(logits) / np.exp(logits).sum()
    return {
        "logits": page.numbers(logits),
        "long": page.numbers(probs, 6),
        "short": page.numbers(probs, 4),
        "wrong": page.number(1 - Decimal(f"{probs[1]:.4f}"), 4),
    }


def experiments(page: Any, row: Row) -> Fields:
    """No division, and scores ten times larger."""
    tried = row.experiments
    assert tried is not None
    weakest = int(tried.probs.argmin())
    before, after = float(tried.probs[weakest]), float(tried.tenfold[weakest])
    return {
        "root": math.isqrt(tried.head_dim),
        "undivided_logits": page.numbers(tried.undivided_logits),
        "undivided": page.numbers(tried.undivided),
        "tenfold_logits": page.numbers(tried.tenfold_logits),
        "tenfold": page.numbers(tried.tenfold),
        "before": before,
        "after": after,
        "ratio": page.number(before / after, 1),
        "drop": before - after,
        "share": page.percent(after / before),
    }


def mask(page: Any, row: Row) -> Fields:
    """A row before and behind the mask."""
    logits, masked, probs = row.scores.logits, row.mask.logits, row.softmax.probs
    return {"full": page.numbers(logits), "masked": page.numbers(masked), "probs": page.numbers(probs)}


def mask_first(page: Any, first: Row, without: Row, last: Row) -> Fields:
    """The row of the first word, the same without the mask, and the word whose logit is printed for it."""
    return {
        "logits": page.numbers(first.mask.logits),
        "probs": page.numbers(first.softmax.probs),
        "printed": last.scores.scaled[0],
        "out": page.numbers(first.summed.out),
        "unmasked": page.numbers(without.softmax.probs),
    }


def sum_mix(page: Any, first: Row, second: Row, third: Row) -> Fields:
    """The outputs of the three words."""
    named = {"out": third, "second_out": second, "first_out": first}
    return {name: page.numbers(row.summed.out) for name, row in named.items()}


def heads(page: Any, first: Row, second: Row) -> Fields:
    """The same word in two heads."""
    assert first.join is not None
    head_dim = first.scores.q.size
    return {
        "head_a": first.join.parts[0].head,
        "head_b": first.join.parts[1].head,
        "head_dim": head_dim,
        "root": math.sqrt(head_dim),
        "probs_a": page.numbers(first.softmax.probs),
        "probs_b": page.numbers(second.softmax.probs),
        "concat": page.numbers(first.join.joined),
    }


def w_o(page: Any, two: Row, one: Row) -> Fields:
    """The second number after W_O, which both heads reach; the whole row, with two heads and with one."""
    mixed = two.output.dot(1)
    kept = np.flatnonzero(mixed.right)
    return {
        "terms": terms(page, mixed.left[kept], mixed.right[kept]),
        "mixed": page.number(mixed.total),
        "projected": page.numbers(two.output.result),
        "projected_one": page.numbers(one.output.result),
    }


def w_o_share() -> Fields:
    """W_O of a large model."""
    head_dim = footprint(1, num_heads=NUM_HEADS, d_model=D_MODEL).head_dim
    return {"num_heads": NUM_HEADS, "d_model": D_MODEL, "head_dim": head_dim, "w_o": D_MODEL**2}


def w_o_share_now(page: Any, num_kv_heads: int) -> Fields:
    """Its share where heads share keys and values."""
    cost = footprint(1, num_heads=NUM_HEADS, num_kv_heads=num_kv_heads, d_model=D_MODEL)
    assert cost.head_dim is not None
    return {
        "w_k": D_MODEL * num_kv_heads * cost.head_dim,
        "parameters": cost.parameters,
        "share": page.percent(cost.w_o_share),
        "kv_heads": num_kv_heads,
    }


def residual(page: Any, one: Row, two: Row) -> Fields:
    """x added, with one head and with two."""
    return {
        "x": page.numbers(one.residual.x),
        "projected": page.numbers(one.residual.update),
        "y": page.numbers(one.residual.total),
        "y_two": page.numbers(two.residual.total),
    }


def shapes(page: Any, batch: int, tokens: int, d_model: int, num_heads: int) -> list[list[str]]:
    """The lines of the table of shapes: step, shape, sizes, how many numbers."""
    sizes = {"B": batch, "T": tokens, "d_model": d_model, "num_heads": num_heads}
    sizes["head_dim"] = d_model // num_heads
    flat, split = ("B", "T", "d_model"), ("B", "num_heads", "T", "head_dim")
    steps = {
        "shapes_x": flat,
        "shapes_qkv": flat,
        "shapes_split": split,
        "shapes_scores": ("B", "num_heads", "T", "T"),
        "shapes_out": split,
        "shapes_joined": flat,
        "shapes_result": flat,
    }
    return [
        [
            page.word(step),
            f"({', '.join(axes)})",
            " × ".join(page.number(sizes[axis]) for axis in axes),
            page.number(math.prod(sizes[axis] for axis in axes)),
        ]
        for step, axes in steps.items()
    ]


def stored_now(page: Any, tokens: int) -> Fields:
    """The scores of one layer, and what is kept without them."""
    cost = _scores(tokens)
    return {
        "num_heads": cost.num_heads,
        "tokens": tokens,
        "scores": cost.scores,
        "binary": _size(page, cost.scores_bytes),
        "lse": _size(page, cost.lse_bytes),
    }


def stored_long(page: Any) -> Fields:
    """The same for a long text."""
    cost = _scores(LONG)
    return {"long_tokens": LONG, "long_scores": cost.scores, "long_binary": _size(page, cost.scores_bytes)}


def stored_units(page: Any) -> Fields:
    """One number of bytes in four units."""
    size = _scores(KNOWN).scores_bytes
    return {
        "bytes": size,
        "mib": page.number(size / 2**20),
        "mb": page.number(size / 10**6, 1),
        "gib": page.number(gib(size), 4),
        "gb": page.number(gb(size), 4),
        "mebi": 2**20,
        "million": 10**6,
    }


def _scores(tokens: int) -> Footprint:
    return footprint(tokens, num_heads=NUM_HEADS, dtype="float16")


def _size(page: Any, size: int) -> str:
    amount, unit = binary(size)
    return f"{page.number(amount, 2)}\u00a0{unit}"
