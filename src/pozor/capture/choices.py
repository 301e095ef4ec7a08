"""What of a forward shall be kept: layers, query heads, one range of queries."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pozor.errors import CaptureError, OptionError


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
    numbers = tuple(sorted({int(n) for n in given}))
    if not numbers or numbers[0] < 0:
        raise OptionError(f"{name} must be numbers from 0, at least one; got {list(given)}.")
    return numbers


def _range(given: tuple[int, int] | slice | str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    if isinstance(given, str):
        match = re.fullmatch(r"(\d+):(\d+)", given)
        pair = (int(match[1]), int(match[2])) if match else None
    elif isinstance(given, slice):
        pair = (given.start or 0, given.stop) if given.stop is not None and given.step in (None, 1) else None
    else:
        pair = (int(given[0]), int(given[1])) if len(given) == 2 else None
    if pair is None or not 0 <= pair[0] < pair[1]:
        raise OptionError(f"queries must be one range A:B with A < B, in tokens; got {given!r}.")
    return pair


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
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise OptionError(f"{name} must look like 0,5,7-9; got {text!r}.")
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return numbers
