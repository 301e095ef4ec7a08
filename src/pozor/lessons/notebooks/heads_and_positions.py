"""Lesson 3: several heads, heads of a real model, a bag of words, sinusoidal and rotary positions."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    from collections import Counter
    from pathlib import Path

    import marimo as mo
    import numpy as np

    import pozor
    from pozor.examples import PUB, floats
    from pozor.lessons import page
    from pozor.lessons.pictures import plots
    from pozor.lessons.pictures.beside import said
    from pozor.lessons.pictures.clocks import clocks
    from pozor.lessons.pictures.lit import lit
    from pozor.lessons.pictures.table import table
    from pozor.lessons.pictures.turned import turned

    lesson = page.start(mo, "heads_and_positions")
    return Counter, PUB, Path, clocks, floats, lesson, lit, mo, np, plots, pozor, said, table, turned


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
def _(Path, lesson, pozor):
    recording = pozor.open(Path(pozor.__file__).parent / "data" / "red-ball.pozor")
    story = recording.items[0].tokens
    heads = recording.heads()
    # heads worth seeing, (layer, head): each does what its name says on this text
    KNOWN = {"pronouns": (13, 8), "repeated": (8, 1), "previous": (16, 0)}
    names = {
        lesson.word(f"head_{what}", layer=layer, head=head): what for what, (layer, head) in KNOWN.items()
    } | {lesson.word("head_other"): "other"}
    return KNOWN, heads, names, recording, story


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
def _(Counter, KNOWN, chosen, heads, lesson, mo, np, percent, place, recording, seen, story, table):
    def _mean(place, what):
        """What a query of that head gives on average to the key "first", "own" or "previous"."""
        line = heads[(heads["layer"] == place[0]) & (heads["head"] == place[1])][0]
        return percent(line[what])

    def _looked_at(map_, query):
        """How much each word gets, those that occur several times added up."""
        sums = Counter()
        for key, share in enumerate(map_.row(query)):
            sums[story[key].strip()] += share
        return sums

    def _named(piece):
        return piece if piece.isalpha() else f"„{piece}“" if lesson.lang == "cs" else f"“{piece}”"

    _pronouns = [i for i, piece in enumerate(story) if piece.strip() in ("he", "her", "it", "It", "she")]
    if chosen.value == "pronouns":
        _rows = [
            [
                story[i].strip(),
                str(i),
                "; ".join(
                    f"{_named(word)} {percent(share)}" for word, share in _looked_at(seen, i).most_common(2)
                ),
            ]
            for i in _pronouns
        ]
        _heads = [lesson.word(key) for key in ("pronoun_head", "row_head", "looks_head")]
        _unsure = _looked_at(seen, next(i for i in _pronouns if story[i].strip() == "It"))
        _reading = [
            lesson.text("real_pronouns"),
            mo.Html(table(_heads, _rows, caption=lesson.word("caption_pronouns"), numeric=3)),
            lesson.text(
                "pronoun_note",
                dog=percent(_unsure["dog"]),
                ball=percent(_unsure["ball"]),
                first=_mean(place, "first"),
            ),
        ]
    elif chosen.value == "repeated":
        _row = max(i for i, piece in enumerate(story) if piece.strip() == "ball")
        _target = int(np.argmax(seen.row(_row)))
        _reading = [
            lesson.text(
                "real_repeated",
                word=story[_row].strip(),
                row=_row,
                target=story[_target].strip(),
                place=_target,
                share=percent(seen.row(_row)[_target]),
            )
        ]
    elif chosen.value == "previous":
        _reading = [lesson.text("real_previous", share=_mean(place, "previous"))]
    else:
        _means = {what: _mean(place, what) for what in ("first", "own", "previous")}
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
    positions = mo.ui.radio(
        _positions, value=lesson.word("positions_none"), label=lesson.word("label_positions"), inline=True
    )
    mo.vstack([lesson.text("order"), mo.hstack([order, positions], wrap=True, justify="start", gap=2)])
    return order, positions, shuffle


@app.cell
def _(mo, order, shuffle):
    mo.vstack([shuffle] if order.value == "order_shuffled" else [])
    return


@app.cell
def _(drank, k, lesson, mo, np, order, percent, positions, pozor, q, said, shuffle, table, words):
    def _weights(new_order):
        """The map of the words in that order."""
        asked, offered = q[new_order], k[new_order]
        if positions.value == "positions_sinusoidal":
            place = pozor.sinusoidal(len(words), q.shape[1])
            asked, offered = asked + place, offered + place
        elif positions.value == "positions_rotary":
            asked, offered = (pozor.rope(rows, layout="pairs", base=100.0) for rows in (asked, offered))
        map_ = pozor.AttentionMap(asked, offered)
        return np.array([map_.row(i) for i in range(len(words))])

    _written = np.arange(len(words))
    _orders = {
        "order_written": _written,
        "order_reversed": _written[::-1],
        "order_shuffled": np.random.default_rng(shuffle.value).permutation(len(words)),
    }
    _new = _orders[order.value]
    _before, _after = _weights(_written), _weights(_new)
    # the weights of the new order, with rows and columns put back where the words stood
    _back = np.argsort(_new)
    _same_words = _after[np.ix_(_back, _back)]
    _change = np.abs(_same_words - _before).max()
    _rows = [[word, percent(a), percent(b)] for word, a, b in zip(words, _before[drank], _same_words[drank])]
    _heads = [lesson.word(key) for key in ("word", "before_head", "after_head")]
    _kind = "none" if positions.value == "positions_none" else "positions"
    mo.vstack(
        [
            lesson.heatmap(_after, [words[i] for i in _new], selected_row=int(_back[drank])),
            mo.Html(table(_heads, _rows, caption=lesson.word("caption_order", word=words[drank]))),
            mo.Html(
                said(
                    lesson.text(
                        "order_reading_same" if order.value == "order_written" else f"order_reading_{_kind}",
                        **({} if order.value == "order_written" else {"change": percent(_change)}),
                    )
                )
            ),
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
def _(lesson, mo, np, pozor):
    HANDS, BASE = 4, 10_000.0
    # angles are read off their sines and cosines: how far each hand turns from one word to the next
    steps = [
        np.arctan2(*pozor.sinusoidal(2, 2 * HANDS, base=BASE)[1, 2 * i : 2 * i + 2]) for i in range(HANDS)
    ]
    position = mo.ui.slider(0, 200, value=3, show_value=True, label=lesson.word("label_position"))
    mo.vstack(
        [
            lesson.text(
                "sinusoidal", fast=lesson.number(np.degrees(steps[0]), 1), slower=round(steps[0] / steps[1])
            ),
            position,
        ]
    )
    return BASE, HANDS, position


@app.cell
def _(BASE, HANDS, clocks, lesson, mo, np, position, pozor, said):
    _row = pozor.sinusoidal(1, 2 * HANDS, offset=position.value, base=BASE)[0]
    _angles = [np.arctan2(_row[2 * hand], _row[2 * hand + 1]) % (2 * np.pi) for hand in range(HANDS)]
    _written = [f"{lesson.number(np.degrees(angle), 1)}°" for angle in _angles]
    mo.vstack(
        [
            mo.Html(
                clocks(
                    _angles,
                    _written,
                    lesson.word("picture_clocks", position=position.value, angles="; ".join(_written)),
                )
            ),
            mo.Html(
                said(
                    lesson.text(
                        "sinusoidal_reading",
                        position=position.value,
                        row=lesson.numbers(_row),
                        one=np.cos(0.0),
                    )
                )
            ),
        ]
    )
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
def _(lesson, mo, np, plots, pozor, said, start):
    WIDE, FAR = 64, 60
    _table = pozor.sinusoidal(FAR + 1, WIDE, offset=start.value)
    _products = _table @ _table[0]
    _from_zero = pozor.sinusoidal(FAR + 1, WIDE)
    _difference = np.abs(_products - _from_zero @ _from_zero[0]).max()
    _plane = plots.Plane((0, FAR), (0, float(_products[0])), height=200)
    _plane.axes(
        [(n, lesson.number(n)) for n in range(0, FAR + 1, 10)],
        [(n, lesson.number(n)) for n in range(0, WIDE // 2 + 1, 8)],
        lesson.word("axis_distance"),
    )
    _plane.line(*enumerate(_products.tolist()))
    _numbers = {
        name: lesson.number(_products[i], 2) for name, i in (("first", 0), ("second", 1), ("last", -1))
    }
    mo.vstack(
        [
            mo.Html(_plane.picture(lesson.word("picture_curve", **_numbers))),
            mo.Html(
                said(
                    lesson.text(
                        "distance_reading",
                        start=start.value,
                        width=WIDE,
                        same=lesson.number(_products[0], 2),
                        difference=lesson.number(_difference),
                    )
                )
            ),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    query_at = mo.ui.slider(0, 10, value=4, show_value=True, label=lesson.word("label_query_position"))
    key_at = mo.ui.slider(0, 10, value=1, show_value=True, label=lesson.word("label_key_position"))
    shift = mo.ui.slider(0, 10, value=3, show_value=True, label=lesson.word("label_shift"))
    mo.vstack([lesson.text("rotary"), query_at, key_at, shift])
    return key_at, query_at, shift


@app.cell
def _(key_at, lesson, mo, np, pozor, query_at, said, shift, turned):
    ANGLE = 0.25  # radians per word, of the one pair
    ASKS, OFFERS = np.array([[2.0, 0.5]]), np.array([[1.5, 1.0]])

    def _at(pair, position):
        return pozor.rope(pair, layout="pairs", offset=position, frequencies=[ANGLE])[0]

    def _angle(pair):
        return lesson.number(np.degrees(np.arctan2(pair[1], pair[0])), 0 + 1)

    _query, _key = _at(ASKS, query_at.value), _at(OFFERS, key_at.value)
    _later = _at(ASKS, query_at.value + shift.value), _at(OFFERS, key_at.value + shift.value)
    mo.vstack(
        [
            mo.Html(
                turned(
                    tuple(_query),
                    tuple(_key),
                    tuple(_later[0]),
                    tuple(_later[1]),
                    (lesson.word("arrow_query"), lesson.word("arrow_key")),
                    lesson.word(
                        "picture_arrows",
                        at_query=_angle(_query),
                        at_key=_angle(_key),
                        query_shifted=_angle(_later[0]),
                        key_shifted=_angle(_later[1]),
                    ),
                )
            ),
            mo.Html(
                said(
                    lesson.text(
                        "rotary_reading",
                        at_query=query_at.value,
                        query_angle=lesson.number(np.degrees(ANGLE * query_at.value), 1),
                        at_key=key_at.value,
                        key_angle=lesson.number(np.degrees(ANGLE * key_at.value), 1),
                        product=_query @ _key,
                        shift=shift.value,
                        shifted=_later[0] @ _later[1],
                        gap=query_at.value - key_at.value,
                        length=np.linalg.norm(_query),
                        length_key=np.linalg.norm(_key),
                    )
                )
            ),
            lesson.text("rotary_note"),
        ]
    )
    return ANGLE, ASKS, OFFERS


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise(name) for name in ("turn", "rope-distance")])
    return


@app.cell
def _(ANGLE, ASKS, OFFERS, lesson):
    PROGRAM = f"""
import numpy as np

q = np.array({ASKS[0].tolist()})
k = np.array({OFFERS[0].tolist()})
angle = {ANGLE}  # {lesson.word("comment_angle")}


def turn(pair, position):
    a, b = pair
    phi = angle * position
    return np.array([a * np.cos(phi) - b * np.sin(phi), a * np.sin(phi) + b * np.cos(phi)])


# {lesson.word("comment_pairs")}
for m, n in [(4, 1), (7, 4), (104, 101), (4, 4), (1, 4)]:
    print(f"{{m:4}} {{n:4}} {{turn(q, m) @ turn(k, n):8.4f}}")
"""
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
