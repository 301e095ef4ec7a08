"""Reading a recording: `open`, and `Recording` with its items, layers, arrays and maps."""

import os
import stat
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pozor.errors import OptionError, RecordingError
from pozor.recording import document as documents
from pozor.recording import tensor_file
from pozor.recording import tokens as token_files
from pozor.recording.base_store import BaseStore
from pozor.recording.document import Document, Layer
from pozor.recording.outward import Outward
from pozor.recording.shares import shares
from pozor.recording.tokens import Tokens
from pozor.recording.writer import SUFFIX, item_folder

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.recording.measures import RecordedMeasuring


def open(path: str | os.PathLike[str]) -> "Recording":
    """Open a recording; its arrays stay on the disk and are mapped into memory when somebody looks.

    Args:
        path: A folder NAME.pozor.

    Returns:
        The Recording; nothing in it is executed, and no file outside the folder is read.

    Raises:
        RecordingError: There is no recording, a newer one, or one whose files do not fit what it declares.
    """
    try:
        return _opened(Path(path))
    except OSError as error:
        where = error.filename if isinstance(error.filename, str) and len(error.filename) < 300 else "a file"
        raise RecordingError(f"{where} cannot be read: {error.strerror or error}.") from error


def _opened(folder: Path) -> "Recording":
    if folder.exists() and not folder.is_dir():
        raise RecordingError(
            f"{folder} is a file; a recording of pozor is a folder NAME{SUFFIX}. The file was not read."
        )
    if not folder.is_dir():
        raise RecordingError(f"{folder} is not there. Give the folder of a recording, NAME{SUFFIX}.")
    if folder.name.endswith(SUFFIX + ".part"):
        raise RecordingError(f"{folder} is a recording that was never finished. Record it again.")
    if os.path.lexists(folder / documents.FILE):  # else it may be any folder, and a large one
        _stays_inside(folder)
    document = documents.read(folder)
    _files_fit(folder, document)
    return Recording(folder, document)


def _stays_inside(folder: Path) -> None:
    """Refuse links, pipes and devices: a recording is plain files in its own folder."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            mode = (Path(place) / name).lstat().st_mode
            if stat.S_ISLNK(mode):
                raise RecordingError(
                    f"{Path(place) / name} is a link; a recording holds only files of its own."
                )
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # to read from a pipe would wait for ever
                raise RecordingError(
                    f"{Path(place) / name} is no plain file; a recording holds only plain files."
                )


def _files_fit(folder: Path, document: Document) -> None:
    """Judge the header and size of every file, before any array is touched."""
    for number in range(len(document.items)):
        for layer in document.layers:
            path = folder / item_folder(number) / layer.file
            found = tensor_file.places(path)
            tensor_file.must_hold(path, found, layer.shapes(number))
            for name in ("q", "k", "v"):
                if found[name].dtype.name != document.dtype:
                    raise RecordingError(
                        f"{path}: {name} must be {document.dtype} by recording.json; got {found[name].dtype}."
                    )
    for layer in document.layers:
        shapes = layer.weight_shapes()
        if shapes:
            path = folder / "weights" / layer.file
            tensor_file.must_hold(path, tensor_file.places(path), shapes)


class Recording(Outward):
    """q, k, v and one log-sum-exp per row of every recorded head, from which every cell follows.

    `rec[layer, head]` is the map of one query head. Open with `pozor.open`, make with `pozor.record`,
    `pozor record` or `Recording.from_arrays`.

    Attributes:
        path: The folder.
        model, architecture, implementation: The model's name, its class, the attention it ran with.
        dtype: Of q, k and v, such as "bfloat16".
        fidelity: Largest relative error of a layer against the model's own outputs; None = not compared.
        layers: One record a layer: .layer .kind .heads .kv_heads .head_dim .v_head_dim .scale .fidelity
            .mask_text .has_v_norm .has_w_o
    """

    def __init__(self, path: Path, document: Document):
        self.path = path
        self._document = document
        self.model, self.architecture = document.model, document.architecture
        self.implementation, self.dtype = document.implementation, document.dtype
        self.fidelity = document.fidelity
        self.layers = list(document.layers)
        self._measuring: dict[int, RecordedMeasuring] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The folder's name without .pozor."""
        return self.path.resolve().name.removesuffix(SUFFIX)

    @property
    def nbytes(self) -> int:
        """Size on disk, in bytes."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    @cached_property
    def items(self) -> list[Tokens]:
        """The recorded sequences: .name .text .token_ids .starts .stops .tokens .special"""
        return [
            token_files.load(self.path / item_folder(number), name, count)
            for number, (name, count) in enumerate(self._document.items)
        ]

    def __repr__(self) -> str:
        counts = ", ".join(str(count) for _, count in self._document.items)
        return f"<Recording {self.name}: {self.model}, {len(self.layers)} layers, items of {counts} tokens>"

    def __getitem__(self, place: tuple[int, int]) -> "AttentionMap":
        if not isinstance(place, tuple) or len(place) != 2:
            raise OptionError(f"a recording is asked by rec[layer, head]; got rec[{place!r}].")
        return self.map(*place)

    def layer(self, layer: int, kind: str = "self") -> Layer:
        """The record of one layer.

        Raises:
            OptionError: The layer was not recorded.
        """
        for entry in self.layers:
            if entry.layer == layer and entry.kind == kind:
                return entry
        held = [entry.layer for entry in self.layers if entry.kind == kind]
        raise OptionError(f"layer must be one of the recorded {kind} layers {_short(held)}; got {layer}.")

    def arrays(self, layer: int, item: int = 0, kind: str = "self") -> dict[str, np.ndarray]:
        """The stored arrays of one layer, read-only and mapped into memory.

        Returns:
            q (heads, q_len, head_dim), k and v (kv heads, kv_len, …), lse (heads, q_len) float32; where kept
            also v_norm (heads, kv_len), w_o (heads · v_head_dim, d_model), sinks (heads,). Row i of q is the
            query head `heads[i]`; rows of k and v are the kept key heads in order.
        """
        entry = self.layer(layer, kind)
        item = self._item(item)
        held = tensor_file.load(self.path / item_folder(item) / entry.file, entry.shapes(item))
        shapes = entry.weight_shapes()
        return held | (tensor_file.load(self.path / "weights" / entry.file, shapes) if shapes else {})

    def map(self, layer: int, head: int, item: int = 0, kind: str = "self") -> "AttentionMap":
        """The attention map of one query head; the map's own `head` is 0.

        Args:
            layer: Number of the layer in the model.
            head: Number of the query head in the model.
            item: Number of the sequence.
            kind: "self" or "cross".

        Returns:
            An AttentionMap whose `source` says recording, layer, head, item and kind.

        Raises:
            OptionError: That layer, head or item was not recorded.
        """
        from pozor.matrix import AttentionMap

        entry, item = self.layer(layer, kind), self._item(item)
        row = self._head(entry, head)
        kv_row = entry.kept_kv_heads.index(entry.kv_heads[row])
        held, rows, item_tokens = self.arrays(layer, item, kind), entry.rows[item], self.items[item].tokens
        one = slice(row, row + 1)
        found = AttentionMap(
            held["q"][one],
            held["k"][kv_row : kv_row + 1],
            held["v"][kv_row : kv_row + 1],
            **rows.mask.options(rows.q_len, rows.kv_len),
            scale=entry.scale,
            softcap=entry.softcap,
            sink=held["sinks"][one] if entry.has_sinks else None,
            lse=held["lse"][one],
            v_norm=held["v_norm"][one] if entry.has_v_norm else None,
            tokens=item_tokens,
            query_tokens=item_tokens[rows.mask.q_offset : rows.mask.q_offset + rows.q_len],
        )
        found.source = {"recording": self, "layer": layer, "head": head, "item": item, "kind": kind}
        found.store = self._base_store(entry, head, item)
        return found

    def heads(self, item: int = 0) -> np.ndarray:
        """Every recorded head with three measures, cheap to make: (number of heads,), a structured array.

        Fields: layer, kind, head, kv_head; and how much of its attention a query gives, on average over
        the queries that see something, to key 0 (`first`), to itself (`own`) and to the key before it
        (`previous`). From the stored lse, in float64.
        """
        item = self._item(item)
        return np.concatenate(
            [shares(entry, self.arrays(entry.layer, item, entry.kind), item) for entry in self.layers]
        )

    def prepare(
        self,
        item: int | None = None,
        *,
        values: tuple[str, ...] = ("prob",),
        tracks: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> int:
        """Make what the viewer takes from whole heads, and keep it in base/: then every head opens at once.

        That is a few passes over q · k for each head: bases, tracks, measures; what is there already is left.
        Texts of up to 4,096 tokens need none of it. base/ is a cache, and may be deleted.

        Args:
            item: Number of the sequence; None: all of them.
            values: "prob", and "value_norm" where it was recorded.
            tracks: Whether the entropy of rows and what keys receive are made too.
            progress: Called with how far it is, 0 … 1, a few times a second.

        Returns:
            The number of heads that were gone through.

        Raises:
            OptionError: No such item or value.
        """
        from pozor.recording.preparing import prepare

        return prepare(self, item, values=values, tracks=tracks, progress=progress)

    def measuring(self, item: int = 0) -> "RecordedMeasuring":
        """What measures every head of an item: `.lines` are there at once and fill as it goes on.

        A line has the fields of `heads` and entropy (nats), distance (tokens between query and key, weighted
        by prob) and induction (what a query gives to the keys that followed its token earlier); see
        `pozor.matrix.measures.Measures`. NaN: not known yet, or without a meaning. Takes a pass over q · k
        a head: `.making.start()` goes through them behind, `.making.make()` here and gives the lines.
        """
        from pozor.recording.measures import RecordedMeasuring

        item = self._item(item)
        with self._lock:
            if item not in self._measuring:
                self._measuring[item] = RecordedMeasuring(self, item)
            return self._measuring[item]

    def which(
        self,
        *,
        query: int | None = None,
        key: int | None = None,
        item: int = 0,
        variant: Literal["recorded", "unmasked", "causal"] = "recorded",
    ) -> np.ndarray:
        """Which heads look here: every recorded head, the largest prob first; one layer is read at a time.

        With a query and a key, by the prob of that cell. With a query alone, by the largest prob of its row;
        `at` is its key. With a key alone, by what the key receives on average from the queries that may see
        it; `at` is the query that gives it most. Cells and rows are those of `AttentionMap.row`, in float64
        from q and k; a column is by the stored lse, what it receives within 1e-5 of itself.

        Args:
            query: Row of the maps.   key: Column of the maps.   item: Number of the sequence.
            variant: As in `AttentionMap.variant`, for a cell or a row, whose lse is then worked out anew. A
                column is known as recorded only.

        Returns:
            A structured array with the fields layer, kind, head, prob, at. prob is 0 where the mask hides the
            cell or the row sees nothing, NaN where a NaN is seen, the key has no reader or the layer no such
            query or key; at is −1 for a cell and where there is none.

        Raises:
            OptionError: No layer has that query or key; a column of another variant than the recorded.
        """
        from pozor.recording.which import which

        return which(self, query, key, self._item(item), variant)

    def _base_store(self, entry: Layer, head: int, item: int) -> BaseStore:
        folder = item_folder(item)
        sources = ("recording.json", f"{folder}/{entry.file}", f"weights/{entry.file}")
        place = f"{folder}/{entry.file.removesuffix('.safetensors')}/head-{head:03}"
        return BaseStore(self.path, sources, place)

    def _item(self, item: int) -> int:
        count = len(self._document.items)
        if not 0 <= item < count:
            raise OptionError(f"item must be from 0 to {count - 1}; got {item}.")
        return int(item)

    def _head(self, entry: Layer, head: int) -> int:
        if head not in entry.heads:
            raise OptionError(
                f"head must be one of {_short(entry.heads)}, recorded of layer {entry.layer}; got {head}."
            )
        return entry.heads.index(head)

    @classmethod
    def from_arrays(cls, path: str | os.PathLike[str], q: Any, k: Any, v: Any, **options: Any) -> "Recording":
        """Make a recording of your own arrays; see `pozor.recording.arrays.from_arrays` for the options.

        Args:
            path: Where the recording shall be, NAME.pozor.
            q: Queries, (num_heads, q_len, head_dim) of one layer, or a list of such, one a layer.
            k: Keys, (num_kv_heads, kv_len, head_dim), or a list.
            v: Values, (num_kv_heads, kv_len, v_head_dim), or a list.
            options: causal, window, q_offset, prefix, documents, scale, softcap, sink, w_o, text, tokens,
                name, model, overwrite.

        Returns:
            The new Recording. Its fidelity is None: there was no model to compare with.
        """
        from pozor.recording.arrays import from_arrays

        return open(from_arrays(path, q, k, v, **options))


def _short(numbers: Sequence[int]) -> str:
    """The numbers, or the two ends where they follow each other."""
    if len(numbers) > 4 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(str(n) for n in numbers) or "(none)"
