"""From the records of the row to blocks: scores, mask, softmax, what it means, the weighted sum."""

import math
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from pozor.working.document import (
    Block,
    Call,
    Code,
    Column,
    Equation,
    Equations,
    Expr,
    Heading,
    Inline,
    Inlines,
    Minus,
    Mono,
    Num,
    Over,
    Plain,
    Power,
    Root,
    Side,
    Sym,
    Table,
    Times,
)
from pozor.working.numbers import LONGEST, shortest
from pozor.working.records import Dot, Label, Mask, Number, Reading, Scores, Softmax, WeightedSum
from pozor.working.voice import LARGEST_KEYS, WHOLE_ROW, WHOLE_SUM, WHOLE_VECTOR, Voice
from pozor.working.words import WORDS

HALF = Decimal("0.5")
CLOSE = Decimal("0.03")  # of a unit of the last digit: nearer than this to the half is a close call
SATURATED = 0.99
MAIN = 1 / 3  # below this share of its attention a query does not look mainly there


def scores(voice: Voice, steps: list[Scores]) -> list[Block]:
    """q · k term by term, then the scale and what else makes the logit."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_scores"), 2), voice.para("scores")]
    if voice.start.axes:
        place = 0 if voice.lang == "cs" else 1
        asked = [axis[place] for axis, number in zip(voice.start.axes, step.q) if number]
        if asked:
            blocks.append(voice.para("asks_for", query=step.query, axes=voice.and_list(asked)))
        else:
            blocks.append(voice.para("asks_nothing", query=step.query))
    shown = _shown(step, voice)
    if len(shown) < len(step.keys) and step.focus is None:
        blocks.append(voice.para("shown_keys"))
    elif len(step.q) > WHOLE_SUM:
        blocks.append(voice.para("largest_terms"))
    written_out = shown if step.focus is None else [step.focus]
    rows = []
    for key in written_out:
        left = Times(voice.sym("q", step.query), voice.sym("k", step.keys[key]))
        rows.append(voice.sum_of_products(left, step.dot(key)))
    blocks.append(Equations(tuple(rows)))
    if voice.numbers.digits is None and voice.start.exact:
        for key in written_out:
            left = Times(voice.sym("q", step.query), voice.sym("k", step.keys[key]))
            blocks += float64_digits(voice, left, step.dot(key))
    return blocks + _scale(voice, step, shown)


def _shown(step: Scores, voice: Voice) -> list[int]:
    logits = np.asarray(step.logits, dtype=np.float64)
    visible = voice.visible & np.isfinite(logits)
    return voice.keys(np.where(visible, logits, -math.inf), visible, step.focus)


def _scale(voice: Voice, step: Scores, shown: list[int]) -> list[Block]:
    root = Root(Num(str(len(step.q))))
    product = Times(Sym("q"), Sym("k"))
    blocks: list[Block] = [Heading(voice.say("h_scale"), 2)]
    if step.scale.root is None:
        scale = voice.num(step.scale.value)
        head: Expr = Times(product, scale)
        default = Over(Num("1"), root)
        blocks.append(voice.para("scale_factor", scale=scale, root=default))
    else:
        value = Num(voice.write(math.sqrt(step.scale.root)).text)
        relation = voice.relation(voice.write(math.sqrt(step.scale.root)))
        head = Over(product, root)
        blocks.append(voice.para("scale_root", root=(root, Plain(f" {relation} "), value)))
    columns: list[tuple[Inlines, list[Number]]] = [
        ((product,), [step.dots[i] for i in shown]),
        ((head,), [step.scaled[i] for i in shown]),
    ]
    if step.capped is not None and step.softcap is not None:
        cap = voice.num(step.softcap)
        formula = Times(cap, Call("tanh", Over(head, cap)))
        blocks.append(voice.para("softcap", formula=formula, cap=cap))
        columns.append((voice.say("capped"), [step.capped[i] for i in shown]))
    if step.bias is not None:
        blocks.append(voice.para("bias"))
        columns.append((voice.say("biased"), [step.bias[i] for i in shown]))
        columns.append((voice.say("logit"), [step.logits[i] for i in shown]))
    blocks.append(_table(voice, voice.say("caption_scores", query=step.query), step.keys, shown, columns))
    return blocks


def mask(voice: Voice, steps: list[Mask]) -> list[Block]:
    """What is hidden, and the line of code that would read the other way round."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_mask"), 2)]
    hidden = [step.keys[i] for i in np.flatnonzero(~step.visible)]
    name: object = step.kind
    if f"mask_name_{step.kind}" in WORDS:
        name = voice.say(f"mask_name_{step.kind}")
    if step.focus is not None and hidden:
        seen = "mask_cell_visible" if step.visible[step.focus] else "mask_cell_hidden"
        blocks.append(voice.para(seen, query=step.query, key=step.keys[step.focus]))
    if not hidden:
        key = {"none": "mask_none", "map": "mask_open"}.get(step.kind, "mask_all")
        return [*blocks, voice.para(key, query=step.query, mask=name)]
    if len(hidden) <= WHOLE_ROW // 2:
        blocks.append(voice.para("mask_hides", mask=name, hidden=voice.and_list(hidden)))
    else:
        count, keys = voice.numbers.count(len(hidden)), voice.numbers.count(len(step.keys))
        blocks.append(voice.para("mask_hides_many", mask=name, count=count, keys=keys))
    blocks.append(voice.note("mask_code"))
    row = ", ".join(map(str, step.visible.tolist())) if len(step.keys) <= 6 else "…"
    lines = (
        f"visible = torch.tensor([{row}])",
        f"pozor.attention(q, k, v, mask=visible)            # {voice.flat('code_see')}",
        f'scores.masked_fill(~visible, float("-inf"))       # {voice.flat("code_hide")}',
    )
    return [*blocks, Code(lines)]


def softmax(voice: Voice, steps: list[Softmax]) -> list[Block]:
    """exp of each logit without and with the row maximum taken off, the sum, the probabilities."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_softmax"), 2)]
    if step.row_max is None:
        return [*blocks, voice.para("softmax_empty")]
    a, m = Sym("a"), Sym("m")
    blocks.append(voice.para("softmax", power=Power(a)))
    formula = (Power(Minus(a, m)), Plain(" = "), Over(Power(a), Power(m)))
    maximum = voice.num(step.row_max)
    blocks.append(voice.para("softmax_max", maximum=maximum, formula=formula))
    if step.plain_fails is not None:
        blocks.append(voice.para(f"plain_{step.plain_fails}", maximum=maximum))
    if step.sink is not None:
        share = voice.num(step.sink_prob)
        blocks.append(voice.para("softmax_sink", sink=voice.num(step.sink), share=share))
    shown = voice.keys(step.probs, step.visible, step.focus)
    blocks.append(_softmax_table(voice, step, shown))
    named = shown if step.focus is None else [step.focus]
    fractions = tuple(_fraction(voice, step, i) for i in named if step.visible[i])
    blocks += [Equations(fractions)] if fractions else []
    return blocks + _softmax_notes(voice, step, shown)


def _softmax_table(voice: Voice, step: Softmax, shown: list[int]) -> Table:
    logits = np.asarray(step.logits)
    rest = [i for i in np.flatnonzero(step.visible) if i not in set(shown)]
    a, m = Sym("a"), Sym("m")
    columns: list[tuple[Inlines, list[Number], float | None, float | None]] = [
        ((*voice.say("logit"), Plain(" "), a), [logits[i] for i in shown], None, None)
    ]
    if step.plain is not None:
        plain = step.plain
        columns.append(
            ((Power(a),), [plain[i] for i in shown], math.fsum(plain[i] for i in rest), step.plain_sum)
        )
    columns.append(((Minus(a, m),), [step.taken_off[i] for i in shown], None, None))
    columns.append(
        (
            (Power(Minus(a, m)),),
            [step.shifted[i] for i in shown],
            math.fsum(step.shifted[rest]),
            step.shifted_sum,
        )
    )
    prob_sum = math.fsum(step.probs) + step.sink_prob
    columns.append((voice.say("prob"), [step.probs[i] for i in shown], math.fsum(step.probs[rest]), prob_sum))
    names: list[Inlines] = [voice.inlines(step.keys[i]) for i in shown]
    values = [list(column[1]) for column in columns]
    if rest:
        names.append(voice.say("other_keys", count=voice.numbers.count(len(rest))))
        for column, cells in zip(columns, values):
            cells.append(math.nan if column[2] is None else column[2])
    if step.sink is not None:
        names.append(voice.say("sink_row"))
        parts = {0: step.sink, len(columns) - 1: step.sink_prob}
        for number, cells in enumerate(values):
            cells.append(parts.get(number, math.nan))
    names.append(voice.say("total"))
    for column, cells in zip(columns, values):
        cells.append(math.nan if column[3] is None else column[3])
    filled = [_blank(voice, cells, shown_count=len(shown)) for cells in values]
    rows = [(name, *cells) for name, *cells in zip(names, *filled)]
    heads = [Column(voice.say("key"), False), *(Column(column[0], True) for column in columns)]
    caption = voice.say("caption_softmax", query=step.query)
    return Table(caption, tuple(heads), tuple(rows[:-1]), (rows[-1],))


def _blank(voice: Voice, cells: list[Number], shown_count: int) -> list[Inlines]:
    """A column whose empty places below the keys stay empty."""
    kept = [c for i, c in enumerate(cells) if i < shown_count or not math.isnan(c)]
    written = iter(voice.column(kept))
    return [next(written) if i < shown_count or not math.isnan(c) else () for i, c in enumerate(cells)]


def _fraction(voice: Voice, step: Softmax, key: int) -> Equation:
    """p = exp / sum, with the plain exps where float64 can hold them."""
    left = voice.sym("p", step.keys[key])
    exps, total = (step.shifted, step.shifted_sum) if step.plain is None else (step.plain, step.plain_sum)
    exp, whole = voice.significant(exps[key]), voice.significant(total or 0.0)
    prob = voice.write(step.probs[key])
    relation = voice.relation(exp, whole)
    return Equation(
        left,
        (
            Side(relation, (Over(Num(exp.text), Num(whole.text)),)),
            Side(voice.relation(exp, whole, prob), (Num(prob.text),)),
        ),
    )


def _softmax_notes(voice: Voice, step: Softmax, shown: list[int]) -> list[Block]:
    blocks: list[Block] = []
    seen = np.flatnonzero(step.visible)
    if not math.isfinite(step.lse):
        return [voice.note("not_finite")]
    if len(seen) == 1 and step.sink is None:
        only = int(seen[0])
        return [voice.note("one_key", key=step.keys[only], logit=voice.num(np.asarray(step.logits)[only]))]
    if len(shown) == len(step.keys):
        blocks += _rounded_sum(voice, step)
    blocks += _close_calls(voice, step, shown)
    top = int(np.argmax(step.probs))
    p = float(step.probs[top])
    if p >= SATURATED:
        rest = math.fsum(step.probs[i] for i in seen if i != top) + step.sink_prob
        blocks.append(
            voice.note("saturated", key=step.keys[top], prob=voice.num(p), rest=voice.num(rest),
                       slope=voice.num(p * rest))
        )  # fmt: skip
    return blocks


def _rounded_sum(voice: Voice, step: Softmax) -> list[Block]:
    digits = voice.numbers.digits
    if digits is None:
        total = math.fsum(step.probs) + step.sink_prob
        return [] if total == 1 else [voice.note("float64_sum", sum=voice.num(total))]
    parts = [step.probs[i] for i in np.flatnonzero(step.visible)] + (
        [step.sink_prob] if step.sink is not None else []
    )
    total = sum((voice.numbers.shown(p) for p in parts), Decimal(0))
    return [] if voice.numbers.shown(total) == 1 else [voice.note("rounded_sum", sum=voice.num(total))]


def _close_calls(voice: Voice, step: Softmax, shown: list[int]) -> list[Block]:
    """Numbers of the table that lie so near a half that a rounded intermediate result would mislead."""
    digits = voice.numbers.digits
    if digits is None or digits > 9:
        return []
    exps = step.shifted if step.plain is None else step.plain
    logits = np.asarray(step.logits)
    cases: list[Inlines] = []
    seen = [i for i in shown if step.visible[i]]
    for values, is_exp in ((exps, True), (step.probs, False)):
        for i in seen:
            whole = shortest(float(values[i]))
            if not Decimal(1).scaleb(-digits) <= whole < 1000:
                continue
            if voice.numbers.shown(whole) != whole.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):
                continue  # shown with more figures than the decimals have
            if not 0 < abs(whole * 10**digits % 1 - HALF) < CLOSE:
                continue
            name: tuple[Inline, ...] = ()
            if is_exp:
                exponent = step.taken_off[i] if step.plain is None else logits[i]
                name = (Call("exp", voice.num(exponent)), Plain(f" {voice.about} "))
            case = (*name, _beyond_the_half(voice, whole), Plain(" → "), voice.num(values[i]))
            if case not in cases:
                cases.append(case)
    return [voice.note("close_call", cases=voice.joined(cases[:3], "; "))] if cases else []


def _beyond_the_half(voice: Voice, whole: Decimal) -> Num:
    """As many digits as it takes to see on which side of the half a number lies."""
    digits = voice.numbers.digits or 1
    more = digits + 3
    while more < LONGEST and (abs(whole).quantize(Decimal(1).scaleb(-more)) * 10**digits) % 1 == HALF:
        more += 1
    return voice.finer(more).num(whole)


def reading(voice: Voice, steps: list[Reading]) -> list[Block]:
    """Where the query looks, as a sentence."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_reading"), 2)]
    seen = [int(i) for i in np.argsort(-step.probs, kind="stable") if step.visible[i]]
    probs = step.probs
    if np.isnan(probs).any():
        return [*blocks, voice.para("looks_nan", "reading", query=step.query)]
    if not seen or probs[seen[0]] == 0:
        return [*blocks, voice.para("looks_nowhere", "reading", query=step.query)]

    def named(i: int) -> Inlines:
        same = i == voice.start.position and step.keys[i].text == step.query.text
        return voice.say("itself") if same else voice.inlines(step.keys[i])

    if len(seen) == 1:
        return [*blocks, voice.para("looks_one", "reading", query=step.query, keys=named(seen[0]))]
    if math.isclose(probs[seen[0]], probs[seen[-1]], rel_tol=1e-9):
        share = voice.numbers.percent(float(probs[seen[0]]))
        count = voice.numbers.count(len(seen))
        return [*blocks, voice.para("looks_equally", "reading", query=step.query, count=count, share=share)]
    main = [i for i in seen if math.isclose(probs[i], probs[seen[0]], rel_tol=1e-9)]
    first = seen if len(seen) <= WHOLE_ROW // 2 else seen[: LARGEST_KEYS // 2]
    shares: list[Inlines] = [
        (*voice.inlines(step.keys[i]), Plain(f" {voice.numbers.percent(float(probs[i]))}")) for i in first
    ]
    if len(first) < len(seen):
        rest = voice.numbers.percent(math.fsum(probs[i] for i in seen[len(first) :]))
        shares.append(voice.say("rest_share", count=voice.numbers.count(len(seen) - len(first)), share=rest))
    names = voice.and_list([named(i) for i in main[:WHOLE_ROW]])
    how = "looks_mainly" if math.fsum(probs[main]) >= MAIN else "looks_most"
    return [*blocks, voice.para(how, "reading", query=step.query, keys=names, shares=voice.joined(shares))]


def weighted_sum(voice: Voice, steps: list[WeightedSum]) -> list[Block]:
    """out = Σ p · v, each number of out as a sum of products."""
    step = steps[0]
    blocks: list[Block] = [Heading(voice.say("h_sum"), 2)]
    if step.focus is not None:
        key = step.keys[step.focus]
        part = step.parts[step.focus]
        blocks.append(voice.para("sum_cell", key=key))
        sides = (
            Side(voice.relation(voice.write(step.probs[step.focus])),
                 (Times(voice.num(step.probs[step.focus]), voice.vector(step.v[step.focus])),)),
            Side(voice.vector_relation(part), (voice.vector(part),)),
        )  # fmt: skip
        return [*blocks, Equations((Equation(Times(voice.sym("p", key), voice.sym("v", key)), sides),))]
    blocks.append(voice.para("sum"))
    v = np.asarray(step.v, dtype=np.float64)
    if v.shape[0] == v.shape[1] and np.array_equal(v, np.eye(len(v))):
        blocks.append(voice.para("sum_identity"))
    seen = np.flatnonzero(step.visible)
    if len(seen) == 1 and step.probs[seen[0]] == 1:
        blocks.append(voice.para("sum_one", key=step.keys[seen[0]]))
    if len(seen) > WHOLE_SUM:
        blocks.append(voice.para("largest_terms"))
    count = len(step.out) if len(step.out) <= WHOLE_VECTOR else WHOLE_VECTOR // 2
    rows = [
        voice.sum_of_products(
            voice.sym("out", None, column),
            Dot(step.probs[seen], np.asarray(step.v)[seen, column], float(step.out[column])),
        )
        for column in range(count if len(seen) else 0)
    ]
    relation = voice.vector_relation(step.out)
    rows.append(Equation(voice.sym("out", step.query), (Side(relation, (voice.vector(step.out),)),)))
    blocks.append(Equations(tuple(rows)))
    if count < len(step.out):
        blocks.append(voice.para("numbers_left_out", shown=count, count=voice.numbers.count(len(step.out))))
    return blocks


def float64_digits(voice: Voice, symbol: Expr, dot: Dot) -> list[Block]:
    """A note where a program prints other digits than the exact ones."""
    printed = dot.float64
    if not isinstance(dot.total, Decimal) or Decimal(repr(printed)) == dot.total:
        return []
    exact = voice.num(dot.total)
    return [voice.note("float64_digits", symbol=symbol, printed=Mono(repr(printed)), exact=exact)]


def _table(
    voice: Voice,
    caption: Inlines,
    keys: tuple[Label, ...],
    shown: list[int],
    columns: list[tuple[Inlines, list[Number]]],
) -> Table:
    cells = [voice.column(values) for _, values in columns]
    rows = tuple((voice.inlines(keys[i]), *row) for i, *row in zip(shown, *cells))
    heads = (Column(voice.say("key"), False), *(Column(head, True) for head, _ in columns))
    return Table(caption, heads, rows)
