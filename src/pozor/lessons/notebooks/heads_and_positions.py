"""Lesson 3: several heads, heads of a real model, a bag of words, sinusoidal and rotary positions."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    import pozor
    from pozor.examples import PUB, floats
    from pozor.lessons import order as ordered
    from pozor.lessons import page
    from pozor.lessons.pictures.beside import said
    from pozor.lessons.pictures.lit import lit
    from pozor.lessons.pictures.table import table
    from pozor.lessons.red_ball import KNOWN, Story

    lesson = page.start(mo, "heads_and_positions")
    return KNOWN, PUB, Story, floats, lesson, lit, mo, np, ordered, pozor, said, table


@app.cell
def _(lesson):
    def percent(share, digits=1):
        """A share with so many decimals: 91,4 %."""
        return f"{lesson.number(100 * share, digits)}\u00a0%"

    return (percent,)


@app.cell
def _(lesson):
    lesson.top()
    return


@app.cell
def _(PUB, floats, np):
    words = [word.cs for word in PUB.words]
    q, k = (np.array(floats(matrix)) for matrix in (PUB.q, PUB.k))
    drank = words.index("vypil")
    return drank, k, q, words


@app.cell
def _(drank, k, lesson, mo, np, percent, pozor, q, words):
    # the query of the verb asks for a person and for a drink; each head keeps one of the two questions
    WHO, WHAT = 0, 1
    asked = np.stack([q, q])
    asked[WHO, drank, 1] = asked[WHAT, drank, 0] = 0
    two = pozor.AttentionMap(asked, np.stack([k, k]))
    one = pozor.AttentionMap(q, k)
    in_head = [np.array([two.row(i, head=head) for i in range(len(q))]) for head in (WHO, WHAT)]
    _maps = [
        lesson.heatmap(rows, words, selected_row=drank, title=f"{lesson.word('label_head')} {head}")
        for head, rows in enumerate(in_head)
    ]
    mo.vstack(
        [
            lesson.text("two_questions", three=percent(one.row(drank)[0])),
            mo.hstack(_maps, wrap=True, justify="start", gap=2),
            lesson.text(
                "two_reading",
                who=WHO,
                who_share=percent(in_head[WHO][drank, words.index("pan")]),
                what=WHAT,
                what_share=percent(in_head[WHAT][drank, words.index("pivo")]),
            ),
        ]
    )
    return


@app.cell
def _(lesson, pozor):
    _wide = pozor.footprint(1, num_heads=32, d_model=4096)
    lesson.text("joined", earlier=1, d_model=_wide.d_model, heads=_wide.num_heads, head_dim=_wide.head_dim)
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise(name) for name in ("two-heads", "head-dim")])
    return


@app.cell
def _(KNOWN, Story, lesson):
    read = Story(lesson)
    recording, story = read.recording, read.pieces
    names = {
        lesson.word(f"head_{what}", layer=layer, head=head): what for what, (layer, head) in KNOWN.items()
    } | {lesson.word("head_other"): "other"}
    return names, read, recording, story


@app.cell
def _(lesson, mo, names, recording):
    _layers = recording.layers
    chosen = mo.ui.dropdown(names, value=next(iter(names)), label=lesson.word("label_head"))
    layer = mo.ui.slider(0, len(_layers) - 1, value=0, show_value=True, label=lesson.word("label_layer"))
    head = mo.ui.slider(
        0, len(_layers[0].heads) - 1, value=0, show_value=True, label=lesson.word("label_head")
    )
    mo.vstack(
        [
            lesson.text("real", model=recording.model, layers=len(_layers), heads=len(_layers[0].heads)),
            lesson.text("real_story"),
            chosen,
        ]
    )
    return chosen, head, layer


@app.cell
def _(chosen, head, layer, mo):
    _own = [mo.hstack([layer, head], wrap=True, justify="start", gap=2)]
    mo.vstack(_own if chosen.value == "other" else [])
    return


@app.cell
def _(KNOWN, chosen, head, layer, recording):
    place = KNOWN.get(chosen.value, (layer.value, head.value))
    seen = recording[place]
    return place, seen


@app.cell
def _(lesson, mo, story):
    # sentences that fit the small map
    _stops = [i + 1 for i, piece in enumerate(story) if piece.strip() == "."]
    sentences = [(a, b) for a, b in zip([0, *_stops], _stops) if b - a <= 16]
    _said = ["".join(story[a:b]).strip() for a, b in sentences]
    _labels = [line[:30].rsplit(" ", 1)[0] + "…" for line in _said]  # what fits a phone
    sentence = mo.ui.dropdown(
        dict(zip(_labels, sentences)), value=_labels[-1], label=lesson.word("label_sentence")
    )
    mo.vstack([sentence])
    return (sentence,)


@app.cell
def _(chosen, lesson, mo, np, seen, sentence, story):
    _start, _stop = sentence.value
    _pieces = [piece.strip() for piece in story[_start:_stop]]
    _rows = np.array([seen.row(i)[_start:_stop] for i in range(_start, _stop)])
    _hidden = ~seen.visible(range(_start, _stop), range(_start, _stop))
    # the row to start with: a pronoun, a word that came before, any word
    _wanted = {"pronouns": ("she", "it", "her"), "repeated": ("ball",)}.get(chosen.value, ("ball",))
    _row = next(_pieces.index(word) for word in (*_wanted, *_pieces) if word in _pieces)
    sentence_map = lesson.heatmap(_rows, _pieces, states=_hidden, selected_row=_row)
    mo.vstack([sentence_map])
    return (sentence_map,)


@app.cell
def _(lesson, lit, mo, percent, said, seen, sentence, sentence_map, story):
    _row = sentence_map.value.get("selected_row", -1)
    _query = sentence.value[0] + max(_row, 0)
    _shares = seen.row(_query)
    _said = [percent(share) if share >= 0.1 else "" for share in _shares]
    _looks = ", ".join(
        f"{story[key].strip()} {percent(_shares[key])}"
        for key in sorted(range(len(story)), key=lambda key: -_shares[key])[:3]
    )
    _label = lesson.word("picture_lit", word=story[_query].strip(), looks=_looks)
    mo.vstack(
        [
            mo.Html(said(lesson.text("lit", word=story[_query].strip()))),
            mo.Html(lit(story, _shares, _query, _said, _label)),
        ]
    )
    return


@app.cell
def _(chosen, lesson, mo, place, read, table):
    if chosen.value == "pronouns":
        _heads = [lesson.word(key) for key in ("pronoun_head", "row_head", "looks_head")]
        _table = table(_heads, read.pronouns(place), caption=lesson.word("caption_pronouns"), numeric=3)
        _note = lesson.text("pronoun_note", **read.unsure(place))
        _reading = [lesson.text("real_pronouns"), mo.Html(_table), _note]
    elif chosen.value == "repeated":
        _reading = [lesson.text("real_repeated", **read.repeated(place))]
    elif chosen.value == "previous":
        _reading = [lesson.text("real_previous", share=read.mean(place, "previous"))]
    else:
        _means = {what: read.mean(place, what) for what in ("first", "own", "previous")}
        _reading = [lesson.text("real_other", layer=place[0], head=place[1], **_means)]
    mo.vstack(_reading)
    return


@app.cell
def _(lesson, mo):
    def _named(kinds):
        return {lesson.word(kind): kind for kind in kinds}

    _orders = _named(["order_written", "order_reversed", "order_shuffled"])
    _positions = _named(["positions_none", "positions_sinusoidal", "positions_rotary"])
    order = mo.ui.dropdown(_orders, value=lesson.word("order_reversed"), label=lesson.word("label_order"))
    shuffle = mo.ui.slider(1, 20, value=1, show_value=True, label=lesson.word("label_shuffle"))
    positions = mo.ui.dropdown(
        _positions, value=lesson.word("positions_none"), label=lesson.word("label_positions")
    )
    mo.vstack([lesson.text("order"), mo.hstack([order, positions], wrap=True, justify="start", gap=2)])
    return order, positions, shuffle


@app.cell
def _(mo, order, shuffle):
    mo.vstack([shuffle] if order.value == "order_shuffled" else [])
    return


@app.cell
def _(drank, k, lesson, mo, np, order, ordered, percent, positions, q, said, shuffle, table, words):
    _new = ordered.shuffled(len(words), order.value, shuffle.value)
    _before = ordered.weights(q, k, np.arange(len(words)), positions.value)
    _after = ordered.weights(q, k, _new, positions.value)
    # rows and columns put back where the words stood
    _back = np.argsort(_new)
    _same = _after[np.ix_(_back, _back)]
    _rows = [[word, percent(a), percent(b)] for word, a, b in zip(words, _before[drank], _same[drank])]
    _heads = [lesson.word(key) for key in ("word", "before_head", "after_head")]
    if order.value == "order_written":
        _reading = lesson.text("order_reading_same")
    else:
        _kind = "none" if positions.value == "positions_none" else "positions"
        _reading = lesson.text(f"order_reading_{_kind}", change=percent(np.abs(_same - _before).max()))
    mo.vstack(
        [
            lesson.heatmap(_after, [words[i] for i in _new], selected_row=int(_back[drank])),
            mo.Html(table(_heads, _rows, caption=lesson.word("caption_order", word=words[drank]))),
            mo.Html(said(_reading)),
        ]
    )
    return


@app.cell
def _(lesson):
    lesson.text("order_why")
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("order-blind")])
    return


@app.cell
def _(lesson, mo, np, ordered):
    _fast, _next, *_ = ordered.clock_steps()
    _intro = lesson.text("sinusoidal", fast=lesson.number(np.degrees(_fast), 1), slower=round(_fast / _next))
    position = mo.ui.slider(0, 200, value=3, show_value=True, label=lesson.word("label_position"))
    mo.vstack([_intro, position])
    return (position,)


@app.cell
def _(lesson, mo, np, ordered, position, said):
    _picture, _row = ordered.clock(lesson, position.value)
    _fields = {"position": position.value, "row": lesson.numbers(_row), "one": np.cos(0.0)}
    mo.vstack([mo.Html(_picture), mo.Html(said(lesson.text("sinusoidal_reading", **_fields)))])
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("position-zero")])
    return


@app.cell
def _(lesson, mo):
    start = mo.ui.slider(0, 500, 20, value=100, show_value=True, label=lesson.word("label_start"))
    mo.vstack([lesson.text("distance"), start])
    return (start,)


@app.cell
def _(lesson, mo, ordered, said, start):
    _picture, _fields = ordered.distances(lesson, start.value)
    mo.vstack([mo.Html(_picture), mo.Html(said(lesson.text("distance_reading", **_fields)))])
    return


@app.cell
def _(lesson, mo):
    query_at = mo.ui.slider(0, 10, value=4, show_value=True, label=lesson.word("label_query_position"))
    key_at = mo.ui.slider(0, 10, value=1, show_value=True, label=lesson.word("label_key_position"))
    shift = mo.ui.slider(0, 10, value=3, show_value=True, label=lesson.word("label_shift"))
    mo.vstack([lesson.text("rotary"), query_at, key_at, shift])
    return key_at, query_at, shift


@app.cell
def _(key_at, lesson, mo, ordered, query_at, said, shift):
    _picture, _fields = ordered.turns(lesson, query_at.value, key_at.value, shift.value)
    _reading = mo.Html(said(lesson.text("rotary_reading", **_fields)))
    mo.vstack([mo.Html(_picture), _reading, lesson.text("rotary_note")])
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise(name) for name in ("turn", "rope-distance")])
    return


@app.cell
def _(lesson, ordered):
    PROGRAM = ordered.program(lesson)
    return (PROGRAM,)


@app.cell
def _(PROGRAM, lesson, mo):
    mo.vstack([lesson.text("code"), lesson.code("rotary", PROGRAM)])
    return


@app.cell
def _(lesson, mo):
    _last = ("split", "head-divisor", "w-o-why", "w-o-share")
    mo.vstack([lesson.text("exercises"), *(lesson.exercise(name) for name in _last)])
    return


@app.cell
def _(lesson):
    lesson.text("summary")
    return


@app.cell
def _(lesson):
    lesson.next()
    return


if __name__ == "__main__":
    app.run()
