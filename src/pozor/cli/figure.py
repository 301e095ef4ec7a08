"""`pozor figure`: one head of a recording or worked example as a picture, or its cells as numbers."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap

PICTURES, NUMBERS = (".svg", ".pdf", ".png"), (".csv", ".npz")


def figure(
    source: Annotated[
        str, typer.Argument(metavar="NAME.pozor|paper|pub", help="A recording, or a worked example.")
    ],
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE", help=".svg, .pdf or .png; numbers: .csv or .npz."),
    ],
    layer: Annotated[int | None, typer.Option(help="Layer of a recording. Left out: 0.")] = None,
    head: Annotated[int, typer.Option(help="Query head, counted from 0.")] = 0,
    item: Annotated[int | None, typer.Option(help="Text of a recording. Left out: 0.")] = None,
    kind: Annotated[str | None, typer.Option(help="self or cross, of a recording. Left out: self.")] = None,
    queries: Annotated[str | None, typer.Option(metavar="A:B", help="Rows A to B − 1 alone.")] = None,
    keys: Annotated[str | None, typer.Option(metavar="A:B", help="Columns A to B − 1 alone.")] = None,
    value: Annotated[
        str, typer.Option(help="prob, or value_norm: prob times the size of the value.")
    ] = "prob",
    variant: Annotated[str, typer.Option(help="recorded, unmasked or causal.")] = "recorded",
    reduce: Annotated[
        str | None, typer.Option(help="What a pixel of many cells shows: max, mean or share. Left out: max.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="linear or log. Left out: linear.")] = None,
    top: Annotated[float | None, typer.Option(help="Upper end of the scale. Left out: the largest.")] = None,
    colour: Annotated[
        str | None,
        typer.Option(help="viridis, cividis, magma or paper. Left out: viridis; paper for an example."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading. Left out: model, layer and head.")] = None,
    size: Annotated[float | None, typer.Option(help="Width in cm, 6 to 60. Left out: what suits.")] = None,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
) -> None:
    """A head as a picture (SVG, PDF, PNG), or its cells as numbers.

    \b
    Examples:
      pozor figure novel.pozor --layer 12 --head 5 -o map.svg
      pozor figure novel.pozor --layer 12 --head 5 --queries 800:840 --keys 760:840 -o part.pdf
      pozor figure pub -o pub.png --lang cs
      pozor figure novel.pozor --layer 12 --head 5 --queries 0:100 --keys 0:100 -o block.csv
    """
    from pozor.errors import OptionError
    from pozor.language import choose

    lang = choose(lang)
    if not output.lower().endswith(PICTURES + NUMBERS):
        raise OptionError(f"-o must end in .svg, .pdf or .png, or for numbers in .csv or .npz; got {output}.")
    own = {"reduce": reduce, "scale": scale, "top": top, "colour": colour, "title": title, "size": size}
    given: dict[str, Any] = {name: found for name, found in own.items() if found is not None}
    if given and output.lower().endswith(NUMBERS):
        names = ", ".join(f"--{name}" for name in given)
        belong = "belongs" if len(given) == 1 else "belong"
        raise OptionError(f"{names} {belong} to a picture; {output} gets the cells themselves. Leave it out.")
    block: dict[str, Any] = {
        "queries": _part("queries", queries), "keys": _part("keys", keys),
        "value": value, "variant": variant, "overwrite": overwrite,
    }  # fmt: skip
    shown, block["head"] = _map(source, {"layer": layer, "item": item, "kind": kind}, head, lang)
    if output.lower().endswith(NUMBERS):
        shown.export(output, **block)
        return
    if isinstance(shown.source, dict) and "example" in shown.source:
        given.setdefault("colour", "paper")
    shown.figure(output, lang=lang, **block, **given)


def _map(source: str, place: dict[str, Any], head: int, lang: str) -> "tuple[AttentionMap, int]":
    """The map, and which of its own heads is meant."""
    from pathlib import Path

    from pozor import recording
    from pozor.errors import OptionError
    from pozor.examples import EXAMPLES
    from pozor.figures.worked import example_map

    given = {name: found for name, found in place.items() if found is not None}
    if source in EXAMPLES:
        if given:
            names = " and ".join(f"--{name}" for name in given)
            belong = "belongs" if len(given) == 1 else "belong"
            raise OptionError(f"{names} {belong} to a recording, NAME.pozor; {source} is a worked example.")
        return example_map(source, lang), head
    if not Path(source).exists() and not source.rstrip("/\\").endswith(".pozor"):
        raise OptionError(f"a figure needs a recording, NAME.pozor, or paper or pub; got {source!r}.")
    return recording.open(source).map(given.pop("layer", 0), head, **given), 0


def _part(name: str, text: str | None) -> slice | None:
    """A range as typed, A:B, A: or :B."""
    from pozor.errors import OptionError

    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return slice(int(first) if first else None, int(last) if last else None)
    except ValueError:
        raise OptionError(f"--{name} must be A:B, such as 0:40; got {text!r}.") from None
