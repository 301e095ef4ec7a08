"""Lessons 0 and 1 in Chromium: golden numbers read back, keyboard, telephone, those who listen."""

import re
from collections.abc import Iterator

import pytest
from content_pages import HAS_AXE
from playwright.sync_api import Browser, Page, expect
from test_content_pages import BEYOND, PATIENCE, opened, serious

from notebook import serving
from pozor.lessons import catalog, prose
from pozor.viewer.lessons import Lessons

pytestmark = pytest.mark.browser
LANGS = ("cs", "en")

# section A of the golden numbers, as the page shows them at first
SHOWN = (
    *("1", "0.5", "0.9", "0.8", "0.2", "0.1", "0.4", "0.7", "0.3"),  # q, k, v
    *("0.97", "0.89", "1.46", "0.485", "0.445", "0.73", "1.624", "1.560", "2.075", "5.260"),
    *("0.309", "0.297", "0.395", "0.394521", "1.001", "0.394", "1.560490", "1.561"),
    *("0.999541", "0.000335", "0.000123", "0.9995", "0.0003", "0.0001", "0.9997"),
    *("0.30000000000000004", "1.4600000000000002"),
    *("4.85", "4.45", "7.3", "0.075", "0.051", "0.874", "0.281", "0.260", "0.459", "5.9", "0.246", "11.3"),
    *("0.05", "0.95", "0.289", "0.711", "0.55", "0.407", "0.235", "0.359", "0.25"),
    *("0.356", "0.444", "0.189", "0.555", "0.302", "0.213", "0.029"),
    *("0.154", "0.578", "0.222", "0.343", "1.154", "1.578"),
    *("0.293", "0.275", "0.432", "0.337", "0.340", "0.323", "0.294", "0.348", "0.393", "0.163"),
    *("0.147", "0.545", "0.196", "0.310", "1.147", "1.545", "67.1", "0.0625", "0.0671"),
)
COUNTS = (33_554_432, 8192, 2_147_483_648, 4096, 16_777_216, 67_108_864, 1_048_576)
UNITS = ("31 %", "30 %", "39 %", "17 %", "25 %", "64 MiB", "4 GiB")
VECTORS = (
    "1; 0; 0",
    "0.2; 0.8; 0; 0.1",
    "1.154; 1.578; 0.222; 0.343",
    "0.9995; 0.0003; 0.0001",
    "0.55; −∞; −∞",
)

# the working with six decimals: word, head (key of the prose), numbers
WORKED = (
    ("venku", "one_head", "1.624175 1.560490 2.075081 5.259746 0.308793 0.296685 0.394521"),
    ("venku", "one_head", "0.308891 0.355608 0.444075 0.188688 0.154445 0.577645 0.222037 0.343133"),
    ("venku", "one_head", "1.154445 1.577645 0.075422 0.050557 0.874021 0.281260 0.259635 0.459105"),
    ("spí", "one_head", "0.289050 0.710950 0.555475 0.302335 0.213285 0.028905"),
    ("venku", "first_of_two", "0.292936 0.274875 0.432189 0.294218 0.348274"),
    ("venku", "second_of_two", "0.337205 0.339598 0.323198 0.392757 0.163000 0.147109 0.544653 0.196379"),
    ("venku", "second_of_two", "0.310109 1.147109 1.544653"),
)


@pytest.fixture(scope="module")
def served() -> Iterator[Lessons]:
    with serving(None, silence=120.0) as running:
        yield running


def section(lesson: str, lang: str, key: str) -> str:
    return prose.read(catalog.get(lesson).prose(lang))[key]


def local(text: str, lang: str) -> str:
    """A number as the language writes it; a vector, written with semicolons, too."""
    return text.replace(".", ",") if lang == "cs" else text.replace("; ", ", ")


def stands(number: str, text: str) -> bool:
    """The number itself, not a part of a longer one."""
    return re.search(rf"(?<![\d,.]){re.escape(number)}(?!\d|[,.]\d)", text) is not None


@pytest.mark.parametrize("lang", LANGS)
def test_lesson_1_shows_the_golden_numbers(chromium: Browser, served: Lessons, lang: str) -> None:
    scheme = "light" if lang == "cs" else "dark"
    with opened(chromium, served, "by_hand", lang, color_scheme=scheme, reduced_motion="reduce") as page:
        text = page.locator("#App").inner_text()
        assert [number for number in SHOWN if not stands(local(number, lang), text)] == []
        between = "\u00a0" if lang == "cs" else ","
        assert [n for n in COUNTS if f"{n:,}".replace(",", between) not in text] == []
        plain = re.sub(r"\s+", " ", text)
        assert [unit for unit in UNITS if unit not in plain] == []
        assert [vector for vector in VECTORS if f"[{local(vector, lang)}]" not in plain] == []
        check_working(page, lang)
        check_looks(page)


def check_working(page: Page, lang: str) -> None:
    """Every number of the working with six decimals."""
    shown, among, digits = (page.locator("marimo-dropdown select").nth(place) for place in (-3, -2, -1))
    digits.select_option("6")
    for word, head, numbers in WORKED:
        shown.select_option(word)
        among.select_option(section("by_hand", lang, head))
        wanted = [local(number, lang) for number in numbers.split()]
        expect(page.locator(".w-working")).to_contain_text(wanted[0], timeout=PATIENCE)
        worked = page.locator(".w-working").text_content() or ""
        assert [number for number in wanted if number not in worked] == []


@pytest.mark.parametrize("lang", LANGS)
def test_the_warm_up_shows_its_numbers(chromium: Browser, served: Lessons, lang: str) -> None:
    scheme = "dark" if lang == "cs" else "light"
    with opened(chromium, served, "warm_up", lang, color_scheme=scheme, reduced_motion="reduce") as page:
        text = page.locator("#App").inner_text()
        # 2·1 + 1·2 = 4; e, e²; softmax of 2, 1, −1: 7.389, 2.718 and .368 of 10.475
        numbers = ("4", "2.718", "7.389", "0.368", "10.475", "0.705", "0.259", "0.035")
        assert [number for number in numbers if not stands(local(number, lang), text)] == []
        check_looks(page)


def check_looks(page: Page) -> None:
    """Pictures in words, short lines, nothing serious for axe-core, nothing cut off on a telephone."""
    pictures = page.locator("svg[role=img]")
    expect(pictures.nth(2)).to_be_visible()
    labels = [pictures.nth(n).get_attribute("aria-label") or "" for n in range(pictures.count())]
    assert all(len(label) > 20 for label in labels)
    assert [line for line in page.evaluate(LINES) if len(line) > 72] == []
    if HAS_AXE:
        assert serious(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(SCROLLING) == []


# the lines of prose as they are broken on the page; 70 average letters, a line of i and l may hold a few more
LINES = """() => {
    const lines = [];
    for (const one of document.querySelectorAll(".markdown > .paragraph, .markdown li, .w-working p")) {
        const walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
        const rows = new Map();
        for (let node = walk.nextNode(); node; node = walk.nextNode())
            for (let at = 0; at < node.length; at++) {
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                const place = range.getBoundingClientRect();
                if (place.height === 0) continue; // folded
                const row = Math.round(place.bottom / 12);
                rows.set(row, (rows.get(row) || "") + node.data[at]);
            }
        lines.push(...rows.values());
    }
    return lines.map(line => line.trim());
}"""
# boxes that would have to be scrolled inside the page
SCROLLING = """() => [...document.querySelectorAll(".w-table, .pozor-sums, .w-equations, .markdown pre")]
    .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.textContent.slice(0, 80))"""


def focused(page: Page) -> str:
    """The role or tag of what the keyboard is on, through shadow roots."""
    return page.evaluate("""() => {
        let at = document.activeElement;
        while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
        return at ? (at.getAttribute("role") || at.tagName.toLowerCase()) : "";
    }""")


def tab_to(page: Page, role: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if focused(page) == role:
            return
    raise AssertionError(f"no {role} within 40 steps of Tab")


def test_the_warm_up_by_keyboard_alone(chromium: Browser, served: Lessons) -> None:
    with opened(chromium, served, "warm_up", "cs") as page:
        everything = page.locator("#App")
        expect(everything).to_contain_text("a · b = 2·1 + 1·2 = 4")  # [2, 1] · [1, 2]
        tab_to(page, "slider")
        for right, dot in (("1,5", 5), ("2", 6)):
            page.keyboard.press("ArrowRight")
            expect(everything).to_contain_text(f"2·{right} + 1·2 = {dot}", timeout=PATIENCE)
            assert focused(page) == "slider"  # what changed did not take the keyboard away
        page.keyboard.press("Home")
        expect(everything).to_contain_text("2·(−3) + 1·2 = −4", timeout=PATIENCE)
        expect(everything).to_contain_text(section("warm_up", "cs", "dot_negative"))
        for _ in range(6):  # up, x, three numbers, and what is added to all
            tab_to(page, "slider")
        page.keyboard.press("ArrowRight")
        expect(everything).to_contain_text(
            "Softmax z\u00a0[3; 2; 0] je [0,705; 0,259; 0,035]", timeout=PATIENCE
        )


def test_lesson_1_by_keyboard_alone(chromium: Browser, served: Lessons) -> None:
    with opened(chromium, served, "by_hand", "en") as page:
        everything = page.locator("#App")
        expect(everything).to_contain_text("x(venku) = [1, 1, 0, 0]")
        tab_to(page, "select")
        page.keyboard.press("ArrowUp")
        expect(everything).to_contain_text("x(spí) = [0, 1, 0, 1]", timeout=PATIENCE)
        assert focused(page) == "select"
        tab_to(page, "slider")
        tab_to(page, "slider")
        expect(everything).to_contain_text("Softmax is saturated")
        for _ in range(7):  # seven times √2 less: 1 / 11.3
            page.keyboard.press("ArrowLeft")
        expect(everything).to_contain_text("here 0.088", timeout=PATIENCE)
        assert focused(page) == "slider"
        page.get_by_role("button", name="Run").press("Enter")
        output = page.locator(".pozor-output pre").first
        expect(output).to_contain_text("1.154445 1.577645 0.222037 0.343133", timeout=PATIENCE)
