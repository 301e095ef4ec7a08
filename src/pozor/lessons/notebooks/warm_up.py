"""Lesson 0, one screen: vector, dot product, e to x, softmax."""

import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    import math

    import marimo as mo

    from pozor import by_hand
    from pozor.lessons import page
    from pozor.lessons.pictures import plots
    from pozor.lessons.pictures.beside import beside, said
    from pozor.lessons.pictures.sums import terms

    lesson = page.start(mo, "warm_up")
    number, numbers, word = lesson.number, lesson.numbers, lesson.word
    return beside, by_hand, lesson, math, mo, number, numbers, plots, said, terms, word


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.top(), lesson.text("intro")])
    return


@app.cell
def _(mo, word):
    right = mo.ui.slider(-3, 3, 0.5, value=1, label=word("label_right"))
    up = mo.ui.slider(-3, 3, 0.5, value=2, label=word("label_up"))
    return right, up


@app.cell
def _(beside, lesson, mo, number, numbers, plots, right, said, terms, up, word):
    _a, _b = (2, 1), (right.value, up.value)
    _dot = sum(x * y for x, y in zip(_a, _b))
    _sign = "dot_zero" if _dot == 0 else "dot_positive" if _dot > 0 else "dot_negative"
    _picture = plots.arrows(_a, _b, word("picture_arrows", a=numbers(_a), b=numbers(_b)))
    _words = [
        lesson.text("vector", a=numbers(_a)),
        right,
        up,
        said(lesson.text("dot", sum=terms(lesson, _a, _b), dot=number(_dot)), lesson.text(_sign)),
    ]
    mo.Html(beside(_words, _picture, heading=True))
    return


@app.cell
def _(mo, word):
    power = mo.ui.slider(-4, 2, 0.5, value=1, label=word("label_x"))
    return (power,)


@app.cell
def _(beside, lesson, math, mo, number, plots, power, said, word):
    _x, _value = power.value, number(math.exp(power.value))
    _picture = plots.exponential(
        [(_x, _value)],
        word("picture_exp", x=number(_x), value=_value),
        x=(-4, 2),
        across=[(n, number(n)) for n in (-4, -2, 0, 2)],
        up=[(n, number(n)) for n in (0, 1, 4, 7)],
    )
    _words = [
        lesson.text("exp", e=math.e),
        power,
        said(lesson.text("exp_value", x=_x, value=_value, next=math.exp(_x + 1), e=math.e)),
    ]
    mo.Html(beside(_words, _picture, heading=True))
    return


@app.cell
def _(mo, word):
    LETTERS = ("a", "b", "c")
    given = mo.ui.array(
        [
            mo.ui.slider(-4, 4, 0.5, value=start, label=word("label_number", letter=letter))
            for letter, start in zip(LETTERS, (2, 1, -1))
        ]
    )
    shift = mo.ui.slider(-4, 4, 1, value=0, label=word("label_shift"))
    return LETTERS, given, shift


@app.cell
def _(LETTERS, beside, given, lesson, math, mo, number, numbers, plots, said, shift, word):
    _logits = [n + shift.value for n in given.value]
    _powers = [math.exp(n) for n in _logits]
    shares = [power / sum(_powers) for power in _powers]
    _picture = plots.bars(
        shares,
        LETTERS,
        word("picture_bars", shares=numbers(shares)),
        up=[(n, number(n)) for n in (0, 0.5, 1)],
        values=[number(share) for share in shares],
    )
    _told = {"numbers": numbers(_logits), "shares": numbers(shares), "powers": numbers(_powers)}
    _words = [
        lesson.text("softmax"),
        *given,
        shift,
        said(
            lesson.text("softmax_value", total=sum(_powers), **_told),
            lesson.text("softmax_shift" if shift.value else "softmax_still", shift=shift.value),
        ),
    ]
    mo.Html(beside(_words, _picture, heading=True))
    return (shares,)


@app.cell
def _(LETTERS, lesson, shares, word):
    row = lesson.heatmap([shares], LETTERS, query_words=[word("row_name")])
    return (row,)


@app.cell
def _(by_hand, lesson, mo, row, shares, word):
    row.widget.probs = [list(shares)]
    _working = lesson.working(by_hand("paper", query=2, lang=lesson.lang))
    mo.vstack([lesson.text("map"), row, mo.accordion({word("working"): _working})])
    return


@app.cell
def _(lesson, mo):
    EXERCISES = (
        "dot-product",
        "most-alike",
        "exp-ratio",
        "softmax-exps",
        "row-sum",
        "equal-logits",
        "shift-why",
    )
    _program = """
import numpy as np

x = np.array([2, 1, -1])
powers = np.exp(x)
print(powers / powers.sum())
"""
    mo.vstack(
        [
            lesson.text("exercises"),
            *(lesson.exercise(name) for name in EXERCISES),
            lesson.text("code"),
            lesson.code("softmax", _program),
        ]
    )
    return


@app.cell
def _(lesson, mo):
    mo.vstack([lesson.text("summary"), lesson.next()])
    return


if __name__ == "__main__":
    app.run()
