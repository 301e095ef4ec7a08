"""Reading the pages of the worked examples back, and what pozor makes of the same numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Locator, Page

import pozor
from pozor.examples import PAPER, PUB, floats


@contextmanager
def opened(
    browser: Browser, file: str, fragment: str = "#/paper", *, expected: str | None = None, **options: Any
) -> Iterator[Page]:
    """The single file in a context of its own, offline; a request or an error on the page fails the test.

    expected: what an error says that the test itself brings about.
    """
    options = {"viewport": {"width": 1280, "height": 800}, "locale": "cs-CZ"} | options
    context = browser.new_context(offline=True, **options)
    page = context.new_page()
    wrong: list[str] = []
    page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"file://{file}{fragment}")
    try:
        yield page
        assert [text for text in wrong if expected is None or expected not in text] == []
    finally:
        context.close()


def cell(page: Page, stage: str, row: int, col: int = 0, head: int = 0) -> Locator:
    """The input that holds one number."""
    return page.locator(f'input[data-id="{stage}.{head}.{row}.{col}"]')


def numbers(page: Page, stage: str, head: int = 0) -> np.ndarray:
    """All the digits of a matrix, as the page holds them."""
    found = page.eval_on_selector_all(
        f'figure[data-stage="{stage}"][data-head="{head}"] tbody tr',
        "rows => rows.map(r => [...r.querySelectorAll('input')].map(i => i.dataset.value))",
    )
    return np.array([[float(n) for n in row] for row in found])


def shown(page: Page, stage: str, row: int, head: int = 0) -> list[str]:
    """A row of a matrix as the reader sees it."""
    return page.eval_on_selector_all(
        f'input[data-id^="{stage}.{head}.{row}."]', "inputs => inputs.map(i => i.value)"
    )


def write(page: Page, target: Locator, text: str) -> None:
    """Type over a number or word, and leave it with Tab."""
    target.fill(text)
    target.press("Tab")


def paper(
    x: list[list[float]] | None = None,
    *,
    num_heads: int = 1,
    causal: bool = True,
    scale: float | None = None,
    **w: Any,
) -> dict[str, np.ndarray]:
    """What pozor makes of the first example, changed as asked."""
    x = np.array(x if x is not None else floats(PAPER.x))
    weights = {
        name: np.array(w.get(name, floats(getattr(PAPER, name)))) for name in ("w_q", "w_k", "w_v", "w_o")
    }
    layer = pozor.MultiHeadAttention(
        **weights, num_heads=num_heads, causal=causal, residual=True, scale=scale
    )
    steps = layer.steps(x)
    probs = pozor.attention(
        steps.q, steps.k, identity(len(x), num_heads), causal=causal, scale=scale, backend="reference"
    )
    return {"probs": probs, "out": steps.out, "result": layer(x)}


def pub(q: Any = None, k: Any = None, *, causal: bool = False, scale: float | None = None) -> np.ndarray:
    """The weights of the second example, changed as asked."""
    q, k = (np.array(floats(PUB.q) if q is None else q), np.array(floats(PUB.k) if k is None else k))
    return pozor.attention(q, k, np.eye(len(q)), causal=causal, scale=scale, backend="reference")


def identity(words: int, heads: int) -> np.ndarray:
    """(heads, words, words): as v it turns the output into the weights."""
    return np.stack([np.eye(words)] * heads)
