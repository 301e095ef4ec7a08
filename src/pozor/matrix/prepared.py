"""What a map prepares once a head and keeps: the base for coarse zooms, and the tracks along its margins."""

import threading
from typing import TYPE_CHECKING, Any

from pozor.matrix import pooling, tiles
from pozor.matrix.base import NO_PREVIEW, ZOOM, Base, Store, base_steps
from pozor.matrix.making import Making, drawing
from pozor.matrix.tiles import Tile
from pozor.matrix.tracks import Tracks, track_steps

if TYPE_CHECKING:
    from pozor.matrix.map import Reduce, Value


class Prepared:
    """The methods of `AttentionMap` that stand on a pass over a whole head; tiles, which choose, among them.

    Attributes:
        store: Where what was prepared is kept beyond the process, or None.
    """

    _cells: Any
    _lock: Any
    store: Store | None

    def _start_preparing(self) -> None:
        self.store = None
        self._makings: dict[tuple, Making[Any]] = {}
        self._making_lock = threading.Lock()

    def base(self, value: "Value" = "prob", *, head: int = 0, batch: int = 0) -> Making[Base]:
        """The base of one head: .start() makes it behind, .make() here; .progress, .ready, .stop()."""
        self._check(head, batch)
        self._check_summary("max", value)

        def new() -> Making[Base]:
            weight = self._weight(value, head, batch)
            name = self._named(value, head, batch)
            return Making(base_steps(self._cells, batch, head, weight, name, self._kept_in()))

        return self._making(("base", value, head, batch), new)

    def tracks(self, *, head: int = 0, batch: int = 0) -> Making[Tracks]:
        """Entropy of each query and what each key receives, float32, made as `base` is."""
        self._check(head, batch)
        name = self._named("tracks", head, batch)
        return self._making(
            ("tracks", head, batch),
            lambda: Making(track_steps(self._cells, batch, head, name, self._kept_in())),
        )

    def needs_base(self, zoom: int) -> bool:
        """Whether tiles of a zoom come from the base."""
        return zoom >= ZOOM

    def tile(
        self,
        zoom: int,
        row: int,
        column: int,
        reduce: "Reduce" = "max",
        value: "Value" = "prob",
        *,
        head: int = 0,
        batch: int = 0,
    ) -> Tile:
        """256 × 256 pixels of 2^zoom × 2^zoom cells: queries from 256 · 2^zoom · row, keys likewise.

        Exact at every zoom: max of the visible cells, their mean, or share = their sum over the rows of the
        pixel that see something. float32, within 1e-5 of the float64 matrix by the same lse. From zoom 6 on
        it waits for the base of the head, which is made once.

        Args:
            zoom: 0 to zooms − 1.   row, column: Place of the tile at that zoom.
            reduce: "max", "mean" or "share".   value: "prob", or "value_norm" = prob · v_norm of the key.
        """
        self._check_tile(zoom, row, column, reduce, value, head, batch)
        if self.needs_base(zoom):
            return _cut(self.base(value, head=head, batch=batch).make(), zoom, row, column, reduce)
        return self._fine(zoom, row, column, reduce, value, head, batch)

    def tile_now(
        self,
        zoom: int,
        row: int,
        column: int,
        reduce: "Reduce" = "max",
        value: "Value" = "prob",
        *,
        head: int = 0,
        batch: int = 0,
    ) -> tuple[Tile, bool]:
        """As `tile`, without waiting for the base of a long text: (tile, whether it is a preview).

        A preview is the same of every 16th row; meanwhile the base is made behind. Maps of up to 4,096
        tokens have none and wait for the base.
        """
        self._check_tile(zoom, row, column, reduce, value, head, batch)
        if not self.needs_base(zoom):
            return self._fine(zoom, row, column, reduce, value, head, batch), False
        found, preview = self.base(value, head=head, batch=batch).picture()
        return _cut(found, zoom, row, column, reduce), preview

    def _fine(
        self, zoom: int, row: int, column: int, reduce: str, value: "Value", head: int, batch: int
    ) -> Tile:
        side = tiles.SIDE << zoom
        rows = slice(side * row, min(side * (row + 1), self._cells.q_len))
        keys = slice(side * column, min(side * (column + 1), self._cells.kv_len))
        weight = self._weight(value, head, batch)
        with drawing():
            return tiles.make(pooling.pool(self._cells, batch, head, rows, keys, 1 << zoom, weight), reduce)

    def _kept_in(self) -> Store | None:
        """What takes no time is not worth a file."""
        return self.store if max(self._cells.q_len, self._cells.kv_len) > NO_PREVIEW else None

    def _named(self, what: str, head: int, batch: int) -> str:
        """The name in the store; a recorded map has one head."""
        cells = self._cells
        return what if cells.batch == cells.num_heads == 1 else f"{what}-{batch}-{head}"

    def _making(self, asked: tuple, new: Any) -> Any:
        with self._making_lock:
            if asked not in self._makings:
                self._makings[asked] = new()
            return self._makings[asked]

    def _check(self, head: int, batch: int) -> None:
        raise NotImplementedError

    def _check_summary(self, reduce: str, value: str) -> None:
        raise NotImplementedError

    def _check_tile(
        self, zoom: int, row: int, column: int, reduce: str, value: str, head: int, batch: int
    ) -> None:
        raise NotImplementedError

    def _weight(self, value: "Value", head: int, batch: int) -> Any:
        raise NotImplementedError


def _cut(base: Base, zoom: int, row: int, column: int, reduce: str) -> Tile:
    part = (slice(tiles.SIDE * place, tiles.SIDE * (place + 1)) for place in (row, column))
    return tiles.make(base.cut(zoom, *part), reduce)
