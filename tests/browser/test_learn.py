"""Exercises and lessons in the app: solved by keyboard, kept, counted; the lessons' process may end."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import findings
from map_page import App, opened, serving
from playwright.sync_api import Browser, Page, expect

from pozor import exercises
from pozor.lessons.catalog import LESSONS

pytestmark = pytest.mark.browser
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])
CZECH = {"locale": "cs-CZ"}
SLOW = 90_000  # milliseconds until a lesson's process answers on a busy machine


def solve(page: Page, answer: str) -> None:
    """Type an answer and check it."""
    page.locator(".exercise form input, .exercise form textarea").first.fill(answer)
    page.locator(".exercise .check").click()


def test_an_exercise_is_solved_with_the_keyboard_alone(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/exercises", **CZECH) as page:
        line = page.locator('[data-line="divisor"]')
        line.locator("summary").first.focus()
        page.keyboard.press("Enter")
        field = line.locator("form input")
        expect(field).to_be_visible()
        for _ in range(3):
            page.keyboard.press("Tab")
            if field.evaluate("e => e === document.activeElement"):
                break
        expect(field).to_be_focused()
        page.keyboard.type("16")
        page.keyboard.press("Enter")
        expect(line.locator(".verdict")).to_contain_text("Ještě to není ono.")
        assert line.locator(".verdict").get_attribute("data-diagnosis") != ""  # d itself, not its root
        expect(line.locator('[role="status"]').first).to_contain_text("Ještě to není ono.")
        page.keyboard.press("Control+A")
        page.keyboard.type("4")
        page.keyboard.press("Enter")
        expect(line.locator(".verdict")).to_contain_text("Správně.")
        expect(line.locator("summary").first).to_contain_text("vyřešeno")
        page.keyboard.press("Tab")  # the button
        page.keyboard.press("Tab")  # the first hint
        page.keyboard.press("Enter")
        expect(line.locator(".hints li")).to_have_count(1)


def test_solutions_and_hints_come_when_asked_for(chromium: Browser, app: App) -> None:
    drawn = exercises.get("divisor").draw(7)
    with opened(chromium, app, "#/exercise/divisor?seed=7", **CZECH) as page:
        expect(page.locator("h1")).to_have_text(drawn.exercise.title["cs"])
        expect(page.locator(".hints")).to_have_count(0)
        for number, hint in enumerate(drawn.hints_html("cs"), start=1):
            page.get_by_role("button", name=re.compile("Nápověda")).click()
            expect(page.locator(".hints .said")).to_have_count(number)
            shown = page.locator(".hints .said").last.inner_html()
            assert re.sub(r"<!--.*?-->|\s+", "", shown) == re.sub(r"\s+", "", hint)
        expect(page.get_by_role("button", name=re.compile("Nápověda"))).to_have_count(0)
        page.locator(".exercise summary").click()
        expect(page.locator(".exercise details .said")).to_be_visible()


def test_new_numbers_are_kept_in_the_address_and_in_either_language(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/exercise/score", **CZECH) as page:
        text = page.locator(".exercise .said").first
        lesson = text.inner_text()
        page.get_by_role("button", name="Nová čísla").click()
        expect(text).not_to_have_text(lesson)
        seed = int(page.evaluate("location.hash").partition("seed=")[2])
        drawn = exercises.get("score").draw(seed)
        solve(page, str(drawn.answer).replace(".", ","))
        expect(page.locator(".verdict")).to_contain_text("Správně.")
        page.get_by_role("button", name="en", exact=True).click()
        expect(page.locator("h1")).to_have_text(drawn.exercise.title["en"])
        expect(page.locator(".verdict")).to_have_count(0)  # it spoke Czech
        page.reload()
        expect(page.locator("h1")).to_have_text(drawn.exercise.title["en"])
        assert f"seed={seed}" in page.evaluate("location.hash")
        page.get_by_role("button", name="Back to the lesson's numbers").click()
        expect(page.get_by_role("button", name="Back to the lesson's numbers")).to_have_count(0)
        assert "seed" not in page.evaluate("location.hash")


def test_a_sentence_is_answered_with_what_is_in_it_and_what_is_missing(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/exercise/first-token-why", **CZECH) as page:
        solve(page, "maska mu zakryje budoucnost")
        expect(page.locator(".verdict li").first).to_be_visible()
        assert "špatně" not in page.locator(".verdict").inner_text().lower()
        model = exercises.get("first-token-why").draw().model("cs")
        assert model is not None
        expect(page.locator(".verdict .said")).to_have_text(model)


def test_progress_is_counted_downloaded_and_forgotten(chromium: Browser, app: App, tmp_path: Path) -> None:
    with opened(chromium, app, "#/exercise/row-sum", **CZECH) as page:
        solve(page, "1")
        expect(page.locator(".verdict")).to_contain_text("Správně.")
        page.goto(app.base + "#/")
        of = sum(exercise.lesson == exercises.get("row-sum").lesson for exercise in exercises.catalog())
        lesson = page.locator(f'[data-lesson="{exercises.get("row-sum").lesson}"]')
        expect(lesson).to_contain_text(f"hotovo 1 z {of} úloh".replace(" z ", " z\xa0"))
        page.goto(app.base + "#/exercises")
        with page.expect_download() as download:
            page.get_by_role("button", name="Výsledky jako CSV").click()
        file = tmp_path / "progress.csv"
        download.value.save_as(file)
        lines = file.read_text(encoding="utf-8-sig").splitlines()
        assert lines[0] == "exercise,lesson,right,tries,at"
        assert len(lines) == 1 + len(exercises.catalog())
        assert next(line for line in lines if line.startswith("row-sum,")).startswith("row-sum,0,1,1,2")
        # a page on another port knows it by the cookie
        page.evaluate("localStorage.removeItem('pozor.progress')")
        page.reload()
        expect(page.locator('[data-line="row-sum"] summary').first).to_contain_text("vyřešeno")
        page.get_by_role("button", name="Zapomenout výsledky").click()
        expect(page.get_by_role("button", name="Nechat")).to_be_focused()
        page.get_by_role("button", name="Zapomenout", exact=True).click()
        expect(page.locator('[data-line="row-sum"] summary').first).to_contain_text("čeká")
        page.reload()
        expect(page.locator('[data-line="row-sum"] summary').first).to_contain_text("čeká")


def test_every_exercise_opens_in_both_languages(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/exercises") as page:
        expect(page.locator("[data-line]")).to_have_count(len(exercises.catalog()))
        for exercise in exercises.catalog():
            page.evaluate("where => { location.hash = where }", f"#/exercise/{exercise.id}")
            expect(page.locator("h1")).to_have_text(exercise.title["en"])
            asks = (
                "fieldset"
                if exercise.kind == "tokens"
                else "textarea"
                if exercise.kind == "sentence"
                else "input"
            )
            expect(page.locator(f".exercise form {asks}").first).to_be_visible()
            width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert width <= room, exercise.id


def test_an_unknown_exercise_is_said(chromium: Browser, app: App) -> None:
    with opened(chromium, app, "#/exercise/nothing", expected="400") as page:
        expect(page.get_by_role("alert")).to_have_text("There is no exercise “nothing”.")


@SCHEMES
@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_for_those_who_listen(chromium: Browser, app: App, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    with opened(chromium, app, "#/exercises", color_scheme=scheme, viewport=size, **CZECH) as page:
        for id in ("row-sum", "most-alike", "first-token-why", "weights-row"):
            page.locator(f'[data-line="{id}"] summary').first.click()
        expect(page.locator(".exercise form")).to_have_count(4)
        page.locator(".exercise .check").first.click()
        assert findings(page) == []
        page.goto(app.base + "#/exercise/first-token-why?seed=3")
        expect(page.locator(".exercise form textarea")).to_be_visible()
        solve(page, "maska")
        expect(page.locator(".verdict")).to_be_visible()
        page.locator(".more button").first.click()
        page.locator(".exercise summary").click()
        expect(page.locator(".exercise details .said")).to_be_visible()
        assert findings(page) == []
        page.goto(app.base + "#/")
        expect(page.locator("[data-lesson]")).to_have_count(len(LESSONS))
        assert findings(page) == []
        wide, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= room


# ---- lessons


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An app whose lessons may be killed."""
    with serving(tmp_path_factory.mktemp("lessons")) as running:
        yield running


def child(app: App) -> int:
    """The process of the lessons."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(app.process.pid)], capture_output=True, text=True, check=True
    )
    (line,) = [line for line in listed.stdout.splitlines() if "pozor.lessons" in line]
    return int(line.split()[0])


@pytest.mark.skipif(os.name != "posix", reason="needs ps and SIGKILL")
def test_a_lesson_opens_and_its_end_is_said(chromium: Browser, own: App) -> None:
    context = chromium.new_context(locale="cs-CZ")
    page = context.new_page()
    page.goto(own.url)
    page.locator('[data-lesson="2"] button').click()
    page.wait_for_url(re.compile("/self_attention/"), timeout=SLOW)
    exercise = page.locator(".exercise").first
    expect(exercise.locator("form")).to_be_visible(timeout=SLOW)
    field = exercise.locator("textarea, input").first
    field.check() if field.get_attribute("type") == "checkbox" else field.fill("1")
    exercise.locator(".check").click()
    expect(exercise.locator(".verdict")).to_be_visible()
    tried = exercise.get_attribute("data-exercise")
    page.goto(own.base)
    # what was tried there is known here, on another port
    page.goto(own.base + "#/exercises")
    expect(page.locator(f'[data-line="{tried}"] summary').first).to_contain_text(re.compile("pokus|vyřešeno"))
    page.goto(own.base + "#/")
    os.kill(child(own), signal.SIGKILL)
    expect(page.get_by_role("alert")).to_contain_text("SIGKILL", timeout=15_000)
    expect(page.locator("tbody tr").first).to_be_visible()  # the app goes on
    page.get_by_role("button", name="Spustit je znovu").click()
    page.wait_for_url(re.compile("/lessons/"), timeout=SLOW)
    context.close()
