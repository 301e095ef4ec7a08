"""The exported site: its wheel runs without what a browser lacks; its pages show with no network at all."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from pozor.cli import main
from pozor.errors import OptionError
from pozor.language import LANGUAGES
from pozor.lessons import catalog, wheel
from pozor.lessons.export import export_site

ABSENT = (
    "starlette",
    "uvicorn",
    "typer",
    "rich",
    "torch",
    "transformers",
    "matplotlib",
    "playwright",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warm-up, exported."""
    folder = tmp_path_factory.mktemp("export") / "site"
    said: list[str] = []
    export_site(str(folder), lang="cs", lessons=(catalog.get(0),), say=said.append)
    assert "Lekce Rozcvička (cs) je napsaná." in said
    return folder


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """`serve.py` of the site, on a free port, opening no browser."""
    code = "import webbrowser, runpy, sys; webbrowser.open = print; sys.argv[:] = ['serve.py', '0']; "
    code += f"runpy.run_path({str(site / 'serve.py')!r}, run_name='__main__')"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def opened(browser: Browser, address: str) -> tuple[Page, list[str]]:
    """A page whose browser reaches nothing but the site; what it asked for elsewhere."""
    context = browser.new_context(locale="cs-CZ")
    page = context.new_page()
    asked: list[str] = []

    def elsewhere(route: object) -> None:
        asked.append(route.request.url)  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    context.route(lambda url: not url.startswith((address.rpartition("/")[0], "data:", "blob:")), elsewhere)
    return page, asked


def test_a_page_shows_text_map_and_exercises_without_any_network(chromium: Browser, served: str) -> None:
    page, asked = opened(chromium, served)
    page.goto(served)
    page.get_by_role("link", name="Rozcvička").click()
    expect(page.get_by_role("heading", name="Rozcvička")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Python se do této stránky nenačetl")).to_be_visible(timeout=30_000)
    for url in asked:
        if "pyodide" in url:
            break
    else:
        raise AssertionError(f"the page asked for no Python: {asked}")
    exercise = page.locator(".pozor-asleep", has_text="Kolik je [1; 0; 1] · [1; 1; 1]?")
    expect(exercise).to_be_visible()
    exercise.get_by_role("button", name="Řešení").or_(exercise.get_by_text("Řešení")).first.click()
    assert page.locator(".pozor-asleep").count() >= 2
    # maps answer to the reader though Python does not
    shown = page.locator(".pozor-asleep").first
    expect(shown).to_contain_text("%")
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", name="Warm-up")).to_be_visible(timeout=30_000)
    page.context.close()


def test_what_the_note_names_is_what_the_page_asks_for(chromium: Browser, served: str) -> None:
    page, asked = opened(chromium, served)
    page.goto(f"{served}warm_up.en.html")
    note = page.locator(".pozor-missing")
    expect(note).to_contain_text("Python did not load into this page", timeout=30_000)
    page.wait_for_timeout(2000)
    named = note.text_content() or ""
    for url in asked:
        assert url.partition("?")[0] in named or "/pypi/" in url, url
    page.context.close()


def test_every_file_that_a_page_names_is_there(site: Path) -> None:
    import re

    for html in site.glob("*.html"):
        text = html.read_text(encoding="utf-8")
        for found in re.findall(r'(?:src|href)="\./([^"?#]+)"', text):
            assert (site / found).exists(), (html.name, found)
    assert not (site / "CLAUDE.md").exists()
    for lang in LANGUAGES:
        text = (site / f"warm_up.{lang}.html").read_text(encoding="utf-8")
        assert f"lang%3D%22{lang}%22" in text or f'lang=\\"{lang}\\"' in text
        assert "pozor%20%40%20..%2Fpublic%2Fwheels%2Fpozor-" in text
        assert str(Path.home()) not in text
        assert str(catalog.HERE) not in text


def test_the_wheel_runs_the_lessons_with_nothing_that_a_browser_lacks(tmp_path: Path) -> None:
    built = wheel.build(tmp_path)
    with zipfile.ZipFile(built) as files:
        names = files.namelist()
        program = sum(entry.compress_size for entry in files.infolist() if "/data/" not in entry.filename)
        files.extractall(tmp_path / "in")
    assert not [name for name in names if name.endswith((".so", ".pyd")) or "/cli/" in name]
    assert program < 1_000_000  # beside the weights and the recording that lessons open
    notebooks = [str(lesson.notebook) for lesson in catalog.LESSONS if lesson.notebook.is_file()]
    code = f"""
import sys
for name in {ABSENT!r}:
    sys.modules[name] = None
sys.path.insert(0, {str(tmp_path / "in")!r})
# where pozor is installed to be edited, a finder of its own comes first
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]
import pozor
assert pozor.__file__.startswith({str(tmp_path)!r}), pozor.__file__
import runpy
for notebook in {notebooks!r}:
    runpy.run_path(notebook, run_name="__main__")
    print(notebook, "ran")
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.count(" ran") == len(notebooks), done.stderr[-2000:]


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["learn", "--export", str(tmp_path / "here")])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said == (
        f"pozor: --export must name a folder that is not there yet; {tmp_path / 'here'} is. Give another.\n"
    )
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["mine.txt"]


def test_a_folder_that_cannot_be_written_is_called_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    given = str(tmp_path / "file" / "site")
    with pytest.raises(SystemExit) as stop:
        main(["learn", "--export", given])
    assert stop.value.code == 2
    assert capsys.readouterr().err == (
        f"pozor: --export must name a folder that can be written; {given} cannot (File exists). "
        "Give another.\n"
    )


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder of Linux where nothing can be made")
def test_no_temporary_folder_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["learn", "--export", "/proc/x"])
    said = capsys.readouterr().err
    assert said.startswith("pozor: --export must name a folder that can be written; /proc/x cannot (")
    assert "part-" not in said


def test_what_belongs_to_an_export_needs_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["learn", "--offline"])
    assert stop.value.code == 2
    assert "--offline and --pyodide must come with --export." in capsys.readouterr().err
    with pytest.raises(OptionError, match="--pyodide must come with --offline"):
        export_site("x", pyodide="http://127.0.0.1/")


def test_a_lesson_that_fails_leaves_no_site(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "bad.py").write_text(
        "import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    1 / 0\n    return\n",
        encoding="utf-8",
    )
    bad = catalog.Lesson(1, "bad", {"cs": "Zlá", "en": "Bad"}, tmp_path)
    with pytest.raises(
        OptionError, match=r"A cell of bad\.py failed while it was exported \(.*division by zero"
    ):
        export_site(str(tmp_path / "site"), lessons=(bad,), say=lambda text: None)
    assert not (tmp_path / "site").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["notebooks"]
