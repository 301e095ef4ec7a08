"""Recordings of several heads for the browser tests, and reading the grid of heads back."""

import re
from pathlib import Path

import numpy as np
from playwright.sync_api import Locator, Page, expect

import pozor
from pozor.recording import Recording, writer
from pozor.recording.document import Layer, Rows
from pozor.recording.mask_form import MaskForm
from pozor.recording.tokens import Tokens

WORDS = ("the cat sat on the mat and the dog sat on the log while a bird sang to the cat " * 2).split()
LAYERS, HEADS, TOKENS = 3, 4, len(WORDS)
LONG = 9000  # of two heads too many cells for one tile to look at each


def several_layers(path: Path, seed: int) -> None:
    """A decoder of three layers of four heads; the words repeat."""
    rng = np.random.default_rng(seed)
    words = [word if i == 0 else f" {word}" for i, word in enumerate(WORDS)]
    stops = np.cumsum([len(word) for word in words])
    starts = stops - [len(word) for word in words]
    ids = np.array([sorted(set(WORDS)).index(word) for word in WORDS])
    with writer.write(path) as writing:
        writing.items([Tokens("", "".join(words), ids, starts, stops, np.zeros(TOKENS, bool), tuple(words))])
        rows = (Rows(TOKENS, TOKENS, MaskForm(causal=True)),)
        for number in range(LAYERS):
            q, k, v = rng.normal(size=(3, HEADS, TOKENS, 8)).astype(np.float32)
            q *= 1 + number
            lse = np.asarray(pozor.observe(q, k, v, causal=True).lse, np.float32)
            each = tuple(range(HEADS))
            layer = Layer(number, "self", each, each, 8, 8, 8**-0.5, None, None, False, False, 0, rows)
            writing.layer(layer, [{"q": q, "k": k, "v": v, "lse": lse}], {})
        writing.finish(model="three layers", dtype="float32")


def record_several(folder: Path) -> None:
    """Two recordings of one text, one of another, and a long one."""
    several_layers(folder / "made.pozor", 3)
    several_layers(folder / "again.pozor", 4)
    q, k, v = np.random.default_rng(5).normal(size=(3, 1, 9, 4)).astype(np.float32)
    Recording.from_arrays(folder / "short.pozor", q, k, v, tokens=list("abcdefghi"))
    q, k, v = np.random.default_rng(6).normal(size=(3, 2, LONG, 4)).astype(np.float32)
    Recording.from_arrays(folder / "long.pozor", q, k, v, causal=True)


def matrices(path: Path) -> np.ndarray:
    recording = pozor.open(path)
    each = [[recording[layer, head] for head in range(HEADS)] for layer in range(LAYERS)]
    return np.array([[[one.row(query) for query in range(TOKENS)] for one in heads] for heads in each])


def grid(page: Page) -> Locator:
    return page.get_by_role("grid")


def cells(page: Page) -> Locator:
    return grid(page).locator("[role=gridcell][data-head]")


def cell(page: Page, name: str) -> Locator:
    return grid(page).locator(f'[data-head="self {name}"]')


def names(found: Locator) -> list[str]:
    """layer.head of each, in the order of the page."""
    return [text.removeprefix("self ") for text in found.evaluate_all("all => all.map(e => e.dataset.head)")]


def measure(page: Page, what: str, order: str | None = None) -> None:
    page.get_by_role("combobox", name="number below").select_option(label=what)
    if order is not None:
        page.get_by_role("combobox", name="order").select_option(label=order)
    expect(page.locator(".all .progress")).to_have_text("")  # everything is known and drawn


def by_size(values: np.ndarray) -> list[str]:
    """layer.head, the largest first."""
    order = np.argsort(-values, axis=None, kind="stable")
    return [f"{i // HEADS}.{i % HEADS}" for i in order]


def shown_number(text: str) -> float:
    value = float(re.sub(r"[^\d.]", "", text))
    return value / 100 if "%" in text else value
