"""Writing a recording: layer by layer into NAME.pozor.part, recording.json last, then the rename."""

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np

from pozor.errors import RecordingError
from pozor.recording import document as documents
from pozor.recording import tensor_file
from pozor.recording import tokens as token_files
from pozor.recording.document import Document, Layer
from pozor.recording.tokens import Tokens

SUFFIX = ".pozor"
OWNER = "being-written"  # locked while its writer lives; its text is the writer's secret


def write(path: str | os.PathLike[str], *, overwrite: bool = False) -> "Writer":
    """A writer of NAME.pozor, to be used in a `with`; leaving it by an error removes what was written.

    Args:
        path: Where the recording shall be; must end in .pozor.
        overwrite: Replace a recording of that name, once the new one is whole.

    Raises:
        RecordingError: The name is taken, has another ending, or its folder is not there.
    """
    return Writer(Path(path), overwrite)


class Writer:
    """Holds one unfinished recording; `items`, then `layer` for each layer, then `finish`."""

    def __init__(self, path: Path, overwrite: bool):
        if path.suffix != SUFFIX or not path.stem:
            raise RecordingError(f"path must end in {SUFFIX}; got {str(path)!r}. Name it like story{SUFFIX}.")
        if not path.absolute().parent.is_dir():
            raise RecordingError(f"path must lie in a folder that is there; got {str(path)!r}.")
        if not os.access(path.absolute().parent, os.W_OK):
            raise RecordingError(
                f"there is no permission to write in the folder of {str(path)!r}; choose another."
            )
        self.path = path
        self.part = path.with_name(path.name + ".part")
        self._overwrite = overwrite
        self._secret = secrets.token_hex(16)
        self._layers: list[Layer] = []
        self._counts: list[int] = []
        self._names: list[str] = []
        self._lock: IO[bytes] | None = None
        self._may_be_written()
        if _is_locked(self.part / OWNER):
            raise self._taken()

    def _may_be_written(self) -> None:
        if not os.path.lexists(self.path):
            return
        if not self._overwrite:
            raise RecordingError(
                f"{self.path} is already there. Take another name, or overwrite=True (--overwrite)."
            )
        if not (self.path / documents.FILE).is_file() or self.path.is_symlink():
            raise RecordingError(
                f"{self.path} is no recording, so pozor does not replace it. Choose another name."
            )

    def __enter__(self) -> "Writer":
        self._make_part()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        mine = self.part.exists() and self._is_mine()
        self._unlock()
        if mine:
            shutil.rmtree(self.part)

    def _make_part(self) -> None:
        """An empty NAME.pozor.part; what a killed run left behind under that name goes."""
        if os.path.lexists(self.part):
            if self.part.is_symlink() or not _was_left(self.part):
                raise RecordingError(
                    f"{self.part} is in the way and is no unfinished recording. Move it away."
                )
            if _is_locked(self.part / OWNER):
                raise self._taken()
            shutil.rmtree(self.part)
        try:
            self.part.mkdir()
        except FileExistsError:
            raise self._taken() from None
        self._lock = (self.part / OWNER).open("xb")
        _locked(self._lock)
        self._lock.write(self._secret.encode())
        self._lock.flush()

    def _unlock(self) -> None:
        # an open file cannot be removed on Windows
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _taken(self) -> RecordingError:
        return RecordingError(
            f"{self.path} is being recorded by another run. Wait until it is done, or take another name."
        )

    def _is_mine(self) -> bool:
        try:
            return (self.part / OWNER).read_text(encoding="ascii") == self._secret
        except OSError:
            return False

    def _must_be_mine(self) -> None:
        if not self._is_mine():
            raise RecordingError(f"{self.part} was taken away while it was written; this run stops.")

    def items(self, items: Sequence[Tokens]) -> None:
        """Write the texts and tokens."""
        self._must_be_mine()
        for number, tokens in enumerate(items):
            folder = self.part / item_folder(number)
            folder.mkdir()
            token_files.save(folder, tokens)
            self._names.append(tokens.name)
            self._counts.append(len(tokens))

    def layer(
        self,
        layer: Layer,
        arrays: Sequence[Mapping[str, np.ndarray]],
        weights: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Write one layer: the arrays q, k, v, lse (and v_norm) of each item, and w_o or sinks where kept."""
        self._must_be_mine()
        if any(layer.layer == other.layer and layer.kind == other.kind for other in self._layers):
            raise RecordingError(f"layer {layer.layer} ({layer.kind}) was given twice.")
        for number, held in enumerate(arrays):
            path = self.part / item_folder(number) / layer.file
            tensor_file.save(path, _agreeing(path, held, layer.shapes(number)))
        shapes = layer.weight_shapes()
        if shapes:
            path = self.part / "weights" / layer.file
            path.parent.mkdir(exist_ok=True)
            tensor_file.save(path, _agreeing(path, weights or {}, shapes))
        self._layers.append(layer)

    def finish(self, *, model: str, architecture: str = "", implementation: str = "", dtype: str) -> Path:
        """Write recording.json, and give the folder its name; returns the path."""
        from pozor import __version__

        self._must_be_mine()
        if not self._layers or not self._counts:
            raise RecordingError("a recording must hold at least one item and one layer; got none.")
        layers = tuple(sorted(self._layers, key=lambda entry: (entry.layer, entry.kind)))
        items = tuple(zip(self._names, self._counts, strict=True))
        document = Document(model, architecture, implementation, dtype, items, layers)
        with (self.part / documents.FILE).open("w", encoding="utf-8", newline="\n") as file:
            file.write(documents.to_text(document, f"pozor {__version__}"))
            file.flush()
            os.fsync(file.fileno())
        documents.read(self.part)  # nothing gets the name that could not be opened
        self._may_be_written()
        self._unlock()
        (self.part / OWNER).unlink()
        self._take_the_name()
        return self.path

    def _take_the_name(self) -> None:
        """Rename; an old recording is set aside first and deleted last: one of the two is always whole."""
        if not self.path.exists():
            self.part.rename(self.path)
            _sync_folder(self.path.absolute().parent)
            return
        old = self.path.with_name(f"{self.path.name}.{self._secret[:8]}.old")
        self.path.rename(old)
        try:
            self.part.rename(self.path)
        except OSError:
            old.rename(self.path)
            raise
        _sync_folder(self.path.absolute().parent)
        shutil.rmtree(old, ignore_errors=True)


def _agreeing(
    path: Path, held: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """The arrays, refused unless they are those the layer declares."""
    for name, shape in shapes.items():
        got = held[name].shape if name in held else None
        if got != shape:
            raise RecordingError(f"{path.name}: {name} must be {shape}; got {got}.")
    return {name: held[name] for name in shapes}


def _was_left(part: Path) -> bool:
    """Whether a killed run left it: with a writer's mark, with nothing at all, or with all but its name."""
    return part.is_dir() and (
        (part / OWNER).is_file() or (part / documents.FILE).is_file() or not any(part.iterdir())
    )


def _locked(file: IO[bytes]) -> bool:
    """Take the lock that the system gives up when its holder ends, however it ends; False if it is held."""
    if os.name != "posix":
        return True  # there an open file is as good: it cannot be removed
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_locked(owner: Path) -> bool:
    """Whether the writer of this mark is alive."""
    try:
        with owner.open("rb+") as file:
            return not _locked(file)
    except OSError:
        return False


def _sync_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where the system lets a folder be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def item_folder(number: int) -> str:
    """Folder of an item: item-000, item-001 …"""
    return f"item-{number:03}"
