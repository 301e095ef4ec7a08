"""`pozor prepare`: make beforehand what the viewer takes from whole heads of a recording."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

WORDS = {
    "en": {
        "bar": "heads gone through",
        "done": "{heads} heads of {name} are prepared; base/ holds {size}.",
        "short": "{name} needs no preparing: its texts have at most {tokens} tokens.",
    },
    "cs": {
        "bar": "zpracované hlavy",
        "done": "Připraveno hlav: {heads} ({name}); složka base/ má {size}.",
        "short": "{name} přípravu nepotřebuje: texty mají nejvýš {tokens} tokenů.",
    },
}


def prepare(
    recording: Annotated[str, typer.Argument(metavar="NAME.pozor", help="A recording.")],
    item: Annotated[int | None, typer.Option(help="Text of the recording. Left out: all.")] = None,
    value_norm: Annotated[
        bool, typer.Option("--value-norm", help="For prob times the size of the value, too.")
    ] = False,
    tracks: Annotated[
        bool, typer.Option("--tracks/--no-tracks", help="Entropy of rows and what keys receive, too.")
    ] = True,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
) -> None:
    """Make the maps of a long recording ready beforehand.

    They are kept in NAME.pozor/base, which may be deleted: the viewer makes what is missing.

    Example: pozor prepare novel.pozor
    """
    from rich.console import Console

    import pozor
    from pozor.capture.plan import in_words
    from pozor.language import choose
    from pozor.matrix.base import NO_PREVIEW
    from pozor.recording.base_store import FOLDER

    lang = choose(lang)
    words, console = WORDS[lang], Console(highlight=False, soft_wrap=True)
    opened = pozor.open(recording)
    values = ("prob", "value_norm") if value_norm else ("prob",)
    with _bar(console, words["bar"]) as step:
        heads = opened.prepare(item, values=values, tracks=tracks, progress=step)
    facts: dict[str, Any] = {"name": opened.path, "heads": heads, "tokens": NO_PREVIEW}
    held = sum(file.stat().st_size for file in (opened.path / FOLDER).rglob("*.safetensors"))
    size = in_words(held)
    facts["size"] = size.replace(",", "\u00a0").replace(".", ",") if lang == "cs" else size
    console.print(words["done" if heads else "short"].format(**facts), markup=False)


@contextlib.contextmanager
def _bar(console: Any, label: str) -> Iterator[Callable[[float], None]]:
    """A progress bar; yields the function that is told how far it is, 0 … 1."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=1.0)
        yield lambda done: progress.update(task, completed=done)
