"""Notebooks made for tests, the server that serves them, and marimo's socket as a browser speaks it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from pozor.viewer.lessons import Lessons

PAGE = """
import marimo

app = marimo.App(width="compact")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo

    from pozor.lessons import catalog, page

    here = catalog.Lesson(1, "small", {{"cs": "Malá lekce", "en": "A small lesson"}}, Path({folder!r}))
    lesson = page.Page(mo, here, page._language(mo))
    return lesson, mo


@app.cell
def _(lesson):
    lesson.top()
    return


@app.cell
def _(mo):
    slider = mo.ui.slider(0, 10, label="steps")
    slider
    return (slider,)


@app.cell
def _(lesson, slider):
    lesson.text("said", steps=slider.value, probs=[0.3088, 0.2970, 0.3942])
    return


@app.cell
def _(lesson):
    lesson.code("one", "print('typed code ran')\\n1 + 1")
    return


@app.cell
def _(lesson):
    lesson.next()
    return
"""
TEXTS = {
    "cs": "## said\nKroků je {steps}, řádek {probs}.\n",
    "en": "## said\nThere are {steps} steps, the row is {probs}.\n",
}
# cells that do what no lesson should
BAD = {
    "endless": "while True:\n        pass",
    "failing": "1 / 0",
    "greedy": "import numpy as np; held = np.ones(1 << 37)",
    "hoarder": "held = [bytearray(b'x') * (64 << 20) for _ in range(12)]",
    "holder": "import re; re.match('(a+)+$', 'a' * 64 + 'b')",  # keeps the interpreter to itself
}
CELL = """
import marimo

app = marimo.App()


@app.cell
def _():
    {code}
    return
"""


def write(folder: Path, *bad: str) -> Path:
    """A folder with a small whole lesson and those of BAD that are named."""
    for name in ("notebooks", "texts"):
        (folder / name).mkdir()
    (folder / "notebooks" / "small.py").write_text(PAGE.format(folder=str(folder)), encoding="utf-8")
    for lang, text in TEXTS.items():
        (folder / "texts" / f"small.{lang}.md").write_text(text, encoding="utf-8")
    for name in bad:
        (folder / "notebooks" / f"{name}.py").write_text(CELL.format(code=BAD[name]), encoding="utf-8")
    return folder


@contextmanager
def serving(folder: Path | None, silence: float = 20.0, **settings: Any) -> Iterator[Lessons]:
    """The lessons' process on a free port."""
    own = {} if folder is None else {"folder": str(folder)}
    lessons = Lessons({"port": 0, "lang": "en", **own, **settings}, silence=silence)
    lessons.start()
    try:
        yield lessons
    finally:
        lessons.stop()


def base(lessons: Lessons) -> str:
    """The address without the token."""
    return f"http://127.0.0.1:{lessons.port}"


@contextmanager
def signed_in(lessons: Lessons) -> Iterator[httpx.Client]:
    """A client with the cookie that the token is exchanged for."""
    with httpx.Client(base_url=base(lessons), timeout=30, headers={"origin": base(lessons)}) as client:
        answer = client.get("/", params={"token": lessons.token})
        assert answer.status_code == 303
        yield client


class Reader:
    """One page of a lesson, open in a browser that only this test sees: its socket and its posts."""

    def __init__(self, lessons: Lessons, client: httpx.Client, lesson: str, number: int = 0) -> None:
        self.lessons, self.client, self.lesson, self.session = lessons, client, lesson, f"s_{lesson}{number}"

    @property
    def cookie(self) -> str:
        """The Cookie header."""
        return "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())

    def socket(self, **headers: str) -> Any:
        """marimo's socket, open."""
        from websockets.sync.client import connect

        address = f"ws://127.0.0.1:{self.lessons.port}/lessons/{self.lesson}/ws?session_id={self.session}"
        sent = {"origin": base(self.lessons), "cookie": self.cookie, **headers}
        return connect(
            address,
            origin=sent.pop("origin") or None,  # type: ignore[arg-type]
            additional_headers={name: value for name, value in sent.items() if value},
            max_size=None,
        )

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """What the page posts."""
        return self.client.post(
            f"/lessons/{self.lesson}/{path}", json=body, headers={"Marimo-Session-Id": self.session}
        )


def heard(socket: Any, until: str, seconds: float = 30.0) -> list[dict[str, Any]]:
    """The messages up to and with the first that contains `until`."""
    messages = []
    while True:
        text = socket.recv(timeout=seconds)
        messages.append(json.loads(text))
        if until in text:
            return messages
