"""One head as the file holds it: q, k, lse, v_norm, mask, base, margins, or its probs as they are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pozor.errors import OptionError
from pozor.matrix import pooling, tiles
from pozor.matrix.tiles import Tile
from pozor.viewer.single.arrays import Held, Packed
from pozor.viewer.single.rounding import largest_change, rounded

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.matrix.pooling import Pooled
    from pozor.viewer.documents import MapDocument

LINE = 1024  # blocks of the base in a line, at most
FINEST = 16  # cells of a block's side, at least
KERNEL = 64  # cells of the largest block that the kernel makes
LSE = 1e-6  # by how much the lse of the file may be rounded: a prob changes by that part of itself
PROBS = 2048  # tokens of a side up to which a matrix that was given is put into the file
BITS = 1 << 24  # cells up to which a mask is put in cell by cell


@dataclass(frozen=True)
class Head:
    """A head that goes into the file: `head` and `batch` of a map, and how it is called there."""

    shown: "AttentionMap"
    place: dict[str, int]
    layer: int
    kind: str
    head: int
    kv_head: int
    document: "MapDocument"


def pack(one: Head, dtype: str, packed: Packed) -> tuple[dict[str, Any], float | None]:
    """The head's entry in the file, and the largest change of a probability (None: nothing is rounded)."""
    if one.shown.problem is None:
        return _given(one, dtype, packed)
    shown, problem = one.shown, one.shown.problem
    if problem.bias is not None:
        raise OptionError(
            "to_html cannot put a bias into a file; leave bias= out of the map, or use show() or pozor view."
        )
    ranges, mask = _mask(one, packed)
    small = rounded(shown, dtype)
    batch, head = one.place["batch"], one.place["head"]
    kv_head = head // problem.group_size
    change = None if small is shown else largest_change(shown, small, **one.place)
    cells = small._cells
    held: Held = "f16" if dtype == "float16" else "f32"
    assert small.problem is not None
    name = f"{one.layer}-{one.kind}"
    mine = f"{name}-{one.head}"
    lse = cells.lse(batch, head)
    with np.errstate(invalid="ignore"):  # −∞ where a row sees nothing
        near = np.nan_to_num(np.abs(lse - lse.astype(np.float32)))
    arrays: dict[str, str | None] = {
        "q": packed.add(f"q-{mine}", small.problem.q[batch, head], held),
        "k": packed.add(f"k-{name}-kv{one.kv_head}", small.problem.k[batch, kv_head], held),
        "lse": packed.add(f"lse-{mine}", lse, "f32" if near.max(initial=0) <= LSE else "f64"),
        "probs": None,
        "v_norm": None
        if shown.v_norm is None
        else packed.add(f"norm-{mine}", shown.v_norm[batch, head], "f32"),
    }
    base = pooled(small, one.place, block_of(shown.q_len, shown.kv_len))
    seen = base.count > 0
    blocks: Held = "f24" if dtype == "float16" else "f32"
    arrays |= {
        "most": packed.add(f"most-{mine}", base.largest[seen], blocks),
        "total": packed.add(f"total-{mine}", base.total[seen], blocks),
        **_tracks(small, one.place, mine, packed),
    }
    entry = _entry(one, arrays | mask, ranges=ranges, dim=problem.head_dim)
    sink = None if problem.sink is None else float(problem.sink[head])
    return entry | {"scale": float(problem.scale), "softcap": problem.softcap, "sink": sink}, change


def _given(one: Head, dtype: str, packed: Packed) -> tuple[dict[str, Any], float | None]:
    shown, mine = one.shown, f"{one.layer}-{one.kind}-{one.head}"
    if max(shown.q_len, shown.kv_len) > PROBS:
        raise OptionError(
            f"to_html puts a matrix from probs into a file up to {PROBS} tokens a side; got {shown.q_len} × "
            f"{shown.kv_len}. Make the map from q and k, which grow with the tokens alone."
        )
    place = one.place
    whole = slice(0, shown.q_len), slice(0, shown.kv_len)
    probs = shown.block(*whole, **place)
    held = probs.astype(dtype)
    seen = shown.visible(*whole, **place)
    change = float(np.max(np.abs(held - probs), where=np.isfinite(probs), initial=0))
    kept = packed.add(f"probs-{mine}", held, "f16" if dtype == "float16" else "f32")
    arrays: dict[str, str | None] = dict.fromkeys(("q", "k", "lse", "v_norm", "most", "total"))
    arrays |= {"probs": kept, **_tracks(shown, place, mine, packed)}
    if seen.all():
        ranges, mask = _ranges(
            np.zeros((1, shown.q_len)), np.full((1, shown.q_len), shown.kv_len), None, mine, packed
        )
    else:
        ranges, mask = 0, _cells(seen, mine, packed)
    entry = _entry(one, arrays | mask, ranges=ranges, dim=0)
    return entry | {"scale": 1.0, "softcap": None, "sink": None}, change or None


def _entry(one: Head, arrays: dict[str, str | None], *, ranges: int, dim: int) -> dict[str, Any]:
    return {
        "layer": one.layer, "kind": one.kind, "head": one.head, "kv_head": one.kv_head,
        "map": one.document, "dim": dim, "ranges": ranges, "arrays": arrays,
    }  # fmt: skip


def _tracks(shown: "AttentionMap", place: dict[str, int], mine: str, packed: Packed) -> dict[str, str]:
    tracks = shown.tracks(**place).make()
    return {
        "entropy": packed.add(f"entropy-{mine}", tracks.entropy, "f32"),
        "received": packed.add(f"received-{mine}", tracks.received, "f32"),
    }


# ---- the base ----------------------------------------------------------------------------------------------


def block_of(q_len: int, kv_len: int) -> int:
    """Cells of a block's side: 16 up to 16,384 tokens, then doubling.

    Example:
        >>> [block_of(n, n) for n in (6, 16_384, 16_385, 131_072)]
        [16, 16, 32, 128]
    """
    block = FINEST
    while block * LINE < max(q_len, kv_len):
        block *= 2
    return block


def pooled(shown: "AttentionMap", place: dict[str, int], block: int) -> "Pooled":
    """The whole matrix in blocks of block × block cells."""
    start = min(block, KERNEL)
    whole = slice(0, shown.q_len), slice(0, shown.kv_len)
    found = pooling.pool(shown._cells, place["batch"], place["head"], *whole, start)
    while start < block:
        found, start = found.halved(), 2 * start
    return found


def picture(shown: "AttentionMap", place: dict[str, int]) -> tuple[Tile, int]:
    """The tile that shows the whole matrix, its largest values, and its zoom."""
    zoom = shown.zooms - 1
    return tiles.make(pooled(shown, place, 1 << zoom), "max"), zoom


# ---- the mask ----------------------------------------------------------------------------------------------


def _mask(one: Head, packed: Packed) -> tuple[int, dict[str, str | None]]:
    """How many ranges a row has (0: the mask goes in cell by cell), and the arrays of the mask."""
    shown, problem = one.shown, one.shown.problem
    assert problem is not None
    batch, head = one.place["batch"], one.place["head"]
    visibility, rows = problem.visibility, slice(0, shown.q_len)
    name = f"{one.layer}-{one.kind}" + (f"-{one.head}" if visibility.by_head else "")
    found = visibility.ranges(batch, head, rows)
    if found is not None:
        return _ranges(found[0].T, found[1].T, None, name, packed)
    allowed, finer = visibility.row_ranges(batch, rows)
    if not visibility.arrays and not visibility.callables and all(_same_keys(term) for term in finer):
        keys = np.ones(shown.kv_len, dtype=bool)
        for term in finer:
            keys &= term.block(visibility.grid, batch, slice(0, 1), slice(0, shown.kv_len))[0]
        starts, stops = allowed or (np.zeros((shown.q_len, 1)), np.full((shown.q_len, 1), shown.kv_len))
        return _ranges(starts.T, stops.T, keys, name, packed)
    if shown.q_len * shown.kv_len > BITS:
        raise OptionError(
            f"to_html puts a mask that is no ranges of keys into a file up to {BITS:,} cells; got "
            f"{shown.q_len} × {shown.kv_len}. Use mask objects (Causal, Window, Documents, …), or show()."
        )
    return 0, _cells(shown.visible(rows, slice(0, shown.kv_len), **one.place), name, packed)


def _same_keys(term: Any) -> bool:
    """Whether a mask hides the same keys from every row: padding."""
    return type(term).__name__ == "Padding"


def _ranges(
    starts: np.ndarray, stops: np.ndarray, keys: np.ndarray | None, name: str, packed: Packed
) -> tuple[int, dict[str, str | None]]:
    """starts, stops: (ranges, q_len). keys: those that are no padding."""
    if not len(starts):  # no row sees anything
        starts = stops = np.zeros((1, starts.shape[1]))
    shown = None if keys is None else packed.add(f"shown-{name}", np.packbits(keys, bitorder="little"), "u8")
    return len(starts), {
        "starts": packed.add(f"starts-{name}", np.ascontiguousarray(starts), "i32"),
        "stops": packed.add(f"stops-{name}", np.ascontiguousarray(stops), "i32"),
        "shown": shown,
        "cells": None,
    }


def _cells(seen: np.ndarray, name: str, packed: Packed) -> dict[str, str | None]:
    bits = np.packbits(seen, axis=1, bitorder="little")
    return {"starts": None, "stops": None, "shown": None, "cells": packed.add(f"cells-{name}", bits, "u8")}
