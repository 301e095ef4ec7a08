"""Which heads go into the file, and how they and their text are called there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pozor.errors import OptionError
from pozor.viewer.address import ranges
from pozor.viewer.desk import MapDesk, RecordingDesk
from pozor.viewer.documents import HeadLine, ItemDocument, RecordingDocument
from pozor.viewer.library import Library
from pozor.viewer.single import measured
from pozor.viewer.single.heads import Head

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.recording import Recording


@dataclass(frozen=True)
class Chosen:
    """Heads of one text, its tokens, and the recording they come from as the page names it."""

    heads: list[Head]
    recording: RecordingDocument
    item: ItemDocument
    measures: Callable[[], list[HeadLine]]  # a pass over each head


def of_map(shown: "AttentionMap", heads: Any, batch: int) -> Chosen:
    """Heads of a map; a map of a recorded head is called as it is there.

    Raises:
        OptionError: The map has no such head or sequence, or nothing to show.
    """
    if isinstance(batch, bool) or not isinstance(batch, int) or not 0 <= batch < max(1, shown.batch):
        raise OptionError(f"batch must be from 0 to {shown.batch - 1}; got {batch!r}.")
    _has_cells(shown)
    numbers = _numbers("heads", heads, range(shown.num_heads))
    desk = MapDesk(shown, "")
    recording, item = desk.recording(), desk.item(batch)
    source = shown.source if isinstance(shown.source, dict) else {}
    if "recording" in source:
        return _of_recorded(shown, source)
    chosen = []
    for number in numbers:
        given = {"item": str(batch), "layer": "0", "head": str(number)}
        group = 1 if shown.problem is None else shown.problem.group_size
        document = cast(Any, dict(desk.document("map", given)))
        if shown.problem is None:
            document["variants"] = ["recorded"]
        place = {"head": number, "batch": batch}
        chosen.append(Head(shown, place, 0, "self", number, number // group, document))
    return Chosen(chosen, _only(recording, chosen, batch), item, lambda: measured.of_map(chosen))


def of_recording(recording: "Recording", layers: Any, heads: Any, item: int, kind: str) -> Chosen:
    """Heads of a recording: `heads` of each of `layers`.

    Raises:
        OptionError: One of them was not recorded.
    """
    held = [entry.layer for entry in recording.layers if entry.kind == kind]
    if not held:
        kinds = " or ".join(sorted({entry.kind for entry in recording.layers}))
        raise OptionError(f"kind must be {kinds}, as recorded; got {kind!r}.")
    places = []
    for layer in _numbers("layers", layers, held):
        entry = recording.layer(layer, kind)
        places += [(layer, head) for head in _numbers("heads", heads, entry.heads)]
    maps = [recording.map(layer, head, item, kind) for layer, head in places]
    for shown in maps:
        _has_cells(shown)
    return _recorded(recording, maps)


def _of_recorded(shown: "AttentionMap", source: dict[str, Any]) -> Chosen:
    found = _recorded(source["recording"], [shown])
    fresh = source["recording"].map(source["layer"], source["head"], source["item"], source["kind"])
    # a variant says the same of where it comes from, but its mask is another
    terms = [None if one.problem is None else repr(one.problem.visibility.terms) for one in (shown, fresh)]
    if terms[0] != terms[1]:
        for layer in found.recording["layers"]:
            layer["mask"] = ""
    return found


def _recorded(recording: "Recording", maps: Sequence["AttentionMap"]) -> Chosen:
    library = Library(recording.path.parent)
    desk = RecordingDesk(library.opened(recording.path), library.card)
    chosen = []
    item = 0
    for shown in maps:
        source = cast("dict[str, Any]", shown.source)
        layer, head, item, kind = (source[name] for name in ("layer", "head", "item", "kind"))
        entry = recording.layer(layer, kind)
        kv_head = int(entry.kv_heads[entry.heads.index(head)])
        given = {"item": str(item), "layer": str(layer), "head": str(head), "kind": kind}
        document = cast(Any, dict(desk.document("map", given)))
        place = {"head": 0, "batch": 0}
        chosen.append(Head(shown, place, int(layer), kind, int(head), kv_head, document))

    def measures() -> list[HeadLine]:
        return measured.of_recording(chosen, recording, item)

    return Chosen(chosen, _only(desk.recording(), chosen, item), desk.item(item), measures)


def _only(recording: RecordingDocument, chosen: Sequence[Head], item: int) -> RecordingDocument:
    """The recording with nothing but the heads that go into the file; where it lay is not told."""
    layers: list[Any] = []
    for layer in recording["layers"]:
        wanted = [one for one in chosen if (one.layer, one.kind) == (layer["layer"], layer["kind"])]
        if wanted:
            layers.append(
                layer | {"heads": [one.head for one in wanted], "kv_heads": [one.kv_head for one in wanted]}
            )
    card: Any = recording["card"] | {
        "id": "file",
        "version": "",
        "path": "",
        "items": 1,
        "layers": len(layers),
    }
    card["heads"] = max(len(layer["heads"]) for layer in layers)
    items = recording["items"][item : item + 1]
    card["tokens"] = items[0]["tokens"]
    return cast(RecordingDocument, {"card": card, "items": items, "layers": layers})


def _has_cells(shown: "AttentionMap") -> None:
    if not (shown.batch and shown.q_len and shown.kv_len):
        raise OptionError(f"to_html needs a map with cells; got {shown.q_len} queries × {shown.kv_len} keys.")


def _numbers(name: str, given: Any, held: Sequence[int]) -> list[int]:
    """The numbers asked for, one or several, each of those there are; None: all."""
    if given is None:
        return [int(number) for number in held]
    asked = [given] if isinstance(given, int) else list(given) if not isinstance(given, str) else []
    there = ranges([int(number) for number in held])
    if not asked or any(isinstance(number, bool) or number not in held for number in asked):
        raise OptionError(f"{name} must be among {there}, one number or several; got {given!r:.60}.")
    return sorted({int(number) for number in asked})
