"""What stands along a map's margins: the entropy of each row and what each key receives, from one pass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pozor.matrix.base import Store
from pozor.matrix.making import Making, Steps


@dataclass(frozen=True)
class Tracks:
    """entropy float32 (q_len,), in nats; received float32 (kv_len,), NaN where no query may see the key."""

    entropy: np.ndarray
    received: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.entropy.nbytes + self.received.nbytes


class Tracked(Protocol):
    """Cells that can be looked through row by row."""

    q_len: int
    kv_len: int

    def tracks(self, batch: int, head: int) -> Steps[Tracks]:
        """Yields how far it is; returns both tracks."""
        ...


def track_steps(
    cells: Tracked, batch: int, head: int, name: str, store: Store | None
) -> Callable[[Making[Tracks]], Steps[Tracks]]:
    """What makes the tracks of one head."""

    def steps(_: Making[Tracks]) -> Steps[Tracks]:
        found = None if store is None else _stored(cells, store.load(name))
        if found is not None:
            return found
        made = yield from _watched(cells.tracks(batch, head), store)
        if store is not None:
            store.save(name, {"entropy": made.entropy, "received": made.received})
        return made

    return steps


def _watched(running: Steps[Tracks], store: Store | None) -> Steps[Tracks]:
    """The same, as long as the files that it reads are what they were."""
    while True:
        try:
            done = next(running)
        except StopIteration as end:
            return end.value
        yield done
        if store is not None:
            store.check()


def _stored(cells: Tracked, arrays: Mapping[str, np.ndarray] | None) -> Tracks | None:
    """Tracks that were saved; None where the arrays are none of this map."""
    if arrays is None or set(arrays) != {"entropy", "received"}:
        return None
    entropy, received = arrays["entropy"], arrays["received"]
    if entropy.shape != (cells.q_len,) or received.shape != (cells.kv_len,):
        return None
    if {entropy.dtype, received.dtype} != {np.dtype(np.float32)}:
        return None
    return Tracks(entropy, received)
