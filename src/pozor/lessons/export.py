"""`pozor learn --export DIR`: the lessons as a folder of files that run their Python in the reader's browser.

marimo's export holds the outputs of a page, which so shows before Python runs, or without it;
`static/export.js` adds the widgets. What is used of marimo beyond its public interface is all in `_page`.
"""

import asyncio
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pozor.errors import BackendUnavailable, OptionError
from pozor.language import LANGUAGES, choose
from pozor.lessons import wheel
from pozor.lessons.catalog import HERE, Lesson
from pozor.lessons.frame import Places
from pozor.lessons.head import fonts, head
from pozor.lessons.settings import Settings
from pozor.lessons.start_page import start_page

WIDGETS = HERE.parent / "viewer" / "static"
START = re.compile(r'page\.start\(mo, "(\w+)"\)')
HEADER = """# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "anywidget", "numpy", "pozor @ ../public/wheels/{wheel}"]
# ///
"""
WORDS = {
    "cs": {
        "missing": "Python se do této stránky nenačetl, protože nejde stáhnout, co je vypsané níž. Text, "
        "mapy a zadání úloh platí i tak; posuvníky a kontrola odpovědí čekají na Python.",
        "asleep": "Tohle umí až Python a ten se do stránky nenačetl.",
        "note": "Lekce běží celé ve vašem prohlížeči. Otevírejte je přes web, na tomto počítači příkazem "
        "python serve.py.",
        "writing": "Píšu lekci {title} ({lang})…",
        "done": "Hotovo: {folder}. Prohlédnete si je příkazem python {serve}",
    },
    "en": {
        "missing": "Python did not load into this page, because what is listed below could not be fetched. "
        "Text, maps and exercises are valid all the same; sliders and checks of answers wait for Python.",
        "asleep": "Python does this, and it did not load into the page.",
        "note": "The lessons run in your browser alone. Open them over the web, on this machine with "
        "python serve.py.",
        "writing": "Writing the lesson {title} ({lang})…",
        "done": "Done: {folder}. Look at it with python {serve}",
    },
}


def export_site(
    folder: str,
    *,
    lang: str | None = None,
    code: str | None = None,
    offline: bool = False,
    pyodide: str | None = None,
    lessons: tuple[Lesson, ...] | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """Write the site.

    Args:
        folder: A folder that is not there yet, or is empty.
        lang: Of the page that opens first; both languages are in the site. None: the locale's.
        code: Given, no solution is in the site: there is nobody in it who could ask for a code.
        offline: Bundle Python and its packages too; needs a network while it writes.
        pyodide: With offline, the address of a mirror of Pyodide.
        lessons: Left out: all.
        say: Is told what is being written.

    Raises:
        OptionError: The folder is there, or the bundle of the page is not.
        BackendUnavailable: marimo is not installed, or what offline needs could not be fetched.
    """
    first = choose(lang)
    root = Path(folder)
    if find_spec("marimo") is None:
        raise BackendUnavailable(
            "Lessons need marimo, which is not in this install; run pip install 'pozor[lessons]'."
        )
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise OptionError(f"--export must name a folder that is not there yet; {folder} is. Give another.")
    if pyodide is not None and not offline:
        raise OptionError(
            "--pyodide must come with --offline: it says where the bundled Python is taken from."
        )
    given = Settings(token="").lessons if lessons is None else lessons
    root.parent.mkdir(parents=True, exist_ok=True)
    # beside it, so that what failed half way is not taken for a site
    with tempfile.TemporaryDirectory(prefix=f"{root.name}.part-", dir=root.parent) as made:
        part = Path(made) / "site"
        _site(part, given, first, code is None, offline, pyodide, say)
        if root.exists():
            root.rmdir()
        part.rename(root)
    say(WORDS[first]["done"].format(folder=root, serve=root / "serve.py"))
    return root


def _site(
    root: Path,
    lessons: tuple[Lesson, ...],
    first: str,
    solutions: bool,
    offline: bool,
    pyodide: str | None,
    say: Callable[[str], None],
) -> None:
    """All files of the site."""
    wheels = root / "public" / "wheels"
    wheels.mkdir(parents=True)
    built = wheel.build(wheels, solutions)
    _assets(root)
    with _surroundings():
        for lesson in lessons:
            for lang in LANGUAGES:
                say(WORDS[first]["writing"].format(title=lesson.title[first], lang=lang))
                html = _lesson(lesson, lang, built, solutions, root if offline else None, pyodide)
                (root / f"{lesson.name}.{lang}.html").write_text(html, encoding="utf-8")
    for lang in LANGUAGES:
        start = start_page(Settings(token=""), lang, Places(exported=True), WORDS[lang]["note"])
        (root / f"{lang}.html").write_text(start, encoding="utf-8")
    shutil.copyfile(root / f"{first}.html", root / "index.html")


@contextmanager
def _surroundings() -> Iterator[None]:
    """What notebooks find while they are exported; afterwards all is as it was."""
    from pozor.lessons.server import surroundings

    kept = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="pozor-export-") as home:
        try:
            surroundings(Path(home), Settings(token=""))
            os.environ["POZOR_LESSONS_EXPORT"] = "1"
            yield
        finally:
            os.environ.clear()
            os.environ.update(kept)


def _assets(root: Path) -> None:
    """The files that all pages share."""
    shutil.copytree(
        HERE / "static", root / "static", ignore=shutil.ignore_patterns("serve.py", "presenter.*")
    )
    shutil.copyfile(HERE / "static" / "serve.py", root / "serve.py")
    (root / "static" / "fonts.css").write_text(fonts(), encoding="utf-8")
    (root / "fonts").mkdir()
    for face in (WIDGETS / "assets").glob("*.woff2"):
        shutil.copyfile(face, root / "fonts" / face.name)
    shutil.copytree(WIDGETS / "widgets", root / "widgets")
    (root / ".nojekyll").touch()  # GitHub Pages would hide files that start with _


def _lesson(
    lesson: Lesson, lang: str, built: Path, solutions: bool, offline: Path | None, pyodide: str | None
) -> str:
    """The page of one lesson in one language."""

    def adapted(code: str) -> str:
        # in the browser there is no environment that could say the language
        spoken = START.sub(rf'page.start(mo, "\1", lang="{lang}")', code)
        return HEADER.format(wheel=built.name) + spoken

    os.environ["POZOR_LANG"] = lang
    html, models, needs = asyncio.run(_page(lesson.notebook, adapted, offline, built, pyodide))
    widgets = {id: known for id, state in models.items() if (known := _asleep(state, lang, solutions))}
    held = {"widgets": widgets, "needs": needs, "words": WORDS[lang]}
    # no "<" in it, so that nothing in it can end the element
    packed = json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")
    own = (
        f"{head(Settings(token=''), './')}\n"
        f'<script type="application/json" id="pozor-asleep">{packed}</script>\n'
        '<script type="module" src="./static/export.js"></script>\n'
    )
    html = html.replace('<html lang="en">', f'<html lang="{lang}">', 1)
    html = re.sub(r"<title>.*?</title>", f"<title>{lesson.title[lang]} – pozor</title>", html, count=1)
    return html.replace("</head>", f"{own}</head>", 1)


def _asleep(state: dict[str, Any], lang: str, solutions: bool) -> dict[str, Any] | None:
    """What a widget shows without Python: its state, and of an exercise what may be known beforehand."""
    own = {name: value for name, value in state.items() if not name.startswith("_")}
    if "probs" in own:
        return {"kind": "heatmap", "state": own}
    if "exercise" not in own:
        return None
    from pozor import exercises

    lock = exercises.Lock()
    asked = {"id": own["exercise"], "seed": own.get("seed"), "lang": lang}
    shown = exercises.serve({**asked, "ask": "exercise"}, lock)
    hints = [exercises.serve({**asked, "ask": "hint", "number": n}, lock) for n in range(shown["hints"])]
    known: dict[str, Any] = {"exercise": shown, "hints": hints}
    if solutions:
        known["solution"] = exercises.serve({**asked, "ask": "solution"}, lock)
    return {"kind": "exercise", "state": own, "known": known}


async def _page(
    notebook: Path,
    adapted: Callable[[str], str],
    offline: Path | None,
    built: Path,
    pyodide: str | None,
) -> tuple[str, dict[str, dict[str, Any]], list[str]]:
    """marimo's page with its outputs, the state of its widgets, and what it will fetch from elsewhere."""
    from marimo._export.exporter import Exporter
    from marimo._export.file import run_notebook
    from marimo._export.requests import NotebookExecutionOptions, RunNotebookRequest, WASMExportRequest
    from marimo._export.serialization import serialize_notebook_snapshot
    from marimo._pyodide.pyodide_constraints import PYODIDE_VERSION
    from marimo._schemas.export_options import WASMExportOptions, WASMRuntimeConfig
    from marimo._session.notebook.loader import load_notebook
    from marimo._version import __version__

    manager = load_notebook(str(notebook))
    said = io.StringIO()
    execution = NotebookExecutionOptions(cli_args={}, argv=None, persist_session=False, stderr=said)
    view, failed = await run_notebook(RunNotebookRequest(file_manager=manager, options=execution))
    if failed:
        why = next((line for line in said.getvalue().splitlines() if ": " in line), "no reason given")
        raise OptionError(f"A cell of {notebook.name} failed while it was exported ({why}).")
    snapshot = serialize_notebook_snapshot(manager.app, view, drop_virtual_file_outputs=True)
    code, runtime = adapted(manager.app.to_py()), WASMRuntimeConfig()
    if offline is not None:
        from marimo._export.offline import OfflineExportError, bundle_wasm_runtime

        sources = WASMRuntimeConfig(pyodide_index_url=pyodide)
        try:
            code, runtime = await bundle_wasm_runtime(
                code, offline, sources=sources, local_wheel_paths=(built,)
            )
        except (OfflineExportError, ImportError) as error:
            raise BackendUnavailable(f"--offline could not fetch what it bundles: {error}.") from None
    html, _ = Exporter().export_as_wasm(
        WASMExportRequest(
            filename=notebook.name,
            app_config=manager.app.config,
            display_config={"theme": "system"},  # type: ignore[typeddict-item]
            code=code,
            options=WASMExportOptions(mode="run", show_code=False, runtime=runtime),
            session_snapshot=snapshot.session,
            notebook_snapshot=snapshot.notebook,
        )
    )
    Exporter().export_assets(built.parents[2])
    (built.parents[2] / "CLAUDE.md").unlink(missing_ok=True)  # tells of notebooks, not of these pages
    cdn = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full/"
    needs = (
        []
        if offline
        else [
            *(f"{cdn}{name}" for name in ("pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")),
            f"https://wasm.marimo.app/pyodide-lock.json?v={__version__}&pyodide=v{PYODIDE_VERSION}",
            "https://pypi.org/simple/marimo-base/",
        ]
    )
    models = {str(id): dict(model.state) for id, model in view.model_states.items()}
    return html, models, needs
