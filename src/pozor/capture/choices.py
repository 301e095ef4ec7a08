"""What of a forward shall be kept: layers, query heads, one range of queries."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pozor.errors import CaptureError, OptionError

LARGEST = 99_999  # no model has so many layers or heads


@dataclass(frozen=True)
class Choices:
    """None = all."""

    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    queries: tuple[int, int] | None = None

    def heads_of(self, num_heads: int) -> tuple[int, ...]:
        """The heads to keep of a layer with so many."""
        if self.heads is None:
            return tuple(range(num_heads))
        if max(self.heads) >= num_heads:
            raise CaptureError(f"heads must be from 0 to {num_heads - 1}; got {max(self.heads)}.")
        return self.heads

    def queries_of(self, length: int) -> tuple[int, int]:
        """The range to keep of an item with so many tokens."""
        if self.queries is None:
            return 0, length
        start, stop = self.queries
        if start >= length:
            raise CaptureError(
                f"queries must begin before the text ends, at {length} tokens; got {start}:{stop}."
            )
        return start, min(stop, length)


def choose(
    layers: Sequence[int] | None, heads: Sequence[int] | None, queries: tuple[int, int] | slice | str | None
) -> Choices:
    """Judge the options of `record`.

    Raises:
        OptionError: An option is not what it must be.
    """
    return Choices(_numbers("layers", layers), _numbers("heads", heads), _range(queries))


def _numbers(name: str, given: Sequence[int] | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    try:
        numbers = tuple(sorted({operator.index(n) for n in given}))
    except TypeError:  # no list, or something in it that is no whole number
        numbers = ()
    if not numbers or numbers[0] < 0 or numbers[-1] > LARGEST:
        raise OptionError(f"{name} must be a list of whole numbers from 0, at least one; got {given!r:.60}.")
    return numbers


def _range(given: tuple[int, int] | slice | str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    pair: Any = None
    if isinstance(given, str):
        match = re.fullmatch(r"(\d+):(\d+)", given)
        pair = (int(match[1]), int(match[2])) if match else None
    elif isinstance(given, slice):
        pair = (given.start or 0, given.stop) if given.step in (None, 1) else None
    elif isinstance(given, tuple | list) and len(given) == 2:
        pair = tuple(given)
    try:
        start, stop = (operator.index(n) for n in pair)
    except TypeError:  # None, or a part that is no whole number
        start = stop = 0
    if not 0 <= start < stop:
        raise OptionError(f"queries must be one range A:B with A < B, in tokens; got {given!r:.60}.")
    return start, stop


def parse_numbers(name: str, text: str | None) -> list[int] | None:
    """Numbers as a command line writes them: 0,5,7-9.

    Raises:
        OptionError: The text is not such a list.
    """
    if text is None:
        return None
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= LARGEST:
            raise OptionError(f"{name} must look like 0,5,7-9, up to {LARGEST}; got {text[:60]!r}.")
        numbers += range(first, last + 1)
    return numbers
