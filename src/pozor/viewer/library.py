"""Which recordings there are: the shipped one, the folder's, those opened by path; each under a stable id."""

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pozor.errors import PozorError, RecordingError
from pozor.viewer.documents import RecordingCard
from pozor.viewer.shelf import Shelf

if TYPE_CHECKING:
    from pozor.recording import Recording

SHIPPED = Path(__file__).parents[1] / "data"
KEPT_OPEN = 16  # recordings; an open one holds its headers and memory maps


class NotThere(PozorError, LookupError):
    """What was asked for does not exist (status 404)."""


class Changed(PozorError, RuntimeError):
    """The files of an open recording are not those that were opened (status 409)."""


@dataclass(frozen=True)
class Opened:
    """A recording as it was when it was opened."""

    id: str
    path: Path
    stamp: dict[str, tuple[int, int]]  # file -> bytes, nanoseconds of its last change
    version: str
    recording: "Recording"

    def check(self, *names: str) -> None:
        """Refuse to read on if recording.json or one of the files `names` is not the one that was opened.

        Raises:
            Changed: A file is gone, replaced or rewritten. (Reading a cut memory map would end the process.)
        """
        for name in ("recording.json", *names):
            if name in self.stamp and _stamp(self.path / name) != self.stamp[name]:
                raise self.changed()

    def changed(self) -> Changed:
        """The error that says so."""
        return Changed(f"{_shown(self.path)} changed on disk after it was opened; open it again.")


class Library:
    """The recordings of one running app. Every method may be called from several threads."""

    def __init__(self, folder: Path, shipped: Path = SHIPPED) -> None:
        self.folder = folder
        self._shipped = shipped
        self._asked_for: dict[str, Path] = {}
        self._lock = threading.Lock()
        self._current: dict[str, str] = {}  # id -> the version opened last
        self._open: Shelf[Opened] = Shelf(KEPT_OPEN, lambda _: 1)
        self._cards: Shelf[RecordingCard] = Shelf(10_000, lambda _: 1)

    def cards(self) -> list[RecordingCard]:
        """Every recording there is, a broken one with its error sentence: opened by path, folder, shipped."""
        return [self._card(path) for path in self._paths().values()]

    def card(self, opened: Opened) -> RecordingCard:
        """The card of an open recording."""
        return self._cards.get((opened.path, opened.version), lambda: self._new_card(opened.path))

    def open(self, path: str) -> RecordingCard:
        """Add a recording by its path, relative to the folder the app was started in.

        Raises:
            NotThere: Nothing is there.   RecordingError: It is no whole recording.
        """
        try:
            place = (self.folder / Path(path).expanduser()).absolute()
            found = place.exists()
        except (OSError, RuntimeError, ValueError):  # a name too long, an unknown ~user, a NUL
            place, found = Path(), False
        if not path or not found:
            raise NotThere(
                f"path must lead to a recording (a folder NAME.pozor); {path[:500]!r} is not there."
            )
        self.opened(place)
        with self._lock:
            self._asked_for[identity(place)] = place
        return self._card(place)

    def current(self, id: str) -> Opened:
        """A recording as it is on disk now; what is asked for without a version from now on is this one.

        Raises:
            NotThere: No recording has this id.   RecordingError: It cannot be opened.
        """
        path = self._paths().get(id)
        if path is None:
            raise NotThere(f"No recording has the id {id[:100]!r}.")
        opened = self.opened(path)
        with self._lock:
            self._current[id] = opened.version
        return opened

    def get(self, id: str, version: str | None, *names: str) -> Opened:
        """The recording as it was at `version` (None: when it was opened last), its files `names` unchanged.

        Raises:
            NotThere: No recording has this id.   Changed: The files are others now.
            RecordingError: It cannot be opened.
        """
        with self._lock:
            wanted = version or self._current.get(id)
        opened = self._open.peek((id, wanted))
        if opened is None:
            path = self._paths().get(id)
            opened = self.current(id) if path is None or wanted is None else self.opened(path)
            if wanted is not None and opened.version != wanted:
                raise opened.changed()
        opened.check(*names)
        return opened

    def _paths(self) -> dict[str, Path]:
        with self._lock:
            named = dict(self._asked_for)
        for path in (*_recordings_in(self.folder), *_recordings_in(self._shipped)):
            named.setdefault(identity(path), path)
        return named

    def opened(self, path: Path) -> Opened:
        """The recording at a path as it is on disk now."""
        id, stamp = identity(path), stamps(path)
        version = _digest(stamp)
        return self._open.get((id, version), lambda: Opened(id, path, stamp, version, _read(path)))

    def _card(self, path: Path) -> RecordingCard:
        return self._cards.get((path, _digest(stamps(path))), lambda: self._new_card(path))

    def _new_card(self, path: Path) -> RecordingCard:
        card: RecordingCard = {
            "id": identity(path),
            "version": "",
            "name": _shown(path),
            "path": os.fsencode(path).decode("utf-8", "replace"),
            "error": None,
            "model": "",
            "dtype": "",
            "items": 0,
            "tokens": 0,
            "layers": 0,
            "heads": 0,
            "fidelity": None,
            "shipped": path.parent == self._shipped,
        }
        try:
            opened = self.opened(path)
            recording = opened.recording
            card["tokens"] = max((len(item.tokens) for item in recording.items), default=0)
        except (PozorError, OSError) as error:
            card["error"] = sentence(error)
            return card
        card["version"] = opened.version
        card["name"], card["model"], card["dtype"] = recording.name, recording.model, recording.dtype
        card["items"] = len(recording.items)
        card["layers"] = len({layer.layer for layer in recording.layers})
        card["heads"] = max((len(layer.heads) for layer in recording.layers), default=0)
        card["fidelity"] = recording.fidelity
        return card


def identity(path: Path) -> str:
    """The id of a recording: a digest of its real path, the same after a restart."""
    return hashlib.sha256(os.fsencode(os.path.normcase(os.path.realpath(path)))).hexdigest()[:16]


def stamps(path: Path) -> dict[str, tuple[int, int]]:
    """Every file of a recording (the cache in base/ left out) and what tells one state of it from another."""
    if not path.is_dir():
        return {"": _stamp(path)}
    if not os.path.lexists(path / "recording.json"):  # any folder, "/" even: not to be walked through
        return {"recording.json": _stamp(path / "recording.json")}
    found = {}
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if name != "base"]
        for name in names:
            file = Path(folder, name)
            found[file.relative_to(path).as_posix()] = _stamp(file)
    return found


def _digest(stamp: dict[str, tuple[int, int]]) -> str:
    return hashlib.sha256(repr(sorted(stamp.items())).encode()).hexdigest()[:16]


def sentence(error: PozorError | OSError) -> str:
    """An error in one sentence."""
    if isinstance(error, OSError) and not isinstance(error, PozorError):
        where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, str | os.PathLike) else ""
        return f"{where}{error.strerror or error}."
    return str(error)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        state = file.stat()
    except OSError:
        return (-1, 0)
    return (state.st_size, state.st_mtime_ns)


def _recordings_in(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".pozor"))
    except OSError:
        return
    for name in names:
        yield folder / name


def _shown(path: Path) -> str:
    return os.fsencode(path.name).decode("utf-8", "replace")


def _read(path: Path) -> "Recording":
    from pozor.recording import open as open_recording

    try:
        return open_recording(path)
    except PozorError:
        raise
    except (ValueError, KeyError, TypeError) as error:  # nothing that a stranger's file holds may end the app
        raise RecordingError(f"{_shown(path)} cannot be read as a recording: {error!s:.200}.") from error
