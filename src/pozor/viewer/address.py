"""The address of a map and of what is asked of it, read from a query string; a wrong word gets a sentence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from pozor.errors import OptionError
from pozor.viewer.documents import Kind, Language, Reduce, Value, Variant
from pozor.viewer.library import NotThere

if TYPE_CHECKING:
    from pozor.recording import Recording

MAP_NAMES = ("item", "layer", "kind", "head", "variant", "derived", "version")


@dataclass(frozen=True)
class MapAddress:
    """One head's map of one item, or one derived from several (docs/contracts.md says how it is written)."""

    item: int
    layer: int
    kind: str
    head: int
    variant: str
    derived: str = ""

    def files(self) -> tuple[str, ...]:
        """The files of the recording that the map is read from."""
        return files(self.item, self.layer, self.kind)

    def check(self, recording: "Recording") -> None:
        """Refuse an address that the recording does not have.

        Raises:
            NotThere: The recording has no such item, layer or head.
        """
        if self.item >= len(recording.items):
            raise NotThere(f"item must be below {len(recording.items)}; got {self.item}.")
        for layer in recording.layers:
            if (layer.layer, layer.kind) == (self.layer, self.kind):
                if self.head not in layer.heads:
                    kept = ranges([int(head) for head in layer.heads])
                    raise NotThere(
                        f"head must be one that layer {self.layer} keeps ({kept}); got {self.head}."
                    )
                return
        kept = ranges([layer.layer for layer in recording.layers if layer.kind == self.kind])
        raise NotThere(f"layer must be one with {self.kind} attention ({kept or 'none'}); got {self.layer}.")


def files(item: int, layer: int, kind: str) -> tuple[str, ...]:
    """The files of a recording that one layer's maps of an item are read from."""
    name = f"layer-{layer:03}-{kind}.safetensors"
    return f"item-{item:03}/{name}", f"item-{item:03}/tokens.safetensors", f"weights/{name}"


@dataclass(frozen=True)
class TileAddress:
    """One tile of a map, by the tile protocol."""

    value: str
    zoom: int
    row: int
    column: int
    reduce: str


class Query:
    """The parameters of one request; `names` are all that this route knows."""

    def __init__(self, given: Mapping[str, str], *names: str) -> None:
        unknown = [name for name in given if name not in names]
        if unknown:
            raise OptionError(
                f"{unknown[0][:50]!r} is no parameter here; there are {', '.join(names) or 'none'}."
            )
        self._given = given

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number from 0 up."""
        text = self._given.get(name)
        if text is None:
            if default is None:
                raise OptionError(f"{name} is missing; give {name}=N.")
            return default
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise OptionError(f"{name} must be a whole number from 0 up; got {text[:50]!r}.")
        return int(text)

    def word(self, name: str, words: tuple[str, ...], default: str) -> str:
        """One of `words`."""
        text = self._given.get(name, default)
        if text not in words:
            raise OptionError(f"{name} must be {' or '.join(words)}; got {text[:50]!r}.")
        return text

    def map(self) -> MapAddress:
        """Which map; layer and head must be given."""
        return MapAddress(
            item=self.number("item", 0),
            layer=self.number("layer"),
            kind=self.word("kind", get_args(Kind), "self"),
            head=self.number("head"),
            variant=self.word("variant", get_args(Variant), "recorded"),
            derived=self._given.get("derived", ""),
        )

    def layer_files(self) -> tuple[str, ...]:
        """The files of the layer that is asked about."""
        kind = self.word("kind", get_args(Kind), "self")
        return files(self.number("item", 0), self.number("layer"), kind)

    def tile(self) -> TileAddress:
        """Which tile; zoom, row and column must be given."""
        return TileAddress(
            value=self.value(),
            zoom=self.number("zoom"),
            row=self.number("row"),
            column=self.number("column"),
            reduce=self.word("reduce", get_args(Reduce), "max"),
        )

    def value(self) -> str:
        """prob or value_norm."""
        return self.word("value", get_args(Value), "prob")

    def version(self) -> str | None:
        """The version of the recording that the page knows."""
        return self._given.get("version")

    def lang(self, default: str) -> str:
        """cs or en."""
        return self.word("lang", get_args(Language), default)


def below(name: str, value: int, stop: int, what: str) -> int:
    """`value`, if there are more than that.

    Raises:
        NotThere: There are not.
    """
    if value >= stop:
        raise NotThere(f"{name} must be below {stop} ({what}); got {value}.")
    return value


def ranges(numbers: list[int]) -> str:
    """Whole numbers in few words.

    Example:
        >>> ranges([0, 1, 2, 5, 7, 8])
        '0-2, 5, 7-8'
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
