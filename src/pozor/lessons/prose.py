"""The prose of a lesson: sections headed `## key`, and the places in them that computed numbers fill."""

import html
import re
from pathlib import Path

from pozor.errors import OptionError
from pozor.language import tied

FIELD = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
CODE = re.compile(r"(```.*?```|`[^`\n]*`|\$[^$\n]*\$)", re.DOTALL)
WRAPPED = re.compile(r"(?<=\s[ksvzouaiKSVZOUAI])\n *(?=[\w{(„])")  # a one-letter word ends a source line
MARKDOWN = re.compile(r"([\\`*_\[\]#$|~])")


def read(path: Path) -> dict[str, str]:
    """The sections of a file by key, in its order.

    Raises:
        OptionError: The file starts with something else than a section, or has a key twice.
    """
    sections: dict[str, str] = {}
    for number, part in enumerate(re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)):
        if number == 0:
            if part.strip():
                raise OptionError(f"{path.name} must start with '## key'; got {part.strip()[:40]!r}.")
            continue
        key, _, body = part.partition("\n")
        if key.strip() in sections:
            raise OptionError(f"{path.name} must have each section once; {key.strip()!r} comes twice.")
        sections[key.strip()] = body.strip()
    return sections


def fields(section: str) -> set[str]:
    """The names in braces; what stands in code or a formula is no field."""
    return {name for part in CODE.split(section)[::2] for name in FIELD.findall(part)}


def fill(section: str, values: dict[str, str], where: str, lang: str) -> str:
    """The section with its fields filled in and its one-letter words tied to what follows.

    Code and formulas between backticks or dollars stay as they are.

    Raises:
        OptionError: A field has no value; `where` says of which section.
    """
    missing = sorted(fields(section) - set(values))
    if missing:
        given = ", ".join(sorted(values)) or "nothing"
        raise OptionError(f"{where} must be given {', '.join(missing)}; got {given}.")
    parts = CODE.split(section)
    prose = [tied(WRAPPED.sub(" ", part), lang) for part in parts[::2]]
    parts[::2] = [FIELD.sub(lambda found: values[found[1]], part) for part in prose]
    return "".join(parts)


def escaped(text: str) -> str:
    """A word that came from elsewhere, so that Markdown shows it as it is."""
    return MARKDOWN.sub(lambda found: f"&#{ord(found[1])};", html.escape(text, quote=False))
