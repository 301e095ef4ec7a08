"""Lesson 4: a model that found by itself where a verb has to look, and the proof that it looks there."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    from html import escape

    import marimo as mo
    import numpy as np

    from pozor.lessons import page
    from pozor.lessons.pictures import plots
    from pozor.lessons.pictures.beside import said
    from pozor.lessons.pictures.lit import lit
    from pozor.lessons.pictures.table import table
    from pozor.lm import figures, lexicon, load, sentences, weights
    from pozor.lm.decoder import attention_maps

    lesson = page.start(mo, "found_by_itself")
    model = load("agreement")
    record = model.record
    measured = record["figures"]
    return (
        attention_maps, escape, figures, lesson, lexicon, lit, load, measured, mo, model, np, plots, record,
        said, sentences, table, weights,
    )  # fmt: skip


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
def _(lesson, mo, model):
    more = mo.ui.slider(1, 20, value=3, show_value=True, label=lesson.word("label_more"))
    mo.vstack([lesson.text("question"), lesson.text("task", words=len(model.words)), more])
    return (more,)


@app.cell
def _(escape, figures, lesson, lexicon, measured, mo, more):
    SHOWN = 5
    _few = figures.held_out(SHOWN, seed=more.value)

    def _marked(sentence):
        """The sentence with its subject, the inner subjects and the ending marked."""
        parts = []
        for place, token in enumerate(sentence.tokens[1:], start=1):
            word = token[:1].upper() + token[1:] if place == 1 else token
            if place in (sentence.subject, sentence.ending):
                word = f"<strong>{escape(word)}</strong>"
            elif place in sentence.inner:
                word = f"<u>{escape(word)}</u>"
            glued = token in (",", ".", *lexicon.ENDINGS.values())
            parts.append(word if glued or place == 1 else f" {word}")
        return f'<li lang="cs">{"".join(parts)}</li>'

    _style = "padding-left:1.5em;list-style:decimal;max-width:34em"
    _list = "".join(_marked(sentence) for sentence in _few)
    mo.vstack(
        [
            mo.Html(f'<ol style="{_style}">{_list}</ol>'),
            lesson.text("task_reading", free=measured["free"], sentences=measured["sentences"]),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("agrees")])
    return


@app.cell
def _(lesson, mo, np, percent, plots, record, weights):
    _size = sum(array.size for array in weights.read("agreement").values())
    _curve = [(step, share) for step, _, share in record["curve"]]
    _plane = plots.Plane((0, record["steps"]), (0, 1), height=190)
    _plane.axes(
        [(step, lesson.number(step)) for step, _ in _curve[1::2]],
        [(share, percent(share)) for share in (0, 0.5, 1)],
        lesson.word("axis_steps"),
    )
    _plane.line(*_curve)
    for _point in _curve:
        _plane.point(*_point)
    _shares = "; ".join(percent(share) for _, share in _curve)
    mo.vstack(
        [
            lesson.text(
                "training",
                steps=record["steps"],
                batch=record["batch"],
                seconds=round(record["seconds"]),
                parameters=_size,
                sure=1,
                no_bits=-np.log2(1.0),
                quarter=0.25,
                two_bits=-np.log2(0.25),
                hidden=percent(record["hidden"]),
            ),
            mo.Html(_plane.picture(lesson.word("picture_training", shares=_shares))),
            lesson.text(
                "training_reading",
                first_step=_curve[0][0],
                first_share=percent(_curve[0][1]),
                second_step=_curve[1][0],
                second_share=percent(_curve[1][1]),
                last_share=percent(_curve[-1][1]),
            ),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise(name) for name in ("bits", "gradient", "qk-parameters")])
    return


@app.cell
def _(lesson, measured, mo, percent, table):
    _heads = [lesson.word(key) for key in ("model_head", "all_head", "crossed_head")]
    _rows = [
        [lesson.word("count_row"), lesson.number(measured["sentences"]), lesson.number(measured["crossed"])],
        [lesson.word("bigram_row"), percent(measured["bigram"]), percent(measured["bigram_crossed"])],
        [
            lesson.word("attention_row"),
            percent(measured["attention"]),
            percent(measured["attention_crossed"]),
        ],
    ]
    mo.vstack(
        [
            lesson.text("result", shortest=measured["shortest"], longest=measured["longest"]),
            mo.Html(table(_heads, _rows, caption=lesson.word("caption_result"))),
            lesson.text(
                "result_reading",
                bigram=percent(measured["bigram_crossed"]),
                attention=percent(measured["attention_crossed"]),
            ),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("chance")])
    return


@app.cell
def _(lesson, lexicon, mo, model, percent):
    untrained = model.untrained()
    _people = {forms[0]: (gender, forms[0]) for gender, all_ in lexicon.PEOPLE.items() for forms in all_}
    _stems = list(lexicon.KINDS["activity"])
    _joined = sorted(lexicon.CONJUNCTIONS["activity"])

    def _choice(key, options, value):
        return mo.ui.dropdown(options, value=value, label=lesson.word(f"label_{key}"))

    subject = _choice("subject", _people, "sestra")
    conjunction = _choice("conjunction", _joined, "když" if "když" in _joined else _joined[0])
    inner = _choice("inner", _people, "otec")
    inner_verb = _choice("inner_verb", _stems, "spa")
    verb = _choice("verb", _stems, "čet")
    _all = {
        lesson.word("head", layer=layer, head=head): (layer, head)
        for layer in range(len(model.layers))
        for head in range(model.config["num_heads"])
    }
    _best = (model.head["layer"], model.head["head"])
    where = _choice("head", _all, next(name for name, place in _all.items() if place == _best))
    _stages = {lesson.word("stage_trained"): True, lesson.word("stage_untrained"): False}
    trained = mo.ui.dropdown(_stages, value=lesson.word("stage_trained"), label=lesson.word("label_stage"))
    hide = mo.ui.switch(value=False, label=lesson.word("label_hide"))
    mo.vstack(
        [
            lesson.text("compose", mean=percent(model.head["share"])),
            mo.hstack([subject, conjunction, inner, inner_verb, verb], wrap=True, justify="start", gap=1),
            mo.hstack([where, trained], wrap=True, justify="start", gap=2),
        ]
    )
    return conjunction, hide, inner, inner_verb, subject, trained, untrained, verb, where


@app.cell
def _(
    conjunction, hide, inner, inner_verb, lesson, lexicon, mo, model, np, percent, said, sentences, subject,
    table, trained, untrained, verb, where,
):  # fmt: skip
    _gender, _noun = subject.value
    _inner_gender, _inner_noun = inner.value
    _said = f"{_noun}, {conjunction.value} {_inner_noun} {inner_verb.value}{lexicon.ENDINGS[_inner_gender]}"
    tokens = model.cut(f"{_said}, {verb.value}")
    _subject_place = tokens.index(_noun)
    _hidden = [_subject_place] if hide.value else []
    _model = model if trained.value else untrained
    _expected = _model.predict(tokens, hidden=_hidden)
    _layer, _head = where.value
    _map = _model.maps(tokens, hidden=_hidden)[_layer]
    _every = range(len(tokens))
    _weights = np.array([_map.row(i, head=_head) for i in _every])
    _verb_place = len(tokens) - 1
    _feminine = _expected.feminine
    _shares = {lexicon.MASCULINE: 1 - _feminine, lexicon.FEMININE: _feminine}
    _rows = [
        [f"{verb.value}{lexicon.ENDINGS[gender]}", percent(share, 2)] for gender, share in _shares.items()
    ]
    _right = verb.value + lexicon.ENDINGS[_gender]
    if not trained.value:
        _key = "compose_untrained"
    elif not hide.value:
        _key = "compose_reading"
    else:
        _key = "compose_hidden" if _shares[_gender] < 0.5 else "compose_hidden_still"
    _fields = {"right": _right, "share": percent(_shares[_gender], 2), "subject": _noun}
    if _key in ("compose_untrained", "compose_reading"):
        _fields |= {"stem": verb.value, "looks": percent(_weights[_verb_place, _subject_place])}
    mo.vstack(
        [
            mo.Html(
                f'<p lang="cs" style="font-size:1.2em">{sentences.written(tokens)}<strong>…</strong></p>'
            ),
            lesson.heatmap(_weights, tokens, states=~_map.visible(_every, _every), selected_row=_verb_place),
            mo.Html(table([lesson.word("ending_head"), lesson.word("probability_head")], _rows)),
            hide,
            mo.Html(said(lesson.text(_key, **_fields))),
        ]
    )
    return


@app.cell
def _(lesson, measured, mo, model, percent, table):
    _heads = [lesson.word(key) for key in ("model_head", "all_head", "crossed_head")]
    _rows = [
        [
            lesson.word("attention_row"),
            percent(measured["attention"]),
            percent(measured["attention_crossed"]),
        ],
        [
            lesson.word("hidden_row"),
            percent(measured["own_sentences_hidden"]),
            percent(measured["subject_and_pronoun_hidden"]),
        ],
        [lesson.word("inner_row"), "", percent(measured["inner_nouns_hidden"])],
    ]
    mo.vstack(
        [
            lesson.text("ablation"),
            mo.Html(table(_heads, _rows, caption=lesson.word("caption_ablation"))),
            lesson.text(
                "ablation_chance",
                all_hidden=percent(measured["own_sentences_hidden"]),
                crossed_hidden=percent(measured["subject_and_pronoun_hidden"]),
                inner_hidden=percent(measured["inner_nouns_hidden"]),
            ),
            lesson.text("honest", words=len(model.words)),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.exercise("hide-subject-why")])
    return


@app.cell
def _(lesson, load, mo):
    czech = load("czech")
    _held_out = czech.record["held_out"]
    beginning = mo.ui.text(
        value=lesson.word("novel_start").replace("\u00a0", " "),
        label=lesson.word("label_start"),
        max_length=60,
        full_width=False,
    )
    attempt = mo.ui.slider(1, 50, value=1, show_value=True, label=lesson.word("label_seed"))
    _all = {
        lesson.word("head", layer=layer, head=head): (layer, head)
        for layer in range(len(czech.layers))
        for head in range(czech.config["num_heads"])
    }
    reader = mo.ui.dropdown(_all, value=next(iter(_all)), label=lesson.word("label_head"))
    mo.vstack(
        [
            lesson.text(
                "novel",
                characters=_held_out["characters"],
                parameters=czech.record["parameters"],
                bits=lesson.number(_held_out["model"], 2),
                bigram=lesson.number(_held_out["bigram"], 2),
            ),
            beginning,
            mo.hstack([attempt, reader], wrap=True, justify="start", gap=2),
        ]
    )
    return attempt, beginning, czech, reader


@app.cell
def _(attempt, attention_maps, beginning, czech, escape, lesson, lit, mo, percent, reader, said):
    MORE = 24  # tokens
    *_, _last = czech.generate(beginning.value, tokens=MORE, seed=attempt.value)
    _layer, _head = reader.value
    _shares = attention_maps(_last.layers, _last.tokens)[_layer].row(0, head=_head)
    _told = [percent(share) if share >= 0.1 else "" for share in _shares]
    _order = sorted(range(len(_shares)), key=lambda place: -_shares[place])[:3]
    _looks = "; ".join(f"„{_last.tokens[place].strip()}“ {percent(_shares[place])}" for place in _order)
    _query = len(_shares) - 1
    _given, _more = (escape(part) for part in (beginning.value, _last.text[len(beginning.value) :]))
    mo.vstack(
        [
            mo.Html(
                f'<p lang="cs" style="font-size:1.2em;max-width:34em">{_given}<strong>{_more}</strong></p>'
            ),
            mo.Html(
                lit(
                    _last.tokens,
                    _shares,
                    _query,
                    _told,
                    lesson.word("picture_novel", looks=_looks),
                    lang="cs",
                )
            ),
            mo.Html(
                said(
                    lesson.text("novel_reading", token=_last.token.strip(), share=percent(_last.probability))
                )
            ),
        ]
    )
    return


@app.cell
def _(lesson):
    PROGRAM = f"""
from pozor.lm import load

model = load("agreement")
# {lesson.word("comment_sentence")}
tokens = model.cut("Sestra, když otec spal, čet")
print(list(enumerate(tokens)))

# {lesson.word("comment_hidden")}
for hidden in ([], [1]):
    expected = model.predict(tokens, hidden=hidden)
    print(hidden, f"l: {{expected.l:.3f}}", f"la: {{expected.la:.3f}}")
"""
    return (PROGRAM,)


@app.cell
def _(PROGRAM, lesson, mo):
    mo.vstack([lesson.text("code"), lesson.code("agreement", PROGRAM)])
    return


@app.cell
def _(lesson, measured, percent):
    lesson.text("summary", attention=percent(measured["attention"]))
    return


@app.cell
def _(lesson):
    lesson.next()
    return


if __name__ == "__main__":
    app.run()
