"""A whole head as a small picture: 64 × 64 pixels, exact reductions of square blocks."""

from typing import TYPE_CHECKING

import numpy as np

from pozor.matrix import pooling, tiles
from pozor.matrix.base import ZOOM

if TYPE_CHECKING:
    from pozor.matrix.map import AttentionMap, Reduce, Value

SIDE = 64  # pixels

Thumb = tuple[np.ndarray, np.ndarray]  # values float32 (64, 64), 0 where the state is not 0; states uint8


def zoom_of(q_len: int, kv_len: int) -> int:
    """The zoom of a thumbnail: the finest at which 64 × 64 pixels of 2^zoom × 2^zoom cells hold all."""
    return (-(-max(q_len, kv_len, 1) // SIDE) - 1).bit_length()


def thumb(
    shown: "AttentionMap",
    reduce: "Reduce" = "max",
    value: "Value" = "prob",
    *,
    head: int = 0,
    batch: int = 0,
) -> tuple[Thumb, bool]:
    """(values and states as those of a tile, whether it is a preview: then the base is being made behind).

    A pixel is the max, mean or share of its cells, as in `AttentionMap.tile`; exact where it is no preview.
    """
    shown._check(head, batch)
    shown._check_summary(reduce, value)
    zoom, preview = zoom_of(shown.q_len, shown.kv_len), False
    if zoom < ZOOM:
        whole = (slice(0, shown.q_len), slice(0, shown.kv_len))
        weight = shown._weight(value, head, batch)
        pooled = pooling.pool(shown._cells, batch, head, *whole, 1 << zoom, weight)
    else:
        base, preview = shown.base(value, head=head, batch=batch).picture()
        pooled = base.whole(zoom)
    tile = tiles.make(pooled, reduce)
    return (tile.values[:SIDE, :SIDE], tile.states[:SIDE, :SIDE]), preview


def payload(thumbs: list[Thumb]) -> bytes:
    """For each head 64 × 64 float32 little-endian row by row, then for each head 64 × 64 uint8 states."""
    values, states = ([np.ascontiguousarray(part).tobytes() for part in parts] for parts in zip(*thumbs))
    return b"".join((*values, *states))
