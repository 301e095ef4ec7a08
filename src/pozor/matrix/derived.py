"""Maps made of maps: the mean or the largest over heads, the difference of two.

A hidden cell counts as 0 where another of the maps shows it. What follows exactly from the blocks of the
maps follows from them at every zoom; anything else is worked out cell by cell, as long as a tile has not too
many of them, and refused beyond.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from pozor.errors import OptionError
from pozor.matrix import pooling, tiles
from pozor.matrix.base import ZOOM
from pozor.matrix.combined import CombinedCells, counts, queries
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
        here = slice(query, query + 1), slice(0, self.kv_len)

        def row(one: Member) -> np.ndarray:
            probs = one.map.row(query, hidden=hidden, head=one.head, batch=one.batch)
            return self._times_norm(one, probs, here, value)

        return self._combined(map(row, self.members))

    def column(self, key: int, *, value: "Value" = "prob") -> np.ndarray:
        """One column, float64 (q_len,), by the lse of each map."""
        here = slice(0, self.q_len), slice(key, key + 1)

        def column(one: Member) -> np.ndarray:
            return self._times_norm(one, one.map.column(key, head=one.head, batch=one.batch), here, value)

        return self._combined(map(column, self.members))

    def block(self, queries: Any, keys: Any) -> np.ndarray:
        """Some queries and keys, slices or ranges, by the lse of each map: float64."""
        return self._combined(
            one.map.block(queries, keys, head=one.head, batch=one.batch) for one in self.members
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
            lambda one: one.map.base(value, head=one.head, batch=one.batch),
            lambda state, one, made: None,
            lambda state: _Done(),
        )

    def tracks(self) -> Making[Tracks]:
        """The difference of the entropies of rows (else NaN), and what each key receives (of a max: NaN)."""
        return self._making(
            "tracks",
            lambda one: one.map.tracks(head=one.head, batch=one.batch),
            self._add_tracks,
            self._all_tracks,
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

    def _combined(self, arrays: Iterable[np.ndarray]) -> np.ndarray:
        """One after the other, so that two of them are held at a time, however many heads there are."""
        total: np.ndarray | None = None
        for array, factor in zip(arrays, self._factors, strict=True):
            total = self._with(total, array, factor)
        assert total is not None, "there is one member or more"
        return total

    def _with(self, total: np.ndarray | None, array: np.ndarray, factor: float) -> np.ndarray:
        if self.kind == "max":
            return array if total is None else np.maximum(total, array)
        with np.errstate(invalid="ignore"):
            return array * factor if total is None else total + array * factor

    def _times_norm(
        self, one: Member, probs: np.ndarray, here: tuple[slice, slice], value: "Value"
    ) -> np.ndarray:
        one.map._check_summary("max", value)
        weight = one.map._weight(value, one.head, one.batch)
        if weight is None:
            return probs
        seen = one.map.visible(*here, head=one.head, batch=one.batch).ravel()
        with np.errstate(invalid="ignore"):
            return np.where(seen, probs * weight[here[1]], 0.0)

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
        size, previews, values, count = 1 << zoom, False, None, None
        combined = self._cells(value)
        for one, factor in zip(self.members, self._factors):
            found, preview = self._block(one, zoom, rows, keys, value)
            count, previews = found.count, previews or preview
            values = self._with(values, found.largest if self.kind == "max" else found.total, factor)
        if len(self._distinct) > 1:
            count = combined.count(rows, keys, size)
        assert values is not None, "there is one member or more"
        assert count is not None
        nothing, seeing = np.zeros(values.shape), pooling.seeing_rows(combined, 0, 0, rows, size)
        both = (values, nothing) if self.kind == "max" else (nothing, values)
        return Pooled(*both, count, seeing), previews

    def _block(self, one: Member, zoom: int, rows: slice, keys: slice, value: "Value") -> tuple[Pooled, bool]:
        """One member's blocks, and whether they are a preview."""
        size, cells, place = 1 << zoom, one.map._cells, (one.batch, one.head)
        if zoom < ZOOM:
            weight = one.map._weight(value, one.head, one.batch)
            with drawing():
                return pooling.pool(cells, *place, rows, keys, size, weight), False
        base, preview = one.map.base(value, head=one.head, batch=one.batch).picture()
        some = (slice(part.start // size, -(-part.stop // size)) for part in (rows, keys))
        found = base.cut(zoom, *some)
        if preview:  # some rows stand for all of the block
            count = counts(cells, *place, rows, keys, size)
            grown = found.total * (count / np.maximum(found.count, 1))
            found = Pooled(found.largest, grown, count, found.rows)
        return found, preview

    def _add_tracks(self, so_far: Any, one: Member, tracks: Tracks) -> tuple[np.ndarray, np.ndarray]:
        """(the entropies, what each key was given by all queries), as factors and members say."""
        factor = self._factors[0] if so_far is None else self._factors[-1]
        asked = queries(one.map._cells, one.batch, one.head)
        given = np.where(asked > 0, tracks.received.astype(np.float64) * asked, 0)
        entropy = tracks.entropy.astype(np.float64) * factor
        if so_far is None:
            return entropy, given * factor
        return so_far[0] + entropy, so_far[1] + given * factor

    def _all_tracks(self, so_far: tuple[np.ndarray, np.ndarray]) -> Tracks:
        entropy, given = so_far
        asked = queries(self._cells("prob"), 0, 0)
        received = np.where((asked > 0) & (self.kind != "max"), given / np.maximum(asked, 1), np.nan)
        entropy = entropy if self.signed else np.full(self.q_len, np.nan)
        return Tracks(entropy.astype(np.float32), received.astype(np.float32))

    def _making(
        self,
        name: str,
        part: Callable[[Member], Making[Any]],
        add: Callable[[Any, Member, Any], Any],
        finish: Callable[[Any], Any],
    ) -> Making[Any]:
        """What is made of one part of each member, one after the other; at once where all are there."""

        def steps(_: Making[Any]) -> Steps[Any]:
            state = None
            for number, one in enumerate(self.members):
                making = part(one)
                while (found := making.peek() or making.step()) is None:
                    yield (number + making.progress) / len(self.members)
                state = add(state, one, found)
            return finish(state)

        making = self._makings.setdefault(name, Making(steps))
        if not making.ready and all(part(one).ready for one in self.members):
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
