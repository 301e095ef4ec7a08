"""Lesson 1: three words on paper, from x to the residual stream, every number computed."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    import math

    import marimo as mo

    from pozor import by_hand
    from pozor.lessons import page, paper
    from pozor.lessons import paper_fields as fields
    from pozor.lessons.pictures import plots, sums
    from pozor.lessons.pictures.beside import beside, said
    from pozor.lessons.pictures.table import table

    lesson = page.start(mo, "by_hand")
    number, numbers, word = lesson.number, lesson.numbers, lesson.word
    return beside, by_hand, fields, lesson, math, mo, number, numbers, paper, plots, said, sums, table, word


@app.cell
def _(lesson, mo, paper, word):
    words = paper.words()
    rows = paper.rows()
    free = paper.rows(causal=False)
    heads = [paper.rows(num_heads=2, head=head) for head in (0, 1)]
    hidden = [~row.mask.visible for row in rows]
    cat, sleeps, outside = rows

    def choose_word(key, start):  # no radio: the arrow keys skip answers in marimo's
        return mo.ui.dropdown(words, value=words[start], label=word(key))

    def draw(some, **options):
        return lesson.heatmap([row.softmax.probs for row in some], words, states=hidden, **options)

    def practise(*names):
        """Exercises with other numbers than the page: its own results stand beside them."""
        return [lesson.exercise(name, seed=1) for name in names]

    return cat, choose_word, draw, free, heads, hidden, outside, practise, rows, sleeps, words


@app.cell
def _(draw, lesson, mo, paper, rows, words):
    _intro = lesson.text("intro", sentence=" ".join(words), gloss=paper.gloss(lesson.lang))
    mo.vstack([lesson.top(), _intro, draw(rows)])
    return


@app.cell
def _(lesson, mo, number, outside, rows, table, words):
    places = [number(n + 1) for n in range(len(outside.residual.x))]
    _xs = [[name, *map(number, row.residual.x)] for name, row in zip(words, rows)]
    _table = mo.Html(table(["x", *places], _xs))
    mo.vstack([lesson.text("input", d_model=len(places)), _table, lesson.text("roles")])
    return (places,)


@app.cell
def _(choose_word, mo, word):
    whose = choose_word("label_word", 2)
    role = mo.ui.dropdown(["q", "k", "v"], value="q", label=word("label_role"))
    return role, whose


@app.cell
def _(lesson, mo, number, numbers, places, role, rows, said, sums, table, whose, words):
    _index, _name = words.index(whose.value), f"W_{role.value.upper()}"
    _one = rows[_index].projections[role.value, _index]
    _matrix = [[places[n], *map(number, line)] for n, line in enumerate(_one.w)]
    _sums = [
        (role.value, places[n], f"= {sums.terms(lesson, _one.x, _one.w[:, n])} =", number(total))
        for n, total in enumerate(_one.result)
    ]
    mo.vstack(
        [
            lesson.text("projections"),
            whose,
            role,
            mo.Html(table([_name, *places], _matrix)),
            mo.Html(said(f"<p>x({whose.value}) = {numbers(_one.x)}</p>", sums.lines(_sums))),
        ]
    )
    return


@app.cell
def _(lesson, mo, numbers, practise, rows, table, word, words):
    _all = [
        [name, *(numbers(row.projections[role, n].result) for role in ("q", "k", "v"))]
        for n, (name, row) in enumerate(zip(words, rows))
    ]
    _table = mo.Html(table([word("label_word"), "q", "k", "v"], _all, numeric=4))
    mo.vstack([lesson.text("projections_all"), _table, *practise("project")])
    return


@app.cell
def _(choose_word):
    asking, asked = choose_word("label_query", 2), choose_word("label_key", 0)
    return asked, asking


@app.cell
def _(asked, asking, fields, lesson, mo, number, numbers, outside, rows, said, sums, table, words):
    _dot = rows[words.index(asking.value)].scores.dot(words.index(asked.value))
    _sum = f"= {sums.terms(lesson, _dot.left, _dot.right)} ="
    _both = f"q({asking.value}) = {numbers(_dot.left)}, k({asked.value}) = {numbers(_dot.right)}"
    _all = [[name, *map(number, row.scores.dots)] for name, row in zip(words, rows)]
    mo.vstack(
        [
            lesson.text("scores", scores=numbers(outside.scores.dots)),
            asking,
            asked,
            mo.Html(said(f"<p>{_both}</p>", sums.lines([("q · k", "", _sum, number(_dot.total))]))),
            lesson.text("scores_all"),
            mo.Html(table(["q · k", *words], _all)),
            lesson.text("float", **fields.float_(lesson, outside)),
        ]
    )
    return


@app.cell
def _(mo, word):
    from pozor.lessons.saturation import LENGTHS, SCALES, Saturation

    START = 128
    length = mo.ui.slider(steps=LENGTHS, value=START, label=word("label_head_dim"))
    scale = mo.ui.slider(steps=SCALES, value=1.0, label=word("label_scale"))
    return START, Saturation, length, scale


@app.cell
def _(fields, lesson, outside):
    lesson.text("scale", **fields.scale(lesson, outside))
    return


@app.cell
def _(START, Saturation, beside, fields, length, lesson, mo, number, numbers, plots, said, scale, word):
    _try = Saturation(length.value, scale.value)
    _probs = ", ".join(map(lesson.percent, _try.probs))
    _bars = plots.bars(
        _try.probs,
        [number(n + 1) for n in range(len(_try.probs))],
        word("picture_weights", probs=_probs),
        up=[(share, number(share)) for share in (0, 0.5, 1)],
    )
    _curves = plots.softmax_slope(
        _try.leads,
        word("picture_gradient", probs=_probs, slopes=numbers(_try.slopes.round(4))),
        across=[(n, number(n)) for n in (-8, -4, 0, 4, 8)],
        up=[(share, number(share)) for share in (0, 0.25, 0.5, 0.75, 1)],
        below=word("axis_lead"),
        weight=word("axis_weight"),
        slope=word("axis_slope"),
    )
    _words = [
        lesson.text("scale_try", start=START, one=1),
        length,
        scale,
        said(
            lesson.text("scale_read", **fields.scale_read(lesson, _try)),
            lesson.text(_try.verdict, root_scale=length.value**-0.5),
        ),
        lesson.text("gradient", largest_slope=0.5 * (1 - 0.5)),
    ]
    mo.Html(beside(_words, _bars + _curves))
    return


@app.cell
def _(fields, lesson, math, mo, number, numbers, outside, plots, practise, word):
    _logits, _exps = outside.softmax.logits, outside.exps
    _told = {"logits": numbers(_logits), "exps": numbers(_exps)}
    _picture = plots.exponential(
        [(float(logit), "") for logit in _logits],
        word("picture_exp", **_told),
        x=(-2, 1),
        across=[(n, number(n)) for n in (-2, -1, 0, 1)],
        up=[(n, number(n)) for n in (0, 1, 2)],
    )
    mo.vstack(
        [
            lesson.exercise("divisor"),
            *practise("score"),
            lesson.exercise("scale-why"),
            lesson.text("exp", e=math.e, **_told),
            mo.Html(_picture),
            lesson.text("exp_rounding", **fields.exp_rounding(lesson, outside)),
        ]
    )
    return


@app.cell
def _(fields, lesson, mo, outside, practise):
    mo.vstack(
        [
            lesson.text("softmax", **fields.softmax(lesson, outside)),
            lesson.text("softmax_sum", **fields.softmax_sum(lesson, outside)),
            lesson.text("softmax_saturated", **fields.softmax_saturated(lesson)),
            *practise("weights-row"),
            lesson.text("experiments", **fields.experiments(lesson, outside)),
            *practise("times-ten", "times-ten-fall"),
        ]
    )
    return


@app.cell
def _(cat, draw, fields, free, lesson, mo, outside, practise, rows, sleeps):
    mo.vstack(
        [
            lesson.text("mask", **fields.mask(lesson, sleeps)),
            draw(rows, unmasked=[row.softmax.probs for row in free]),
            *practise("causal-logits"),
            lesson.text("mask_first", **fields.mask_first(lesson, cat, free[0], outside)),
            *practise("first-token-out"),
            lesson.exercise("first-token-why"),
        ]
    )
    return


@app.cell
def _(beside, hidden, lesson, mo, table, word, words):
    def _truth(key, masks):
        lines = [[query, *(str(bool(cell)) for cell in line)] for query, line in zip(words, masks)]
        return table([word("label_query"), *words], lines, caption=word(key))

    _left, _right = _truth("label_hidden", hidden), _truth("label_visible", [~line for line in hidden])
    mo.vstack([lesson.text("mask_code"), mo.Html(beside([_left], _right)), lesson.text("mask_swapped")])
    return


@app.cell
def _(choose_word):
    mixing = choose_word("label_word", 2)
    return (mixing,)


@app.cell
def _(fields, lesson, mixing, mo, number, places, practise, rows, said, sums, words):
    _sum = rows[words.index(mixing.value)].summed
    _about = "≐" if lesson.lang == "cs" else "≈"
    _lines = [
        ("out", places[n], f"{_about} {sums.terms(lesson, _sum.probs, _sum.v[:, n])} {_about}", number(total))
        for n, total in enumerate(_sum.out)
    ]
    _mix = lesson.text("sum_mix", **fields.sum_mix(lesson, *rows))
    _said = mo.Html(said(sums.lines(_lines)))
    mo.vstack([lesson.text("sum"), mixing, _said, _mix, *practise("second-token-out")])
    return


@app.cell
def _(beside, draw, fields, heads, lesson, mo, word):
    _maps = [draw(each, title=word("label_head", head=head)) for head, each in enumerate(heads)]
    _text = lesson.text("heads", **fields.heads(lesson, heads[0][2], heads[1][2]))
    mo.vstack([_text, mo.Html(beside([_maps[0]], _maps[1]))])
    return


@app.cell
def _(mo, word):
    kv_heads = mo.ui.slider(steps=[1, 2, 4, 8, 16, 32], value=32, label=word("label_kv_heads"))
    return (kv_heads,)


@app.cell
def _(fields, heads, kv_heads, lesson, mo, number, outside, places, practise, said, table):
    _matrix = [[place, *map(number, line)] for place, line in zip(places, outside.output.w)]
    mo.vstack(
        [
            lesson.text("w_o", **fields.w_o(lesson, heads[0][2], outside)),
            mo.Html(table(["W_O", *places], _matrix)),
            lesson.text("w_o_share", **fields.w_o_share()),
            kv_heads,
            mo.Html(said(lesson.text("w_o_share_now", **fields.w_o_share_now(lesson, kv_heads.value)))),
            lesson.text("residual", **fields.residual(lesson, outside, heads[0][2])),
            *practise("residual"),
        ]
    )
    return


@app.cell
def _(mo, word):
    batch = mo.ui.slider(steps=[1, 2, 4, 8], value=2, label=word("label_batch"))
    tokens = mo.ui.slider(steps=[2**n for n in range(4, 14)], value=1024, label=word("label_tokens"))
    d_model = mo.ui.slider(steps=[2**n for n in range(6, 13)], value=4096, label=word("label_d_model"))
    num_heads = mo.ui.slider(steps=[1, 2, 4, 8, 16, 32], value=32, label=word("label_num_heads"))
    return batch, d_model, num_heads, tokens


@app.cell
def _(batch, d_model, fields, lesson, mo, num_heads, table, tokens, word):
    _lines = fields.shapes(lesson, batch.value, tokens.value, d_model.value, num_heads.value)
    _heads = [word(key) for key in ("shapes_step", "shapes_shape", "shapes_sizes", "shapes_count")]
    _table = mo.Html(table(_heads, _lines, numeric=3))
    mo.vstack([lesson.text("shapes"), batch, tokens, d_model, num_heads, _table])
    return


@app.cell
def _(mo, word):
    long = mo.ui.slider(steps=[2**n for n in range(7, 18)], value=1024, label=word("label_length"))
    return (long,)


@app.cell
def _(fields, lesson, long, mo, said):
    mo.vstack(
        [
            lesson.text("stored"),
            long,
            mo.Html(said(lesson.text("stored_now", **fields.stored_now(lesson, long.value)))),
            lesson.text("stored_long", **fields.stored_long(lesson)),
            lesson.text("stored_units", **fields.stored_units(lesson)),
        ]
    )
    return


@app.cell
def _(choose_word, mo, word):
    _heads = {word("one_head"): (1, 0), word("first_of_two"): (2, 0), word("second_of_two"): (2, 1)}
    _digits = {"3": 3, "6": 6, word("all_digits"): None}
    shown = choose_word("label_word", 2)
    among = mo.ui.dropdown(_heads, value=word("one_head"), label=word("label_heads"))
    digits = mo.ui.dropdown(_digits, value="3", label=word("label_digits"))
    return among, digits, shown


@app.cell
def _(among, by_hand, digits, lesson, mo, paper, shown):
    _example, _head = paper.example(num_heads=among.value[0]), among.value[1]
    _working = by_hand(_example, query=shown.value, head=_head, lang=lesson.lang, digits=digits.value)
    mo.vstack([lesson.text("working"), shown, among, digits, lesson.working(_working)])
    return


@app.cell
def _(lesson, mo, paper):
    mo.vstack([lesson.text("code"), lesson.code("by_hand", paper.program(lesson))])
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.text("summary"), lesson.next()])
    return


if __name__ == "__main__":
    app.run()
