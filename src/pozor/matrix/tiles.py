"""One tile of the map: 256 × 256 pixels, their states, their bytes. A pixel at zoom z is 2^z × 2^z cells."""

from dataclasses import dataclass

import numpy as np

from pozor.matrix.pooling import Pooled

SIDE = 256  # pixels
REDUCES = ("max", "mean", "share")
VALUE, NOTHING_VISIBLE, OUTSIDE = 0, 1, 2


@dataclass(frozen=True)
class Tile:
    """values float32 (256, 256), 0 where the state is not 0; states uint8 (256, 256).

    States: 0 a value (NaN where a visible cell is NaN), 1 nothing visible, 2 outside the matrix.
    """

    values: np.ndarray
    states: np.ndarray

    def to_bytes(self) -> bytes:
        """65,536 float32 little-endian row by row, then 65,536 uint8."""
        return self.values.astype("<f4").tobytes() + self.states.tobytes()


def zooms(q_len: int, kv_len: int) -> int:
    """How many zooms there are; the last is the first that one tile covers."""
    tiles = -(-max(q_len, kv_len, 1) // SIDE)
    return (tiles - 1).bit_length() + 1


def make(pooled: Pooled, reduce: str) -> Tile:
    """A tile out of at most 256 × 256 blocks; what they do not cover is outside."""
    values = np.zeros((SIDE, SIDE), dtype=np.float32)
    states = np.full((SIDE, SIDE), OUTSIDE, dtype=np.uint8)
    here = tuple(slice(0, length) for length in pooled.count.shape)
    visible = pooled.count > 0
    values[here] = np.where(visible, pooled.reduced(reduce), 0)
    states[here] = np.where(visible, VALUE, NOTHING_VISIBLE)
    return Tile(values, states)
