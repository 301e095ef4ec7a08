"""From the records of the ending to blocks: heads joined, W_O, residual, experiments, the map beside it."""

import math

import numpy as np

from pozor.working.document import (
    Block,
    Column,
    Equation,
    Equations,
    Heading,
    Inlines,
    Num,
    Plus,
    Root,
    Side,
    Sym,
    Table,
    Times,
)
from pozor.working.records import Comparison, Experiments, Join, Output, Residual
from pozor.working.voice import WHOLE_SUM, WHOLE_VECTOR, Voice

UNIT = 2.0**-24


def join(voice: Voice, steps: list[Join]) -> list[Block]:
    """The outs of the heads side by side."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_join"), 2), voice.para("join")]
    if len(step.keys) <= WHOLE_VECTOR and len(step.parts) <= WHOLE_VECTOR:
        columns = [voice.column(part.probs) for part in step.parts]
        rows = tuple((voice.inlines(label), *cells) for label, *cells in zip(step.keys, *columns))
        heads = (
            Column(voice.say("key"), False),
            *(Column(voice.say("join_head", head=part.head), True) for part in step.parts),
        )
        caption = voice.say("caption_heads", query=voice.start.query)
        blocks.append(Table(caption, heads, rows))
    lines = [
        Equation(
            Sym("out", voice.flat("join_head", head=str(part.head))),
            (Side(voice.vector_relation(part.out), (voice.vector(part.out),)),),
        )
        for part in step.parts
    ]
    vector = voice.vector(step.joined)
    lines.append(Equation(Sym("concat"), (Side(voice.vector_relation(step.joined), (vector,)),)))
    return [*blocks, Equations(tuple(lines))]


def output(voice: Voice, steps: list[Output]) -> list[Block]:
    """Times W_O, each number as a sum of products."""
    step = steps[0]
    name = "output_part" if step.one_head else "output" if voice.start.num_heads > 1 else "output_single"
    blocks: list[Block] = [Heading(voice.say("h_output"), 2), voice.para(name)]
    if len(step.joined) > WHOLE_SUM:
        blocks.append(voice.para("largest_terms"))
    count = len(step.result) if len(step.result) <= WHOLE_VECTOR else WHOLE_VECTOR // 2
    source = Sym("concat") if voice.start.num_heads > 1 and not step.one_head else Sym("out")
    product = Times(source, Sym("W_O"))
    rows = [
        voice.sum_of_products(Sym("o", None, str(column + 1)), step.dot(column)) for column in range(count)
    ]
    relation = voice.vector_relation(step.result)
    terms = (product,) if step.b is None else (product, Sym("b_O"))
    rows.append(Equation(Sym("o"), (Side("=", terms), Side(relation, (voice.vector(step.result),)))))
    blocks.append(Equations(tuple(rows)))
    if count < len(step.result):
        blocks.append(
            voice.para("numbers_left_out", shown=count, count=voice.numbers.count(len(step.result)))
        )
    return blocks


def residual(voice: Voice, steps: list[Residual]) -> list[Block]:
    """x + what attention gives."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_residual"), 2), voice.para("residual")]
    update = Sym("o") if voice.has_output else Sym("out")
    relation = voice.vector_relation(step.total)
    first = voice.vector_relation([*step.x, *step.update])
    sides = (
        Side(first, (voice.vector(step.x), voice.vector(step.update))),
        Side(relation, (voice.vector(step.total),)),
    )
    left = Plus(voice.sym("x", step.query), update)
    return [*blocks, Equations((Equation(left, sides),))]


def experiments(voice: Voice, steps: list[Experiments]) -> list[Block]:
    """The division left out, and scores times 10: two different rows."""
    step = steps[0]
    root = Root(Num(str(step.head_dim)))
    factor = voice.num(step.head_dim**0.5)
    blocks: list[Block] = [
        Heading(voice.say("h_experiments"), 2),
        voice.para("experiments", root=root, factor=factor),
    ]
    shown = voice.keys(step.probs, np.isfinite(step.tenfold_logits), None)
    columns: list[tuple[Inlines, np.ndarray]] = [
        (voice.say("prob"), step.probs),
        (voice.say("undivided"), step.undivided_logits),
        (voice.say("prob"), step.undivided),
        (voice.say("tenfold"), step.tenfold_logits),
        (voice.say("prob"), step.tenfold),
    ]
    cells = [voice.column([values[i] for i in shown]) for _, values in columns]
    rows = tuple((voice.inlines(step.keys[i]), *row) for i, *row in zip(shown, *cells))
    heads = (Column(voice.say("key"), False), *(Column(head, True) for head, _ in columns))
    blocks.append(Table(voice.say("caption_experiments", query=step.query), heads, rows))
    seen = np.flatnonzero(np.isfinite(step.tenfold_logits))
    weakest = int(seen[np.argmin(step.probs[seen])])
    before, after = float(step.probs[weakest]), float(step.tenfold[weakest])
    if 0 < after < before < 100 * after:  # beyond that the ratio says nothing to the eye
        blocks.append(
            voice.para(
                "weakest",
                key=step.keys[weakest],
                before=voice.num(before),
                after=voice.num(after),
                ratio=voice.numbers.rough(before / after),
                drop=voice.num(before - after),
                share=voice.numbers.percent(after / before),
            )
        )
    return blocks


def comparison(voice: Voice, steps: list[Comparison]) -> list[Block]:
    """The map's number, float64's, their difference and the bound it must keep."""
    step, rough = steps[0], voice.numbers.rough
    if math.isnan(step.prob):
        return [Heading(voice.say("h_compare"), 2), voice.para("compare_nan", key=step.key)]
    fine = voice.finer(9)
    blocks: list[Block] = [
        Heading(voice.say("h_compare"), 2),
        voice.para(
            "compare_row" if step.whole_row else "compare_cell",
            key=step.key,
            shown=fine.num(step.shown),
            prob=fine.num(step.prob),
            difference=rough(step.difference),
        ),
        voice.para(
            "compare_lse",
            lse=fine.num(step.lse),
            stored=fine.num(step.stored_lse),
            difference=rough(step.lse_difference),
            bound=rough(step.lse_bound),
        ),
        voice.para(
            "bound",
            unit=rough(UNIT),
            terms=step.head_dim,
            gamma=rough(step.gamma),
            magnitude=rough(step.magnitude),
            logit_bound=rough(step.logit_bound),
            exponent=rough(step.exponent_bound),
            bound=rough(step.bound),
        ),
        voice.para("within" if step.holds else "beyond", "" if step.holds else "note"),
    ]
    return blocks
