"""The live page: a sentence is read, all heads are seen, and it goes on word by word."""

import re

import numpy as np
import pytest
from axe import findings
from map_page import App, opened
from playwright.sync_api import Browser, Page, expect

from pozor import lm

pytestmark = pytest.mark.browser
CZECH = {"locale": "cs-CZ"}
TEXT = "Pan Švejk seděl v hospodě a vypil pivo,"  # after a comma a new word begins
ADDRESS = "#/live?text=Pan+%C5%A0vejk+sed%C4%9Bl+v+hospod%C4%9B+a+vypil+pivo%2C&layer=2&head=1&seed=1"


def read(page: Page) -> list[str]:
    """The words on the side of the map."""
    expect(page.locator(".thumbs button canvas").first).to_be_visible()
    return page.locator("#head-map ~ svg text.word[text-anchor=end]").all_text_contents()


def test_the_map_shows_what_the_model_computes(chromium: Browser, app: App) -> None:
    model = lm.load("czech", dtype="float64")
    pieces = model.pieces(TEXT)
    probs = model.maps(TEXT)[2].row(len(pieces.ids) - 1, head=1)
    with opened(chromium, app, ADDRESS, **CZECH) as page:
        words = read(page)
        assert words[1:] == [*TEXT.removesuffix(",").split(), ","]
        expect(page.locator(".thumbs button")).to_have_count(len(model.layers) * model.config["num_heads"])
        expect(page.locator('.thumbs button[aria-pressed="true"]')).to_have_attribute("data-head", "2,1")
        # the last row by words: keys of a word add up
        said = page.locator(f"[data-cell^='{len(words) - 1},']").evaluate_all(
            "cells => cells.map(c => c.getAttribute('aria-label'))"
        )
        starts = [0] + [i for i in range(1, len(pieces.ids)) if i == 1 or pieces.tokens[i][0] in " ,"]
        for label, part in zip(said, np.add.reduceat(probs, starts), strict=True):
            assert f"{part * 100:.1f}".replace(".", ",") in label or part < 0.0005, (label, part)
        strongest = words[int(np.argmax(np.add.reduceat(probs, starts)))]
        expect(page.locator(".reading")).to_contain_text(f"dívá hlavně na: „{strongest}“")


def test_it_opens_on_a_head_whose_newest_row_looks_back(chromium: Browser, app: App) -> None:
    model = lm.load("czech", dtype="float64")
    with opened(chromium, app, "#/live", **CZECH) as page:
        read(page)
        text = page.locator(".written .running").inner_text().strip()
        at = page.locator('.thumbs button[aria-pressed="true"]').get_attribute("data-head")
        last = len(model.pieces(text).ids) - 1
        newest = model.pieces(text).tokens[last]
        assert newest == ":"  # a word of one piece, so that its own key is its last
        back = {}
        for layer, maps in enumerate(model.maps(text)):
            for head in range(model.config["num_heads"]):
                back[f"{layer},{head}"] = float(maps.row(last, head=head)[1:last].sum())
        assert at is not None
        assert back[at] == pytest.approx(max(back.values()), abs=1e-5)
        page.get_by_role("button", name="Další slovo").click()
        expect(page.locator(".running .word:not(.own)").first).to_be_attached(timeout=10_000)
        expect(page.locator('.thumbs button[aria-pressed="true"]')).to_have_attribute("data-head", at)


def test_it_goes_on_word_by_word_and_back(chromium: Browser, app: App) -> None:
    with opened(chromium, app, ADDRESS, **CZECH) as page:
        before = read(page)
        running = page.locator(".running")
        more = page.get_by_role("button", name="Další slovo")
        for many in (1, 2):
            more.click()
            expect(more).to_have_attribute("aria-disabled", "false")
            expect(page.locator(".running .word:not(.own)").nth(many - 1)).to_be_attached(timeout=10_000)
        after = read(page)
        assert len(after) >= len(before) + 1
        assert running.inner_text().startswith(TEXT)
        expect(page.locator(".running .word.row")).to_have_text(after[-1])  # the newest row
        page.get_by_role("button", name="Nechat psát").click()
        expect(page.locator(".running .word:not(.own)").nth(4)).to_be_attached(timeout=20_000)
        page.get_by_role("button", name="Zastavit").click()
        page.get_by_role("button", name="Zpět k mému textu").click()
        expect(running).to_have_text(TEXT)


def test_heads_and_rows_are_chosen_by_key(chromium: Browser, app: App) -> None:
    with opened(chromium, app, ADDRESS, **CZECH) as page:
        read(page)
        page.locator('[data-head="2,1"]').focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#head-map")).to_have_text("vrstva 3, hlava 1")
        assert "layer=3&head=1" in page.evaluate("location.hash")
        cell = page.locator("[data-cell='0,0']")
        cell.focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(".reading")).to_contain_text("„Švejk“")
        expect(page.locator(".running .word.row")).to_have_text("Švejk")


def test_another_sentence_is_read_and_too_long_a_one_refused(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/live", expected="400", **CZECH) as page:
        read(page)
        page.get_by_label("Česká věta").fill("Kočka spí venku")
        page.keyboard.press("Enter")
        expect(page.locator(".running")).to_have_text("Kočka spí venku")
        assert "text=Ko%C4%8Dka" in page.evaluate("location.hash")
        expect(page.locator("main")).to_contain_text("skoro samé nesmysly")
        page.get_by_label("Česká věta").fill("jůůů! " * 200)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("zkraťte ho")
        expect(page.locator(".running")).to_have_text("Kočka spí venku")


def test_a_session_that_the_server_let_go_is_read_again(chromium: Browser, app: App) -> None:
    with opened(chromium, app, ADDRESS, expected="404", **CZECH) as page:
        read(page)
        page.evaluate(
            """async () => { for (let i = 0; i < 17; i++) await fetch('api/live', { method: 'POST',
            headers: { 'content-type': 'application/json' }, body: '{"text": "pan"}' }); }"""
        )
        more = page.get_by_role("button", name="Další slovo")
        more.click()
        expect(more).to_have_attribute("aria-disabled", "false")
        more.click()
        expect(page.locator(".running .word:not(.own)")).not_to_have_count(0)
        expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_for_those_who_listen(chromium: Browser, app: App, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    with opened(chromium, app, ADDRESS, color_scheme=scheme, viewport=size) as page:
        read(page)
        page.get_by_role("button", name="Next word").click()
        expect(page.locator(".running .word:not(.own)")).not_to_have_count(0)
        assert findings(page) == []
        wide, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= room


def test_the_home_page_leads_there(chromium: Browser, app: App) -> None:
    with opened(chromium, app, **CZECH) as page:
        card = page.locator("[data-card=live]")
        expect(card.locator("canvas").first).to_be_visible()
        card.locator("input").fill("Pes a kočka")
        page.keyboard.press("Enter")
        expect(page.locator(".running")).to_have_text("Pes a kočka")
        assert re.search(r"#/live\?text=", page.url)
