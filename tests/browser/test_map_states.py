"""States of the map page that are easily missed: several texts, a slow machine, a refusal, both languages."""

import re

import numpy as np
import pytest
from map_page import TEXTS, App, colours, drawn, go, id_of, next_picture, opened, row_label, state
from playwright.sync_api import Browser, Locator, Page, Route, expect

import pozor

pytestmark = pytest.mark.browser


def inspector(page: Page):
    return page.locator("#panel-inspector section[data-kind]")


def plain(heading: Locator) -> str:
    """What a heading says, without the marks that keep writing directions apart."""
    return heading.inner_text().translate({0x2068: None, 0x2069: None})


# --- a recording with several texts


def test_each_text_of_a_recording_has_its_own_map(on_map: Page, app: App) -> None:
    recording = pozor.open(app.folder / "two.pozor")
    go(on_map, "two", "head=1")
    expect(on_map.locator(".axis.y button")).to_have_count(3)
    on_map.locator("nav label", has_text="text").locator("select").select_option("dog.txt")
    drawn(on_map)
    assert state(on_map) == {"head": "1", "item": "1"}
    expect(on_map.locator(".running")).to_have_text("A dog slept, the dog woke")
    expect(on_map.locator(".axis.y button")).to_have_count(7)
    row_label(on_map, 2).click()
    probs = recording.map(0, 1, item=1).row(2)  # " slept"
    lines = inspector(on_map).locator("ol button.line")
    expect(lines).to_have_count(7)
    assert [int(text.split()[0]) for text in lines.all_inner_texts()] == np.argsort(-probs).tolist()
    # the word that stands twice is told apart by its place
    told = plain(inspector(on_map).locator("article h2"))
    assert re.findall(r"“dog”(?:\xa0\(\d\))?", told) == [
        f"“dog”\xa0({i})" for i in np.argsort(-probs)[:4] if i in (1, 5)
    ]
    on_map.reload()
    drawn(on_map)
    expect(inspector(on_map).locator("article h2")).to_contain_text("looks")
    assert plain(inspector(on_map).locator("article h2")).startswith("“slept” looks")
    # back to the shorter text: what was chosen may not be in it, so nothing is
    on_map.locator("nav label", has_text="text").locator("select").select_option("beer.txt")
    drawn(on_map)
    expect(on_map.locator(".axis.y button")).to_have_count(3)
    assert state(on_map) == {"head": "1"}


def test_home_counts_the_texts(on_map: Page) -> None:
    row = on_map.locator("tbody tr").filter(has=on_map.get_by_role("link", name="two"))
    expect(row).to_contain_text(f"{max(map(len, TEXTS.values()))}")
    expect(row).to_contain_text("2 texts")


# --- words


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_the_working_names_words_as_the_page_does(chromium: Browser, app: App, lang: str) -> None:
    with opened(chromium, app, locale={"cs": "cs-CZ", "en": "en-US"}[lang]) as page:
        go(page, "red-ball", "layer=13&head=8&q=33&k=19")
        working = inspector(page).locator(".w-working")
        expect(working).to_be_visible()
        names = set(working.locator(".w-token").all_text_contents())
        assert {"it", "ball"} <= names
        assert not [name for name in names if name.startswith("␣")]
        # by_hand and the page say the same about the row
        said = plain(inspector(page).locator("article h2").first)
        assert said.startswith(
            {"cs": "„it“ se dívá hlavně na: „ball“\xa0(19)", "en": "“it” looks mainly at “ball”\xa0(19)"}[
                lang
            ]
        )
        assert "47\xa0%" in said


def test_a_token_that_is_a_space_keeps_its_mark_in_the_working(on_map: Page) -> None:
    go(on_map, "strange", "q=6&k=7")
    names = set(inspector(on_map).locator(".w-working .w-token").all_text_contents())
    assert {"␣", "␣␣"} <= names


# --- a slow machine: what is said to be drawn is on the screen, and no picture in between is empty

WATCH = """() => {
    window.blank = []; window.pictures = 0;
    const filled = canvas => {
        const copy = document.createElement('canvas');
        copy.width = copy.height = 32;
        const pen = copy.getContext('2d');
        pen.drawImage(canvas, 0, 0, 32, 32);
        return pen.getImageData(0, 0, 32, 32).data.some((value, i) => i % 4 === 3 && value > 0);
    };
    // the drawing buffer holds its picture until the browser has shown it: look in the same task
    new MutationObserver(changes => {
        for (const { target, attributeName } of changes) {
            const host = target.closest('.host');
            const said = host?.dataset.drawn ?? '';
            const resized = target.matches('canvas.tiles');
            if (!/\\|fine\\|[1-9]/.test(said) || !(resized || target === host)) continue;
            window.pictures += 1;
            if (!filled(host.querySelector('canvas.tiles'))) window.blank.push([attributeName, said]);
        }
    }).observe(document.documentElement,
        { subtree: true, attributes: true, attributeFilter: ['data-drawn', 'width', 'height'] });
}"""


@pytest.mark.parametrize("webgl", [True, False])
def test_no_picture_is_blank(chromium: Browser, app: App, webgl: bool) -> None:
    with opened(chromium, app, webgl=webgl) as page:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.evaluate(WATCH)
        go(page, "peak", "scale=linear")
        page.set_viewport_size({"width": 1100, "height": 700})  # empties a canvas
        next_picture(page)
        drawn(page)
        page.get_by_role("button", name="causal").click()
        drawn(page)
        page.keyboard.press("+")
        drawn(page)
        assert page.evaluate("window.pictures") > 5
        assert page.evaluate("window.blank") == []
        box = page.locator("[role=application]").bounding_box()
        assert box is not None
        seen = set(
            colours(page, [(box["x"] + 10, box["y"] + y) for y in range(10, int(box["height"] / 2), 10)])
        )
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert tuple(paper) not in seen


def test_the_old_picture_stays_until_the_next_one_is_here(on_map: Page) -> None:
    go(on_map, "red-ball", "layer=13&head=8")
    waiting: list[Route] = []
    on_map.route("**/tile?**", lambda route: waiting.append(route))
    on_map.keyboard.press(",")
    expect(on_map.locator("[role=application]")).to_have_attribute("aria-busy", "true")
    next_picture(on_map)
    box = on_map.locator("[role=application]").bounding_box()
    assert box is not None
    assert len(set(colours(on_map, [(box["x"] + 3, box["y"] + y) for y in range(3, 400, 9)]))) > 5
    for route in waiting:
        route.continue_()
    on_map.unroute("**/tile?**")
    drawn(on_map)
    expect(on_map.locator("[role=application]")).to_have_attribute("aria-busy", "false")


# --- trouble, in the reader's language


def test_a_refused_question_is_told_in_the_readers_language(chromium: Browser, app: App) -> None:
    with opened(chromium, app, expected="400", locale="cs-CZ") as page:
        refusal = {"status": 400, "json": {"error": "layer must be one of 0 to 29; got 77."}}
        page.route("**/map?**", lambda route: route.fulfill(**refusal))
        page.goto(f"{app.base}#/map/{id_of(page, 'red-ball')}")
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("Server odmítl, oč stránka žádala: layer must be one of")
        expect(alert.locator("[lang=en]")).to_have_text("layer must be one of 0 to 29; got 77.")
        page.get_by_role("button", name="en", exact=True).click()
        expect(alert).to_contain_text("The server refused what the page asked for: layer must be one of")


def test_a_path_that_leads_nowhere_or_to_no_recording(chromium: Browser, app: App) -> None:
    with opened(chromium, app, expected="40", locale="cs-CZ") as page:
        field, alert = page.get_by_label("Otevřít záznam odjinud"), page.get_by_role("alert")
        field.fill("/nikde/nic.pozor")
        field.press("Enter")
        expect(alert).to_have_text(
            "Na cestě /nikde/nic.pozor žádný záznam není. Záznam je složka JMENO.pozor; napište cestu k ní."
        )
        field.fill(str(app.folder / "damaged.pozor"))
        field.press("Enter")
        expect(alert).to_contain_text("Tohle se jako záznam otevřít nedá:")
        expect(alert.locator("[lang=en]")).to_contain_text("recording.json")
        page.get_by_role("button", name="en", exact=True).click()
        expect(alert).to_contain_text("This cannot be opened as a recording:")
        # the list says the same about the one in the folder, and opens nothing
        row = page.locator("tbody tr").filter(has_text="damaged")
        expect(row).to_contain_text("cannot be opened:")
        expect(row.get_by_role("link")).to_have_count(0)
