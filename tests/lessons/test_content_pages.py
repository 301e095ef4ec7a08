"""Lessons 2 to 5 in Chromium: golden numbers read back, a program pasted twice, keyboard, phone, axe."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from content_pages import AXE, LANGUAGES, NAMES, golden
from playwright.sync_api import Browser, Page, expect

from notebook import base, serving
from pozor.viewer.lessons import Lessons

pytestmark = pytest.mark.browser
PATIENCE = 60_000  # milliseconds: a page's kernel starts first
PROGRAM = """
import numpy as np

words = ["pan", "švejk", "vypil", "pivo", "v", "hospodě"]
Q = np.array([[0, 0, 0, 0], [0, 0, 0, 3], [3, 3, 0, 0], [0, 0, 0, 3], [0, 0, 3, 0], [0, 0, 0, 0]])
K = np.array([[3, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 3], [0, 3, 0, 0], [0, 0, 1, 0], [0, 0, 3, 0]])
scores = Q @ K.T / 2
probs = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
word = "pivo"
print(word, {w: f"{p:.0%}" for w, p in zip(words, probs[words.index(word)])})
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Lessons]:
    """pozor's own lessons, to one reader."""
    with serving(None) as lessons:
        yield lessons


@contextmanager
def opened(chromium: Browser, served: Lessons, name: str, lang: str, **options: object) -> Iterator[Page]:
    """A lesson's page whose cells have all run."""
    context = chromium.new_context(locale=lang, **options)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    try:
        page.goto(f"{base(served)}/?token={served.token}")
        page.goto(f"{base(served)}/lessons/{name}/?lang={lang}")
        page.locator(".pozor-next").wait_for()
        page.wait_for_function("document.querySelectorAll('[data-status=running]').length === 0")
        yield page
    finally:
        context.close()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_its_numbers_and_fits_a_phone(
    chromium: Browser, served: Lessons, name: str, lang: str
) -> None:
    scheme = "light" if lang == "cs" else "dark"
    with opened(chromium, served, name, lang, color_scheme=scheme, reduced_motion="reduce") as page:
        words = page.locator("body").inner_text()
        assert [number for number in golden(name, lang) if number not in words] == []
        assert "internal error" not in words
        assert page.locator("h1").count() == 1
        if AXE.is_file():
            assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function("document.documentElement.scrollWidth <= 390")
        beyond = page.evaluate(BEYOND)
        assert beyond == []


# parts of a lesson that a narrow page cuts off
PARTS = ".markdown, .pozor-figure, .w-table, marimo-anywidget, marimo-slider, marimo-dropdown"
BEYOND = f"""() => [...document.querySelectorAll("{PARTS}")]
    .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
    .map(part => part.outerHTML.slice(0, 200))"""


def serious(page: Page) -> list[Any]:
    """What axe-core calls serious or critical."""
    page.wait_for_function(NAMED)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"]][:4])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


# the editor has got its name: the page's own script gives it a little later
NAMED = """() => document.querySelector("marimo-form")?.shadowRoot?.querySelector("marimo-code-editor")
    ?.shadowRoot?.querySelector(".cm-content")?.getAttribute("aria-label")"""


def paste(page: Page, source: str) -> None:
    """Replace the whole program and run it, by keyboard."""
    editor = page.locator(".cm-content").first
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.get_by_role("button", name="Spustit").first.press("Enter")


def test_the_pub_by_hand(chromium: Browser, served: Lessons) -> None:
    with opened(chromium, served, "self_attention", "cs") as page:
        # the same program twice, changed in between
        shown = page.locator(".pozor-output pre").first
        paste(page, PROGRAM)
        expect(shown).to_contain_text("'vypil': '95%'", timeout=PATIENCE)
        paste(page, PROGRAM.replace('word = "pivo"', 'word = "v"'))
        expect(shown).to_contain_text("'hospodě': '91%'", timeout=PATIENCE)
        expect(shown).not_to_contain_text("'vypil': '95%'")
        # the map, by keyboard
        page.mouse.move(0, 0)
        held = page.locator("marimo-anywidget", has=page.get_by_role("switch", name="maska")).first
        expect(held).to_contain_text("„vypil“ se dívá hlavně na: „pan“ 33 %, „švejk“ 33 %, „pivo“ 33 %")
        held.get_by_role("switch", name="maska").press("Enter")
        expect(held).to_contain_text("„pan“ 50 %, „švejk“ 50 %")
        # the ear listens to another table
        picture = page.locator(".pozor-figure svg[role=img]").first
        expect(picture).to_have_attribute("aria-label", re.compile(r"stůl u.okna \(houby\): 79"))
        page.get_by_label("zajímá vás").select_option("svatba")
        expect(picture).to_have_attribute("aria-label", re.compile(r"stůl u.kamen \(svatba\): 79"))


def test_the_lessons_own_program_says_where_v_looks(chromium: Browser, served: Lessons) -> None:
    with opened(chromium, served, "self_attention", "en") as page:
        page.locator(".cm-line", has_text='word = "pivo"').first.click()
        page.keyboard.press("End")
        page.keyboard.press("Shift+Home")
        page.keyboard.insert_text('word = "v"')
        page.get_by_role("button", name="Run").first.press("Enter")
        shown = page.locator(".pozor-output pre").first
        expect(shown).to_contain_text(re.compile(r"hospodě +91 %"), timeout=PATIENCE)


def test_hiding_the_subject_takes_the_answer(chromium: Browser, served: Lessons) -> None:
    with opened(chromium, served, "found_by_itself", "cs") as page:
        expect(page.locator("body")).to_contain_text("Správně je „četla“")
        page.get_by_role("switch").press("Space")
        expect(page.locator("body")).to_contain_text("Klíč slova „sestra“ teď žádné pozdější slovo nevidí")


def test_blocks_are_walked_through(chromium: Browser, served: Lessons) -> None:
    with opened(chromium, served, "never_stored", "cs") as page:
        page.locator("marimo-slider", has_text="krok").get_by_role("slider").press("ArrowRight")
        expect(page.locator("body")).to_contain_text("Hotovo. Výstup je s děleno ℓ: 44,383 ÷ 1,203 = 36,881")
