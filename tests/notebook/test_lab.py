"""The view in a real Jupyter Lab: drawn, read, moved by hand and from Python, honest when Python is gone."""

import io
from pathlib import Path

import nbformat
import pytest
from lab_page import PATIENCE, Lab, Notebook, fine, opened
from nbconvert import HTMLExporter
from PIL import Image
from playwright.sync_api import Browser, Locator, expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE)

MOST = 1_000_000  # bytes: what Colab takes in one message; others take more
DIAGONAL = """import numpy as np, pozor
probs = np.eye(4) * 0.9 + 0.025
view = pozor.AttentionMap.from_probs(probs, tokens=["a", "b", "c", "d"]).show(lang="en")
view"""
SEEN = "print(view.query, view.key, view.head)"


def port(view: Locator) -> Locator:
    return view.locator("[role=application]")


def place(view: Locator, query: float, key: float) -> tuple[float, float]:
    """Where a place, in cells from the matrix' corner, is on the page; the whole map must be in view."""
    return tuple(
        view.evaluate(
            """(view, [query, key]) => {
                const root = view.getRootNode();
                const box = (name) => root.querySelector(name).getBoundingClientRect();
                const [one, other] = [0, 1].map((n) => box(`.axis.y [data-token="${n}"]`));
                const port = box("[role=application]"), side = other.y - one.y;
                return [port.x + key * side, port.y + query * side];
            }""",
            [query, key],
        )
    )


def colour_of(notebook: Notebook, view: Locator, query: int, key: int) -> tuple[int, ...]:
    """What is on the screen in a cell, clear of the number in its middle."""
    x, y = place(view, query + 0.15, key + 0.15)
    pixel = notebook.page.screenshot(clip={"x": x, "y": y, "width": 1, "height": 1})
    return Image.open(io.BytesIO(pixel)).convert("RGB").getpixel((0, 0))


def test_it_is_drawn_read_and_set(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab, "read", DIAGONAL, SEEN, "view.query, view.key = 3, 1") as notebook:
        notebook.run(0)
        view = notebook.views().first
        fine(view)
        view.scroll_into_view_if_needed()
        # viridis by powers of ten from 0.001: 0.925 is yellow, 0.025 is in the middle, between blue and green
        red, green, blue = colour_of(notebook, view, 2, 2)
        assert min(red, green) > 180 > 90 > blue, (red, green, blue)
        red, green, blue = colour_of(notebook, view, 2, 0)
        assert red < 90 < min(green, blue), (red, green, blue)
        notebook.page.mouse.click(*place(view, 2.5, 0.5))
        notebook.comes_to_say(1, "2 0 0")
        port(view).focus()
        for key in ("ArrowDown", "ArrowRight", "Enter"):
            notebook.page.keyboard.press(key)
        notebook.comes_to_say(1, "3 1 0")
        port(view).focus()
        notebook.page.keyboard.press("Escape")
        notebook.comes_to_say(1, "None None 0")
        notebook.run(2)
        expect(view.locator(".inspector")).to_contain_text("0.025")
        cells = notebook.page.locator(".jp-CodeCell")
        port(view).focus()
        for key in "ddaabxr":  # deletes, inserts and changes cells where it reaches Jupyter
            notebook.page.keyboard.press(key)
        expect(cells).to_have_count(3)


TWO = """import numpy as np, pozor
q, k = np.random.default_rng(0).normal(size=(2, 3, 40000, 16)).astype("f")
maps = pozor.AttentionMap(q * 2, k, causal=True, tokens=[f"w{n}" for n in range(40000)])
one, two = maps.show(head=1, height=600, lang="en"), maps.show(head=2, height=600, lang="cs")
one"""


def test_two_views_of_40000_tokens_stay_apart_and_their_messages_small(chromium: Browser, lab: Lab) -> None:
    # CASE-70
    looks = "print(one.head, two.head, one.look, two.look, one.query, two.query)"
    move = "one.look = (24.0, 20000.5, 19990.5)\ntwo.query = 39999"
    with opened(chromium, lab, "two", TWO, "two", looks, move) as notebook:
        for cell in (0, 1):
            notebook.run(cell)
        expect(notebook.views()).to_have_count(2)
        first, second = notebook.views().nth(0), notebook.views().nth(1)
        for view in (first, second):
            view.scroll_into_view_if_needed()
            fine(view)
        notebook.comes_to_say(2, "1 2 None None None None")
        notebook.run(3)
        fine(first)
        expect(first.locator("[data-token='20000']").first).to_be_visible()  # it went there
        expect(second.locator(".inspector")).to_contain_text("w39999")
        # by hand: the second alone is zoomed, by keys and by the wheel once the map has the focus
        second.scroll_into_view_if_needed()
        port(second).focus()
        for key in ("+", "+", "ArrowRight"):
            notebook.page.keyboard.press(key)
        fine(second)
        port(second).hover()
        notebook.page.mouse.wheel(0, -400)
        fine(second)
        notebook.comes_to_say(2, r"1 2 \(24\.0, .*\) \(\d+\.\d+, .*\) None 39999")
        assert max(notebook.messages) <= MOST, max(notebook.messages)
        assert len(notebook.messages) > 20


def test_the_page_says_that_its_kernel_is_gone(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab, "gone", DIAGONAL) as notebook:
        notebook.run(0)
        view = notebook.views().first
        fine(view)
        expect(view.get_by_test_id("channel")).to_have_count(0)
        lab.end_kernels()
        expect(view.get_by_test_id("channel")).to_contain_text("The kernel behind this view has ended.")
        expect(view.locator("canvas.tiles")).to_be_visible()  # what is drawn stays


def test_a_saved_notebook_shows_a_picture_where_no_script_runs(
    chromium: Browser, lab: Lab, tmp_path: Path
) -> None:
    with opened(chromium, lab, "saved", DIAGONAL) as notebook:
        notebook.run(0)
        fine(notebook.views().first)
        notebook.page.evaluate("async () => await jupyterapp.commands.execute('docmanager:save')")
    saved = nbformat.read(notebook.path, as_version=4)
    data = saved.cells[0].outputs[0].data
    assert data["text/plain"].startswith("Attention map, head 0: 4 queries (down) × 4 keys (across).")
    assert {"image/png", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(data)
    page = tmp_path / "saved.html"
    page.write_text(HTMLExporter().from_notebook_node(saved)[0], encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False, offline=True)
    still = context.new_page()
    still.goto(page.as_uri())
    shown = still.locator(".jp-OutputArea img")
    expect(shown).to_be_visible()
    box = shown.bounding_box()
    assert box is not None
    assert box["width"] > 200
    expect(still.locator(".jp-OutputArea figcaption")).to_contain_text("A square is one cell; darker is more")
    context.close()
