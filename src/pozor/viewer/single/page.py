"""The HTML around the arrays: the built page with its data, a title, a picture where no script runs."""

import base64
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pozor.errors import OptionError

PAGE = Path(__file__).parents[1] / "static" / "single.html"
PICTURE, FILE = "<!--pozor:picture-->", "<!--pozor:file-->"  # where web/single.html wants them
LONE = re.compile("[\ud800-\udfff]")


def page(
    document: Mapping[str, Any],
    texts: Mapping[str, str],
    *,
    title: str,
    picture: bytes,
    captions: Mapping[str, str],
    lang: str | None,
) -> bytes:
    """The whole file. captions: by language; lang: the language it opens in, None: the reader's."""
    built = template()
    if lang is not None:
        built = built.replace('lang="en" data-lang="auto"', f'lang="{lang}" data-lang="{lang}"', 1)
    data = [f'<script type="application/json" id="pozor-file">{inside_script(document)}</script>']
    data += [
        f'<script type="text/plain" data-array="{html.escape(name)}">{text}</script>'
        for name, text in texts.items()
    ]
    image = base64.b64encode(picture).decode("ascii")
    said = "".join(
        f'<p lang="{code}" data-without-scripts>{html.escape(words)}</p>' for code, words in captions.items()
    )
    name = shown_title(title)
    still = (
        f'<main class="file-picture"><h1>{name}</h1><img alt="{html.escape(next(iter(captions.values())))}" '
        f'src="data:image/png;base64,{image}">{said}</main>'
    )
    parts = (("<title>pozor</title>", f"<title>{name}</title>"), (PICTURE, still), (FILE, "\n".join(data)))
    for mark, part in parts:
        before, found, after = built.partition(mark)
        if not found:
            raise OptionError(
                f"the page in this install ({PAGE.name}) is not that of this pozor. Run: make web"
            )
        built = before + part + after
    return built.encode("utf-8")


def template() -> str:
    """The page as `make web` built it.

    Raises:
        OptionError: It is not in this install.
    """
    if not PAGE.is_file():
        raise OptionError("the page is not in this install (viewer/static/single.html). Run: make web")
    return PAGE.read_text(encoding="utf-8")


def inside_script(document: Any) -> str:
    """JSON that ends no script and that UTF-8 can hold: `<` and halves of characters are escaped.

    Example:
        >>> inside_script({"token": "</script>"})
        '{"token":"\\\\u003c/script>"}'
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", text.replace("<", "\\u003c"))


def shown_title(title: str) -> str:
    """A title as HTML: one line, no control characters."""
    line = " ".join(LONE.sub("\ufffd", title).split())
    return html.escape("".join(sign for sign in line if sign.isprintable()) or "pozor")
