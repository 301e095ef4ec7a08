"""Arrays as the file holds them: base64 of their bytes in planes (first bytes, second bytes, …), deflated."""

import base64
import zlib
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Held = Literal["f64", "f32", "f24", "f16", "i32", "u8"]
LEVEL = 6  # of zlib


@dataclass
class Packed:
    """Named arrays: what the page must know of each, and its base64."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, array: np.ndarray, held: Held) -> str:
        """Pack an array unless one of that name is there; gives the name.

        held: f16, f32, f64: as they are. f24: numbers of 0 or more to 17 bits, within 2^-18 of 1 where they
        are at most 1. i32: whole numbers, as differences along the last axis. u8: bytes.
        """
        if name not in self.documents:
            planes = _planes(array, held)
            deflated = zlib.compress(planes, LEVEL)
            packed = len(deflated) < len(planes)
            self.documents[name] = {"dtype": held, "shape": list(array.shape), "packed": packed}
            self.texts[name] = base64.b64encode(deflated if packed else planes).decode("ascii")
        return name


def _planes(array: np.ndarray, held: Held) -> bytes:
    if held == "u8":
        return np.ascontiguousarray(array, np.uint8).tobytes()
    if held == "i32":
        steps = np.diff(np.asarray(array, np.int64), axis=-1, prepend=0)
        return _transposed(steps.astype("<i4"), 4)
    if held == "f24":
        return _transposed(rounded24(array), 3)
    size = {"f16": 2, "f32": 4, "f64": 8}[held]
    return _transposed(np.asarray(array, f"<f{size}"), size)


def _transposed(numbers: np.ndarray, count: int) -> bytes:
    """The lowest `count` bytes of each number, plane by plane."""
    each = np.ascontiguousarray(numbers).view(np.uint8).reshape(-1, numbers.dtype.itemsize)
    return np.ascontiguousarray(each[:, :count].T).tobytes()


def rounded24(array: np.ndarray) -> np.ndarray:
    """The upper 24 bits below the sign of float32 numbers of 0 or more, rounded to nearest; uint32."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    nearest = (bits & np.uint32(0x7FFFFFFF)) + np.uint32(64)
    return np.where(np.isnan(array), np.uint32(0x7FC00000), nearest).astype("<u4") >> np.uint32(7)
