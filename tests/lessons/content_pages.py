"""Lessons 2 to 5 as tests need them: their names, what each must show, a run of a notebook outside a page."""

import html
import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pozor.lessons import catalog

NAMES = ("self_attention", "heads_and_positions", "found_by_itself", "never_stored")
LANGUAGES = ("cs", "en")

# sections B and C of the golden numbers, with points; Czech pages have commas
GOLDEN = {
    # V is the identity and d = 4: the weights of the six words, in per cent, without a mask and with it
    "self_attention": (
        "16.6667", "94.7378", "1.0524", "32.9671", "0.3662", "91.3890", "4.5500", "1.0152",
        "49.7238", "0.5524", "96.7748", "1.0751", "52.8396", "11.7901",
        # from 94.7 to 96.8; a row adds up to 100 %; v: 3 and 9, divided by √4
        "94.7\u00a0%", "96.8\u00a0%", "100\u00a0%", "√4 = 2", "1.5", "4.5",
    ),
    # d_model 4096 and 32 heads give 128 numbers a head; one head splits three ways, 32.97 %
    "heads_and_positions": ("33.0\u00a0%", "94.7\u00a0%", "128"),
    # chance is one half: what a bigram cannot do is tested with numbers
    "found_by_itself": ("100\u00a0%",),
    # 32 heads of 1024² and of 8192² scores, two bytes each; MiB, GiB and GB
    "never_stored": ("64\u00a0MiB", "0.0625\u00a0GiB", "0.0671\u00a0GB", "4\u00a0GiB"),
}  # fmt: skip
COUNTS = {"never_stored": (1024, 33_554_432, 8192, 2_147_483_648), "heads_and_positions": (4096,)}


# what a notebook leaves to a file beside it
BESIDE = {
    "self_attention": ("bigram",),
    "heads_and_positions": ("red_ball", "order"),
    "never_stored": ("blockwise",),
}


def golden(name: str, lang: str) -> list[str]:
    """What the page must hold, as its language writes it."""
    decimals = [text.replace(".", ",") if lang == "cs" else text for text in GOLDEN[name]]
    between = "\u00a0" if lang == "cs" else ","
    return decimals + [f"{count:,}".replace(",", between) for count in COUNTS.get(name, ())]


def lesson(name: str) -> catalog.Lesson:
    """The lesson of that name."""
    return next(known for known in catalog.LESSONS if known.name == name)


def source(name: str) -> str:
    """The notebook and the files that only it uses."""
    folder = lesson(name).folder
    beside = [folder / f"{part}.py" for part in BESIDE.get(name, ())]
    return "\n".join(path.read_text(encoding="utf-8") for path in (lesson(name).notebook, *beside))


def notebook(name: str) -> ModuleType:
    """The module of a lesson's notebook, not run yet."""
    spec = importlib.util.spec_from_file_location(f"lesson_{name}", lesson(name).notebook)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str, lang: str, monkeypatch: pytest.MonkeyPatch, **surroundings: str) -> tuple[str, Any]:
    """The words of a lesson whose cells have all run, and the names they define."""
    monkeypatch.setenv("POZOR_LANG", lang)
    for variable, value in surroundings.items():
        monkeypatch.setenv(variable, value)
    outputs, names = notebook(name).app.run()
    return plain(" ".join(output.text for output in outputs if hasattr(output, "text"))), names


def plain(markup: str) -> str:
    """HTML without its tags, spaces drawn together; unbreakable ones stay."""
    return re.sub(r"[ \n\t]+", " ", html.unescape(re.sub(r"<[^>]+>", "", markup)))


AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
HAS_AXE = os.path.exists(AXE)
