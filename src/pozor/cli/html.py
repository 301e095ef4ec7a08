"""`pozor html`: heads of a recording as one file that shows them anywhere."""

from typing import Annotated

import typer

WORDS = {
    "cs": "{output}: {size}\u00a0MB, otevře se v každém prohlížeči i bez internetu.",
    "en": "{output}: {size} MB, opens in any browser, offline.",
}


def html(
    source: Annotated[str, typer.Argument(metavar="NAME.pozor", help="A recording.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The file to write, .html.")],
    layers: Annotated[
        str | None, typer.Option("--layers", metavar="N,N", help="Layers of the recording. Left out: all.")
    ] = None,
    heads: Annotated[
        str | None, typer.Option("--heads", metavar="N,N", help="Query heads of each layer. Left out: all.")
    ] = None,
    item: Annotated[int, typer.Option(help="Text of the recording, counted from 0.")] = 0,
    kind: Annotated[str, typer.Option(help="self or cross.")] = "self",
    dtype: Annotated[
        str, typer.Option(help="Of q and k in the file: float32, or float16, half the size.")
    ] = "float32",
    title: Annotated[str | None, typer.Option(help="Of the page. Left out: the recording's name.")] = None,
    lang: Annotated[
        str | None, typer.Option(help="cs or en: the language it opens in. Left out: the reader's browser's.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
) -> None:
    """Heads of a recording as one file that needs no network.

    Deep zoom, rows, columns and cells are inside.

    It opens in any browser, from the disk or from an e-mail, and computes by itself.

    \b
    Examples:
      pozor html novel.pozor --layers 12 --heads 5 -o head.html
      pozor html novel.pozor --layers 12,20 --dtype float16 -o layers.html --lang cs
    """
    from pozor import recording
    from pozor.language import choose, decimal

    path = recording.open(source).to_html(
        output,
        layers=_numbers("layers", layers),
        heads=_numbers("heads", heads),
        item=item,
        kind=kind,
        dtype=dtype,  # pyright: ignore[reportArgumentType]  # judged there
        lang=lang,
        title=title,
        overwrite=overwrite,
    )
    spoken = choose(lang)
    size = decimal(f"{path.stat().st_size / 1e6:.1f}", spoken)
    print(WORDS[spoken].format(output=output, size=size))


def _numbers(name: str, text: str | None) -> list[int] | None:
    """Numbers as typed: 3 or 3,5,7."""
    from pozor.errors import OptionError

    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"--{name} must be numbers with commas between, such as 0,3; got {text!r}."
        ) from None
