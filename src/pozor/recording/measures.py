"""The measures of every head of an item of a recording."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pozor.matrix.measuring import MEASURES_DTYPE, OF_POSITIONS, Measuring, numbered
from pozor.recording.base_store import BaseStore
from pozor.recording.shares import shares
from pozor.recording.writer import item_folder

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.recording.reader import Recording

NO_STORE = 1024  # tokens up to which measuring takes no time that were worth a file


class RecordedMeasuring(Measuring):
    """All heads of one item, in the order of `Recording.heads`."""

    def __init__(self, recording: "Recording", item: int) -> None:
        self._recording, self._item = recording, item
        self._places = [(entry, head) for entry in recording.layers for head in entry.heads]
        lines = np.zeros(len(self._places), MEASURES_DTYPE)
        for line, (entry, head) in zip(lines, self._places):
            line["layer"], line["kind"], line["head"] = entry.layer, entry.kind, head
            line["kv_head"] = entry.kv_heads[entry.heads.index(head)]
        super().__init__(lines)

    def shares(self) -> Iterator[None]:
        """Layer by layer."""
        stop = 0
        for entry in self._recording.layers:
            held = self._recording.arrays(entry.layer, self._item, entry.kind)
            found = shares(entry, held, self._item)
            here = slice(stop, stop + len(entry.heads))
            for name in ("first", *(OF_POSITIONS if entry.kind == "self" else ())):
                self.lines[name][here] = found[name]
            stop = here.stop
            yield

    def head(self, place: int) -> tuple["AttentionMap", dict[str, Any]]:
        """The map of one recorded head."""
        entry, head = self._places[place]
        tokens = self._recording.items[self._item]
        ids = np.asarray(tokens.token_ids)
        if not (ids >= 0).all():  # the model was given no ids
            ids = numbered(tokens.labels)
        shown = self._recording.map(entry.layer, head, self._item, entry.kind)
        return shown, {"ids": ids, "one_sequence": entry.kind == "self"}

    def store(self) -> tuple[BaseStore, str] | None:
        """base/ of the recording; all that was read for the item tells whether the numbers still hold."""
        if len(self._recording.items[self._item].tokens) <= NO_STORE:
            return None
        folder = item_folder(self._item)
        files = [f"{folder}/{entry.file}" for entry in self._recording.layers]
        weights = [f"weights/{entry.file}" for entry in self._recording.layers]
        sources = ("recording.json", f"{folder}/tokens.safetensors", *files, *weights)
        return BaseStore(self._recording.path, sources, f"{folder}/heads"), "measures"
