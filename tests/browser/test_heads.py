"""All heads in the app: the grid, and which heads look here; against the numbers of Python."""

import numpy as np
import pytest
from axe import findings
from heads_page import HEADS, LAYERS, TOKENS, WORDS, by_size, cell, cells, grid, measure, names, shown_number
from map_page import SHIPPED, App, cell_at, colours, drawn, go, number, opened, state
from playwright.sync_api import Browser, Locator, Page, expect

import pozor

pytestmark = pytest.mark.browser

MEASURES = ["first token", "previous token", "itself", "entropy", "distance", "induction"]


def expected(probs: np.ndarray, what: str) -> np.ndarray:
    """A measure of every head by its definition, (layers, heads)."""
    queries, keys = np.arange(TOKENS)[:, None], np.arange(TOKENS)[None, :]
    if what == "first token":
        return probs[..., 0].mean(-1)
    if what == "previous token":
        # the first row has no key before it, and gives it nothing
        return (probs * (keys == queries - 1)).sum(-1).mean(-1)
    if what == "itself":
        return (probs * (keys == queries)).sum(-1).mean(-1)
    if what == "entropy":
        logs = np.log(np.where(probs > 0, probs, 1))
        return -(probs * logs).sum(-1).mean(-1)
    if what == "distance":
        return (probs * abs(queries - keys)).sum((-1, -2)) / probs.sum((-1, -2))
    # the keys right after an earlier occurrence of the query's token
    follows = np.array(
        [[0 < j < i and WORDS[j - 1] == WORDS[i] for j in range(TOKENS)] for i in range(TOKENS)]
    )
    return (probs * follows).sum(-1)[..., follows.any(-1)].mean(-1)


# --- the grid


@pytest.mark.parametrize("what", MEASURES)
def test_heads_stand_in_the_order_of_a_measure(on_many: Page, probs: np.ndarray, what: str) -> None:
    go(on_many, "made", "heads=first")
    measure(on_many, what, "largest first")
    values = expected(probs, what)
    expect(cells(on_many)).to_have_count(LAYERS * HEADS)
    assert names(cells(on_many)) == by_size(values)
    for name in names(cells(on_many)):
        layer, head = map(int, name.split("."))
        written = cell(on_many, name).locator(".value").inner_text()
        digits = 10.0 ** -(len(written.split(".")[1].rstrip("\xa0%")) if "." in written else 0)
        unit = digits / 100 if "%" in written else digits
        assert abs(shown_number(written) - values[layer, head]) <= 0.51 * unit, (name, written)
    measure(on_many, what, "smallest first")
    assert names(cells(on_many)) == by_size(-values)
    assert state(on_many)["order"] == "least"


def test_a_small_picture_has_the_colours_of_the_map(on_many: Page) -> None:
    go(on_many, "made", "layer=1&head=2&heads=first&range=max")
    canvas = cell(on_many, "1.2").locator("canvas[data-drawn]")
    expect(canvas).to_be_visible()
    spots = [(0, 0), (9, 3), (20, 20), (35, 1), (30, 33)]  # the last is hidden by the mask
    small = canvas.evaluate(
        """(canvas, spots) => spots.map(([query, key]) =>
            [...canvas.getContext('2d').getImageData(key, query, 1, 1).data.slice(0, 3)])""",
        spots,
    )
    on_map = colours(on_many, [cell_at(on_many, query, key) for query, key in spots[:-1]])
    for one, other in zip(small, on_map):
        assert np.abs(np.subtract(one, other)).max() <= 2
    assert tuple(small[-1]) == (230, 227, 220)  # --mask
    assert canvas.evaluate("canvas => [canvas.width, canvas.height]") == [TOKENS, TOKENS]


def test_a_click_opens_a_head_and_the_open_one_is_marked(on_many: Page) -> None:
    go(on_many, "made", "heads=entropy&q=7")
    assert cell(on_many, "0.0").get_attribute("aria-current") == "true"
    cell(on_many, "2.1").locator(".frame").click(position={"x": 8, "y": 30})
    drawn(on_many)
    assert state(on_many) == {"heads": "entropy", "q": "7", "layer": "2", "head": "1"}
    assert cell(on_many, "2.1").get_attribute("aria-current") == "true"
    assert cell(on_many, "0.0").get_attribute("aria-current") is None
    expect(on_many.locator("nav select").last).to_have_value("1")


def test_the_grid_by_keyboard(on_many: Page) -> None:
    go(on_many, "made", "layer=1&head=1")
    bar = on_many.get_by_role("button", name="all heads")
    on_many.keyboard.press("h")
    expect(bar).to_have_attribute("aria-expanded", "true")
    expect(cell(on_many, "1.1")).to_be_focused()  # the open head is where Tab enters
    assert cell(on_many, "1.1").get_attribute("tabindex") == "0"
    assert grid(on_many).locator("[tabindex='0']").count() == 1
    for key, name in (("ArrowRight", "1.2"), ("ArrowDown", "2.2"), ("End", "2.3"), ("Control+Home", "0.0")):
        on_many.keyboard.press(key)
        expect(cell(on_many, name)).to_be_focused()
    on_many.keyboard.press("Control+End")
    on_many.keyboard.press("ArrowRight")  # nothing lies beyond
    expect(cell(on_many, "2.3")).to_be_focused()
    on_many.keyboard.press("Space")
    expect(cell(on_many, "2.3")).to_have_attribute("aria-selected", "true")
    on_many.keyboard.press("Enter")
    drawn(on_many)
    kept = state(on_many)
    assert (kept["layer"], kept["head"]) == ("2", "3")
    assert "q" not in kept
    assert "k" not in kept  # Enter and arrows were the grid's alone
    expect(on_many.locator(".combine")).to_contain_text("1 head chosen")
    expect(cell(on_many, "2.3")).to_be_focused()
    on_many.keyboard.press("h")
    expect(bar).to_have_attribute("aria-expanded", "false")
    expect(bar).to_be_focused()


def test_a_link_unfolds_the_same_heads(on_many: Page, probs: np.ndarray) -> None:
    go(on_many, "made", "layer=1&head=1&heads=locked&order=most&q=30")
    at_first = by_size(probs[:, :, 30].max(-1))
    expect(cells(on_many).first).to_have_attribute("data-head", f"self {at_first[0]}")
    on_many.reload()
    drawn(on_many)
    expect(cells(on_many).first).to_have_attribute("data-head", f"self {at_first[0]}")
    assert names(cells(on_many)) == at_first
    assert state(on_many) == {"layer": "1", "head": "1", "heads": "locked", "order": "most", "q": "30"}


# --- which heads look here?


def which(page: Page) -> Locator:
    return page.locator("#panel-inspector .which")


def test_which_heads_look_by_row_column_and_cell(on_many: Page, probs: np.ndarray) -> None:
    places = {
        "q=30": probs[:, :, 30].max(-1),
        "k=3": probs[:, :, 3:, 3].mean(-1),
        "q=30&k=3": probs[:, :, 30, 3],
    }
    lines = which(on_many).locator("ol button")
    go(on_many, "made", "q=0")
    expect(lines).to_have_count(8)
    which(on_many).get_by_role("button", name="more").click()
    for place, values in places.items():
        go(on_many, "made", place)
        expect(lines).to_have_count(LAYERS * HEADS)
        expect(which(on_many).locator("[aria-busy=false]")).to_be_visible()
        assert names(lines) == by_size(values), place
        parts = [number(text.rstrip("%\xa0")) / 100 for text in lines.locator(".part").all_inner_texts()]
        np.testing.assert_allclose(parts, -np.sort(-values, axis=None), rtol=6e-3, atol=1e-7)
    go(on_many, "made", "q=30")
    expect(which(on_many).locator(".at").first).to_have_text(
        WORDS[int(probs.reshape(-1, TOKENS, TOKENS)[np.argmax(probs[:, :, 30].max(-1)), 30].argmax())]
    )


def test_the_shipped_recording_answers_as_python_does(on_many: Page) -> None:
    lines = pozor.open(SHIPPED).which(query=61, key=34)
    go(on_many, "red-ball", "layer=13&head=8&q=61&k=34")
    found = which(on_many).locator("ol button")
    expect(found).to_have_count(8)
    assert names(found) == [f"{line['layer']}.{line['head']}" for line in lines[:8]]
    # a click opens, and the lock is kept
    found.nth(1).click()
    drawn(on_many)
    kept = state(on_many)
    assert (int(kept["layer"]), int(kept["head"])) == (lines[1]["layer"], lines[1]["head"])
    assert (kept["q"], kept["k"]) == ("61", "34")
    expect(found.nth(1)).to_have_attribute("aria-current", "true")


def test_running_through_rows_asks_about_the_last_alone(on_many: Page) -> None:
    go(on_many, "made", "q=10")
    expect(which(on_many).locator("ol button")).to_have_count(8)
    asked: list[str] = []
    on_many.on("request", lambda r: asked.append(r.url) if "/which?" in r.url else None)
    for _ in range(6):
        on_many.keyboard.press("ArrowDown")
    expect(which(on_many)).to_contain_text(WORDS[16])
    expect(which(on_many).locator("[aria-busy=false]")).to_be_visible()
    assert 1 <= len(asked) <= 3  # the last for certain; a slow machine may pause on the way
    assert "query=16" in asked[-1]


# --- for everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_serious_for_those_who_listen(chromium: Browser, many: App, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    options = {"color_scheme": scheme, "viewport": size, "reduced_motion": "reduce", "locale": "cs-CZ"}
    with opened(chromium, many, **options) as page:
        go(page, "made", "layer=1&head=1&heads=locked&order=most&q=30")
        expect(cells(page).locator("canvas[data-drawn]").first).to_be_visible()
        page.get_by_role("button", name="kombinovat").click()
        page.keyboard.press("Shift+Tab")
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if width < 500:
            page.get_by_role("tab", name="podrobnosti").click()
            assert findings(page) == []
