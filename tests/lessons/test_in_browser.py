"""The pages in Chromium: nothing from elsewhere, no breach of the policy, programs that run, steps by key."""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from notebook import base, serving, write
from pozor.viewer.lessons import Lessons

pytestmark = pytest.mark.browser

expect.set_options(timeout=20_000)


@contextmanager
def opened(browser: Browser, lessons: Lessons, path: str = "", **options: Any) -> Iterator[Page]:
    """A page in a context of its own; an error or a request elsewhere fails the test."""
    context = browser.new_context(locale="cs-CZ", **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    wrong: list[str] = []
    own = (base(lessons), "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(own) else wrong.append(r.url))
    page.on("response", lambda r: wrong.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{base(lessons)}/?token={lessons.token}")
    if path:
        page.goto(f"{base(lessons)}/{path}")
    yield page
    context.close()
    assert wrong == []


def program(page: Page, source: str) -> None:
    """Replace the program in the editor and run it."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.get_by_role("button", name="Run").click()


def test_a_failing_cell_is_told_in_the_language_of_the_page(chromium: Browser, tmp_path: Path) -> None:
    with (
        serving(write(tmp_path, "failing")) as lessons,
        opened(chromium, lessons, "lessons/failing/?lang=cs") as page,
    ):
        expect(page.get_by_text("Kus lekce se nepovedlo spočítat.")).to_be_visible()
        expect(page.get_by_text("Chyba je u nás, ne u vás.")).to_be_visible()
        expect(page.get_by_text("See console")).to_have_count(0)
        assert "ZeroDivisionError: division by zero" in lessons.complaints


def test_an_editor_takes_the_width_of_a_phone_and_its_button_no_colour(
    chromium: Browser, alone: Lessons
) -> None:
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
    with opened(chromium, alone, "lessons/small/?lang=en", **phone) as page:
        page.locator(".cm-content").click()
        page.keyboard.type("2")  # marimo lights the button once the program is another
        sides = "e => [e.getBoundingClientRect().left, innerWidth - e.getBoundingClientRect().right]"
        column = page.locator(".pozor-top").evaluate(sides)
        assert page.locator(".cm-editor").evaluate(sides) == pytest.approx(column, abs=1.5)  # but its border
        colours = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
        ground, ink = page.get_by_role("button", name="Run").evaluate(colours)
        assert re.fullmatch(r".*[ ,]0\)", ground), ground  # nothing but the paper behind it
        assert re.search(r"232, 230, 225|0\.9098\d* 0\.9019\d* 0\.8823\d*", ink), ink


def test_a_lesson_speaks_both_languages_and_answers_its_slider(chromium: Browser, alone: Lessons) -> None:
    with opened(chromium, alone, "lessons/small/?lang=en") as page:
        expect(page.get_by_text("There are 0 steps, the row is [0.309, 0.297, 0.394].")).to_be_visible()
        slider = page.get_by_role("slider")
        slider.focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("There are 1 steps")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        page.get_by_role("link", name="česky").click()
        expect(page.locator("html")).to_have_attribute("lang", "cs")
        expect(page).to_have_title(re.compile(r".+ · pozor$"))
        expect(page.get_by_text("Kroků je 0, řádek [0,309; 0,297; 0,394].")).to_be_visible()


def test_a_program_is_pasted_changed_and_run_twice(chromium: Browser, alone: Lessons) -> None:
    with opened(chromium, alone, "lessons/small/?lang=en") as page:
        for word in ("ahoj", "nazdar"):
            program(page, f"seen = 'x' in globals()\nx = 1\nprint('{word}', seen)\nx + 1")
            expect(page.locator(".pozor-output .printed")).to_have_text(f"{word} False\n")
            expect(page.locator(".pozor-output .value")).to_have_text("2")


def test_a_loop_is_stopped_and_an_error_is_told(chromium: Browser, alone: Lessons) -> None:
    with opened(chromium, alone, "lessons/small/?lang=en") as page:
        program(page, "print('on its way')\nwhile True: pass")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".pozor-output .note")).to_have_text("You stopped the program.")
        program(page, "print(1)\nnothing")
        expect(page.locator(".pozor-output .error")).to_contain_text(
            "NameError: name 'nothing' is not defined"
        )


def test_the_page_of_a_class_shows_the_program_and_no_editor(chromium: Browser, school: Lessons) -> None:
    with opened(chromium, school, "lessons/small/?lang=cs") as page:
        expect(page.get_by_text("Kroků je 0")).to_be_visible()
        expect(page.get_by_text("typed code ran")).to_be_visible()
        assert page.locator("marimo-code-editor, .cm-editor").count() == 0
        assert page.get_by_role("button", name="Spustit").count() == 0


def test_the_next_step_comes_by_key(chromium: Browser, alone: Lessons) -> None:
    with opened(chromium, alone, "lessons/small/?lang=en", viewport={"width": 1000, "height": 500}) as page:
        expect(page.get_by_text("There are 0 steps")).to_be_visible()
        page.locator("body").click(position={"x": 5, "y": 5})
        seen = set()
        for key in ("ArrowRight", "PageDown", " "):
            page.keyboard.press(key)
            expect(page.locator("[data-pozor-current]")).to_have_count(1)
            page.wait_for_timeout(600)
            seen.add(page.locator("[data-pozor-current]").inner_text())
        assert len(seen) == 2  # the heading, then the way on; further there is nothing
        assert page.locator(".output-area").first.evaluate("area => getComputedStyle(area).zoom") == "1.5"
        page.locator(".cm-content").click()
        before = page.locator("[data-pozor-current]").inner_text()
        page.keyboard.press("ArrowRight")  # moves the cursor in the program, not the page
        assert page.locator("[data-pozor-current]").inner_text() == before


def test_progress_is_this_browsers_and_can_be_taken_away(
    chromium: Browser, school: Lessons, tmp_path: Path
) -> None:
    from pozor.exercises import catalog

    first = next(exercise for exercise in catalog() if exercise.lesson == 0)
    kept = {first.id: {"right": True, "tries": 2, "at": "2026-11-30T08:00:00.000Z"}}
    with opened(chromium, school) as page:
        page.evaluate("kept => localStorage.setItem('pozor.progress', kept)", json.dumps(kept))
        page.goto(f"{base(school)}/?lang=cs")
        expect(page.locator("[data-pozor-lesson='0']")).to_have_text(re.compile(r"^1 z \d+ úloh hotovo$"))
        with page.expect_download() as told:
            page.get_by_role("button", name="Stáhnout výsledky").click()
        path = tmp_path / "progress.csv"
        told.value.save_as(path)
        lines = path.read_text(encoding="utf-8").splitlines()
        assert told.value.suggested_filename == "pozor-vysledky.csv"
        assert lines[0] == "exercise,lesson,right,tries,at"
        assert f"{first.id},0,1,2,2026-11-30T08:00:00.000Z" in lines
        assert len(lines) == 1 + len(catalog())
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Začít znovu").click()
        expect(page.locator("[data-pozor-lesson='0']")).to_have_text(re.compile("^0 z"))
    with opened(chromium, school, "?lang=cs") as page:
        expect(page.get_by_text("napsaný kód se tu nespouští")).to_be_visible()


def test_the_start_page_fits_a_phone(chromium: Browser, alone: Lessons) -> None:
    with opened(chromium, alone, "?lang=cs", viewport={"width": 360, "height": 700}) as page:
        expect(page.get_by_role("heading", name="Učíme se pozornost")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.goto(f"{base(alone)}/lessons/small/?lang=cs")
        expect(page.get_by_text("Kroků je 0")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_page_whose_process_is_gone_says_what_to_do(chromium: Browser, small: Path) -> None:
    with serving(small) as lessons:
        context = chromium.new_context(locale="cs-CZ", viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.goto(f"{base(lessons)}/?token={lessons.token}")
        page.goto(f"{base(lessons)}/lessons/small/?lang=cs")
        expect(page.get_by_role("slider")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        os.kill(lessons.pid or 0, signal.SIGKILL)
        expect(page.get_by_role("alert")).to_contain_text("Lekce neodpovídá")
        expect(page.get_by_role("button", name="Obnovit stránku")).to_be_visible()
        expect(page.get_by_text("kernel not found")).to_be_hidden()  # marimo's words for it
        expect(page.get_by_role("button", name="Reconnect to app")).to_be_hidden()
        context.close()
