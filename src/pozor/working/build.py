"""From what is given to the steps of the working. Follows the formula; knows no language and no digits."""

import math
from typing import Any

import numpy as np

from pozor.working import exact
from pozor.working.compare import compare
from pozor.working.given import Given, Projections
from pozor.working.records import (
    Experiments,
    HeadPart,
    Join,
    Mask,
    Number,
    Output,
    Projection,
    Reading,
    Residual,
    Rotation,
    Scores,
    Softmax,
    Split,
    Start,
    Step,
    WeightedSum,
    frozen,
)


def build(given: Given) -> tuple[Step, ...]:
    """Every step of the row, or of the cell where a key is asked for; NaN and inf go through as they are."""
    with np.errstate(all="ignore"):
        return _build(given)


def _build(given: Given) -> tuple[Step, ...]:
    start = given.start
    steps: list[Step] = [start]
    if given.projections is None:
        q, k, v = given.q, given.k, given.v
        assert q is not None
        assert k is not None
    else:
        projected, q, k, v = _project(start, given.projections)
        steps += projected
    row, focus = start.query.index, None if start.key is None else start.key.index

    def head_steps(head: int) -> tuple[Scores, Mask, Softmax]:
        kv_head = start.kv_head if head == start.head else head * start.num_kv_heads // start.num_heads
        scores = _scores(start, q[head][row], k[kv_head], None if given.bias is None else given.bias[head])
        mask = _mask(start, scores, given.visible[head])
        return scores, mask, _softmax(start, mask, None if given.sink is None else given.sink[head])

    scores, mask, softmax = head_steps(start.head)
    steps += [scores, mask, softmax]
    if given.attention_map is not None:
        steps.append(compare(given.attention_map, scores, mask, softmax, given.map_head))
    if focus is None:
        steps.append(Reading(start.query, start.labels, mask.visible, softmax.probs))
    if v is None:
        return tuple(steps)
    summed = _weighted_sum(start, softmax, v[start.kv_head])
    steps.append(summed)
    if focus is None:
        outs = {start.head: (softmax, summed)}
        for head in range(start.num_heads if given.projections is not None else 0):
            if head not in outs:
                other = head_steps(head)[2]
                outs[head] = (
                    other,
                    _weighted_sum(start, other, v[head * start.num_kv_heads // start.num_heads]),
                )
        steps += _ending(given, outs, summed)
        if given.experiments and start.scale.root and np.ptp(softmax.probs[mask.visible]) > 0:
            steps.append(_experiments(start, scores, softmax, mask.visible))
    return tuple(steps)


def _project(
    start: Start, weights: Projections
) -> tuple[list[Step], dict[int, np.ndarray], dict[int, np.ndarray], dict[int, np.ndarray]]:
    """The steps of the tokens that the working names, and q, k, v of every token, each by its head."""
    query, key = start.query, start.key
    keys = start.labels if key is None else (key,)
    steps: list[Step] = []
    split: dict[str, np.ndarray] = {}
    columns: dict[str, tuple[int, int]] = {}
    for target, w, b, heads, head, tokens in (
        ("q", weights.w_q, weights.b_q, start.num_heads, start.head, (query,)),
        ("k", weights.w_k, weights.b_k, start.num_kv_heads, start.kv_head, keys),
        ("v", weights.w_v, weights.b_v, start.num_kv_heads, start.kv_head, keys),
    ):
        result = exact.matmul(weights.x, w, b)
        width = w.shape[1] // heads
        columns[target] = (head * width, (head + 1) * width)
        for label in tokens:
            i = label.index
            steps.append(Projection(target, label, weights.x[i], w, b, result[i], columns[target]))
        split[target] = result.reshape(len(result), heads, width).transpose(1, 0, 2)
    if start.num_heads > 1:
        steps.append(
            Split(start.head, start.kv_head, start.num_heads, start.num_kv_heads,
                  columns["q"], columns["k"], columns["v"])
        )  # fmt: skip
    for target, head, tokens, after in (
        ("q", start.head, (query,), weights.turned_q),
        ("k", start.kv_head, keys, weights.turned_k),
    ):
        if after is not None:
            before = exact.floats(split[target])
            for label in tokens:
                i = label.index
                steps.append(Rotation(target, label, i, frozen(before[head, i]), frozen(after[head, i])))
            split[target] = after
    q, k, v = (dict(enumerate(split[target])) for target in "qkv")
    return steps, q, k, v


def _scores(start: Start, q: np.ndarray, k: np.ndarray, bias: np.ndarray | None) -> Scores:
    dots = exact.dots(q, k)
    scaled = logits = exact.scaled(dots, start.scale)
    capped = None
    if start.softcap is not None:
        capped = logits = frozen(start.softcap * np.tanh(exact.floats(scaled) / start.softcap))
    if bias is not None:
        bias = frozen(exact.floats(bias))
        logits = frozen(exact.floats(logits) + bias)
    focus = None if start.key is None else start.key.index
    return Scores(
        start.query, start.labels, focus, frozen(q), frozen(k), dots, start.scale, scaled,
        start.softcap, capped, bias, logits,
    )  # fmt: skip


def _mask(start: Start, scores: Scores, visible: np.ndarray) -> Mask:
    if scores.bias is not None:
        visible = visible & (scores.bias != -np.inf)
    # select, not multiply: what is hidden may be NaN
    logits = np.where(visible, scores.logits, -math.inf)
    return Mask(start.query, start.labels, scores.focus, start.mask, frozen(visible), frozen(logits))


def _softmax(start: Start, mask: Mask, sink: float | None) -> Softmax:
    logits = exact.floats(mask.logits)
    count, focus = len(logits), mask.focus
    seen = np.flatnonzero(mask.visible)
    given: Any = mask.logits  # decimals or float64
    tops: list[Number] = [given[seen[np.argmax(logits[seen])]]] if len(seen) else []
    row_max: Number = max(tops + ([] if sink is None else [sink]), default=-math.inf)
    if float(row_max) == -math.inf:
        zeros, hidden = frozen(np.zeros(count)), frozen(np.full(count, -math.inf))
        return Softmax(
            start.query, start.labels, focus, mask.visible, mask.logits, None, hidden, zeros, 0.0,
            None, None, None, sink, 0.0, zeros, -math.inf,
        )  # fmt: skip
    top = float(row_max)
    taken_off = exact.less(mask.logits, row_max, mask.visible)
    shifted = np.where(mask.visible, np.exp(exact.floats(taken_off)), 0.0)
    sink_part = 0.0 if sink is None else math.exp(sink - top)
    total = math.fsum(shifted) + sink_part
    plain, plain_sum, fails = _without_maximum(logits, mask.visible, sink, top)
    return Softmax(
        start.query, start.labels, focus, mask.visible, mask.logits, row_max, taken_off, frozen(shifted),
        total, plain, plain_sum, fails, sink, sink_part / total,
        frozen(np.where(mask.visible, shifted / total, 0.0)),
        top + math.log(total),
    )  # fmt: skip


def _without_maximum(
    logits: np.ndarray, visible: np.ndarray, sink: float | None, top: float
) -> tuple[np.ndarray | None, float | None, str | None]:
    """exp of each logit as it is and their sum, or why float64 cannot do it."""
    plain = np.where(visible, np.exp(np.where(visible, logits, -math.inf)), 0.0)
    total = float(np.sum(plain)) + (0.0 if sink is None else float(np.exp(sink)))
    if not math.isfinite(top):
        return None, None, None
    if math.isinf(total):
        return None, None, "overflow"
    # below the smallest normal number digits are lost, at 0 the division fails
    if math.exp(top) < np.finfo(np.float64).tiny:
        return None, None, "underflow"
    return frozen(plain), total, None


def _weighted_sum(start: Start, softmax: Softmax, v: np.ndarray) -> WeightedSum:
    values = exact.floats(v)
    visible = softmax.visible[:, None]
    parts = np.where(visible, softmax.probs[:, None] * np.where(visible, values, 0.0), 0.0)
    out = parts.sum(axis=0)
    return WeightedSum(
        start.query, start.labels, softmax.focus, softmax.visible, softmax.probs, frozen(v),
        frozen(parts), frozen(out),
    )  # fmt: skip


def _ending(given: Given, outs: dict[int, tuple[Softmax, WeightedSum]], summed: WeightedSum) -> list[Step]:
    """Heads joined, times W_O, plus x; as far as the source goes."""
    start, weights = given.start, given.projections
    if weights is None:
        if given.w_o_part is None:
            return []
        result = exact.matmul(summed.out[None], given.w_o_part)[0]
        return [Output(summed.out, given.w_o_part, None, result, one_head=True)]
    steps: list[Step] = []
    parts = tuple(HeadPart(h, outs[h][0].probs, outs[h][1].out) for h in sorted(outs))
    joined = frozen(np.concatenate([part.out for part in parts]))
    if start.num_heads > 1:
        steps.append(Join(start.labels, parts, joined))
    update = joined
    if weights.w_o is not None:
        update = exact.matmul(joined[None], weights.w_o, weights.b_o)[0]
        steps.append(Output(joined, weights.w_o, weights.b_o, update, one_head=False))
    if weights.residual:
        x = weights.x[start.query.index]
        steps.append(Residual(start.query, frozen(x), update, frozen(exact.floats(x) + update)))
    return steps


def _experiments(start: Start, scores: Scores, softmax: Softmax, visible: np.ndarray) -> Experiments:
    undivided, tenfold = exact.floats(scores.dots), 10 * exact.floats(scores.scaled)

    def probs(logits: np.ndarray) -> np.ndarray:
        exps = np.where(visible, np.exp(np.where(visible, logits, -math.inf) - np.max(logits[visible])), 0.0)
        return frozen(exps / exps.sum())

    return Experiments(
        start.query, start.labels, start.head_dim, softmax.probs,
        frozen(np.where(visible, undivided, -math.inf)), probs(undivided),
        frozen(np.where(visible, tenfold, -math.inf)), probs(tenfold),
    )  # fmt: skip
