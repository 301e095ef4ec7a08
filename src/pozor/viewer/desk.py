"""The desk: every question about a recording or a map, asked in strings, answered in documents or bytes.

The server and the notebook widget ask here; `docs/contracts.md` lists the questions.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pozor.errors import OptionError
from pozor.language import choose
from pozor.viewer import answers, derived, heads, items, own_map
from pozor.viewer.address import MAP_NAMES, MapAddress, Query, below, files, layer_of
from pozor.viewer.documents import ItemDocument, RecordingCard, RecordingDocument
from pozor.viewer.downloads import COLOURS, FORMS, Wanted, download
from pozor.viewer.library import NotThere, Opened
from pozor.viewer.one_head import OneHead
from pozor.viewer.shelf import Shelf

if TYPE_CHECKING:
    import numpy as np

    from pozor.matrix import AttentionMap
    from pozor.matrix.measuring import Measuring

MAP_BYTES = 128 << 20
DOCUMENTS = {  # ask -> what it takes
    "recording": (),
    "item": ("item", "version"),
    "map": MAP_NAMES,
    "base": (*MAP_NAMES, "value"),
    "row": (*MAP_NAMES, "query", "value", "hidden"),
    "column": (*MAP_NAMES, "key", "value"),
    "cell": (*MAP_NAMES, "query", "key", "lang", "digits"),
    "heads": ("item", "version"),
    "which": ("item", "variant", "query", "key", "version"),
}
PAYLOADS = {
    "tile": (*MAP_NAMES, "value", "zoom", "row", "column", "reduce"),
    "tracks": MAP_NAMES,
    "download": (*MAP_NAMES, "form", "queries", "keys", "value", "reduce", "scale", "colour", "lang"),
    "thumbs": ("item", "layer", "kind", "value", "reduce", "variant", "version"),
}


@dataclass(frozen=True)
class Payload:
    """Bytes that answer a question; `preview`: a better answer comes when the base map is ready."""

    body: bytes
    preview: bool = False


def maps_shelf() -> Shelf[answers.Shown]:
    """A place for the maps that are being looked at, bounded."""
    return Shelf(MAP_BYTES, lambda shown: shown.nbytes)


class Desk(ABC):
    """Answers about one recording or map. Every method may be called from several threads.

    Attributes:
        lang: Of a working where the question names none; None: the locale's.
    """

    lang: str | None = None

    def document(self, ask: str, given: Mapping[str, str]) -> Mapping[str, Any]:
        """A JSON document (`documents.py`).

        Args:
            ask: One of DOCUMENTS.
            given: What it takes, as strings.

        Raises:
            OptionError: Unknown names, or words or numbers that are none.
            NotThere: The recording has no such part.
        """
        if ask not in DOCUMENTS:
            raise NotThere(f"There is no question {ask[:50]!r}; there are {', '.join(DOCUMENTS)}.")
        return getattr(self, f"_{ask}")(Query(given, *DOCUMENTS[ask]))

    def payload(self, ask: str, given: Mapping[str, str]) -> Payload:
        """Bytes: those of PAYLOADS. Raises as `document` does."""
        if ask not in PAYLOADS:
            raise NotThere(f"There is no question {ask[:50]!r}; there are {', '.join(PAYLOADS)}.")
        return getattr(self, f"_{ask}")(Query(given, *PAYLOADS[ask]))

    def waits(self, ask: str, given: Mapping[str, str]) -> bool:
        """Whether what answers this is still being made behind: then ask again a little later.

        Who cannot wait asks at once, and the answer takes as long as it takes.
        """
        return ask == "tracks" and answers.tracks_wait(self.shown(Query(given, *PAYLOADS[ask]).map()))

    @abstractmethod
    def shown(self, address: MapAddress) -> answers.Shown:
        """The map of an address."""

    def made_of(self, address: MapAddress) -> answers.Shown:
        """The map that an address derives from others."""
        derivation = derived.parse(address.derived)
        shown = [self.shown(one) for one in derived.own(derivation, replace(address, derived=""))]
        if derivation.other is not None:
            shown.append(self.elsewhere(derivation.other, address, *derivation.heads[0]))
        return derived.combined(derivation, shown)

    def elsewhere(self, id: str, address: MapAddress, layer: int, head: int) -> answers.Shown:
        """A head of another recording of the same tokens."""
        del address, layer, head
        raise NotThere(f"derived must name heads of this map, which knows no recording {id[:50]!r}.")

    @abstractmethod
    def recording(self) -> RecordingDocument:
        """What there is."""

    @abstractmethod
    def item(self, number: int) -> ItemDocument:
        """A sequence with its tokens."""

    @abstractmethod
    def heads_of(self, item: int, layer: int, kind: str) -> list[int]:
        """The heads of one layer, in order."""

    @abstractmethod
    def measuring(self, item: int) -> "Measuring":
        """What measures all heads of a sequence."""

    @abstractmethod
    def which(self, item: int, variant: str, query: int | None, key: int | None) -> "np.ndarray":
        """All heads by what they give to a cell, a row or a column, the largest first."""

    # ---- questions -----------------------------------------------------------------------------------------

    def _recording(self, query: Query) -> Mapping[str, Any]:
        del query
        return self.recording()

    def _item(self, query: Query) -> Mapping[str, Any]:
        return self.item(query.number("item", 0))

    def _map(self, query: Query) -> Mapping[str, Any]:
        return answers.map_document(self.shown(query.map()))

    def _base(self, query: Query) -> Mapping[str, Any]:
        return answers.base_document(self.shown(query.map()), query.value())

    def _row(self, query: Query) -> Mapping[str, Any]:
        number = query.number("query")
        return answers.row_document(self.shown(query.map()), number, query.value(), query.hidden())

    def _column(self, query: Query) -> Mapping[str, Any]:
        number = query.number("key")
        return answers.column_document(self.shown(query.map()), number, query.value())

    def _cell(self, query: Query) -> Mapping[str, Any]:
        cell = query.number("query"), query.number("key")
        lang, digits = query.lang(choose(self.lang)), query.number("digits", 3)
        return answers.cell_document(self.shown(query.map()), *cell, lang, digits)

    def _tile(self, query: Query) -> Payload:
        address, tile = query.map(), query.tile()
        return Payload(*answers.tile_payload(self.shown(address), tile))

    def _tracks(self, query: Query) -> Payload:
        return Payload(answers.tracks_payload(self.shown(query.map())))

    def _download(self, query: Query) -> Payload:
        address, lang = query.map(), query.lang(choose(self.lang))
        form, colour = query.word("form", FORMS, ""), query.word("colour", COLOURS, "viridis")
        wanted = Wanted(
            form,
            query.part("queries"),
            query.part("keys"),
            value=query.value(),
            reduce=query.reduce(),
            scale=query.word("scale", ("linear", "log"), "linear"),
            colour=colour,
            variant=address.variant,
            lang=lang,
        )
        return Payload(download(self.shown(address), wanted))

    def _heads(self, query: Query) -> Mapping[str, Any]:
        return heads.heads_document(self.measuring(query.number("item", 0)))

    def _which(self, query: Query) -> Mapping[str, Any]:
        item, variant = query.number("item", 0), query.variant()
        place = query.optional("query"), query.optional("key")
        return heads.which_document(self.which(item, variant, *place), *place)

    def _thumbs(self, query: Query) -> Payload:
        item, layer, kind, variant = query.layer()
        value, reduce = query.value(), query.reduce()
        shown = (
            self.shown(MapAddress(item, layer, kind, head, variant))
            for head in self.heads_of(item, layer, kind)
        )
        return Payload(*heads.thumbs_payload(shown, value, reduce))


class RecordingDesk(Desk):
    """Answers about an open recording.

    Args:
        opened: The recording.
        card: Makes its card.
        maps: Where its maps are kept, shared with other desks.
        lang: As in `Desk`.
        find: Another recording by its id, for a difference of two; None: there are no others.
    """

    def __init__(
        self,
        opened: Opened,
        card: Callable[[Opened], RecordingCard],
        maps: Shelf[answers.Shown] | None = None,
        lang: str | None = None,
        find: Callable[[str], Opened] | None = None,
    ) -> None:
        self.opened, self._card, self.lang, self._find = opened, card, lang, find
        self._maps = maps_shelf() if maps is None else maps

    def shown(self, address: MapAddress) -> answers.Shown:
        """The map of an address, kept while there is room; its files must be those that were opened."""
        versions = self._checked(address.derived, address.files(), address.item, address.kind)
        key = (self.opened.id, versions, address)
        if address.derived:
            return self._maps.get(key, lambda: self.made_of(address))
        return self._maps.get(key, lambda: answers.open_map(self.opened, address))

    def fresh(self, ask: str, given: Mapping[str, str]) -> tuple[str, ...]:
        """The versions of the recordings that a payload is made from, which must be those on disk.

        Raises:
            Changed: They are not.   OptionError, NotThere: As `payload`.
        """
        query = Query(given, *PAYLOADS[ask])
        item, _, kind, _ = query.layer()
        return self._checked(given.get("derived", ""), query.layer_files(), item, kind)

    def _checked(self, text: str, names: tuple[str, ...], item: int, kind: str) -> tuple[str, ...]:
        self.opened.check(*names)
        if not text:
            return (self.opened.version,)
        derivation = derived.parse(text)
        held = self.opened if derivation.other is None else self._other(derivation.other)
        # which item of another is compared is not known yet: any of them
        numbers = [item] if derivation.other is None else range(len(held.recording.items))
        held.check(
            *(name for n in numbers for layer, _ in derivation.heads for name in files(n, layer, kind))
        )
        return self.opened.version, held.version

    def elsewhere(self, id: str, address: MapAddress, layer: int, head: int) -> answers.Shown:
        """A head of another recording, of the item that has the tokens of this one."""
        other = RecordingDesk(self._other(id), self._card, self._maps, self.lang, self._find)
        mine, held = self.opened.recording.items[address.item].tokens, other.opened.recording.items
        numbers = [n for n in (address.item, *range(len(held))) if n < len(held) and held[n].tokens == mine]
        if not numbers:
            name = other.opened.recording.name
            raise OptionError(
                f"derived must name a recording of the same tokens; no item of {name} has those of item "
                f"{address.item}."
            )
        there = replace(address, derived="", item=numbers[0], layer=layer, head=head)
        return other.shown(there)

    def _other(self, id: str) -> Opened:
        if self._find is None:
            raise NotThere(
                f"derived must name heads of this recording; {id[:50]!r} cannot be looked up here."
            )
        return self._find(id)

    def recording(self) -> RecordingDocument:
        """Card, items, layers."""
        return answers.recording_document(self.opened, self._card(self.opened))

    def item(self, number: int) -> ItemDocument:
        """A recorded sequence with its tokens."""
        held = self.opened.recording.items
        self.opened.check(f"item-{number:03}/tokens.safetensors", f"item-{number:03}/text.txt")
        return items.item_document(held[below("item", number, len(held), "items of this recording")])

    def heads_of(self, item: int, layer: int, kind: str) -> list[int]:
        """The recorded heads of one layer."""
        return [int(head) for head in layer_of(self.opened.recording, item, layer, kind).heads]

    def measuring(self, item: int) -> "Measuring":
        """What measures all recorded heads of an item."""
        self._whole_item(item)
        return self.opened.recording.measuring(item)

    def which(self, item: int, variant: str, query: int | None, key: int | None) -> "np.ndarray":
        """All recorded heads by what they give to a cell, a row or a column."""
        self._whole_item(item)
        return self.opened.recording.which(query=query, key=key, item=item, variant=cast(Any, variant))

    def _whole_item(self, item: int) -> None:
        """Every layer is read: each must be the file that was opened."""
        recording = self.opened.recording
        below("item", item, len(recording.items), "items of this recording")
        names = (name for layer in recording.layers for name in files(item, layer.layer, layer.kind))
        self.opened.check(*dict.fromkeys(names))


class MapDesk(Desk):
    """Answers about one AttentionMap: its heads as layer 0, its sequences as items.

    Args:
        whole: The map, with q and k or from probs.
        name: How it is called.
        lang: As in `Desk`.
    """

    def __init__(self, whole: "AttentionMap", name: str = "", lang: str | None = None) -> None:
        self.whole, self.name, self.lang = whole, name, lang
        self._maps: Shelf[answers.Shown] = maps_shelf()
        self._measuring: dict[int, Measuring] = {}
        self._lock = threading.Lock()

    def shown(self, address: MapAddress) -> answers.Shown:
        """One head of one sequence."""
        self._place(address.item, address.layer, address.kind)
        below("head", address.head, self.whole.num_heads, "heads of this map")
        if address.derived:
            return self._maps.get(address, lambda: self.made_of(address))
        return self._maps.get(address, lambda: self._open(address))

    def recording(self) -> RecordingDocument:
        """The map as a recording of one layer."""
        return own_map.recording_of(self.whole, self.name)

    def item(self, number: int) -> ItemDocument:
        """The tokens, without a running text."""
        below("item", number, self.whole.batch, "sequences of this map")
        return own_map.item_of(self.whole, number)

    def heads_of(self, item: int, layer: int, kind: str) -> list[int]:
        """The heads of the map."""
        self._place(item, layer, kind)
        return list(range(self.whole.num_heads))

    def measuring(self, item: int) -> "Measuring":
        """What measures the heads of one sequence."""
        from pozor.matrix.measuring import MapMeasuring

        self._place(item, 0, "self")
        with self._lock:
            if item not in self._measuring:
                self._measuring[item] = MapMeasuring(self.whole, item)
            return self._measuring[item]

    def which(self, item: int, variant: str, query: int | None, key: int | None) -> "np.ndarray":
        """The heads by what they give to a cell, a row or a column."""
        from pozor.matrix.which import which

        self._place(item, 0, "self")
        return which(answers.under_variant(self.whole, variant), query=query, key=key, batch=item)

    def _place(self, item: int, layer: int, kind: str) -> None:
        below("item", item, self.whole.batch, "sequences of this map")
        if layer or kind != "self":
            raise NotThere(f"layer must be 0, kind self; got {layer}, {kind}.")

    def _open(self, address: MapAddress) -> answers.Shown:
        whole = answers.under_variant(self.whole, address.variant)

        def working(query: int, key: int, lang: str, digits: int) -> str:
            from pozor.working import by_hand

            head = address.head
            return by_hand(whole, head=head, query=query, key=key, lang=lang, digits=digits).html

        can_work = whole.problem is not None and whole.batch == 1
        return answers.Shown(
            OneHead(whole, address.head, address.item, own_map.first_query(self.whole, address.item)),
            working if can_work else None,
            whole.has_v_norm,
            whole.causal_ok,
            other_masks=whole.problem is not None,
        )
