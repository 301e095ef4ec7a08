"""From the records to blocks: the start, projections, split; the rest is in compose_row and compose_end."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from pozor.working import compose_end, compose_row
from pozor.working.document import (
    Block,
    Column,
    Document,
    Equation,
    Equations,
    Heading,
    Plain,
    Side,
    Table,
    Times,
    Vector,
)
from pozor.working.records import (
    Comparison,
    Experiments,
    Join,
    Mask,
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
)
from pozor.working.tokens import visible
from pozor.working.voice import FIRST_COLUMNS, WHOLE_ROW, WHOLE_SUM, WHOLE_VECTOR, Voice

WHOLE_TEXT = 6  # the projections of up to 6 tokens are written out, of a longer text those of the first


def compose(steps: Sequence[Step], lang: str, digits: int | None) -> Document:
    """The working in one language, each number with `digits` decimals (None: all)."""
    voice = Voice(steps, lang, digits)
    blocks: list[Block] = []
    number = 0
    for kind, group in groupby(steps, type):
        for block in _COMPOSERS[kind](voice, list(group)):
            if isinstance(block, Heading) and block.level == 2:
                number += 1
                block = Heading((Plain(f"{number}. "), *block.parts), 2)
            blocks.append(block)
    return Document(lang, tuple(blocks))


def _start(voice: Voice, steps: list[Start]) -> list[Block]:
    start, numbers = steps[0], voice.numbers
    name = "title_row" if start.key is None else "title_cell"
    blocks: list[Block] = [Heading(voice.say(name, query=start.query, key=start.key), 1)]
    head = f"{start.head}"
    if start.source in ("paper", "pub"):
        title, sentence = (
            (start.title_cs, start.sentence_cs) if voice.lang == "cs" else (start.title_en, start.sentence_en)
        )
        if voice.lang == "en":
            own = " ".join(label.text for label in start.labels)
            sentence = f"{own} ({sentence})"
        blocks.append(voice.para("example", title=title, sentence=sentence))
    elif start.source == "recording":
        kind = start.kind
        blocks.append(
            voice.para("from_recording", name=start.name, model=start.model, item=start.item,
                       layer=start.layer, kind=kind, head=head)
        )  # fmt: skip
    else:
        blocks.append(voice.para(f"from_{start.source}", name=start.name, head=head))
    glosses = [
        (*voice.inlines(label), Plain(f" {gloss}"))
        for label in start.labels
        if (gloss := label.gloss(voice.lang))
    ]
    if glosses:
        blocks.append(voice.para("gloss", glosses=voice.joined(glosses)))
    if start.axes:
        axes = ", ".join(
            f"{i + 1} {axis[0 if voice.lang == 'cs' else 1]}" for i, axis in enumerate(start.axes)
        )
        blocks.append(voice.para("axes", axes=axes))
    place = "place_row" if start.key is None else "place_cell"
    blocks.append(
        voice.para(place, query=start.query, index=numbers.count(start.query.index), key=start.key,
                   key_index=0 if start.key is None else numbers.count(start.key.index),
                   keys=numbers.count(len(start.labels)))
    )  # fmt: skip
    if any("␣" in visible(label.text) for label in start.labels):
        blocks.append(voice.para("blank_mark"))
    sizes = [
        f"{label} {numbers.count(value)}"
        for label, value in (
            ("d_model", start.d_model),
            ("num_heads", start.num_heads if start.num_heads > 1 else None),
            ("num_kv_heads", start.num_kv_heads if start.num_kv_heads != start.num_heads else None),
            ("head_dim", start.head_dim),
            ("v_head_dim", start.v_head_dim if start.v_head_dim != start.head_dim else None),
        )
        if value is not None
    ]
    blocks.append(voice.para("sizes", sizes=", ".join(sizes)))
    blocks.append(voice.para("exactness_decimal" if start.exact else "exactness_float"))
    return blocks


def _projections(voice: Voice, steps: list[Projection]) -> list[Block]:
    cell = voice.start.key is not None
    blocks: list[Block] = [
        Heading(voice.say("h_project_cell" if cell else "h_project"), 2),
        voice.para("project"),
    ]
    if any(step.b is not None for step in steps):
        blocks.append(voice.para("project_bias"))
    if len(steps[0].x) > WHOLE_SUM:
        blocks.append(voice.para("largest_terms"))
    tokens = len({step.token.index for step in steps if step.target == "k"})
    shown = [s for s in steps if s.target == "q" or tokens <= WHOLE_TEXT or _among_first(s, steps)]
    for step in shown:
        blocks.append(_projection(voice, step))
    if tokens > WHOLE_TEXT:
        blocks.append(voice.para("tokens_left_out", count=voice.numbers.count(tokens - FIRST_COLUMNS)))
    width = len(steps[0].result)
    if width > WHOLE_VECTOR:
        first = steps[0].columns[0]
        shown_columns = _columns(steps[0])
        blocks.append(
            voice.para("columns_left_out", first=first + 1, last=first + len(shown_columns),
                       count=voice.numbers.count(width - len(shown_columns)))
        )  # fmt: skip
    if voice.numbers.digits is None and voice.start.exact:
        for step in shown:
            for column in range(width):
                blocks += float64_note(voice, step.target, step, column)
    return blocks


def float64_note(voice: Voice, name: str, step: Projection, column: int) -> list[Block]:
    """What a program prints for an exact sum, where it prints something else."""
    dot = step.dot(column)
    return compose_row.float64_digits(voice, voice.sym(name, step.token, column), dot)


def _among_first(step: Projection, steps: list[Projection]) -> bool:
    return step.token.index in sorted({s.token.index for s in steps if s.target == "k"})[:FIRST_COLUMNS]


def _columns(step: Projection) -> range:
    if len(step.result) <= WHOLE_VECTOR:
        return range(len(step.result))
    start, stop = step.columns
    return range(start, min(stop, start + FIRST_COLUMNS))


def _projection(voice: Voice, step: Projection) -> Equations:
    token, columns = step.token, _columns(step)
    product = Times(voice.sym("x", token), voice.sym(f"W_{step.target.upper()}"))
    terms = (product,) if step.b is None else (product, voice.sym(f"b_{step.target.upper()}"))
    vector = voice.vector(step.result[columns.start : columns.stop])
    relation = voice.vector_relation(step.result[columns.start : columns.stop])
    if len(columns) < len(step.result):
        vector = Vector(vector.numbers, vector.between, more=True)
    rows = [
        Equation(voice.sym(step.target, token), (Side("=", terms), Side(relation, (vector,)))),
        *(voice.sum_of_products(voice.sym(step.target, token, c), step.dot(c)) for c in columns),
    ]
    return Equations(tuple(rows))


def _split(voice: Voice, steps: list[Split]) -> list[Block]:
    step = steps[0]

    def columns(pair: tuple[int, int]) -> str:
        return f"{pair[0] + 1}–{pair[1]}" if pair[1] - pair[0] > 1 else str(pair[1])

    blocks: list[Block] = [
        Heading(voice.say("h_split"), 2),
        voice.para("split", heads=step.num_heads, head=step.head, q_columns=columns(step.q_columns)),
    ]
    if step.num_kv_heads != step.num_heads:
        blocks.append(
            voice.para("split_grouped", kv_heads=step.num_kv_heads, head=step.head, kv_head=step.kv_head,
                       k_columns=columns(step.k_columns))
        )  # fmt: skip
    return blocks


def _rotations(voice: Voice, steps: list[Rotation]) -> list[Block]:
    shown = steps[: WHOLE_ROW + 1]
    rows = tuple(
        (
            (voice.sym(step.target, step.token),),
            (Plain(str(step.position)),),
            (voice.vector(step.before),),
            (voice.vector(step.after),),
        )
        for step in shown
    )
    heads = (voice.say("token"), (Plain("pos"),), (voice.sym("x"),), (Plain("RoPE(x)"),))
    columns = tuple(Column(head, numeric=i == 1) for i, head in enumerate(heads))
    blocks: list[Block] = [Heading(voice.say("h_rotate"), 2), voice.para("rotate")]
    blocks.append(Table(voice.say("caption_rotate"), columns, rows))
    if len(shown) < len(steps):
        blocks.append(voice.para("tokens_left_out", count=voice.numbers.count(len(steps) - len(shown))))
    return blocks


_COMPOSERS: dict[type, Callable[[Voice, Any], list[Block]]] = {
    Start: _start,
    Projection: _projections,
    Split: _split,
    Rotation: _rotations,
    Scores: compose_row.scores,
    Mask: compose_row.mask,
    Softmax: compose_row.softmax,
    Reading: compose_row.reading,
    WeightedSum: compose_row.weighted_sum,
    Join: compose_end.join,
    Output: compose_end.output,
    Residual: compose_end.residual,
    Experiments: compose_end.experiments,
    Comparison: compose_end.comparison,
}
