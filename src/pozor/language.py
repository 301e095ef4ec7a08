"""Which language a reader gets, and how it writes numbers. Prose itself lives with its renderer."""

import locale
import os
import re

from pozor.errors import OptionError

LANGUAGES = ("cs", "en")

_LONE = re.compile(r"(?<![^\s„(])([ksvzouaiKSVZOUAI]) (?=\S)")


def choose(lang: str | None = None) -> str:
    """`lang` if given, else the locale's language if it is Czech, else English.

    Raises:
        OptionError: `lang` is neither None nor one of LANGUAGES.
    """
    if lang is None:
        named = next((os.environ[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(n)), "")
        if not named:
            named = locale.getlocale()[0] or ""
        return "cs" if named.lower().startswith(("cs", "czech")) else "en"
    if lang not in LANGUAGES:
        raise OptionError(f"lang must be cs or en; got {lang!r}.")
    return lang


def tied(text: str, lang: str) -> str:
    """A sentence in which no Czech line ends with a one-letter word: `v řádku` gets an unbreakable space."""
    return _LONE.sub("\\1\u00a0", text) if lang == "cs" else text


def decimal(text: str, lang: str) -> str:
    """A number written with a point, as `lang` writes it in prose (Czech: a comma)."""
    return text.replace(".", ",") if lang == "cs" else text
