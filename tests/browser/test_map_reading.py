"""Reading a map in Chromium: finding, whole words, keys left out, distances, small map, 131,072 tokens."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from axe import findings
from map_page import App, colours, drawn, go, id_of, next_picture, opened, serving, state
from playwright.sync_api import Browser, Page, Route, expect

import pozor
from pozor.recording import Tokens

pytestmark = pytest.mark.browser
LONG, LONGEST = 3_000, 131_072
NEEDLE = (100_000, 99_500)  # a query and the key it looks at
PIECES = ["Pan", " Š", "vej", "k", " pil", " pivo", ",", " pan", " š", "vejk", " spal", "."]

# one character in three tokens, and a word
BYTES = Tokens(
    "bytes",
    "\U0001f4a9 hi",
    np.array([1, 2, 3, 4]),
    np.array([0, 2, 3, 4]),
    np.array([2, 3, 4, 7]),
    np.zeros(4, bool),
    ("⟨F0 9F⟩", "⟨92⟩", "⟨A9⟩", " hi"),
)
HOSTILE = [
    "</script>",
    "<!--<script>",
    "\u2028",
    "\\",
    "]]>",
    "x" * 10_000,
    "e" + "\u0301" * 200,
    "\x07",
    "\u202eabc",
    "<img src=x onerror=window.__hit=1>",
]


def cut(name: str, parts: list[str]) -> Tokens:
    """Tokens that follow each other in a text, by their bytes."""
    stops = np.cumsum([len(part.encode()) for part in parts], dtype=np.int64)
    starts = np.concatenate([[0], stops[:-1]])
    ids, special = np.arange(len(parts), dtype=np.int64), np.zeros(len(parts), bool)
    return Tokens(name, "".join(parts), ids, starts, stops, special, tuple(parts))


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server with a text of pieces, one of 3,000 tokens in lines, one of 131,072 seen through a window."""
    folder = tmp_path_factory.mktemp("reading")
    rng = np.random.default_rng(11)
    q, k, v = rng.normal(size=(3, 1, len(PIECES), 8)).astype(np.float32)
    pozor.Recording.from_arrays(folder / "pieces.pozor", q, k, v, causal=True, tokens=cut("pieces", PIECES))
    lines = [f" slovo{i}" if i % 23 else f"\nŘádek{i}" for i in range(LONG)]
    q, k, v = rng.normal(size=(3, 2, LONG, 8)).astype(np.float32)
    pozor.Recording.from_arrays(folder / "long.pozor", q, k, v, causal=True, tokens=cut("long", lines))
    q, k, v = rng.normal(size=(3, 1, LONGEST, 8)).astype(np.float32)
    q[0, NEEDLE[0]], k[0, NEEDLE[1]] = 12, 12  # 12 · 12 · 8 / √8: all but a part in 10^170
    words = [f" w{i}" for i in range(LONGEST)]
    pozor.Recording.from_arrays(
        folder / "longest.pozor", q, k, v, causal=True, window=(1023, 0), tokens=cut("longest", words)
    )
    q, k, v = rng.normal(size=(3, 1, 5, 4)).astype(np.float32)
    pozor.Recording.from_arrays(
        folder / "last.pozor", q[:, 3:], k, v, causal=True, q_offset=3, tokens=list("abcde")
    )
    q, k, v = rng.normal(size=(3, 1, 4, 4)).astype(np.float32)
    pozor.Recording.from_arrays(folder / "bytes.pozor", q, k, v, tokens=BYTES)
    q, k, v = rng.normal(size=(3, 1, len(HOSTILE), 4)).astype(np.float32)
    pozor.Recording.from_arrays(folder / "hostile.pozor", q, k, v, tokens=HOSTILE)
    with serving(folder) as running:
        yield running


@pytest.fixture
def page(chromium: Browser, reading: App) -> Iterator[Page]:
    with opened(chromium, reading) as page:
        yield page


def panel(page: Page):
    return page.locator("#panel-inspector section[data-kind]")


def parts_of(page: Page) -> dict[int, float]:
    """The lines of a row or column: token → per cent."""
    texts = panel(page).locator("ol button.line").all_inner_texts()
    return {int(text.split()[0]): float(text.split()[-2]) for text in texts}


# --- finding


def test_a_word_is_found_without_its_marks_and_one_goes_round(page: Page) -> None:
    go(page, "pieces")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="find")
    expect(field).to_be_focused()
    field.fill("SVEJK")
    expect(page.get_by_role("search")).to_contain_text("2 places; Enter goes to the next")
    found = "all => all.map(e => Number(e.dataset.piece))"
    assert page.locator("[data-found]").evaluate_all(found) == [1, 2, 3, 8, 9]
    field.press("Enter")
    expect(page.get_by_role("search")).to_contain_text("1 of 2")
    assert page.locator("[data-found=now]").evaluate_all(found) == [1, 2, 3]
    field.press("Enter")
    expect(page.get_by_role("search")).to_contain_text("2 of 2")
    field.press("Enter")
    field.press("Shift+Enter")
    expect(page.get_by_role("search")).to_contain_text("2 of 2")
    page.get_by_role("button", name="its row").click()
    expect(panel(page).locator("article h2")).to_contain_text("looks")
    assert state(page) == {"q": "9", "find": "SVEJK"} | (
        {"look": state(page)["look"]} if "look" in state(page) else {}
    )
    page.reload()
    drawn(page)
    expect(field).to_have_value("SVEJK")
    assert len(page.locator("[data-found]").all()) == 5
    field.fill("vlak")
    expect(page.get_by_role("search")).to_contain_text("not found")
    field.press("Escape")
    expect(field).to_have_value("")


def test_a_hit_is_shown_in_the_row_that_is_chosen(page: Page) -> None:
    go(page, "long", "q=2900")
    page.keyboard.press("f")
    page.keyboard.type("slovo17")
    page.keyboard.press("Enter")  # slovo17
    page.keyboard.press("Enter")  # slovo170
    readout = page.get_by_test_id("readout")
    expect(readout).to_contain_text("2900")
    expect(readout).to_contain_text("170")
    assert state(page)["q"] == "2900"
    assert state(page)["look"].split("_")[1:] == ["2900.5", "170.5"]


def test_go_to_a_token_by_its_number(page: Page) -> None:
    go(page, "long")
    page.locator("[role=application]").focus()
    page.keyboard.press("g")
    page.keyboard.type("9999")
    page.keyboard.press("Enter")
    expect(page.get_by_role("search")).to_contain_text("Tokens have the numbers 0 to 2999.")
    page.keyboard.press("Control+a")
    page.keyboard.type("2000")
    page.keyboard.press("Enter")
    drawn(page)
    assert state(page)["look"].split("_")[1:] == ["2000.5", "2000.5"]
    assert page.locator(".axis.y button[data-token='2000']").count() == 1
    expect(page.locator("[data-piece='2000']")).to_be_in_viewport()


# --- whole words


def test_pieces_of_a_word_add_up_and_the_last_is_its_query(page: Page, reading: App) -> None:
    go(page, "pieces", "q=10")
    probs = pozor.open(reading.folder / "pieces.pozor").map(0, 0)
    row = probs.row(10)
    assert {at: round(part, 1) for at, part in parts_of(page).items()} == {
        at: round(float(row[at]) * 100, 1) for at in range(11)
    }
    page.get_by_role("button", name="whole words").click()
    labels = page.locator(".axis.y .text").all_inner_texts()
    assert [label.strip() for label in labels] == [
        "Pan",
        "Švejk",
        "pil",
        "pivo",
        ",",
        "pan",
        "švejk",
        "spal",
        ".",
    ]
    words = {0: row[0], 3: row[1:4].sum(), 4: row[4], 5: row[5], 6: row[6], 7: row[7], 9: row[8:10].sum()}
    shown = parts_of(page)
    assert set(shown) == {*words, 10}
    assert max(abs(shown[at] - float(part) * 100) for at, part in words.items()) <= 0.05 + 1e-9
    expect(page.locator("[data-piece='3']")).to_have_text("Švejk")
    # who looks at a word: the pieces' columns together, asked by the words' last pieces
    page.locator(".axis.x button[data-token='3']").click()
    column = sum(probs.column(key) for key in (1, 2, 3))
    shown = parts_of(page)
    assert set(shown) == {3, 4, 5, 6, 7, 9, 10, 11}
    assert max(abs(part - float(column[at]) * 100) for at, part in shown.items()) <= 0.05 + 1e-9
    expect(panel(page)).to_contain_text("All 3 pieces of the word together")
    assert state(page) == {"k": "3", "words": "whole"}
    page.keyboard.press("w")
    assert "words" not in state(page)


# --- a row without some keys


def test_a_row_without_keys_is_that_of_the_others(page: Page, reading: App) -> None:
    go(page, "pieces", "q=10")
    row = pozor.open(reading.folder / "pieces.pozor").map(0, 0).row(10)
    strongest = int(row.argmax())
    panel(page).locator("ol button.leave").first.click()
    expect(panel(page)).to_contain_text("without 1 key")
    rest = np.delete(np.arange(11), strongest)
    expected = dict(zip(rest.tolist(), (row[rest] / row[rest].sum() * 100).tolist(), strict=True))
    expect(panel(page).locator("ol button.line")).to_have_count(10)
    shown = parts_of(page)
    assert set(shown) == set(expected)
    assert max(abs(shown[at] - part) for at, part in expected.items()) <= 0.05 + 1e-9
    assert state(page) == {"q": "10", "hide": str(strongest)}
    expect(page.locator(f".axis.x button.left[data-token='{strongest}']")).to_be_visible()
    page.reload()
    drawn(page)
    expect(panel(page).locator("ol button.line")).to_have_count(10)
    panel(page).locator(".left button").first.click()  # in again
    expect(panel(page).locator("ol button.line")).to_have_count(11)
    assert state(page) == {"q": "10"}
    # by keyboard: the key under the crosshair
    page.mouse.move(0, 0)
    page.locator("[role=application]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    assert "hide" in state(page)
    page.keyboard.press("x")
    assert "hide" not in state(page)


def test_attention_by_distance(page: Page, reading: App) -> None:
    go(page, "pieces", "q=10")
    row = pozor.open(reading.folder / "pieces.pozor").map(0, 0).row(10)
    shown = panel(page).locator("figure li .visually-hidden").all_inner_texts()
    edges = [(0, 0), (1, 1), (2, 3), (4, 7), (8, 10)]
    sums = [sum(float(row[10 - far]) for far in range(low, high + 1)) * 100 for low, high in edges]
    found = [float(re.findall(r"([\d.]+)\s%", text)[0]) for text in shown]
    assert np.abs(np.array(found) - sums).max() <= 0.05 + 1e-9
    assert [text.split(":")[0] for text in shown] == [
        "itself",
        "1 token back",
        "2–3 tokens back",
        "4–7 tokens back",
        "8–15 tokens back",
    ]


# --- a long text


def test_a_long_text_is_in_the_page_where_it_is_read(page: Page) -> None:
    go(page, "long")
    assert 200 < page.locator(".piece").count() < 2_000
    page.evaluate("where => { location.hash = where }", f"#/map/{id_of(page, 'long')}?q=2500")
    expect(page.locator("[data-piece='2500']")).to_be_in_viewport()
    expect(page.locator("[data-piece='2500']")).to_have_class(re.compile("locked"))
    assert page.locator(".piece").count() < 2_500
    # the page itself has not moved
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]
    line = panel(page).locator("ol button.line").first
    context = line.locator(".context").inner_text()
    at = int(line.inner_text().split()[0])
    assert f"slovo{at}" in context
    assert len(context.split()) > 3


def test_the_map_waits_for_neither_tracks_nor_text(page: Page) -> None:
    waiting: list[Route] = []
    page.route(re.compile(r"/(tracks|item)\?"), lambda route: waiting.append(route))
    go(page, "long", "q=5")  # drawn
    expect(panel(page).locator("article h2").first).to_contain_text("looks")
    expect(page.get_by_text("The text comes in a moment…")).to_be_visible()
    for route in waiting:
        route.continue_()
    page.unroute_all()
    expect(page.locator("[data-piece='5']")).to_have_text("slovo5")


# --- the small map


def test_the_small_map_moves_the_window(page: Page) -> None:
    go(page, "long")
    small = page.get_by_test_id("minimap")
    expect(small).to_have_count(0)
    for _ in range(5):
        page.keyboard.press("+")
    drawn(page)
    expect(small).to_be_visible()
    box = small.bounding_box()
    assert box is not None
    _, *before = map(float, state(page)["look"].split("_"))
    at = [box["x"] + box["width"] * before[1] / LONG, box["y"] + box["height"] * before[0] / LONG]
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + box["width"] / 4, at[1] + box["height"] / 8, steps=4)
    page.mouse.up()
    _, query, key = map(float, state(page)["look"].split("_"))
    assert abs(key - before[1] - LONG / 4) < LONG * 0.02
    assert abs(query - before[0] - LONG / 8) < LONG * 0.02
    small.focus()
    page.keyboard.press("ArrowUp")
    assert float(state(page)["look"].split("_")[1]) < query - 20
    expect(small).to_have_attribute("aria-label", re.compile(r"The whole map\. In view: rows \d+–\d+"))
    page.get_by_role("button", name="hide the small map").click()
    expect(small).to_have_count(0)
    assert state(page)["look"]


# --- tiles


def test_coming_back_to_a_head_asks_for_nothing(page: Page) -> None:
    go(page, "long")
    page.keyboard.press(".")
    expect(page.locator(".host")).to_have_attribute(
        "data-drawn", re.compile(r"^\S+ 0 0 self 1 .*\|fine\|[1-9]")
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/tile?" in request.url else None)
    page.keyboard.press(",")
    expect(page.locator(".host")).to_have_attribute(
        "data-drawn", re.compile(r"^\S+ 0 0 self 0 .*\|fine\|[1-9]")
    )
    assert asked == []


def test_what_has_left_the_window_is_no_longer_asked_for(page: Page) -> None:
    go(page, "long")
    waiting: list[Route] = []
    page.route("**/tile?**zoom=0**", lambda route: waiting.append(route))
    cancelled: list[str] = []
    page.on("requestfailed", lambda request: cancelled.append(request.url))
    where = f"#/map/{id_of(page, 'long')}?"
    page.evaluate("where => { location.hash = where }", where + "look=20_2900_2900")
    expect(page.locator("[role=application]")).to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(300)
    assert waiting
    page.evaluate("where => { location.hash = where }", where + "look=20_100_100")
    page.wait_for_timeout(300)
    assert any("row=11" in url for url in cancelled)
    page.unroute_all(behavior="ignoreErrors")


def test_a_preview_says_so_and_gives_way(page: Page) -> None:
    parts = iter([0.25, 0.5])
    previews: list[str] = []

    def tile(route: Route) -> None:
        answer = route.fetch()
        made = not any(True for _ in ()) and done["yes"]
        previews.append(route.request.url)
        route.fulfill(response=answer, headers=answer.headers | ({} if made else {"x-pozor-preview": "1"}))

    def base(route: Route) -> None:
        part = next(parts, None)
        done["yes"] = part is None
        route.fulfill(json={"ready": part is None, "done": 1.0 if part is None else part})

    done = {"yes": False}
    page.route("**/tile?**", tile)
    page.route("**/base?**", base)
    go(page, "long")
    expect(page.get_by_test_id("pixel")).to_contain_text("preview: every 16th row")
    bar = page.get_by_role("progressbar", name="How much of the map is worked out")
    expect(bar).to_contain_text(re.compile(r"Preview: every 16th row.*(25|50)\s%"))
    expect(bar).to_have_count(0)
    expect(page.get_by_test_id("pixel")).not_to_contain_text("preview")
    assert len(previews) > len(set(previews))  # asked for again
    page.unroute_all(behavior="ignoreErrors")


# --- 131,072 tokens


def test_from_the_whole_of_131072_tokens_to_a_cell(page: Page, reading: App) -> None:
    go(page, "longest")
    assert page.locator(".axis button").count() < 120
    assert page.locator(".piece").count() < 2_000
    page.keyboard.press("g")
    page.keyboard.type(str(NEEDLE[0]))
    page.keyboard.press("Enter")
    drawn(page)
    expect(page.locator(f"[data-piece='{NEEDLE[0]}']")).to_be_in_viewport()
    # the needle, at the size of numbers: the place is exact at 14.7 million pixels from the corner
    where = f"#/map/{id_of(page, 'longest')}?look=112_{NEEDLE[0] + 0.5}_{NEEDLE[1] + 0.5}&scale=linear"
    page.evaluate("where => { location.hash = where }", where)
    next_picture(page)
    drawn(page)
    box = page.locator("[role=application]").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    readout = page.get_by_test_id("readout")
    expect(readout).to_contain_text(f"{NEEDLE[0]}")
    expect(readout).to_contain_text(f"{NEEDLE[1]}")
    page.mouse.move(0, 0)
    next_picture(page)
    # the colours of the needle and of its neighbours, right up to the edges of the cell
    spots = [(middle[0] + x, middle[1] + y) for x in (-53, 53) for y in (-53, 53)]
    beside = [(middle[0] + x, middle[1]) for x in (-59, 59)]
    for colour in colours(page, spots):
        assert np.abs(np.subtract(colour, (0xFD, 0xE7, 0x25))).max() <= 3
    for colour in colours(page, beside):
        assert np.abs(np.subtract(colour, (0x44, 0x01, 0x54))).max() <= 4
    page.mouse.click(*middle)
    expect(panel(page).locator("article.cell")).to_have_attribute(
        "data-cell", f"{NEEDLE[0]},{NEEDLE[1]}", timeout=30_000
    )
    row = pozor.open(reading.folder / "longest.pozor").map(0, 0).row(NEEDLE[0])
    assert row[NEEDLE[1]] > 0.999
    expect(panel(page).get_by_test_id("float64")).to_have_text(re.compile(r"^(1|0\.99\d+)$"))


# --- for everybody


def test_keys_are_listed_and_nothing_serious_is_wrong(page: Page) -> None:
    go(page, "long", "q=2500&hide=2400&find=slovo24&look=20_2500_2400")
    expect(panel(page).locator("article h2").first).to_contain_text("looks")
    assert findings(page) == []
    page.locator("[role=application]").focus()
    page.keyboard.press("?")
    for said in (
        "find a word",
        "go to a token",
        "whole words or pieces",
        "leave the key under the crosshair out",
    ):
        expect(page.get_by_role("dialog")).to_contain_text(said)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="cs", exact=True).click()
    expect(page.get_by_role("search")).to_contain_text("celá slova")
    expect(panel(page)).to_contain_text("bez 1 klíče")


def test_on_a_phone_the_ways_are_in_the_text(chromium: Browser, reading: App, tmp_path: Path) -> None:
    with opened(chromium, reading, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        go(page, "long", "find=slovo24")
        page.keyboard.press("/")
        field = page.get_by_role("searchbox", name="find")
        expect(field).to_be_focused()
        field.press("Enter")
        expect(page.locator("[data-found=now]").first).to_be_in_viewport()
        page.get_by_role("tab", name="map").tap()
        drawn(page)
        assert "look" in state(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_two_fingers_zoom_and_one_moves(chromium: Browser, reading: App) -> None:
    with opened(chromium, reading, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        go(page, "long", "look=1_1500_1500")
        box = page.locator("[role=application]").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        hand = page.context.new_cdp_session(page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            told = [{"x": px, "y": py, "id": i} for i, (px, py) in enumerate(points)]
            hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

        touch("touchStart", (x - 20, y), (x + 20, y))
        for far in (30, 40, 60):
            touch("touchMove", (x - far, y), (x + far, y))
        touch("touchEnd")
        cell, query, key = map(float, state(page)["look"].split("_"))
        assert abs(cell - 3) < 0.1  # the fingers are three times as far apart
        assert abs(query - 1500) < 2
        assert abs(key - 1500) < 2
        touch("touchStart", (x, y))
        for far in (10, 30, 60):
            touch("touchMove", (x - far, y))
        touch("touchEnd")
        _, _, moved = map(float, state(page)["look"].split("_"))
        assert abs(moved - key - 60 / cell) < 1
        assert "k" not in state(page)


# --- tokens of every kind


def test_pieces_of_a_character_show_their_bytes(page: Page) -> None:
    """CASE-63"""
    go(page, "bytes")
    labels = [text.strip() for text in page.locator(".axis.y .text").all_inner_texts()]
    assert labels == ["⟨F0␣9F⟩", "⟨92⟩", "⟨A9⟩", "hi"]
    assert (
        page.locator(".running").inner_text().replace("⟨92⟩", "").replace("⟨A9⟩", "").strip().endswith("hi")
    )
    page.keyboard.press("w")
    assert [text.strip() for text in page.locator(".axis.y .text").all_inner_texts()] == ["\U0001f4a9", "hi"]
    expect(page.locator(".running")).to_have_text("\U0001f4a9 hi")


def test_queries_of_the_end_have_the_names_of_the_end(page: Page) -> None:
    """CASE-67"""
    go(page, "last")
    assert page.locator(".axis.y .text").all_inner_texts() == ["d", "e"]
    assert page.locator(".axis.x .text").all_inner_texts() == list("abcde")
    box = page.locator("[role=application]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    expect(page.get_by_test_id("readout")).to_contain_text("3 d → 0 a")
    page.locator("[data-piece='4']").click()
    assert state(page)["q"] == "1"
    expect(page.locator(".axis.y button.locked")).to_have_attribute("data-token", "4")
    # how far: from the place of the query among the keys
    assert panel(page).locator("figure li").count() == 4  # 0, 1, 2–3, 4–7


def test_no_token_breaks_the_page(page: Page) -> None:
    """CASE-62 among them"""
    go(page, "hostile", "q=5&k=9")
    expect(panel(page).locator(".w-working")).to_be_visible()
    titles = page.locator(".axis.y button").evaluate_all("all => all.map(e => e.title)")
    found = [re.match(r"\d+ · (.*) · id", title, re.S) for title in titles]
    assert [one and page.evaluate("text => JSON.parse(text)", one.group(1)) for one in found] == HOSTILE
    assert page.evaluate("window.__hit") is None
    assert page.locator("#app script, #app img").count() == 0
    host = page.locator(".host").bounding_box()
    assert host is not None
    assert host["height"] > 300
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.keyboard.press("/")
    page.keyboard.type("<img")
    page.keyboard.press("Enter")
    expect(page.locator("[data-found=now]")).to_have_text(HOSTILE[-1].replace(" ", "␣"))
