"""Which fonts draw a text: DejaVu Sans, which matplotlib brings, and what else of this machine it needs."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

FIRST = "DejaVu Sans"
LAST_RESORT = "last resort"  # fonts that draw a box for everything


def families(texts: Iterable[str]) -> list[str]:
    """Font families that together hold these texts, as far as this machine has them."""
    from matplotlib import font_manager

    missing = {ord(ch) for text in texts for ch in text} - _held(font_manager.findfont(FIRST), 0)
    found = [FIRST]
    if not missing:
        return found
    for entry in sorted(font_manager.fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)):
        if entry.style != "normal" or LAST_RESORT in entry.name.lower().replace("lastresort", LAST_RESORT):
            continue
        held = missing & _held(entry.fname, getattr(entry, "index", 0))
        if held:
            found.append(entry.name)
            missing -= held
        if not missing:
            break
    return found


def drawable(text: str, names: Iterable[str]) -> str:
    """`text` with its number in place of a character that none of these fonts has."""
    from matplotlib import font_manager

    held: set[int] = set().union(*(_held(font_manager.findfont(name), 0) for name in names))
    return "".join(ch if ord(ch) in held or _joins(ch) else f"⟨U+{ord(ch):04X}⟩" for ch in text)


def _joins(character: str) -> bool:
    """Joiners and selectors of a form have no shape of their own."""
    return character in "\u200c\u200d" or unicodedata.name(character, "").startswith("VARIATION SELECTOR")


@lru_cache(maxsize=512)
def _held(path: str, index: int) -> frozenset[int]:
    """Code points of a font; none of one that cannot be drawn at any size."""
    from matplotlib import ft2font

    kinds: Any = ft2font
    try:
        font = kinds.FT2Font(path, face_index=index) if index else kinds.FT2Font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (RuntimeError, OSError, AttributeError):
        return frozenset()
