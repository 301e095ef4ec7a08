"""Every page for those who use it by keyboard or listen to it: axe-core finds nothing serious or critical."""

import pytest
from axe import findings
from examples_page import opened as opened_file
from map_page import App, drawn, go, opened
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


def test_axe_can_find_something(chromium: Browser, lesson: str) -> None:
    with opened_file(chromium, lesson) as page:
        page.evaluate("document.body.append(document.createElement('button'))")
        assert [rule for rule, *_ in findings(page)] == ["button-name"]


@SCHEMES
def test_the_app(chromium: Browser, app: App, scheme: str) -> None:
    with opened(chromium, app, color_scheme=scheme, locale="cs-CZ", reduced_motion="reduce") as page:
        expect(page.locator("tbody tr").first).to_be_visible()
        assert findings(page) == []
        go(page, "red-ball", "layer=13&head=8&q=33&k=19")
        expect(page.locator(".w-working")).to_be_visible()
        assert findings(page) == []
        go(page, "red-ball", "layer=13&head=8&k=4&scale=linear&mask=unmasked")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert findings(page) == []


@SCHEMES
@pytest.mark.parametrize("fragment", ["#/paper?heads=2&at=probs.0.2.1&as=latex", "#/pub?causal=1&as=numpy"])
def test_the_single_file(chromium: Browser, lesson: str, fragment: str, scheme: str) -> None:
    with opened_file(chromium, lesson, fragment, color_scheme=scheme, reduced_motion="reduce") as page:
        page.get_by_role("button", name="Sdílet").click()
        page.locator("summary").first.click()
        assert findings(page) == []


@SCHEMES
def test_a_narrow_screen(chromium: Browser, app: App, scheme: str) -> None:
    size = {"width": 390, "height": 844}
    with opened(chromium, app, color_scheme=scheme, viewport=size, reduced_motion="reduce") as page:
        go(page, "red-ball", "layer=13&head=8&q=33&k=19")
        for tab in ("text", "details", "map"):
            page.get_by_role("tab", name=tab).click()
            assert findings(page) == [], tab


def test_a_listener_is_told_what_is_there(chromium: Browser, app: App) -> None:
    """The accessibility tree: landmarks, names, states in words."""
    with opened(chromium, app) as page:
        go(page, "red-ball", "layer=13&head=8")
        expect(page.get_by_role("application")).to_have_accessible_name(
            "Attention map, 64 queries down, 64 keys across. Arrows move, Enter opens a cell, R a row, "
            "K a column, question mark lists all keys."
        )
        expect(page.get_by_role("button", name="as recorded", pressed=True)).to_be_visible()
        expect(page.get_by_role("combobox", name="scale")).to_have_value("log")
        page.get_by_role("application").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("r")
        expect(page.get_by_role("status").filter(has_text="is chosen")).to_have_count(1)
        expect(page.get_by_role("main")).to_have_count(1)
        expect(page.get_by_role("banner")).to_have_count(1)
        page.goto(app.base + "#/paper")
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="venku")).first
        expect(row).to_be_visible()
        expect(page.get_by_role("switch", name="Causal mask", checked=True)).to_be_visible()
        expect(page.get_by_role("button", name="venku gives kočka 0.309")).to_have_count(1)


def test_every_page_is_reached_and_left_by_tab(chromium: Browser, app: App) -> None:
    with opened(chromium, app) as page:
        for fragment in ("#/", "#/pub"):
            page.goto("about:blank")
            page.goto(app.base + fragment)
            expect(page.locator("h1")).to_be_visible()
            page.keyboard.press("Tab")
            expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
            page.keyboard.press("Enter")
            expect(page.get_by_role("main")).to_be_focused()
        page.goto(app.base + "#/")
        link = page.get_by_role("link", name="red-ball")
        expect(link).to_be_visible()
        for _ in range(60):
            if link.evaluate("e => e === document.activeElement"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        drawn(page)
        expect(page.locator("nav strong")).to_have_text("red-ball")
