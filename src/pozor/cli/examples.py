"""`pozor examples`: both worked examples as one offline file."""

from pathlib import Path
from typing import Annotated

import typer

# what `web/src/examples/seal.ts` leaves in the page for the language it opens in
AUTO = 'data-lang="auto"'
WORDS = {
    "cs": "{output}: {size:.0f}\u00a0kB, otevře se v každém prohlížeči i bez internetu.",
    "en": "{output}: {size:.0f} kB, opens in any browser, offline.",
}


def examples(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The file to write, .html.")],
    lang: Annotated[
        str | None, typer.Option(help="cs or en: the language it opens in. Left out: the reader's browser's.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write both worked examples as one page that works offline.

    It opens in any browser, from the disk or from an e-mail.

    \b
    Example:
      pozor examples -o hodina.html --lang cs
    """
    from pozor.cli.saving import save
    from pozor.language import choose

    page = template()
    if lang is not None:
        chosen = choose(lang)
        page = page.replace('lang="en"', f'lang="{chosen}"', 1).replace(AUTO, f'data-lang="{chosen}"', 1)
    path = save(page, output, overwrite=overwrite, like="hodina.html")
    print(WORDS[choose(lang)].format(output=output, size=path.stat().st_size / 1000))


def template() -> str:
    """The page as `make web` built it."""
    from pozor.errors import OptionError

    built = Path(__file__).parents[1] / "viewer" / "static" / "examples.html"
    if not built.is_file():
        raise OptionError("the page is not in this install (viewer/static/examples.html). Run: make web")
    return built.read_text(encoding="utf-8")
