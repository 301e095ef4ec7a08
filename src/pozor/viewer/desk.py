"""The desk: every question about a recording or a map, asked in strings, answered in documents or bytes.

The server and the notebook widget ask here; `docs/contracts.md` lists the questions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pozor.language import choose
from pozor.viewer import answers
from pozor.viewer.address import MAP_NAMES, MapAddress, Query, below
from pozor.viewer.documents import ItemDocument, RecordingCard, RecordingDocument
from pozor.viewer.library import NotThere, Opened
from pozor.viewer.one_head import OneHead
from pozor.viewer.shelf import Shelf

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap

MAP_BYTES = 512 << 20
DOCUMENTS = {  # ask -> what it takes
    "recording": (),
    "item": ("item", "version"),
    "map": MAP_NAMES,
    "base": (*MAP_NAMES, "value"),
    "row": (*MAP_NAMES, "query", "value"),
    "column": (*MAP_NAMES, "key", "value"),
    "cell": (*MAP_NAMES, "query", "key", "lang", "digits"),
}
PAYLOADS = {
    "tile": (*MAP_NAMES, "value", "zoom", "row", "column", "reduce"),
    "tracks": MAP_NAMES,
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

    @abstractmethod
    def recording(self) -> RecordingDocument:
        """What there is."""

    @abstractmethod
    def item(self, number: int) -> ItemDocument:
        """A sequence with its tokens."""

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
        return answers.row_document(self.shown(query.map()), number, query.value())

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


class RecordingDesk(Desk):
    """Answers about an open recording.

    Args:
        opened: The recording.
        card: Makes its card.
        maps: Where its maps are kept, shared with other desks.
        lang: As in `Desk`.
    """

    def __init__(
        self,
        opened: Opened,
        card: Callable[[Opened], RecordingCard],
        maps: Shelf[answers.Shown] | None = None,
        lang: str | None = None,
    ) -> None:
        self.opened, self._card, self.lang = opened, card, lang
        self._maps = maps_shelf() if maps is None else maps

    def shown(self, address: MapAddress) -> answers.Shown:
        """The map of an address, kept while there is room; its files must be those that were opened."""
        self.opened.check(*address.files())
        key = (self.opened.id, self.opened.version, address)
        return self._maps.get(key, lambda: answers.open_map(self.opened, address))

    def fresh(self, ask: str, given: Mapping[str, str]) -> None:
        """Refuse if the files that a payload is made from are others now, even where it is kept already.

        Raises:
            Changed: They are.   OptionError, NotThere: As `payload`.
        """
        self.opened.check(*Query(given, *PAYLOADS[ask]).layer_files())

    def recording(self) -> RecordingDocument:
        """Card, items, layers."""
        return answers.recording_document(self.opened, self._card(self.opened))

    def item(self, number: int) -> ItemDocument:
        """A recorded sequence with its tokens."""
        items = self.opened.recording.items
        self.opened.check(f"item-{number:03}/tokens.safetensors", f"item-{number:03}/text.txt")
        return answers.item_document(items[below("item", number, len(items), "items of this recording")])


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

    def shown(self, address: MapAddress) -> answers.Shown:
        """One head of one sequence."""
        below("item", address.item, self.whole.batch, "sequences of this map")
        below("head", address.head, self.whole.num_heads, "heads of this map")
        if address.layer or address.kind != "self":
            raise NotThere(f"layer must be 0, kind self; got {address.layer}, {address.kind}.")
        return self._maps.get(address, lambda: self._open(address))

    def recording(self) -> RecordingDocument:
        """The map as a recording of one layer."""
        return answers.map_as_recording(self.whole, self.name)

    def item(self, number: int) -> ItemDocument:
        """The tokens, without a running text."""
        below("item", number, self.whole.batch, "sequences of this map")
        return answers.labels_document(self.whole)

    def _open(self, address: MapAddress) -> answers.Shown:
        whole = answers.under_variant(self.whole, address.variant)

        def working(query: int, key: int, lang: str, digits: int) -> str:
            from pozor.working import by_hand

            head = address.head
            return by_hand(whole, head=head, query=query, key=key, lang=lang, digits=digits).html

        can_work = whole.problem is not None and whole.batch == 1
        return answers.Shown(
            OneHead(whole, address.head, address.item),
            working if can_work else None,
            whole.has_v_norm,
            whole.causal_ok,
        )
