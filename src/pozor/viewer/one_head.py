"""One head of a map of several, with the methods of a map of one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.matrix.base import Base
    from pozor.matrix.making import Making
    from pozor.matrix.tiles import Tile
    from pozor.matrix.tracks import Tracks

OF_THE_MAP = ("q_len", "kv_len", "zooms", "causal_ok", "has_v_norm", "problem", "tokens", "query_tokens")


class OneHead:
    """Head `head` of sequence `batch` of a map; what it answers is what the map answers for that head.

    q_offset: Which token of the page's list is query 0; None: its position among the keys.
    """

    def __init__(self, whole: "AttentionMap", head: int, batch: int = 0, q_offset: int | None = None) -> None:
        self.whole, self.head, self.batch = whole, head, batch
        problem = whole.problem
        position = whole.q_offset if problem is None else int(problem.q_offset[batch])
        self.q_offset = position if q_offset is None else q_offset

    def __getattr__(self, name: str) -> Any:
        if name in OF_THE_MAP:
            return getattr(self.whole, name)
        raise AttributeError(name)

    def _place(self) -> dict[str, int]:
        return {"head": self.head, "batch": self.batch}

    def row(self, query: int, *, hidden: Sequence[int] = ()) -> np.ndarray:
        """Probs of one query."""
        return self.whole.row(query, hidden=hidden, **self._place())

    def logits(self, query: int) -> np.ndarray:
        """What the softmax of one row takes."""
        return self.whole.logits(query, **self._place())

    def column(self, key: int) -> np.ndarray:
        """Probs that each query gives to one key."""
        return self.whole.column(key, **self._place())

    def visible(self, queries: Any, keys: Any) -> np.ndarray:
        """Which of some cells may be seen."""
        return self.whole.visible(queries, keys, **self._place())

    def norms(self) -> np.ndarray | None:
        """‖v_j W_O‖ of each key."""
        return self.whole.norms(**self._place())

    def tile(self, *address: Any) -> "Tile":
        """One tile."""
        return self.whole.tile(*address, **self._place())

    def tile_now(self, *address: Any) -> "tuple[Tile, bool]":
        """One tile, and whether it is a preview."""
        return self.whole.tile_now(*address, **self._place())

    def base(self, value: Any = "prob") -> "Making[Base]":
        """The base, from which the coarse zooms come."""
        return self.whole.base(value, **self._place())

    def tracks(self) -> "Making[Tracks]":
        """What stands along the margins."""
        return self.whole.tracks(**self._place())

    def entropy(self) -> np.ndarray:
        """Entropy of each query."""
        return self.whole.entropy(**self._place())

    def received(self) -> np.ndarray:
        """What each key gets on average."""
        return self.whole.received(**self._place())

    def variant(self, name: Any) -> "OneHead":
        """The same head under another mask."""
        return OneHead(cast("AttentionMap", self.whole.variant(name)), self.head, self.batch, self.q_offset)
