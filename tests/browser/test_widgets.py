"""The two modules that notebooks load, in a plain page that does what anywidget does around them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from axe import findings
from playwright.sync_api import Browser, Page, Route, expect

import pozor
from pozor import exercises
from pozor.examples import PUB, floats
from pozor.lessons import widgets

pytestmark = pytest.mark.browser
WORDS = ["pan", "švejk", "vypil", "pivo", "v", "hospodě"]
HOME = "http://notebook.test/"
PAGE = """<!doctype html><html lang="cs"><head><title>Sešit</title>
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>Sešit</h1><h2>Část</h2><div id="cell"></div></main><script type="module">
import widget from "./widget.js";
const traits = JSON.parse(document.getElementById("traits").textContent);
const heard = {};
const tell = (event, content) => (heard[event] ?? []).forEach((one) => one(content));
window.traits = traits;
window.setTrait = (name, value) => { traits[name] = value; tell(`change:${name}`); };
const model = {
  get: (name) => traits[name],
  set: (name, value) => window.setTrait(name, value),
  save_changes: () => {},
  on: (event, callback) => (heard[event] ??= []).push(callback),
  off: (event, callback) => { heard[event] = (heard[event] ?? []).filter((one) => one !== callback); },
  send: async (content) => tell("msg:custom", await window.python(content)),
};
const host = document.getElementById("cell").attachShadow({ mode: "open" });
const el = document.createElement("div");
host.append(el);
window.leave = widget.render({ model, el });
window.heard = heard;
</script></body></html>"""


@contextmanager
def shown(
    browser: Browser,
    name: str,
    traits: dict[str, Any],
    *,
    python: Any = None,
    paper: str = "#fff",
    **options: Any,
) -> Iterator[Page]:
    """The module in a shadow tree, as marimo has it; any other request or an error fails the test."""
    options = {"viewport": {"width": 700, "height": 800}, "locale": "cs-CZ"} | options
    context = browser.new_context(**options)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.expose_function("python", python or (lambda content: None))
    ink = "#eee" if paper == "#111" else "#111"
    data = f'<script id="traits" type="application/json">{json.dumps(traits)}</script>'
    data += f"<style>body{{background:{paper};color:{ink}}}</style>"

    def answer(route: Route) -> None:
        if route.request.url == HOME:
            route.fulfill(
                body=PAGE.replace("<main>", data + "<main>"), content_type="text/html; charset=utf-8"
            )
        elif route.request.url == HOME + "widget.js":
            route.fulfill(body=widgets.module(name), content_type="text/javascript; charset=utf-8")
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


def pub() -> dict[str, Any]:
    """The traits of the pub sentence's map, as the Python class makes them."""
    q, k = np.array(floats(PUB.q)), np.array(floats(PUB.k))
    causal, free = (pozor.attention(q, k, np.eye(6), causal=on, backend="reference") for on in (True, False))
    made = widgets.Heatmap(causal, WORDS, states=~np.tri(6, dtype=bool), unmasked=free, title="V hospodě")
    return {
        name: value
        for name, value in made.get_state().items()
        if not name.startswith("_") and name != "layout"
    }


def text(page: Page) -> str:
    return page.locator(".reading").inner_text()


def test_a_row_is_locked_by_click_and_by_key_and_python_knows(chromium: Browser) -> None:
    with shown(chromium, "heatmap", pub()) as page:
        page.locator("text.word", has_text="vypil").last.click()
        assert page.evaluate("traits.selected_row") == 2
        # under the mask vypil loses pivo: 49.7238, 49.7238, .5524
        assert text(page) == "„vypil“ se dívá hlavně na: „pan“ 50 %, „švejk“ 50 %".replace(" %", "\xa0%")
        page.get_by_role("switch").click()
        assert page.evaluate("traits.mask_shown") is False
        assert text(page) == "„vypil“ se dívá hlavně na: „pan“ 33 %, „švejk“ 33 %, „pivo“ 33 %".replace(
            " %", "\xa0%"
        )
        page.locator("[data-cell='2,0']").focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        assert page.evaluate("traits.selected_row") == 4
        assert text(page) == "„v“ se dívá hlavně na: „hospodě“ 91 %".replace(" %", "\xa0%")
        page.keyboard.press("Escape")
        assert page.evaluate("traits.selected_row") == -1
        expect(page.locator(".reading")).to_have_text("Vyberte řádek a přečtete si, kam se jeho slovo dívá.")


def test_python_may_change_what_is_shown(chromium: Browser) -> None:
    with shown(chromium, "heatmap", pub()) as page:
        page.evaluate("setTrait('selected_row', 5); setTrait('lang', 'en')")
        expect(page.locator(".reading")).to_have_text("“hospodě” looks at all equally (6 × 16.7\xa0%)")
        page.evaluate(
            "setTrait('words', ['a', 'b']); setTrait('query_words', ['b']); setTrait('states', []);"
            "setTrait('unmasked', []); setTrait('probs', [[0.25, null]]); setTrait('selected_row', 0)"
        )
        expect(page.locator("[data-cell]")).to_have_count(2)
        expect(page.locator(".reading")).to_contain_text("no honest summary")
        page.evaluate("leave()")
        expect(page.locator("[data-cell]")).to_have_count(0)
        assert page.evaluate("Object.values(heard).flat().length") == 0


def test_cells_are_readable_and_more_is_darker_in_light(chromium: Browser) -> None:
    with shown(chromium, "heatmap", pub()) as page:
        cells = page.locator("[data-cell='3,2']")
        expect(cells).to_have_attribute(
            "aria-label", "Slovo pivo se dívá na slovo vypil: 96,8\xa0% ≐ 97\xa0%"
        )
        expect(page.locator("[data-cell='0,5']")).to_have_attribute(
            "aria-label", "Slovo pan nesmí vidět slovo hospodě"
        )
        expect(page.locator(".legend")).to_contain_text("tmavší = dívá se tam víc")
        fill = [page.locator(f"[data-cell='3,{key}'] rect").get_attribute("fill") for key in (0, 2)]
        light = [sum(map(int, str(one).strip("rgb()").split(","))) for one in fill]
        assert light[1] < light[0] / 4


def test_it_follows_the_page_from_light_to_dark(chromium: Browser) -> None:
    with shown(chromium, "heatmap", pub()) as page:
        expect(page.locator(".pozor-widget")).to_have_attribute("data-theme", "light")
        page.evaluate("document.body.style.background = '#181c1a'")
        expect(page.locator(".pozor-widget")).to_have_attribute("data-theme", "dark")
        expect(page.locator(".legend")).to_contain_text("světlejší = dívá se tam víc")
    with shown(chromium, "heatmap", pub(), paper="transparent", color_scheme="dark") as page:
        # a page that paints nothing and asks for nothing is white in a dark system too
        expect(page.locator(".pozor-widget")).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("paper", ["#fff", "#111"])
def test_the_map_for_those_who_listen(chromium: Browser, paper: str) -> None:
    with shown(chromium, "heatmap", pub(), paper=paper, reduced_motion="reduce") as page:
        page.locator("text.word", has_text="vypil").last.click()
        assert findings(page) == []


# ---- the exercise, with the real exercises behind it


def served(lock: exercises.Lock | None = None) -> Any:
    """What the Python side of the widget does with a message."""
    return lambda content: {
        "serve": content["serve"],
        "answer": exercises.serve(content["message"], lock or exercises.Lock()),
    }


def test_an_exercise_in_a_notebook(chromium: Browser) -> None:
    traits = {"exercise": "divisor", "seed": None, "lang": "cs"}
    with shown(chromium, "exercise", traits, python=served()) as page:
        page.locator("form input").fill("16")
        page.keyboard.press("Enter")
        expect(page.locator(".verdict")).to_contain_text("Ještě to není ono.")
        page.locator("form input").fill("4")
        page.keyboard.press("Enter")
        expect(page.locator(".verdict")).to_contain_text("Správně.")
        kept = json.loads(page.evaluate("localStorage['pozor.progress']"))
        assert {"right": True, "tries": 2}.items() <= kept["divisor"].items()
        assert page.evaluate("document.cookie").startswith("pozor-progress=divisor.1.2.")
        page.get_by_role("button", name="Nová čísla").click()
        assert isinstance(page.evaluate("traits.seed"), int)
        expect(page.get_by_role("button", name="Zpět k číslům z lekce")).to_be_visible()


def test_a_locked_solution_is_not_in_the_page_before_its_code(chromium: Browser) -> None:
    said: list[Any] = []
    answer = served(exercises.Lock("sedm"))

    def python(content: Any) -> Any:
        said.append(answer(content))
        return said[-1]

    drawn = exercises.get("first-token-why").draw()
    traits = {"exercise": "first-token-why", "seed": None, "lang": "cs"}
    with shown(chromium, "exercise", traits, python=python) as page:
        page.locator("form textarea").fill("maska")
        page.locator(".check").click()
        expect(page.locator(".verdict")).to_be_visible()
        page.locator("summary").click()
        page.get_by_label("Kód").fill("osm")
        page.keyboard.press("Enter")
        expect(page.locator("details .note")).to_be_visible()
        secret = drawn.solution("cs").splitlines()[-1][:40]
        assert secret not in page.locator("main").inner_text()
        assert secret not in json.dumps(said, ensure_ascii=False)
        page.wait_for_timeout(1100)  # after a wrong code none is tried for a second
        page.get_by_label("Kód").fill("sedm")
        page.keyboard.press("Enter")
        expect(page.locator("details .said")).to_be_visible()
        expect(page.get_by_label("Kód")).to_have_count(0)


def test_a_phone_shows_whole_tables_and_a_shade_where_they_scroll(chromium: Browser) -> None:
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
    for name in ("looks-at", "weights-row", "row-sum"):
        traits = {"exercise": name, "seed": None, "lang": "en"}
        with shown(chromium, "exercise", traits, python=served(), **phone) as page:
            said = page.locator(".said").first
            expect(said.locator("table").first).to_be_visible()
            assert said.evaluate("e => [e.scrollWidth - e.clientWidth, innerWidth]") == [0, 390]
            assert said.evaluate("e => getComputedStyle(e).backgroundAttachment") == (
                "local, local, scroll, scroll"
            )


def test_nobody_answers(chromium: Browser) -> None:
    refusing = lambda content: {"serve": content["serve"], "answer": {"error": "No such exercise."}}  # noqa: E731
    with shown(chromium, "exercise", {"exercise": "x", "seed": None, "lang": "en"}, python=refusing) as page:
        expect(page.get_by_role("alert")).to_contain_text("No such exercise.")
        expect(page.get_by_role("button", name="Ask again")).to_be_visible()


@pytest.mark.parametrize("paper", ["#fff", "#111"])
@pytest.mark.parametrize("id", ["most-alike", "first-token-why", "weights-row"])
def test_an_exercise_for_those_who_listen(chromium: Browser, id: str, paper: str) -> None:
    traits = {"exercise": id, "seed": 3, "lang": "cs"}
    with shown(chromium, "exercise", traits, python=served(), paper=paper, reduced_motion="reduce") as page:
        page.locator(".more button").first.click()
        expect(page.locator(".hints")).to_be_visible()
        page.locator("summary").click()
        expect(page.locator("details .said")).to_be_visible()
        page.locator(".check").click()
        expect(page.locator(".outcome .note")).to_be_visible()  # nothing was answered yet
        assert findings(page) == []
