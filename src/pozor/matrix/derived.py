"""Maps made of maps: the mean or the largest over heads, the difference of two.

A hidden cell counts as 0 where another of the maps shows it. What follows exactly from the blocks of the
maps follows from them at every zoom; anything else is worked out cell by cell, as long as a tile has not too
many of them, and refused beyond.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from pozor.errors import OptionError
from pozor.matrix import pooling, tiles
from pozor.matrix.base import ZOOM
from pozor.matrix.combined import CombinedCells
from pozor.matrix.making import Making, Steps, drawing
from pozor.matrix.pooling import Pooled
from pozor.matrix.tiles import Tile
from pozor.matrix.tracks import Tracks

if TYPE_CHECKING:
    from pozor.matrix.map import AttentionMap, Reduce, Value, Variant

Kind = Literal["mean", "max", "difference"]
BY_BLOCKS = {"mean": ("mean", "share"), "max": ("max",), "difference": ("mean", "share")}
NAMES = {"mean": "a mean over heads", "max": "a max over heads", "difference": "a difference"}
MOST_CELLS = 1 << 28  # of all members together that one tile looks at one by one: a second or two


class Member(NamedTuple):
    """One head of one sequence of a map."""

    map: "AttentionMap"
    head: int
    batch: int = 0


def mean(maps: Sequence[Any]) -> "Derived":
    """The mean of the probs of several heads, each an AttentionMap of one head or (map, head).

    Example:
        >>> import numpy as np, pozor
        >>> a = pozor.AttentionMap.from_probs(np.array([[1.0, 0.0], [0.5, 0.5]]))
        >>> b = pozor.AttentionMap.from_probs(np.array([[0.5, 0.5], [0.0, 1.0]]))
        >>> mean([a, b]).row(1).tolist()
        [0.25, 0.75]
    """
    return Derived("mean", maps)


def largest(maps: Sequence[Any]) -> "Derived":
    """The largest prob that any of several heads gives to a cell; each as in `mean`."""
    return Derived("max", maps)


def difference(map: Any, less: Any) -> "Derived":
    """`map` less `less`, from −1 to 1; each as in `mean`. Max is what is farthest from 0, with its sign."""
    return Derived("difference", [map, less])


class Derived:
    """What one map answers, of several: rows, columns, cells, tiles. Nothing of q, k: no logits, no lse.

    Attributes:
        kind: "mean", "max" or "difference".   members: The heads it is made of.
        q_len, kv_len, q_offset, zooms, tokens, query_tokens: As of an AttentionMap, the same for all members.
        signed: Whether values go from −1 to 1.   has_v_norm: Whether every member has v_norm.
    """

    problem = None

    def __init__(self, kind: Kind, maps: Sequence[Any]) -> None:
        self.kind: Kind = kind
        self.members = [_member(one) for one in maps]
        if not self.members:
            raise OptionError("maps must hold one map or more; got none.")
        first = self.members[0].map
        self.q_len, self.kv_len = first.q_len, first.kv_len
        self.q_offset = _offset(self.members[0])
        for number, one in enumerate(self.members):
            _must_match(self.members[0], one, number)
        self.zooms, self.tokens, self.query_tokens = first.zooms, first.tokens, first.query_tokens
        self.signed = kind == "difference"
        self.has_v_norm = all(one.map.has_v_norm for one in self.members)
        self.causal_ok = all(one.map.causal_ok for one in self.members)
        self.source: Any = None
        self._makings: dict[str, Making[Any]] = {}

    # ---- cells ---------------------------------------------------------------------------------------------

    def row(self, query: int, *, hidden: Sequence[int] = (), value: "Value" = "prob") -> np.ndarray:
        """One row, float64 (kv_len,), from q and k where there are some; hidden as in `AttentionMap.row`."""
        rows = []
        for one in self.members:
            probs = one.map.row(query, hidden=hidden, head=one.head, batch=one.batch)
            rows.append(self._times_norm(one, probs, query, slice(None), value))
        return self._combined(rows)

    def column(self, key: int, *, value: "Value" = "prob") -> np.ndarray:
        """One column, float64 (q_len,), by the lse of each map."""
        columns = []
        for one in self.members:
            probs = one.map.column(key, head=one.head, batch=one.batch)
            columns.append(self._times_norm(one, probs, slice(None), key, value))
        return self._combined(columns)

    def block(self, queries: Any, keys: Any) -> np.ndarray:
        """Some queries and keys, slices or ranges, by the lse of each map: float64."""
        return self._combined(
            [one.map.block(queries, keys, head=one.head, batch=one.batch) for one in self.members]
        )

    def visible(self, queries: Any, keys: Any) -> np.ndarray:
        """Which of some cells any of the maps shows, bool (queries, keys)."""
        shown = [one.map.visible(queries, keys, head=one.head, batch=one.batch) for one in self._distinct]
        return np.logical_or.reduce(shown)

    def logits(self, query: int) -> np.ndarray:
        """None of its own: always refused."""
        raise OptionError(f"logits belong to one head; {NAMES[self.kind]} has none (query {query}).")

    def norms(self) -> None:
        """‖v_j W_O‖ is each head's own: `row` and `column` take value="value_norm"."""
        return

    def variant(self, name: "Variant") -> "Derived":
        """The same of the members under another mask."""
        varied = [one._replace(map=one.map.variant(name)) for one in self.members]
        return self if name == "recorded" else Derived(self.kind, varied)

    # ---- tiles ---------------------------------------------------------------------------------------------

    def exact(self, reduce: str) -> int:
        """The coarsest zoom at which a reduce is exact, and offered."""
        if reduce in BY_BLOCKS[self.kind]:
            return self.zooms - 1
        side = int((MOST_CELLS / len(self.members)) ** 0.5) // tiles.SIDE
        return min(self.zooms, ZOOM, max(1, side.bit_length())) - 1

    def tile(
        self, zoom: int, row: int, column: int, reduce: "Reduce" = "max", value: "Value" = "prob"
    ) -> Tile:
        """As `AttentionMap.tile`; it waits for the bases of the members."""
        self._check_tile(zoom, row, column, reduce, value)
        if zoom >= ZOOM:
            self.base(value).make()
        return self.tile_now(zoom, row, column, reduce, value)[0]

    def tile_now(
        self, zoom: int, row: int, column: int, reduce: "Reduce" = "max", value: "Value" = "prob"
    ) -> tuple[Tile, bool]:
        """(tile, whether it is a preview), as `AttentionMap.tile_now`.

        Raises:
            OptionError: The reduce does not follow from blocks, and the zoom is too coarse for single cells.
        """
        self._check_tile(zoom, row, column, reduce, value)
        if zoom > self.exact(reduce):
            names = " or ".join(BY_BLOCKS[self.kind])
            raise OptionError(
                f"reduce must be {names} of {NAMES[self.kind]} at zoom {zoom}; got {reduce}, which does not "
                f"follow from blocks of cells. Come nearer: from zoom {self.exact(reduce)} on it is exact."
            )
        side = tiles.SIDE << zoom
        rows = slice(side * row, min(side * (row + 1), self.q_len))
        keys = slice(side * column, min(side * (column + 1), self.kv_len))
        if reduce not in BY_BLOCKS[self.kind]:
            with drawing():
                return tiles.make(self._by_cells(rows, keys, 1 << zoom, value), reduce), False
        pooled, preview = self._by_blocks(zoom, rows, keys, value)
        return tiles.make(pooled, reduce), preview

    def base(self, value: "Value" = "prob") -> Making[Any]:
        """The bases of all members, made one after the other."""
        for one in self.members:
            one.map._check_summary("max", value)
        return self._making(
            f"base {value}",
            lambda: [one.map.base(value, head=one.head, batch=one.batch) for one in self.members],
            lambda made: _Done(),
        )

    def tracks(self) -> Making[Tracks]:
        """The difference of the entropies of rows (else NaN), and what each key receives (of a max: NaN)."""
        return self._making(
            "tracks",
            lambda: [one.map.tracks(head=one.head, batch=one.batch) for one in self.members],
            self._combined_tracks,
        )

    # ---- how they are combined -----------------------------------------------------------------------------

    @property
    def _factors(self) -> list[float]:
        return [1.0, -1.0] if self.signed else [1 / len(self.members)] * len(self.members)

    @cached_property
    def _distinct(self) -> list[Member]:
        """One member of each mask."""
        found: list[tuple[Member, Any]] = []
        for one in self.members:
            ranges = one.map._cells.ranges(one.batch, one.head, slice(0, self.q_len))
            if ranges is None or not any(_same(ranges, other) for _, other in found):
                found.append((one, ranges))
        return [one for one, _ in found]

    def _combined(self, arrays: list[np.ndarray]) -> np.ndarray:
        if self.kind == "max":
            return np.maximum.reduce(arrays)
        with np.errstate(invalid="ignore"):
            total = arrays[0] * self._factors[0]
            for array, factor in zip(arrays[1:], self._factors[1:]):
                total += array * factor
        return total

    def _times_norm(self, one: Member, probs: np.ndarray, query: Any, key: Any, value: "Value") -> np.ndarray:
        one.map._check_summary("max", value)
        if value == "prob":
            return probs
        weight = one.map._weight("value_norm", one.head, one.batch)
        here = (slice(query, query + 1), slice(0, self.kv_len)) if isinstance(query, int) else (
            slice(0, self.q_len), slice(key, key + 1)
        )  # fmt: skip
        seen = one.map.visible(*here, head=one.head, batch=one.batch).ravel()
        with np.errstate(invalid="ignore"):
            return np.where(seen, probs * (1.0 if weight is None else weight[key]), 0.0)

    def _cells(self, value: "Value") -> CombinedCells:
        parts = [
            (one.map._cells, one.batch, one.head, one.map._weight(value, one.head, one.batch))
            for one in self.members
        ]
        factors = None if self.kind == "max" else self._factors
        places = [(one.map._cells, one.batch, one.head) for one in self._distinct]
        return CombinedCells(self.q_len, self.kv_len, parts, factors, places)

    def _by_cells(self, rows: slice, keys: slice, size: int, value: "Value") -> Pooled:
        return self._cells(value).pooled(rows, keys, size)

    def _by_blocks(self, zoom: int, rows: slice, keys: slice, value: "Value") -> tuple[Pooled, bool]:
        size, parts, previews = 1 << zoom, [], []
        for one in self.members:
            cells, place = one.map._cells, (one.batch, one.head)
            if zoom < ZOOM:
                weight = one.map._weight(value, one.head, one.batch)
                with drawing():
                    parts.append(pooling.pool(cells, *place, rows, keys, size, weight))
                continue
            base, preview = one.map.base(value, head=one.head, batch=one.batch).picture()
            some = (slice(part.start // size, -(-part.stop // size)) for part in (rows, keys))
            found = base.cut(zoom, *some)
            if preview:  # some rows stand for all of the block
                count = self._cells(value).counts(cells, *place, rows, keys, size)
                grown = found.total * (count / np.maximum(found.count, 1))
                found = Pooled(found.largest, grown, count, found.rows)
            parts.append(found)
            previews.append(preview)
        count = parts[0].count
        combined = self._cells(value)
        if len(self._distinct) > 1:
            count = combined.count(rows, keys, size)
        seeing = pooling.seeing_rows(combined, 0, 0, rows, size)
        if self.kind == "max":
            most = np.maximum.reduce([part.largest for part in parts])
            return Pooled(most, np.zeros(most.shape), count, seeing), any(previews)
        total = self._combined([part.total for part in parts])
        return Pooled(np.zeros(total.shape, np.float32), total, count, seeing), any(previews)

    def _combined_tracks(self, made: list[Tracks]) -> Tracks:
        whole = slice(0, self.q_len)
        cells = self._cells("prob")
        entropy = np.full(self.q_len, np.nan)
        if self.signed:
            entropy = made[0].entropy.astype(np.float64) - made[1].entropy
        if self.kind == "max":
            return Tracks(entropy.astype(np.float32), np.full(self.kv_len, np.nan, np.float32))
        given = []
        for one, tracks in zip(self.members, made):
            queries = cells.queries(one.map._cells, one.batch, one.head, whole)
            given.append(np.where(queries > 0, tracks.received.astype(np.float64) * queries, 0))
        queries = cells.queries_of_all(whole)
        received = np.where(queries > 0, self._combined(given) / np.maximum(queries, 1), np.nan)
        return Tracks(entropy.astype(np.float32), received.astype(np.float32))

    def _making(self, name: str, parts: Any, combine: Any) -> Making[Any]:
        def steps(_: Making[Any]) -> Steps[Any]:
            made, wanted = [], parts()
            for number, one in enumerate(wanted):
                while (found := one.peek() or one.step()) is None:
                    yield (number + one.progress) / len(wanted)
                made.append(found)
            return combine(made)

        making = self._makings.setdefault(name, Making(steps))
        if not making.ready and all(one.ready for one in parts()):
            making.make()
        return making

    def _check_tile(self, zoom: int, row: int, column: int, reduce: str, value: str) -> None:
        for one in self.members:
            one.map._check_tile(zoom, row, column, reduce, value, one.head, one.batch)

    def __repr__(self) -> str:
        count = "" if self.signed else f" of {len(self.members)}"
        return f"<Derived: {NAMES[self.kind]}{count}, {self.q_len} queries × {self.kv_len} keys>"


class _Done:
    """That all bases are there."""

    nbytes = 0


def _member(given: Any) -> Member:
    from pozor.matrix.map import AttentionMap

    map, head, batch = given, 0, 0
    if isinstance(given, tuple) and len(given) in (2, 3):
        map, head, batch = (*given, 0)[:3]
    if not isinstance(map, AttentionMap):
        raise OptionError(
            f"maps must be AttentionMaps of one head, or (map, head); got {type(map).__name__}."
        )
    if not isinstance(given, tuple) and (map.num_heads, map.batch) != (1, 1):
        raise OptionError(
            f"a map of {map.num_heads} heads and {map.batch} sequences must be given as (map, head) or "
            "(map, head, batch)."
        )
    map._check(head, batch)
    return Member(map, head, batch)


def _offset(one: Member) -> int:
    return one.map.q_offset if one.map.problem is None else int(one.map.problem.q_offset[one.batch])


def _must_match(first: Member, one: Member, number: int) -> None:
    """The same cells must mean the same queries and keys."""
    sizes = [(each.map.q_len, each.map.kv_len, _offset(each)) for each in (first, one)]
    if sizes[0] != sizes[1]:
        raise OptionError(
            "maps must have the same queries and keys; map 0 has q_len={}, kv_len={}, q_offset={}, ".format(
                *sizes[0]
            )
            + "map {} has {}, {}, {}.".format(number, *sizes[1])
        )
    for name, a, b in (
        ("tokens", first.map.tokens, one.map.tokens),
        ("query_tokens", first.map.query_tokens, one.map.query_tokens),
    ):
        if a is not None and b is not None and a is not b and a != b:
            place = next(n for n, (x, y) in enumerate(zip(a, b)) if x != y)
            raise OptionError(
                f"maps must be of the same {name}; {name}[{place}] is {a[place]!r:.40} in map 0 and "
                f"{b[place]!r:.40} in map {number}."
            )


def _same(a: Any, b: Any) -> bool:
    return b is not None and all(np.array_equal(x, y) for x, y in zip(a, b))
