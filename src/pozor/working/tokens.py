"""Tokens as a reader can see them: blanks and control characters made visible, nothing left out."""

import unicodedata

# one visible mark for each blank that would otherwise vanish
MARKS = {" ": "␣", "\n": "↵", "\t": "⇥", "\u00a0": "⍽"}
ISOLATE, RELEASE = "\u2068", "\u2069"
INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}


def visible(text: str) -> str:
    """`text` with every blank and control character shown; an empty token is ⟨⟩.

    Blanks between letters stay blanks; at an end, or alone, they are marked.
    """
    if not text:
        return "⟨⟩"
    core = text.strip(" ")
    start = len(text) - len(text.lstrip(" ")) if core else len(text)
    stop = start + len(core)
    return "".join(
        ch if ch == " " and start <= i < stop else _mark(ch, joined=0 < i < len(text) - 1)
        for i, ch in enumerate(text)
    )


def right_to_left(text: str) -> bool:
    """`text` holds characters that run from right to left."""
    return any(unicodedata.bidirectional(ch) in ("R", "AL", "AN") for ch in text)


def _mark(character: str, joined: bool) -> str:
    if character in MARKS:
        return MARKS[character]
    # a joiner inside a word or emoji belongs to it
    if character in "\u200c\u200d" and joined:
        return character
    if unicodedata.category(character) in INVISIBLE:
        return f"⟨U+{ord(character):04X}⟩"
    return character
