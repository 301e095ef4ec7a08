"""An editor, a Run button and what the program says; where code may not run, the program to read."""

import threading
from pathlib import Path
from typing import Any

from pozor.lessons.program import run_here

WORDS = {
    "cs": {
        "run": "Spustit",
        "running": "Program běží…",
        "stop": "Zastavit",
        "output": "Co program vypsal",
        "value": "Hodnota posledního řádku",
        "nothing": "Program doběhl a nic nevypsal.",
        "time": "Program běžel déle než {seconds} s, tak jsme ho zastavili. Nechybí smyčce konec?",
        "stopped": "Program jste zastavili.",
        "output_limit": "Program vypisoval příliš mnoho, tak jsme ho zastavili.",
        "died": "Program skončil předčasně. Nejspíš si řekl o víc paměti, než smí mít.",
        "refused": "Program tu jde jen číst: na společném odkazu pro třídu se napsaný kód nespouští.",
        "figure": "Obrázek, který program nakreslil",
    },
    "en": {
        "run": "Run",
        "running": "The program is running…",
        "stop": "Stop",
        "output": "What the program printed",
        "value": "Value of the last line",
        "nothing": "The program ran to its end and printed nothing.",
        "time": "The program took longer than {seconds} s and was stopped. Is there a loop without an end?",
        "stopped": "You stopped the program.",
        "output_limit": "The program printed too much and was stopped.",
        "died": "The program ended early. Most likely it asked for more memory than it may have.",
        "refused": "This program is here to be read: on the link of a class no typed code runs.",
        "figure": "A figure that the program drew",
    },
}


def code_cell(page: Any, name: str, source: str) -> Any:
    """What `Page.code` gives."""
    mo, words = page.mo, WORDS[page.lang]
    if page.public:
        return mo.vstack([mo.md(f"```python\n{source}```"), mo.md(words["refused"])])
    shown = _output(words)
    runs = Runs(page, shown)
    editor = mo.ui.code_editor(source, language="python", min_height=80, show_copy_button=False)
    form = editor.form(bordered=False, submit_button_label=words["run"], on_change=runs.start)
    page.keep(form)
    page.keep(runs)
    return mo.vstack([form, page.keep(mo.ui.anywidget(shown))])


class Runs:
    """The programs that one editor starts, one at a time."""

    def __init__(self, page: Any, shown: Any) -> None:
        self._page, self._shown = page, shown
        self._run: Any = None
        self._number = 0
        self._lock = threading.Lock()
        shown.on_msg(self._told)

    def start(self, source: str | None) -> None:
        """Run a program; the one that still runs is stopped.

        Raises:
            PermissionError: The page is a class's, where no typed code runs.
        """
        from pozor.lessons.page import IN_BROWSER

        if self._page.public:
            raise PermissionError("typed code never runs on the link of a class")
        if source is None:
            return
        if IN_BROWSER:
            printed, result = run_here(source)
            self._shown.result = _told(self._page.lang, "done", printed, **result)
            return
        from pozor.lessons.runner import Run

        with self._lock:
            if self._run is not None:
                self._run.stop()
            self._number += 1
            self._run = Run(source)
            self._shown.running = True
            threading.Thread(target=self._finish, args=(self._run, self._number), daemon=True).start()

    def _finish(self, run: Any, number: int) -> None:
        outcome = run.wait()
        with self._lock:
            if number != self._number:  # another was started meanwhile
                return
            self._shown.result = _told(self._page.lang, **vars(outcome))
            self._shown.running = False

    def _told(self, widget: Any, content: Any, buffers: Any) -> None:
        del widget, buffers
        if content == "stop" and self._run is not None:
            self._run.stop()


def _told(
    lang: str, end: str, printed: str, value: str | None, error: str | None, images: list[str]
) -> dict[str, Any]:
    from pozor.lessons.runner import SECONDS

    words = WORDS[lang]
    note = ""
    if end != "done":
        note = words["output_limit" if end == "output" else end].format(seconds=f"{SECONDS:.0f}")
    elif not (printed or value or error or images):
        note = words["nothing"]
    return {"printed": printed, "value": value, "error": error, "images": images, "note": note}


def _output(words: dict[str, str]) -> Any:
    import anywidget
    import traitlets

    class Output(anywidget.AnyWidget):
        _esm = (Path(__file__).parent / "static" / "output.js").read_text(encoding="utf-8")
        _css = (Path(__file__).parent / "static" / "output.css").read_text(encoding="utf-8")
        words = traitlets.Dict().tag(sync=True)
        running = traitlets.Bool(False).tag(sync=True)
        result = traitlets.Dict().tag(sync=True)

    return Output(words=words)
