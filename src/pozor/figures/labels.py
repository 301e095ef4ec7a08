"""Tokens as labels of an axis: safe to draw, short, told apart, and so few that they never overlap."""

import unicodedata
from collections.abc import Sequence
from itertools import count

from pozor.working.tokens import visible

LONGEST = 18  # characters of a label


def label(token: str, spaced: bool = True) -> str:
    """One token: blanks and control characters as marks, at most LONGEST characters.

    spaced: whether the space before a word is shown, as ␣.
    """
    word_after_space = len(token) > 1 and token[0] == " " and token[1] != " "
    # a token may be very long: what is cut off anyway is not looked at
    own = token[1:] if word_after_space else token
    text = visible(own[: 2 * LONGEST])
    if unicodedata.category(text[0]).startswith("M"):
        text = "◌" + text  # it would sit on whatever stands before it
    if word_after_space and spaced:
        text = "␣" + text
    return cut(text, LONGEST)


def cut(text: str, longest: int) -> str:
    """At most so many characters, the last one … where some were cut off."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def labels(tokens: Sequence[str] | None, indices: Sequence[int], numbered: bool) -> list[str]:
    """The labels of some indices: token, index and token, or index alone where there are no tokens.

    The space before a word is left out where no other label shown looks like the word without it.
    """
    if tokens is None:
        return [str(index) for index in indices]
    here = [tokens[index] for index in indices]
    plain: dict[str, set[str]] = {}
    for token in here:
        plain.setdefault(label(token, spaced=False), set()).add(token)
    texts = [label(token, spaced=len(plain[label(token, spaced=False)]) > 1) for token in here]
    return [f"{index} {text}" for index, text in zip(indices, texts)] if numbered else texts


def step(pitch: float, gap: float) -> int:
    """Every how many cells of `pitch` points a label has `gap` points for itself: 1, 2, 5, 10, 20 …"""
    for power in count():
        for digit in (1, 2, 5):
            if pitch * digit * 10**power >= gap:
                return digit * 10**power
    raise AssertionError  # the loop has no end


def chosen(cells: range, every: int) -> list[int]:
    """The indices that get a label: multiples of `every`."""
    return list(range(-(-cells.start // every) * every, cells.stop, every))
