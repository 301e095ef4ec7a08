"""A map made of maps, as an address writes it.

mean:3.1,3.2 · max:3.1,3.2 (layer.head) · minus:12.5 · minus:12.5@ID (of another recording) · minus:unmasked
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from pozor.errors import OptionError
from pozor.matrix.derived import Derived, Kind, Member
from pozor.viewer.address import MapAddress
from pozor.viewer.answers import Shown
from pozor.viewer.one_head import OneHead

MOST_HEADS = 1024
_HEAD = r"[0-9]{1,6}\.[0-9]{1,6}"
_SEVERAL = re.compile(rf"(mean|max):({_HEAD}(?:,{_HEAD}){{0,{MOST_HEADS - 1}}})")
_MINUS = re.compile(rf"minus:({_HEAD})(?:@([0-9a-f]{{1,64}}))?")
UNMASKED = "minus:unmasked"


@dataclass(frozen=True)
class Derivation:
    """What a map is made of.

    Attributes:
        kind: "mean", "max" or "difference".
        heads: (layer, head) of each; of a difference the head that is taken away, none where it is the map's
            own without its mask.
        other: The recording that the head taken away is from; None: the map's own.
    """

    kind: Kind
    heads: tuple[tuple[int, int], ...]
    other: str | None = None


def parse(text: str) -> Derivation:
    """What an address says.

    Raises:
        OptionError: It is written otherwise.
    """
    if text == UNMASKED:
        return Derivation("difference", ())
    if several := _SEVERAL.fullmatch(text):
        kind: Literal["mean", "max"] = "mean" if several[1] == "mean" else "max"
        return Derivation(kind, tuple(_head(one) for one in several[2].split(",")))
    if minus := _MINUS.fullmatch(text):
        return Derivation("difference", (_head(minus[1]),), minus[2])
    raise OptionError(
        f"derived must be mean:L.H,L.H or max:L.H,L.H (layer.head, at most {MOST_HEADS} of them), "
        f"minus:L.H, minus:L.H@ID or minus:unmasked; got {text[:50]!r}."
    )


def _head(text: str) -> tuple[int, int]:
    layer, head = text.split(".")
    return int(layer), int(head)


def own(derivation: Derivation, plain: MapAddress) -> list[MapAddress]:
    """The addresses of the maps it is made of that are the recording's own, the map itself among them.

    Raises:
        OptionError: What is compared with its unmasked self is shown under another mask than its own.
    """
    at = [replace(plain, layer=layer, head=head) for layer, head in derivation.heads]
    if derivation.kind != "difference":
        return at
    if derivation.other is not None:
        return [plain]
    if at:
        return [plain, *at]
    if plain.variant != "recorded":
        raise OptionError(
            f"variant must be recorded for a difference from the unmasked map; got {plain.variant!r}."
        )
    return [plain, replace(plain, variant="unmasked")]


def combined(derivation: Derivation, shown: list[Shown]) -> Shown:
    """The map made of these."""
    made = Derived(derivation.kind, [member(one) for one in shown])
    other_masks = derivation.kind != "difference" or bool(derivation.heads)
    return Shown(made, None, made.has_v_norm, made.causal_ok, other_masks=other_masks)


def member(shown: Shown) -> Member:
    """One head, as `Derived` takes it."""
    one = shown.map
    if isinstance(one, OneHead):
        return Member(one.whole, one.head, one.batch)
    if isinstance(one, Derived):
        raise OptionError("a combination must be made of heads; got one made of combinations.")
    return Member(one, 0)
