"""`pozor learn --export DIR`: the lessons as a folder of files that run their Python in the reader's browser.

marimo's export holds the outputs of a page, which so shows before Python runs, or without it;
`static/export.js` adds the widgets.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pozor.errors import BackendUnavailable, OptionError
from pozor.language import LANGUAGES, choose
from pozor.lessons import render, wheel
from pozor.lessons.catalog import HERE, Lesson
from pozor.lessons.frame import Places
from pozor.lessons.head import fonts, head
from pozor.lessons.settings import Settings
from pozor.lessons.start_page import start_page

WIDGETS = HERE.parent / "viewer" / "static"
WORDS = {
    "cs": {
        "missing": "Python se do této stránky nenačetl, něco mu chybí. Text, mapy a zadání úloh tu "
        "jsou i tak; posuvníky a kontrola odpovědí čekají na Python. Co chybí, ukáže kliknutí.",
        "asleep": "Tohle umí až Python a ten se do stránky nenačetl.",
        "note": "Lekce běží celé ve vašem prohlížeči. Otevírejte je přes web, na tomto počítači příkazem "
        "python serve.py.",
        "written": "Lekce {title} ({lang}) je napsaná.",
        "done": "Hotovo: {folder}. Prohlédnete si je příkazem python {serve}",
    },
    "en": {
        "missing": "Python did not load into this page, something is missing. Text, maps and exercises are "
        "here all the same; sliders and checks of answers wait for Python. A click shows what is missing.",
        "asleep": "Python does this, and it did not load into the page.",
        "note": "The lessons run in your browser alone. Open them over the web, on this machine with "
        "python serve.py.",
        "written": "The lesson {title} ({lang}) is written.",
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
        OptionError: The folder is there or cannot be written, or the bundle of the page is missing.
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
    # beside it, so that what failed half way is not taken for a site
    with _beside(root) as made:
        part = Path(made) / "site"
        _site(part, given, first, code is None, offline, pyodide, say)
        if root.exists():
            root.rmdir()
        part.rename(root)
    say(WORDS[first]["done"].format(folder=root, serve=root / "serve.py"))
    return root


def _beside(root: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f"{root.name}.part-", dir=root.parent)
    except OSError as error:
        raise OptionError(
            f"--export must name a folder that can be written; {root} cannot ({error.strerror}). "
            "Give another."
        ) from error


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
    render.assets(root)

    def write(lesson: Lesson, lang: str) -> None:
        made = render.render(lesson.notebook, lang, built, offline, pyodide)
        html = _completed(made, lesson, lang, solutions)
        (root / f"{lesson.name}.{lang}.html").write_text(html, encoding="utf-8")
        say(WORDS[first]["written"].format(title=lesson.title[first], lang=lang))

    with ThreadPoolExecutor(1 if offline else 2) as writers:  # offline, both would fetch the same
        pages = [writers.submit(write, lesson, lang) for lesson in lessons for lang in LANGUAGES]
        try:
            for page in pages:
                page.result()
        finally:
            writers.shutdown(cancel_futures=True)
    for lang in LANGUAGES:
        start = start_page(Settings(token=""), lang, Places(exported=True), WORDS[lang]["note"])
        (root / f"{lang}.html").write_text(start, encoding="utf-8")
    shutil.copyfile(root / f"{first}.html", root / "index.html")


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


def _completed(made: dict[str, Any], lesson: Lesson, lang: str, solutions: bool) -> str:
    """marimo's page with our head, and what its widgets show without Python."""
    known = {id: _asleep(state, lang, solutions) for id, state in made["models"].items()}
    widgets = {id: one for id, one in known.items() if one is not None}
    held = {"widgets": widgets, "needs": made["needs"], "words": WORDS[lang]}
    # no "<" in it, so that nothing in it can end the element
    packed = json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")
    own = (
        f"{head(Settings(token=''), './')}\n"
        f'<script type="application/json" id="pozor-asleep">{packed}</script>\n'
        '<script type="module" src="./static/export.js"></script>\n'
    )
    html = made["html"].replace('<html lang="en">', f'<html lang="{lang}">', 1)
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
