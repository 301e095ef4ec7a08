"""Lesson 2: the pub, what a bigram loses, query, key, value, score, softmax, mask and values on six words."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    import pozor
    from pozor.examples import PUB, floats
    from pozor.lessons import page
    from pozor.lessons.bigram import Apart, row_in_words
    from pozor.lessons.pictures.beside import said
    from pozor.lessons.pictures.pub import pub
    from pozor.lessons.pictures.table import table

    lesson = page.start(mo, "self_attention")
    return Apart, PUB, floats, lesson, mo, np, pozor, pub, row_in_words, said, table


@app.cell
def _(lesson):
    def percent(share, digits=1):
        """A share with so many decimals: 91,4 %."""
        return f"{lesson.number(100 * share, digits)}\u00a0%"

    def choices(key):
        """A section that lists names, parted by semicolons."""
        return [part.strip() for part in lesson.word(key).split(";")]

    return choices, percent


@app.cell
def _(lesson):
    lesson.top()
    return


@app.cell
def _(choices, lesson, mo):
    TOPICS, TABLES = choices("topics"), choices("tables")
    topic = mo.ui.dropdown(
        {name: place for place, name in enumerate(TOPICS)}, value=TOPICS[1], label=lesson.word("label_topic")
    )
    interest = mo.ui.slider(0, 4, 0.5, value=2, show_value=True, label=lesson.word("label_interest"))
    mo.vstack([lesson.text("pub"), mo.hstack([topic, interest], wrap=True, justify="start", gap=2)])
    return TABLES, TOPICS, interest, topic


@app.cell
def _(TABLES, TOPICS, interest, lesson, mo, np, percent, pozor, pub, said, topic):
    # each table offers one topic; the ear asks for one, as strongly as the reader cares
    offers = np.eye(len(TOPICS))
    asked = interest.value * offers[topic.value][None]
    heard = pozor.attention(asked, offers, offers, scale=1.0)[0]
    _shares = [lesson.percent(share) for share in heard]
    _lines = " ".join(
        lesson.word("picture_pub_line", table=name, topic=about, share=share)
        for name, about, share in zip(TABLES, TOPICS, _shares)
    )
    if interest.value == 0:
        _reading = lesson.word("pub_nobody", share=lesson.percent(heard[0]))
    else:
        _reading = lesson.word(
            "pub_most", table=TABLES[topic.value], share=lesson.percent(heard[topic.value])
        )
    mo.vstack(
        [
            mo.Html(pub(TOPICS, heard.tolist(), _shares, lesson.word("picture_pub", lines=_lines))),
            mo.Html(said(lesson.text("pub_reading", reading=_reading, whole=lesson.percent(heard.sum())))),
        ]
    )
    return


@app.cell
def _(Apart, lesson):
    apart = Apart(lesson)
    return (apart,)


@app.cell
def _(apart, lesson, mo):
    back = mo.ui.slider(0, len(apart.shown) - 1, value=1, show_value=True, label=lesson.word("label_back"))
    mo.vstack([lesson.text("bigram"), lesson.text("bigram_try"), back])
    return (back,)


@app.cell
def _(apart, back, lesson, mo, said):
    _first = len(apart.shown) - 1 - back.value
    _covered = '<span style="border-bottom:2px dotted currentColor;opacity:0.5">&nbsp;…&nbsp;</span>'
    _words = [word if place >= _first else _covered for place, word in enumerate(apart.shown[:-1])]
    _one, _other = apart.verbs.values()
    _sentence = f"{' '.join(_words)} <strong>{_one} / {_other}?</strong>"
    _reading = lesson.text(
        "bigram_reading",
        seen=apart.seen(back.value),
        previous=apart.previous,
        sentences=len(apart.corpus),
        first=_one,
        first_share=lesson.percent(apart.share(_one)),
        second=_other,
        second_share=lesson.percent(apart.share(_other)),
    )
    mo.vstack(
        [mo.Html(f'<p style="font-size:1.2em;line-height:1.9">{_sentence}</p>'), mo.Html(said(_reading))]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("bigram-why")])
    return


@app.cell
def _(PUB, floats, lesson, np):
    words = [word.cs for word in PUB.words]
    named = [
        word.cs if lesson.lang == "cs" or word.cs == word.en.lower() else f"{word.cs} ({word.en})"
        for word in PUB.words
    ]
    axes = [getattr(axis, lesson.lang) for axis in PUB.axes]
    q, k, v = (np.array(floats(matrix)) for matrix in (PUB.q, PUB.k, PUB.v))
    scores = q @ k.T
    root = np.sqrt(q.shape[1])
    return axes, k, named, q, root, scores, v, words


@app.cell
def _(k, np, pozor, q):
    open_map, masked_map = pozor.AttentionMap(q, k), pozor.AttentionMap(q, k, causal=True)
    every = range(len(q))
    open_rows, masked_rows = (np.array([one.row(i) for i in every]) for one in (open_map, masked_map))
    logits = np.array([open_map.logits(i) for i in every])
    hidden = ~masked_map.visible(every, every)
    return hidden, logits, masked_rows, open_rows


@app.cell
def _(PUB, axes, k, lesson, mo, named, q, table):
    _rows = [[name, lesson.numbers(ask), lesson.numbers(offer)] for name, ask, offer in zip(named, q, k)]
    _heads = [lesson.word(key) for key in ("word", "query", "key")]
    mo.vstack(
        [
            lesson.text("roles"),
            lesson.text("roles_table", axes=", ".join(axes)),
            mo.Html(table(_heads, _rows, caption=PUB.sentence.cs)),
            lesson.text("roles_reading", later=4),
        ]
    )
    return


@app.cell
def _(lesson, mo, words):
    _all = {word: place for place, word in enumerate(words)}
    asking = mo.ui.dropdown(_all, value="vypil", label=lesson.word("label_query"))
    offering = mo.ui.dropdown(_all, value="pivo", label=lesson.word("label_key"))
    mo.vstack([lesson.text("score"), mo.hstack([asking, offering], wrap=True, justify="start", gap=2)])
    return asking, offering


@app.cell
def _(asking, axes, k, lesson, logits, mo, offering, q, root, said, scores, table):
    _ask, _offer = q[asking.value], k[offering.value]
    _score, _logit = (matrix[asking.value, offering.value] for matrix in (scores, logits))
    _number = lesson.number
    _rows = [[axis, _number(a), _number(b), _number(a * b)] for axis, a, b in zip(axes, _ask, _offer)] + [
        [lesson.word("sum_head"), "", "", _number(_score)]
    ]
    _heads = [lesson.word(key) for key in ("axis_head", "query", "key", "product_head")]
    mo.vstack(
        [
            mo.Html(table(_heads, _rows, caption=f"{asking.selected_key} · {offering.selected_key}")),
            mo.Html(
                said(
                    lesson.text(
                        "score_reading", score=_score, head_dim=len(_ask), root=root, earlier=1, logit=_logit
                    )
                )
            ),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("asks-in-vain")])
    return


@app.cell
def _(lesson, mo, words):
    row = mo.ui.dropdown(
        {word: place for place, word in enumerate(words)}, value="v", label=lesson.word("label_row")
    )
    mo.vstack([lesson.text("softmax"), row])
    return (row,)


@app.cell
def _(lesson, logits, mo, named, np, open_rows, percent, row, said, scores, table, words):
    _exps = np.exp(logits[row.value])
    _rows = [
        [name, lesson.number(score), lesson.number(logit), lesson.number(exp), percent(share)]
        for name, score, logit, exp, share in zip(
            named, scores[row.value], logits[row.value], _exps, open_rows[row.value]
        )
    ] + [[lesson.word("sum_head"), "", "", lesson.number(_exps.sum()), percent(open_rows[row.value].sum())]]
    _heads = [lesson.word(key) for key in ("key", "score_head", "logit_head", "exp_head", "weight_head")]
    _received = open_rows.sum(axis=0)
    mo.vstack(
        [
            mo.Html(table(_heads, _rows, caption=f"{lesson.word('label_row')} {row.selected_key}")),
            mo.Html(
                said(
                    lesson.text(
                        "softmax_reading",
                        whole=percent(open_rows[row.value].sum()),
                        received=lesson.percent(_received[words.index("vypil")]),
                        least=words[int(np.argmin(_received))],
                        received_least=lesson.percent(_received.min()),
                    )
                )
            ),
        ]
    )
    return


@app.cell
def _(hidden, lesson, masked_rows, mo, open_rows, words):
    _map = lesson.heatmap(
        masked_rows, words, states=hidden, unmasked=open_rows, selected_row=words.index("vypil")
    )
    _map.mask_shown = False
    mo.vstack([lesson.text("map"), _map])
    return


@app.cell
def _(lesson, open_rows, percent, words):
    def _share(query, key):
        return percent(open_rows[words.index(query), words.index(key)])

    lesson.text(
        "map_reading",
        v_place=_share("v", "hospodě"),
        verb=_share("pivo", "vypil"),
        three=_share("vypil", "pan"),
        equal=_share("pan", "pan"),
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("looks-at")])
    return


@app.cell
def _(hidden, lesson, masked_rows, mo, named, np, open_rows, row_in_words, table, words):
    _all = np.ones(len(words), bool)
    _rows = [
        [
            name,
            row_in_words(lesson, words, i, open_rows[i], _all),
            row_in_words(lesson, words, i, masked_rows[i], ~hidden[i]),
        ]
        for i, name in enumerate(named)
    ]
    _heads = [lesson.word(key) for key in ("word", "open_head", "masked_head")]
    mo.vstack([lesson.text("table"), mo.Html(table(_heads, _rows, caption=" ".join(words), numeric=3))])
    return


@app.cell
def _(lesson, masked_rows, open_rows, percent, words):
    def _share(rows, query, key):
        return percent(rows[words.index(query), words.index(key)])

    lesson.text(
        "mask",
        beer_open=_share(open_rows, "pivo", "vypil"),
        beer_masked=_share(masked_rows, "pivo", "vypil"),
        drank_masked=_share(masked_rows, "vypil", "pan"),
        in_masked=_share(masked_rows, "v", "v"),
        first_masked=_share(masked_rows, "pan", "pan"),
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack(
        [lesson.exercise(name) for name in ("mask-hides", "masked-looks", "masked-weight", "masked-why")]
    )
    return


@app.cell
def _(lesson, mo, words):
    _kinds = {lesson.word(f"values_{kind}"): kind for kind in ("identity", "meaning")}
    kind = mo.ui.dropdown(_kinds, value=lesson.word("values_identity"), label=lesson.word("label_values"))
    taker = mo.ui.dropdown(
        {word: place for place, word in enumerate(words)}, value="vypil", label=lesson.word("label_word")
    )
    mo.vstack([lesson.text("values"), mo.hstack([kind, taker], wrap=True, justify="start", gap=2)])
    return kind, taker


@app.cell
def _(axes, k, kind, lesson, mo, np, pozor, q, said, table, taker, v, words):
    # as meanings: what a word offers, with a one for the strongest
    _meaning = k / k.max()
    _values = v if kind.value == "identity" else _meaning
    _out = pozor.attention(q, k, _values)[taker.value]
    _names = words if kind.value == "identity" else axes
    _first = lesson.word("word" if kind.value == "identity" else "axis_head")
    _rows = [[name, lesson.number(number)] for name, number in zip(_names, _out)]
    _reading = {} if kind.value == "identity" else {"most": axes[int(np.argmax(_out))]}
    mo.vstack(
        [
            mo.Html(table([_first, lesson.word("output_head")], _rows, caption=taker.selected_key)),
            mo.Html(said(lesson.text(f"values_reading_{kind.value}", **_reading))),
        ]
    )
    return


@app.cell
def _(PUB, lesson, words):
    def _matrix(rows):
        lines = "".join(f"    [{', '.join(row)}],\n" for row in rows)
        return f"np.array([\n{lines}])"

    PROGRAM = f"""
import numpy as np

words = {words!r}
Q = {_matrix(PUB.q)}
K = {_matrix(PUB.k)}
# {lesson.word("comment_identity")}
V = np.eye(len(words))

n, head_dim = Q.shape
scores = Q @ K.T / np.sqrt(head_dim)
probs = np.exp(scores)
probs = probs / probs.sum(axis=1, keepdims=True)
out = probs @ V

# {lesson.word("comment_word")}
word = "pivo"
for other, share in zip(words, out[words.index(word)]):
    print(f"{{other:8}} {{100 * share:3.0f}} %")
""".replace("'", '"')
    return (PROGRAM,)


@app.cell
def _(PROGRAM, lesson, mo):
    mo.vstack([lesson.text("code"), lesson.code("pub", PROGRAM), lesson.text("code_tasks")])
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.text("exercises"), lesson.exercise("future-hidden")])
    return


@app.cell
def _(lesson, open_rows, percent):
    lesson.text("summary", whole=lesson.percent(open_rows[0].sum()))
    return


@app.cell
def _(lesson):
    lesson.next()
    return


if __name__ == "__main__":
    app.run()
