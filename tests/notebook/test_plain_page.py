"""The module in a plain page that does what anywidget does around it: silence, errors, both appearances."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_page import PATIENCE, fine
from playwright.sync_api import Browser, Page, Route, expect

import pozor
from pozor.viewer.channel import answered
from pozor.viewer.desk import Desk, MapDesk
from pozor.viewer.show import BUNDLE

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE)
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
HOME = "http://notebook.test/"
PAGE = """<!doctype html><html lang="en"><head><title>Notebook</title></head>
<body><main><h1>Notebook</h1><div id="cell"></div></main><script type="module">
import widget from "./widget.js";
const traits = JSON.parse(document.getElementById("traits").textContent);
const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
traits.still = new DataView(bytes(traits.still).buffer);
const heard = {};
const tell = (event, ...said) => (heard[event] ?? []).forEach((one) => one(...said));
window.traits = traits;
window.setTrait = (name, value) => { traits[name] = value; tell(`change:${name}`); };
window.keys = [];
document.addEventListener("keydown", (event) => window.keys.push(event.key));
const model = {
  get: (name) => traits[name],
  set: (name, value) => window.setTrait(name, value),
  save_changes: () => {},
  on: (event, callback) => (heard[event] ??= []).push(callback),
  off: (event, callback) => { heard[event] = (heard[event] ?? []).filter((one) => one !== callback); },
  send: async (content) => {
    for (const [message, buffers] of await window.python(content))
      tell("msg:custom", message, buffers.map((one) => new DataView(bytes(one).buffer)));
  },
};
window.leave = widget.render({ model, el: document.getElementById("cell") });
window.heard = heard;
</script></body></html>"""


def answering(desk: Desk) -> Any:
    """What Python answers, at once."""

    def python(content: Any) -> list[Any]:
        questions = content if isinstance(content, list) else []
        said = [
            message for one in questions for message in answered(desk, one["n"], one["ask"], one["given"])
        ]
        return [(head, [base64.b64encode(body).decode() for body in bodies]) for head, bodies in said]

    return python


def own_map() -> pozor.AttentionMap:
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 9, 4)).astype(np.float32)
    return pozor.AttentionMap(
        2 * q, k, v, causal=True, tokens=["Pan", "Švejk", "vypil", "v", "hospodě", "pivo", "a", "šel", "."]
    )


@contextmanager
def shown(
    browser: Browser, view: Any, python: Any, *, paper: str = "#ffffff", **options: Any
) -> Iterator[Page]:
    """The view in a page; any request or an error fails the test."""
    view._repr_mimebundle_()
    traits = {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in view.get_state().items()
        if not name.startswith("_") and name != "layout"
    }
    context = browser.new_context(**{"viewport": {"width": 1000, "height": 800}, "locale": "en-US"} | options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.expose_function("python", python)
    ink = "#111111" if paper == "#ffffff" else "#eeeeee"
    told = f'<script id="traits" type="application/json">{json.dumps(traits)}</script>'
    body = PAGE.replace("<main>", f"<style>body{{background:{paper};color:{ink}}}</style>{told}<main>")

    def answer(route: Route) -> None:
        if route.request.url == HOME:
            route.fulfill(body=body, content_type="text/html; charset=utf-8")
        elif route.request.url == HOME + "widget.js":
            route.fulfill(
                body=BUNDLE.read_text(encoding="utf-8"), content_type="text/javascript; charset=utf-8"
            )
        elif route.request.url.endswith("/favicon.ico"):
            route.fulfill(status=204)
        else:
            wrong.append(route.request.url)
            route.abort()

    context.route("**/*", answer)
    page.goto(HOME)
    try:
        yield page
        assert wrong == []
    finally:
        context.close()
        view.close()


def test_where_nobody_answers_a_picture_and_a_sentence_stand(chromium: Browser) -> None:
    view = own_map().show(head=1, lang="en")
    with shown(chromium, view, lambda content: []) as page:
        expect(page.locator("figure img")).to_be_visible()
        assert page.locator("figure img").evaluate("img => img.naturalWidth") == 504
        expect(page.locator("figcaption")).to_contain_text("head 1: 9 queries (down) × 9 keys (across)")
        expect(page.get_by_test_id("channel")).to_have_text("Asking Python for the map…")
        expect(page.get_by_test_id("channel")).to_contain_text("No Python answers here")


def test_where_python_refuses_it_says_why(chromium: Browser) -> None:
    view = own_map().show(lang="cs")
    refusing = lambda content: [({"n": one["n"], "error": "No.", "status": 500}, []) for one in content]  # noqa: E731
    with shown(chromium, view, refusing) as page:
        expect(page.get_by_role("alert")).to_contain_text("No.")


@pytest.mark.parametrize("paper", ["#ffffff", "#111111"])
def test_light_and_dark_for_those_who_look_and_those_who_listen(chromium: Browser, paper: str) -> None:
    whole = own_map()
    view = whole.show(lang="en", query=4, key=2)
    with shown(chromium, view, answering(MapDesk(whole)), paper=paper, reduced_motion="reduce") as page:
        fine(page.locator(".pozor-view"))
        expect(page.locator(".pozor-view")).to_have_attribute(
            "data-theme", "light" if paper == "#ffffff" else "dark"
        )
        expect(page.locator(".inspector")).to_contain_text("hospodě")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
        assert [
            (one["id"], [node["html"][:160] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ] == []


def test_keys_stay_inside_and_the_wheel_waits(chromium: Browser) -> None:
    whole = own_map()
    view = whole.show(lang="en")
    with shown(chromium, view, answering(MapDesk(whole))) as page:
        fine(page.locator(".pozor-view"))
        page.keyboard.press("d")  # the page's own, as long as the view has no focus
        page.locator("[role=application]").hover()
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(300)
        assert page.evaluate("traits.look") is None
        page.locator("[role=application]").focus()
        for key in ("ArrowDown", "d", "+", "Enter"):
            page.keyboard.press(key)
        page.wait_for_function("traits.query !== null && traits.look !== null")
        cell = page.evaluate("traits.look[0]")
        page.mouse.wheel(0, -300)
        page.wait_for_function("cell => traits.look[0] > cell", arg=cell)
        assert page.evaluate("keys") == ["d"]
        page.evaluate("setTrait('look', null)")
        page.evaluate("setTrait('query', 8)")
        expect(page.locator(".inspector")).to_contain_text("row 8")
        page.evaluate("leave()")
        assert page.evaluate("document.getElementById('cell').childElementCount") == 0
        assert page.evaluate("Object.values(heard).flat().length") == 0


def test_a_narrow_cell_has_tabs(chromium: Browser) -> None:
    whole = own_map()
    view = whole.show(lang="cs", height=500)
    with shown(chromium, view, answering(MapDesk(whole)), viewport={"width": 390, "height": 844}) as page:
        fine(page.locator(".pozor-view"))
        expect(page.get_by_role("tab")).to_have_count(3)
        box = page.locator(".pozor-view .page").bounding_box()
        assert box is not None
        assert (box["height"], box["width"] <= 390) == (500, True)
