"""What the routes answer: documents as dictionaries, tiles as bytes. Runs in worker threads, without HTTP."""

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pozor.viewer.address import MapAddress, TileAddress, below
from pozor.viewer.documents import (
    CellDocument,
    ColumnDocument,
    ItemDocument,
    Kind,
    LayerDocument,
    MapDocument,
    RecordingCard,
    RecordingDocument,
    Reduce,
    RowDocument,
    Value,
    Variant,
)
from pozor.viewer.library import NotThere, Opened

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap

TILE = 256  # cells of a tile's side


@dataclass
class Shown:
    """A map that is being looked at, under one variant."""

    opened: Opened
    address: MapAddress
    map: "AttentionMap"
    value_norm: bool
    causal_ok: bool
    lock: threading.Lock = field(default_factory=threading.Lock)  # its document is made once
    document: MapDocument | None = None

    @property
    def nbytes(self) -> int:
        """About what it holds in memory: copies of q and k in float64, values of each row and key."""
        head_dim = next(
            (
                layer.head_dim + layer.v_head_dim
                for layer in self.opened.recording.layers
                if (layer.layer, layer.kind) == (self.address.layer, self.address.kind)
            ),
            64,
        )
        return (self.map.q_len + self.map.kv_len) * (head_dim + 8) * 8


def open_map(opened: Opened, address: MapAddress) -> Shown:
    """The map of an address.

    Raises:
        NotThere: The recording has no such item, layer, head or variant.
    """
    address.check(opened.recording)
    recorded = opened.recording.map(address.layer, address.head, item=address.item, kind=address.kind)
    layer = next(
        one for one in opened.recording.layers if (one.layer, one.kind) == (address.layer, address.kind)
    )
    causal_ok = recorded.causal_ok
    if address.variant == "causal" and not causal_ok:
        raise NotThere("variant must be recorded or unmasked: a causal mask means nothing for this map.")
    shown = recorded if address.variant == "recorded" else recorded.variant(cast(Variant, address.variant))
    return Shown(opened, address, shown, bool(layer.has_v_norm), causal_ok)


# ---- documents --------------------------------------------------------------------------------------------


def recording_document(opened: Opened, card: RecordingCard) -> RecordingDocument:
    """Items with their tokens, and layers."""
    layers: list[LayerDocument] = [
        LayerDocument(
            layer=int(layer.layer),
            kind=cast(Kind, layer.kind),
            heads=[int(head) for head in layer.heads],
            kv_heads=[int(head) for head in layer.kv_heads],
            head_dim=int(layer.head_dim),
            v_head_dim=int(layer.v_head_dim),
            scale=float(layer.scale),
            fidelity=number(layer.fidelity),
            mask=layer.mask_text,
            value_norm=layer.has_v_norm,
        )
        for layer in opened.recording.layers
    ]
    return {"card": card, "items": [_item(item) for item in opened.recording.items], "layers": layers}


def _item(item: Any) -> ItemDocument:
    starts, stops = utf16(item.text, item.starts, item.stops)
    rows = zip(item.token_ids, item.tokens, starts, stops, item.special, strict=True)
    return {
        "name": str(item.name),
        "text": item.text,
        "tokens": [
            {"id": int(id), "text": text, "start": start, "stop": stop, "special": bool(special)}
            for id, text, start, stop, special in rows
        ],
    }


def utf16(text: str, starts: Any, stops: Any) -> tuple[list[int], list[int]]:
    """Byte offsets into the UTF-8 text as offsets in UTF-16 units; a part of a character becomes all of it.

    Example:
        >>> utf16("é😀!", [0, 2, 4, 6, -1], [2, 4, 6, 7, -1])
        ([0, 1, 1, 3, -1], [1, 3, 3, 4, -1])
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    in_bytes = np.concatenate([[0], np.cumsum(1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF))])
    in_units = np.concatenate([[0], np.cumsum(1 + (points > 0xFFFF))])
    start, stop = np.asarray(starts, np.int64), np.asarray(stops, np.int64)
    first = np.searchsorted(in_bytes, start, side="right") - 1
    last = np.minimum(np.searchsorted(in_bytes, stop, side="left"), len(points))
    outside = start < 0
    return (
        np.where(outside, -1, in_units[np.maximum(first, 0)]).tolist(),
        np.where(outside, -1, in_units[last]).tolist(),
    )


def map_document(shown: Shown) -> MapDocument:
    """What the page needs before the tiles; computed once a map."""
    with shown.lock:
        if shown.document is None:
            variants: list[Variant] = ["recorded", "unmasked", *(["causal"] if shown.causal_ok else [])]
            values: list[Value] = ["prob", *(["value_norm"] if shown.value_norm else [])]
            shown.document = {
                "q_len": int(shown.map.q_len),
                "kv_len": int(shown.map.kv_len),
                "q_offset": int(shown.map.q_offset),
                "zooms": int(shown.map.zooms),
                "variants": variants,
                "values": values,
                "entropy": numbers(shown.map.entropy()),
                "received": numbers(shown.map.received()),
            }
        return shown.document


def row_document(shown: Shown, query: int) -> RowDocument:
    """Where one query looks."""
    below("query", query, shown.map.q_len, "queries of this map")
    probs, visible = shown.map.row(query), _visible(shown, query, None)
    lse, sink = _normaliser(probs, shown.map.logits(query))
    some = probs[probs > 0]
    entropy = -float(np.sum(some * np.log(some))) if not np.isnan(probs).any() else math.nan
    return {
        "query": query,
        "probs": numbers(probs),
        "visible": visible.tolist(),
        "entropy": number(entropy + 0.0),
        "lse": number(lse),
        "sink": number(sink if shown.map.problem and shown.map.problem.sink is not None else 0.0),
    }


def column_document(shown: Shown, key: int) -> ColumnDocument:
    """Who looks at one key."""
    below("key", key, shown.map.kv_len, "keys of this map")
    received = map_document(shown)["received"][key]
    probs, visible = shown.map.column(key), _visible(shown, None, key)
    return {"key": key, "probs": numbers(probs), "visible": visible.tolist(), "received": received}


def cell_document(shown: Shown, query: int, key: int, lang: str, digits: int) -> CellDocument:
    """One cell: exact, as the map shows it, and worked out by hand."""
    from pozor.working import by_hand

    below("query", query, shown.map.q_len, "queries of this map")
    below("key", key, shown.map.kv_len, "keys of this map")
    probs, logits = shown.map.row(query), shown.map.logits(query)
    visible = bool(_visible(shown, query, key))
    tile = shown.map.tile(0, query // TILE, key // TILE).values[query % TILE, key % TILE]
    drawn, prob = (float(tile), float(probs[key])) if visible else (0.0, 0.0)
    where = shown.address
    if where.variant == "recorded":
        working = by_hand(
            shown.opened.recording,
            item=where.item,
            kind=where.kind,
            layer=where.layer,
            head=where.head,
            query=query,
            key=key,
            lang=lang,
            digits=digits,
        )
    else:
        working = by_hand(shown.map, query=query, key=key, lang=lang, digits=digits)
    return {
        "query": query,
        "key": key,
        "visible": visible,
        "prob": number(prob),
        "tile": number(drawn),
        "difference": number(abs(drawn - prob)),
        "logit": number(float(logits[key])) if visible else None,
        "lse": number(_normaliser(probs, logits)[0]),
        "html": working.html,
    }


def _visible(shown: Shown, query: int | None, key: int | None) -> np.ndarray:
    queries = slice(0, shown.map.q_len) if query is None else slice(query, query + 1)
    keys = slice(0, shown.map.kv_len) if key is None else slice(key, key + 1)
    return shown.map.visible(queries, keys).ravel()


def _normaliser(probs: np.ndarray, logits: np.ndarray) -> tuple[float, float]:
    """lse (a sink's logit included) and the part of the row that goes to the sink, in float64."""
    if not len(probs) or not (probs > 0).any():
        return (math.nan if np.isnan(probs).any() else -math.inf), 0.0
    best = int(np.nanargmax(probs))
    # prob = exp(logit - lse), so the largest one gives lse with the least rounding
    return float(logits[best] - math.log(probs[best])), max(0.0, 1.0 - math.fsum(probs))


# ---- tiles ------------------------------------------------------------------------------------------------


def tile_payload(shown: Shown, tile: TileAddress) -> bytes:
    """65,536 float32 little-endian row-major, then 65,536 uint8 states.

    Raises:
        NotThere: The map has no such zoom, tile or value.
    """
    below("zoom", tile.zoom, shown.map.zooms, "zooms of this map")
    side = TILE << tile.zoom
    below("row", tile.row, max(1, -(-shown.map.q_len // side)), f"tiles at zoom {tile.zoom}")
    below("column", tile.column, max(1, -(-shown.map.kv_len // side)), f"tiles at zoom {tile.zoom}")
    if tile.value == "value_norm" and not shown.value_norm:
        raise NotThere("value must be prob: this layer was recorded without v_norm (no W_O was found).")
    reduce, value = cast(Reduce, tile.reduce), cast(Value, tile.value)
    return shown.map.tile(tile.zoom, tile.row, tile.column, reduce, value).to_bytes()


# ---- numbers that JSON can hold ----------------------------------------------------------------------------


def number(value: float | None) -> float | None:
    """A finite number, or None."""
    return None if value is None or not math.isfinite(value) else float(value)


def numbers(values: Any) -> list[float | None]:
    """Each value as a Python float, None where it is not finite."""
    array = np.asarray(values, np.float64).ravel()
    return [value if math.isfinite(value) else None for value in array.tolist()]
