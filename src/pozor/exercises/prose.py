"""The prose of the exercises, from `texts/`: the same sections in the same order in both languages."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from pozor.language import LANGUAGES, tied

TEXTS = Path(__file__).parent / "texts"


@dataclass
class Prose:
    """What is written about one exercise in one language; `{name}` waits for what it computes."""

    title: str = ""
    question: str = ""
    hints: list[str] = field(default_factory=list)
    solution: str = ""
    model: str = ""  # the model answer of a sentence
    mistakes: dict[str, str] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)


@functools.cache
def prose_of(room: str) -> dict[str, dict[str, Prose]]:
    """id -> language -> Prose, of one file in each language."""
    parsed = {lang: parse((TEXTS / f"{room}.{lang}.md").read_text(encoding="utf-8")) for lang in LANGUAGES}
    assert list(parsed["cs"]) == list(parsed["en"]), f"{room}: the exercises differ between languages"
    return {name: {lang: parsed[lang][name] for lang in LANGUAGES} for name in parsed["cs"]}


def parse(text: str) -> dict[str, Prose]:
    """`## id` opens an exercise, its title in the next line; `### part [key]` opens a part of it."""
    found: dict[str, Prose] = {}
    for block in re.split(r"^## ", text, flags=re.M)[1:]:
        head, *parts = re.split(r"^### ", block, flags=re.M)
        name, _, title = head.partition("\n")
        prose = found[name.strip()] = Prose(title=title.strip())
        for part in parts:
            heading, _, body = part.partition("\n")
            kind, _, key = heading.strip().partition(" ")
            body = body.strip()
            match kind:
                case "hint":
                    prose.hints.append(body)
                case "mistake":
                    prose.mistakes[key] = body
                case "claim":
                    prose.claims[key] = body
                case "question" | "solution" | "model":
                    setattr(prose, kind, body)
                case _:
                    raise AssertionError(f"{name}: no such part: {heading!r}")
    return found


def filled(text: str, fields: Mapping[str, object], lang: str) -> str:
    """The text with its numbers in place; lone letters keep to the next word in Czech."""
    return tied(text.format_map(fields), lang)


@functools.cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def html(text: str) -> str:
    """Markdown as HTML: escaped, no script, no style attribute (numbers in tables: class "num")."""
    parser = _markdown()
    tokens = parser.parse(text)
    for token in tokens:
        if token.attrs.pop("style", None) == "text-align:right":
            token.attrs["class"] = "num"
    return parser.renderer.render(tokens, parser.options, {})
