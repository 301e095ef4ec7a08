"""What is answered about a map: documents as dictionaries, tiles as bytes. Knows no HTTP and no widget."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pozor.matrix.derived import Derived
from pozor.viewer.address import MapAddress, TileAddress, below
from pozor.viewer.documents import (
    BaseDocument,
    CellDocument,
    ColumnDocument,
    ItemCard,
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
    from pozor.viewer.one_head import OneHead

TILE = 256  # cells of a tile's side


@dataclass
class Shown:
    """A map that is being looked at, under one variant."""

    map: "AttentionMap | OneHead | Derived"
    working: Callable[[int, int, str, int], str] | None  # query, key, lang, digits → HTML; None: no q, k
    value_norm: bool
    causal_ok: bool
    other_masks: bool = True  # whether it can be shown under another mask
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def signed(self) -> bool:
        """Whether it is a difference, from −1 to 1."""
        return isinstance(self.map, Derived) and self.map.signed

    def exact(self, reduce: str) -> int:
        """The coarsest zoom at which a reduce is exact; beyond it there is none."""
        return self.map.exact(reduce) if isinstance(self.map, Derived) else int(self.map.zooms) - 1

    @property
    def nbytes(self) -> int:
        """About what it holds of its own: labels, some numbers of rows and keys; bases are counted apart."""
        return (self.map.q_len + self.map.kv_len) * 32


def open_map(opened: Opened, address: MapAddress) -> Shown:
    """The map of an address.

    Raises:
        NotThere: The recording has no such item, layer, head or variant.
    """
    address.check(opened.recording)
    recorded = opened.recording.map(address.layer, address.head, item=address.item, kind=address.kind)
    layer = opened.recording.layer(address.layer, address.kind)
    shown = under_variant(recorded, address.variant)

    def working(query: int, key: int, lang: str, digits: int) -> str:
        from pozor.working import by_hand

        if address.variant != "recorded":
            return by_hand(shown, query=query, key=key, lang=lang, digits=digits).html
        return by_hand(
            opened.recording,
            item=address.item,
            kind=address.kind,
            layer=address.layer,
            head=address.head,
            query=query,
            key=key,
            lang=lang,
            digits=digits,
        ).html

    return Shown(shown, working, bool(layer.has_v_norm), recorded.causal_ok)


def under_variant(recorded: "AttentionMap", name: str) -> "AttentionMap":
    """The map as recorded, or under another mask.

    Raises:
        NotThere: The variant has no meaning for this map.
    """
    if name == "recorded":
        return recorded
    if name == "causal" and not recorded.causal_ok:
        raise NotThere("variant must be recorded or unmasked: a causal mask means nothing for this map.")
    return recorded.variant(cast(Variant, name))


# ---- documents --------------------------------------------------------------------------------------------


def recording_document(opened: Opened, card: RecordingCard) -> RecordingDocument:
    """Card, items and layers."""
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
    items: list[ItemCard] = [
        {"name": str(item.name), "tokens": len(item.tokens)} for item in opened.recording.items
    ]
    return {"card": card, "items": items, "layers": layers}


def map_document(shown: Shown) -> MapDocument:
    """What the page needs before the tiles; nothing is computed for it."""
    variants: list[Variant] = ["recorded"]
    if shown.other_masks:
        variants.append("unmasked")
        if shown.causal_ok:
            variants.append("causal")
    values: list[Value] = ["prob", *(["value_norm"] if shown.value_norm else [])]
    return {
        "q_len": int(shown.map.q_len),
        "kv_len": int(shown.map.kv_len),
        "q_offset": int(shown.map.q_offset),
        "zooms": int(shown.map.zooms),
        "variants": variants,
        "values": values,
        "exact": {"max": shown.exact("max"), "mean": shown.exact("mean"), "share": shown.exact("share")},
    }


def base_document(shown: Shown, value: str) -> BaseDocument:
    """How far the base map is; asking starts it. What it ended with is raised, once."""
    _must_have(shown, value)
    making = shown.map.base(cast(Value, value))
    failed = making.error
    if failed is not None:
        making.error = None
        raise failed
    making.start()
    return {"ready": making.ready, "done": 1.0 if making.ready else min(making.progress, 0.999)}


def tracks_wait(shown: Shown) -> bool:
    """Whether the tracks are still being made; asking starts it, behind."""
    making = shown.map.tracks().start()
    return not making.ready and making.error is None


def tracks_payload(shown: Shown) -> bytes:
    """Entropy of each row, then what each key receives: float32, little-endian; NaN where there is none."""
    made = shown.map.tracks().make()
    return b"".join(np.asarray(values, "<f4").tobytes() for values in (made.entropy, made.received))


def row_document(shown: Shown, query: int, value: str = "prob", hidden: Sequence[int] = ()) -> RowDocument:
    """Where one query looks; without the hidden keys, where it would look then."""
    below("query", query, shown.map.q_len, "queries of this map")
    for key in hidden:
        below("hidden", key, shown.map.kv_len, "keys of this map")
    probs, visible = shown.map.row(query, hidden=hidden), _visible(shown, query, None)
    lse, sink = _normaliser(shown, query, probs)
    some = probs[probs > 0]
    entropy = -float(np.sum(some * np.log(some))) if not np.isnan(probs).any() else math.nan
    if shown.signed:  # the rows of a difference are no probabilities
        entropy = math.nan
    weighted = _weighted(shown, value, probs, visible, slice(None))
    if isinstance(shown.map, Derived) and value == "value_norm":
        weighted = numbers(shown.map.row(query, hidden=hidden, value=value))
    return {
        "query": query,
        "probs": numbers(probs),
        "visible": visible.tolist(),
        "entropy": number(entropy + 0.0),
        "lse": number(lse),
        "sink": number(sink if shown.map.problem and shown.map.problem.sink is not None else 0.0),
        "weighted": weighted,
    }


def column_document(shown: Shown, key: int, value: str = "prob") -> ColumnDocument:
    """Who looks at one key."""
    below("key", key, shown.map.kv_len, "keys of this map")
    probs, visible = shown.map.column(key), _visible(shown, None, key)
    received = float(probs[visible].mean()) if visible.any() else None
    weighted = _weighted(shown, value, probs, visible, key)
    if isinstance(shown.map, Derived) and value == "value_norm":
        weighted = numbers(shown.map.column(key, value=value))
    return {
        "key": key,
        "probs": numbers(probs),
        "visible": visible.tolist(),
        "received": number(received),
        "weighted": weighted,
    }


def cell_document(shown: Shown, query: int, key: int, lang: str, digits: int) -> CellDocument:
    """One cell: exact, as the map shows it, and worked out by hand."""
    below("query", query, shown.map.q_len, "queries of this map")
    below("key", key, shown.map.kv_len, "keys of this map")
    probs = shown.map.row(query)
    logits = None if shown.map.problem is None else shown.map.logits(query)
    visible = bool(_visible(shown, query, key))
    tile = shown.map.tile(0, query // TILE, key // TILE).values[query % TILE, key % TILE]
    drawn, prob = (float(tile), float(probs[key])) if visible else (0.0, 0.0)
    return {
        "query": query,
        "key": key,
        "visible": visible,
        "prob": number(prob),
        "tile": number(drawn),
        "difference": number(abs(drawn - prob)),
        "logit": number(float(logits[key])) if visible and logits is not None else None,
        "lse": number(_normaliser(shown, query, probs)[0]),
        "norm": number(None if (norms := _norms(shown)) is None else float(norms[key])),
        "html": "" if shown.working is None else shown.working(query, key, lang, digits),
    }


def _norms(shown: Shown) -> np.ndarray | None:
    """‖v_j W_O‖ of each key, float64; None where the map is not one head's, or no W_O was found."""
    return shown.map.norms() if shown.value_norm else None


def _weighted(
    shown: Shown, value: str, probs: np.ndarray, visible: np.ndarray, keys: int | slice
) -> list[float | None] | None:
    """The lengths of what the keys bring; a hidden one brings nothing, whatever its length is."""
    _must_have(shown, value)
    norms = _norms(shown)
    if value == "prob" or norms is None:
        return None
    with np.errstate(invalid="ignore"):  # 0 · inf: what a visible key of length inf brings is not known
        return numbers(np.where(visible, probs * norms[keys], 0.0))


def _visible(shown: Shown, query: int | None, key: int | None) -> np.ndarray:
    queries = slice(0, shown.map.q_len) if query is None else slice(query, query + 1)
    keys = slice(0, shown.map.kv_len) if key is None else slice(key, key + 1)
    return shown.map.visible(queries, keys).ravel()


def _normaliser(shown: Shown, query: int, probs: np.ndarray) -> tuple[float, float]:
    """lse, a sink's logit included (NaN for a map from probs), and the part of it that the sink takes."""
    if shown.map.problem is None:
        return math.nan, max(0.0, 1.0 - math.fsum(probs))
    logits = shown.map.logits(query)
    if not len(probs) or not (probs > 0).any():
        return (math.nan if np.isnan(probs).any() else -math.inf), 0.0
    best = int(np.nanargmax(probs))
    # prob = exp(logit - lse), so the largest one gives lse with the least rounding
    return float(logits[best] - math.log(probs[best])), max(0.0, 1.0 - math.fsum(probs))


# ---- tiles ------------------------------------------------------------------------------------------------


def tile_payload(shown: Shown, tile: TileAddress) -> tuple[bytes, bool]:
    """65,536 float32 little-endian row-major, then 65,536 uint8 states; and whether it is a preview.

    Raises:
        NotThere: The map has no such zoom, tile or value.
    """
    below("zoom", tile.zoom, shown.map.zooms, "zooms of this map")
    side = TILE << tile.zoom
    below("row", tile.row, max(1, -(-shown.map.q_len // side)), f"tiles at zoom {tile.zoom}")
    below("column", tile.column, max(1, -(-shown.map.kv_len // side)), f"tiles at zoom {tile.zoom}")
    _must_have(shown, tile.value)
    reduce, value = cast(Reduce, tile.reduce), cast(Value, tile.value)
    drawn, preview = shown.map.tile_now(tile.zoom, tile.row, tile.column, reduce, value)
    return drawn.to_bytes(), preview


def _must_have(shown: Shown, value: str) -> None:
    if value == "value_norm" and not shown.value_norm:
        raise NotThere("value must be prob: this layer was recorded without v_norm (no W_O was found).")


# ---- numbers that JSON can hold ----------------------------------------------------------------------------


def number(value: float | None) -> float | None:
    """A finite number, or None."""
    return None if value is None or not math.isfinite(value) else float(value)


def numbers(values: Any) -> list[float | None]:
    """Each value as a Python float, None where it is not finite."""
    array = np.asarray(values, np.float64).ravel()
    return [value if math.isfinite(value) else None for value in array.tolist()]
