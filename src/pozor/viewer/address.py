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
    from pozor.recording.document import Layer

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
        held = layer_of(recording, self.item, self.layer, self.kind).heads
        if self.head not in held:
            kept = ranges([int(head) for head in held])
            raise NotThere(f"head must be one that layer {self.layer} keeps ({kept}); got {self.head}.")


def layer_of(recording: "Recording", item: int, layer: int, kind: str) -> "Layer":
    """The layer that an address names, of an item that is there.

    Raises:
        NotThere: The recording has no such item or layer.
    """
    if item >= len(recording.items):
        raise NotThere(f"item must be below {len(recording.items)}; got {item}.")
    for held in recording.layers:
        if (held.layer, held.kind) == (layer, kind):
            return held
    kept = ranges([held.layer for held in recording.layers if held.kind == kind])
    raise NotThere(f"layer must be one with {kind} attention ({kept or 'none'}); got {layer}.")


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
            variant=self.variant(),
            derived=self._given.get("derived", ""),
        )

    def layer_files(self) -> tuple[str, ...]:
        """The files of the layer that is asked about."""
        item, layer, kind, _ = self.layer()
        return files(item, layer, kind)

    def tile(self) -> TileAddress:
        """Which tile; zoom, row and column must be given."""
        return TileAddress(
            value=self.value(),
            zoom=self.number("zoom"),
            row=self.number("row"),
            column=self.number("column"),
            reduce=self.reduce(),
        )

    def optional(self, name: str) -> int | None:
        """A whole number from 0 up, or None where it is left out."""
        return self.number(name) if name in self._given else None

    def layer(self) -> tuple[int, int, str, str]:
        """Item, layer, kind and variant of all heads of a layer; layer must be given."""
        kind = self.word("kind", get_args(Kind), "self")
        return self.number("item", 0), self.number("layer"), kind, self.variant()

    def variant(self) -> str:
        """recorded, unmasked or causal."""
        return self.word("variant", get_args(Variant), "recorded")

    def reduce(self) -> str:
        """max, mean or share."""
        return self.word("reduce", get_args(Reduce), "max")

    def part(self, name: str) -> slice:
        """Queries or keys from a up to b, written a:b."""
        found = re.fullmatch(r"([0-9]{1,9}):([0-9]{1,9})", self._given.get(name, ""))
        if found is None:
            raise OptionError(f"{name} must be A:B, such as 0:256; got {self._given.get(name, '')[:50]!r}.")
        return slice(int(found[1]), int(found[2]))

    def value(self) -> str:
        """prob or value_norm."""
        return self.word("value", get_args(Value), "prob")

    def hidden(self) -> list[int]:
        """Keys that are left out of a row, in order: "5,7"; "" is none."""
        text = self._given.get("hidden", "")
        if text and not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9}){0,9999}", text):
            raise OptionError(f"hidden must be keys like 5,7, at most 10,000; got {text[:50]!r}.")
        return sorted({int(key) for key in text.split(",") if key})

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
