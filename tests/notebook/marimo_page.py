"""A marimo notebook that shows a map: run by the tests as `marimo run marimo_page.py`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import numpy as np

    import pozor

    probs = np.eye(4) * 0.9 + 0.025
    shown = pozor.AttentionMap.from_probs(probs, tokens=["a", "b", "c", "d"])
    view = mo.ui.anywidget(shown.show(lang="en", height=600))
    button = mo.ui.button(label="look at d", on_click=lambda _: setattr(view.widget, "query", 3))
    return button, mo, shown, view


@app.cell
def _(view):
    view
    return


@app.cell
def _(button, mo, view):
    told = view.value
    mo.vstack([button, mo.md(f"Python says {told.get('query')}, {told.get('key')}.")])
    return


@app.cell
def _(shown):
    shown.show(lang="cs", height=600)
    return


if __name__ == "__main__":
    app.run()
