"""A still picture of a whole map, for where no script runs: PNG, paper to ink, darker is more."""

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from pozor.matrix.tiles import NOTHING_VISIBLE, OUTSIDE, SIDE, VALUE

if TYPE_CHECKING:
    from pozor.viewer.desk import Payload

PAPER, INK = (251, 250, 247), (29, 31, 35)
MASK, MASK_LINE, NOT_FINITE = (230, 227, 220), (211, 207, 198), (194, 65, 12)
SHADES = 252  # palette entries from paper to ink; then mask, its lines, what is not finite, outside
DECADES = 3  # powers of ten between paper and ink, as the page has them at first
DOTS = 512  # about as many on a side
STRIPE = 6  # dots from line to line over hidden cells


def png(payload: "Payload") -> bytes:
    """The picture of a tile that shows a whole map; each of its pixels a square of whole dots.

    Example:
        >>> from pozor.viewer.desk import Payload
        >>> nothing = bytes(256 * 256 * 4) + bytes([0]) + bytes([2]) * (256 * 256 - 1)      # one cell, prob 0
        >>> picture = png(Payload(nothing))
        >>> picture[:4], size(picture)
        (b'\\x89PNG', (512, 512))
    """
    values = np.frombuffer(payload.body, "<f4", SIDE * SIDE).reshape(SIDE, SIDE)
    states = np.frombuffer(payload.body, np.uint8, SIDE * SIDE, SIDE * SIDE * 4).reshape(SIDE, SIDE)
    inside = states != OUTSIDE
    rows, columns = (max(1, int(np.count_nonzero(inside.any(axis=axis)))) for axis in (1, 0))
    values, states = values[:rows, :columns], states[:rows, :columns]
    dots = max(1, DOTS // max(rows, columns))
    shades = _shades(values, states).repeat(dots, axis=0).repeat(dots, axis=1)
    place = np.add.outer(np.arange(shades.shape[0]), np.arange(shades.shape[1]))
    shades[(shades == SHADES) & (place % STRIPE == 0)] = SHADES + 1
    return _encode(shades)


def size(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG, in dots."""
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def _shades(values: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Entries of the palette, uint8."""
    shown = (states == VALUE) & np.isfinite(values)
    low = 10.0**-DECADES
    with np.errstate(divide="ignore", invalid="ignore"):
        place = 1 + np.log10(np.where(shown, np.abs(values), low)) / DECADES
    shades = np.rint(np.clip(place, 0, 1) * (SHADES - 1)).astype(np.uint8)
    shades[(states == VALUE) & ~shown] = SHADES + 2
    shades[states == NOTHING_VISIBLE] = SHADES
    shades[states == OUTSIDE] = SHADES + 3
    return shades


def _encode(shades: np.ndarray) -> bytes:
    """PNG with a palette (RFC 2083): signature, then chunks of length, name, data, CRC."""
    ramp = np.linspace(PAPER, INK, SHADES).round().astype(np.uint8)
    palette = np.vstack([ramp, np.array([MASK, MASK_LINE, NOT_FINITE, PAPER], np.uint8)])
    height, width = shades.shape
    lines = np.zeros((height, width + 1), np.uint8)  # each line begins with its filter: 0, none
    lines[:, 1:] = shades
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body
