"""One safetensors file: written by the safetensors package, read as views into a memory map.

The reading is ours because safetensors' own copies into new arrays and knows no bfloat16 in NumPy.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

from pozor.errors import RecordingError

DTYPES = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "I64": np.dtype(np.int64),
    "U8": np.dtype(np.uint8),
}
LONGEST_HEADER = 1 << 20  # bytes; a recording's files hold a handful of tensors each


@dataclass(frozen=True)
class Place:
    """Where a tensor lies in its file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    offset: int  # bytes from the start of the file

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor; Python integers, so that no declared shape can wrap around."""
        count = 1
        for size in self.shape:
            count *= size
        return count * self.dtype.itemsize


def save(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write the tensors to `path` and wait until the disk has them."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, path)
    except SafetensorError as error:  # how safetensors says that the disk is full
        reason = re.sub(r"^.*I/O error: | \(os error \d+\)$", "", str(error))
        raise RecordingError(
            f"{path} cannot be written: {reason}. Nothing of this recording is kept."
        ) from None
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def places(path: Path) -> dict[str, Place]:
    """The header of a safetensors file, believed only where it agrees with the size of the file.

    Raises:
        RecordingError: The file is no safetensors file, or is cut short.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(LONGEST_HEADER, size - 8):
                raise RecordingError(
                    f"{path} is not a whole safetensors file ({size} bytes). Record it again."
                )
            header = json.loads(file.read(length))
        found = {name: _place(entry, 8 + length) for name, entry in header.items() if name != "__metadata__"}
    except FileNotFoundError:
        raise RecordingError(f"{path} is missing from the recording. Record it again.") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"{path} is not a safetensors file: its header cannot be read.") from None
    _must_fill(path, found, 8 + length, size)
    return found


def _place(entry: dict, start: int) -> Place:
    shape = tuple(entry["shape"])
    first, last = entry["data_offsets"]
    if not all(type(n) is int and n >= 0 for n in (*shape, first, last)):
        raise ValueError
    place = Place(DTYPES[entry["dtype"]], shape, start + first)
    if last - first != place.nbytes:
        raise ValueError
    return place


def _must_fill(path: Path, found: dict[str, Place], start: int, size: int) -> None:
    """The tensors follow each other without gap or overlap, from the header to the end of the file."""
    for place in sorted(found.values(), key=lambda p: (p.offset, p.nbytes)):
        if place.offset != start:
            raise RecordingError(
                f"{path} is not a whole safetensors file: its tensors overlap or leave gaps."
            )
        start += place.nbytes
    if start != size:
        raise RecordingError(
            f"{path} must be {start} bytes by its own header; got {size}. It was cut short or changed: "
            "record it again."
        )


def load(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Read-only views into the file, nothing copied; `shapes`: what the recording declares of each tensor."""
    found = places(path)
    must_hold(path, found, shapes)
    file = np.memmap(path, mode="r", dtype=np.uint8)
    return {
        name: np.ndarray(found[name].shape, found[name].dtype, buffer=file, offset=found[name].offset)
        for name in shapes
    }


def read(path: Path, found: Mapping[str, Place]) -> dict[str, np.ndarray]:
    """The tensors in memory of their own, for a file that others may change or cut short at any time."""
    arrays = {}
    with path.open("rb") as file:
        for name, place in found.items():
            file.seek(place.offset)
            array = np.frombuffer(file.read(place.nbytes), place.dtype)
            if array.nbytes != place.nbytes:
                raise RecordingError(f"{path} was cut short while it was read.")
            arrays[name] = array.reshape(place.shape)
    return arrays


def must_hold(path: Path, found: Mapping[str, Place], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a file whose tensors are not those the recording declares."""
    for name, shape in shapes.items():
        if name not in found:
            raise RecordingError(f"{path} must hold {name}; got {sorted(found)}. Record it again.")
        if found[name].shape != shape:
            raise RecordingError(
                f"{path}: {name} must be {shape} by recording.json; got {found[name].shape}. Record it again."
            )
