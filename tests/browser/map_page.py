"""A real server on a free port, recordings for it, and reading the map page back."""

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
from playwright.sync_api import Browser, Locator, Page, expect

import pozor
from pozor.recording import Recording, writer
from pozor.recording.document import Layer, Rows
from pozor.recording.mask_form import MaskForm
from pozor.recording.tokens import Tokens

SHIPPED = Path(__file__).parents[2] / "src" / "pozor" / "data" / "red-ball.pozor"

# labels that vanish, swap or run when a viewer is careless
STRANGE = [
    "hello",
    "<!--",
    "x<script>window.__hit=1</script>",
    "-->",
    "a&amp;b",
    "</td></table>",
    " ",
    "  ",
    "\n",
    "\t",
    "\r",
    "\u00a0",
    "\u200b",
    "\x00",
    "\x1b",
    "שלום",
    "12",
    "עולם",
    "ok",
    ".",
]
SEEN = ["␣", "␣␣", "↵", "⇥", "CR", "NBSP", "U+200B", "NUL", "ESC"]  # of STRANGE[6:15]
SHORT = 14  # labels on an axis are cut to 13 characters and an ellipsis


def record_all(folder: Path) -> dict[str, Path]:
    """The recordings of the test server's folder: strange tokens, a NaN, 600 tokens with one peak."""
    rng = np.random.default_rng(5)
    n = len(STRANGE)
    q, k, v = rng.normal(size=(3, 1, n, 8)).astype(np.float32)
    made = {
        "strange": folder / "strange.pozor",
        "broken": folder / "broken.pozor",
        "peak": folder / "peak.pozor",
        "two": folder / "two.pozor",
        "damaged": folder / "damaged.pozor",
    }
    Recording.from_arrays(made["strange"], q, k, v, tokens=STRANGE)
    q, k, v = rng.normal(size=(3, 1, 5, 4)).astype(np.float32)
    k[0, 3, 0] = np.nan  # every query that may see key 3 gets a row that is not finite
    Recording.from_arrays(made["broken"], q, k, v, causal=True, tokens=list("abcde"))
    q = np.zeros((1, 600, 2), np.float32)
    k = np.zeros((1, 600, 2), np.float32)
    q[0, 517, 0], k[0, 301, 0] = 60, 60  # row 517 looks at key 301 alone; all others are uniform
    Recording.from_arrays(made["peak"], q, k, np.ones((1, 600, 2), np.float32))
    two_items(made["two"], rng)
    made["damaged"].mkdir()
    (made["damaged"] / "recording.json").write_text('{"format"', encoding="utf-8")
    return made


TEXTS = {
    "beer.txt": ["Beer", " is", " gone"],
    "dog.txt": ["A", " dog", " slept", ",", " the", " dog", " woke"],
}


def two_items(path: Path, rng: np.random.Generator) -> None:
    """An encoder of two heads on two texts of different lengths, the tokens at their places in the text."""
    rows, held = [], []
    with writer.write(path) as writing:
        items = []
        for name, words in TEXTS.items():
            stops = np.cumsum([len(word) for word in words])
            ids = np.arange(len(words))
            starts = stops - [len(word) for word in words]
            special = np.zeros(len(words), bool)
            items.append(Tokens(name, "".join(words), ids, starts, stops, special, tuple(words)))
            q, k, v = rng.normal(size=(3, 2, len(words), 4)).astype(np.float32)
            lse = pozor.observe(q, k, v).lse
            held.append({"q": q, "k": k, "v": v, "lse": np.asarray(lse, np.float32)})
            rows.append(Rows(len(words), len(words), MaskForm()))
        writing.items(items)
        layer = Layer(0, "self", (0, 1), (0, 1), 4, 4, 0.5, None, None, False, False, 0, tuple(rows))
        writing.layer(layer, held, {})
        writing.finish(model="two heads", dtype="float32")


@dataclass(frozen=True)
class App:
    """A running server."""

    url: str  # with its token
    folder: Path
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        """The address without the token."""
        return self.url.split("?")[0]


@contextmanager
def serving(folder: Path) -> Iterator[App]:
    """`python -m pozor` started in `folder`; its address is read from what it prints."""
    command = [sys.executable, "-m", "pozor", "--no-open", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    )
    said = ""
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if found := re.search(r"http://\S+token=\S+", line):
                yield App(found.group(0), folder, process)
                return
        raise AssertionError(f"pozor printed no address: {said}")
    finally:
        process.terminate()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def opened(
    browser: Browser,
    app: App,
    fragment: str = "",
    *,
    webgl: bool = True,
    expected: str | None = None,
    **options: Any,
) -> Iterator[Page]:
    """The app in a context of its own; an error on the page or a request elsewhere fails the test.

    expected: part of a console error that the test itself brings about.
    """
    options = {"viewport": {"width": 1280, "height": 800}, "locale": "en-US"} | options
    context = browser.new_context(**options)
    page = context.new_page()
    wrong: list[str] = []
    page.on(
        "request", lambda r: None if r.url.startswith((app.base, "data:", "blob:")) else wrong.append(r.url)
    )
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    if not webgl:
        page.add_init_script(
            "const real = HTMLCanvasElement.prototype.getContext;"
            "HTMLCanvasElement.prototype.getContext ="
            " function (kind, ...rest) { return kind === 'webgl2' ? null : real.call(this, kind, ...rest); };"
        )
    page.goto(app.url)
    if fragment:
        page.goto(app.base + fragment)
    try:
        yield page
        unexpected = [text for text in wrong if expected is None or expected not in text]
        assert not unexpected, unexpected
    finally:
        context.close()


def id_of(page: Page, name: str) -> str:
    """The id under which the server knows a recording."""
    cards = page.evaluate("() => fetch('api/start').then(r => r.json())")["recordings"]
    return next(card["id"] for card in cards if card["name"] == name)


def go(page: Page, name: str, query: str = "") -> None:
    """Open a recording's map and wait until it is drawn."""
    page.evaluate("where => { location.hash = where }", f"#/map/{id_of(page, name)}?{query}")
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until the finest tiles are on the screen."""
    expect(page.locator(".host")).to_have_attribute(
        "data-drawn", re.compile(r"\|fine\|[1-9]"), timeout=20_000
    )
    next_picture(page)


def next_picture(page: Page) -> None:
    """Wait until what the last event changed has been drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def state(page: Page) -> dict[str, str]:
    """What the address keeps, once it is written."""
    next_picture(page)
    expect(page.locator(".page")).to_have_attribute("data-kept", "true")
    _, _, query = page.evaluate("location.hash").partition("?")
    return {name: values[0] for name, values in parse_qs(query).items()}


def cell_at(page: Page, query: float, key: float) -> tuple[float, float]:
    """The middle of a cell on the screen; the whole map must be in view."""
    box = page.locator("[role=application]").bounding_box()
    labels = page.locator(".axis.y button, .axis.x button")
    assert box is not None
    assert labels.count() > 0
    side = page.evaluate(
        """() => { const [a, b] = [...document.querySelectorAll('.axis.y button')].map(
            e => [Number(e.dataset.token), e.getBoundingClientRect().y + 10]);
            return (b[1] - a[1]) / (b[0] - a[0]); }"""
    )
    return box["x"] + (key + 0.5) * side, box["y"] + (query + 0.5) * side


def click_cell(page: Page, query: int, key: int) -> None:
    page.mouse.click(*cell_at(page, query, key))


def row_label(page: Page, token: int) -> Locator:
    return page.locator(f'.axis.y button[data-token="{token}"]')


def column_label(page: Page, token: int) -> Locator:
    return page.locator(f'.axis.x button[data-token="{token}"]')


def number(text: str) -> float:
    """A number as the page writes it, in Czech or English: 0,309 · 9.6·10⁻⁹."""
    plain = text.replace("−", "-").replace(",", ".").strip()
    mantissa, _, power = plain.partition("·10")
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    return float(mantissa) * 10.0 ** int(power.translate(digits) or 0)


def colours(page: Page, points: list[tuple[float, float]]) -> list[tuple[int, int, int]]:
    """What is on the screen at these points."""
    picture = base64.b64encode(page.screenshot()).decode()
    found = page.evaluate(
        """async ([data, points]) => {
            const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
            const canvas = document.createElement('canvas');
            canvas.width = image.width; canvas.height = image.height;
            const pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0);
            const at = (x, y) => [...pen.getImageData(Math.floor(x), Math.floor(y), 1, 1).data.slice(0, 3)];
            return points.map(([x, y]) => at(x, y));
        }""",
        [picture, points],
    )
    return [tuple(one) for one in found]
