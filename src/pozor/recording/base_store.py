"""`base/` of a recording: what was made of whole heads, kept for the next time. A cache: it may be deleted.

A file counts only for the state of the files it was made from; anything else that lies there is passed over.
"""

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pozor.errors import RecordingError
from pozor.recording import tensor_file

FOLDER = "base"
FORMAT = 1  # to be raised where the same files would give other numbers
LARGEST = 64 << 20  # bytes of a file; the base of a causal head of 131,072 tokens has 17 MB
ROOM = 4 << 30  # bytes of the folder; what was used longest ago leaves
STATE = "state"


class BaseStore:
    """Where the base of one recorded head is kept, under one variant of its mask.

    Args:
        recording: The recording's folder.
        sources: The files it is made from, relative to the folder; a change of one makes it stale.
        place: Its own folder and the start of its files' names, relative to base/.
    """

    def __init__(self, recording: Path, sources: tuple[str, ...], place: str) -> None:
        self._recording, self._sources, self._place = recording, sources, place
        self._state = self._state_now()

    def of(self, variant: str) -> "BaseStore":
        """The same head under another mask."""
        return BaseStore(self._recording, self._sources, f"{self._place}-{variant}")

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """What was saved under a name for the files as they are; None where nothing was, or it is broken."""
        path = self._path(name)
        try:
            if self._state_now() != self._state or not 0 < path.stat().st_size <= LARGEST:
                return None
            found = tensor_file.places(path)
            arrays = tensor_file.read(path, found)
            os.utime(path)  # used last
        except (OSError, RecordingError):
            return None
        state = arrays.pop(STATE, None)
        return arrays if state is not None and state.tobytes() == self._state else None

    def save(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep the arrays under a name; nothing happens where there is no room or no leave to write."""
        size = sum(array.nbytes for array in arrays.values()) + 4096
        if size > LARGEST or self._state_now() != self._state:  # the files are others now
            return
        path = self._path(name)
        part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
        try:
            if not self._plain(path.parent):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_room(self._recording / FOLDER, size)
            tensor_file.save(part, {**arrays, STATE: np.frombuffer(self._state, np.uint8)})
            os.replace(part, path)
        except (OSError, RecordingError):
            part.unlink(missing_ok=True)

    def check(self) -> None:
        """Raise RecordingError where a file that it is made from is another now.

        What is mapped into memory must not be read for long after somebody has cut its file short.
        """
        if self._state_now() != self._state:
            raise RecordingError(f"{self._recording} was changed while it was read. Open it again.")

    def _path(self, name: str) -> Path:
        return self._recording / FOLDER / f"{self._place}-{name}.safetensors"

    def _plain(self, folder: Path) -> bool:
        """Whether no link leads out of the recording."""
        while folder != self._recording:
            if folder.is_symlink():
                return False
            folder = folder.parent
        return True

    def _state_now(self) -> bytes:
        """A digest of size and time of the files."""
        stamps: list[tuple[int, int]] = []
        for source in self._sources:
            try:
                found = (self._recording / source).stat()
                stamps.append((found.st_size, found.st_mtime_ns))
            except OSError:
                stamps.append((-1, 0))
        return hashlib.sha256(repr((FORMAT, stamps)).encode()).digest()


def _make_room(folder: Path, size: int) -> None:
    """Let go of what was used longest ago until there is room for so many bytes."""
    files = []
    for path in folder.rglob("*.safetensors"):
        found = path.stat()
        files.append((found.st_mtime_ns, found.st_size, path))
    total = sum(length for _, length, _ in files) + size
    for _, length, path in sorted(files):
        if total <= ROOM:
            return
        path.unlink(missing_ok=True)
        total -= length
