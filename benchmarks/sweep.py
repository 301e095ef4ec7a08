"""Compares tiles of a recording with the float64 matrix: the largest difference of each zoom and reduce.

    python benchmarks/sweep.py NAME.pozor [--layer 0] [--head 0] [--tiles 200] [--full] [--lines]

The matrix comes from q and k alone, by the formula, with a log-sum-exp of its own (`backends/reference` says
what it is; here it is computed by blocks). Looked at are all corners, tiles on the diagonal, the tiles of the
largest cells, and so many seeded ones, up to the zooms that come from the base; with --full every cell of the
matrix, reduced to every zoom from the base on (minutes at 131,072 tokens, nothing tokens × tokens is held).
Prints JSON lines, the last with the largest difference of all.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import pozor
from pozor.attend import block_logits
from pozor.matrix import pooling
from pozor.matrix.base import ZOOM
from pozor.matrix.tiles import REDUCES, SIDE

CELLS = 1 << 22  # of float64 held at once


class Exact:
    """The matrix of one head in float64, by blocks; its own log-sum-exp, made when rows are first needed."""

    def __init__(self, shown: pozor.AttentionMap) -> None:
        self.shown, self.problem = shown, shown.problem
        self.q_len, self.kv_len = shown.q_len, shown.kv_len
        self.lse = np.full(shown.q_len, np.nan)
        self.known = np.zeros(shown.q_len, dtype=bool)
        self.seeing = np.zeros(shown.q_len, dtype=bool)

    def rows(self, rows: slice) -> None:
        """The log-sum-exp of some rows."""
        step = max(1, CELLS // self.kv_len)
        for first in range(rows.start, rows.stop, step):
            some = slice(first, min(first + step, rows.stop))
            if self.known[some].all():
                continue
            logits, visible = block_logits(self.problem, 0, 0, some, slice(0, self.kv_len))
            top = logits.max(axis=1, initial=-np.inf)
            sink = -np.inf if self.problem.sink is None else float(self.problem.sink[0])
            top = np.maximum(top, sink)
            base = np.where(top == -np.inf, 0, top)
            with np.errstate(divide="ignore"):
                total = np.exp(logits - base[:, None]).sum(axis=1) + np.exp(sink - base)
                self.lse[some] = np.log(total) + base
            self.seeing[some], self.known[some] = visible.any(axis=1), True

    def cells(self, rows: slice, keys: slice) -> tuple[np.ndarray, np.ndarray]:
        """Probs and what is visible."""
        logits, visible = block_logits(self.problem, 0, 0, rows, keys)
        lse = np.where(self.seeing[rows], self.lse[rows], 0)
        return np.where(visible, np.exp(logits - lse[:, None]), 0), visible

    def blocks(self, rows: slice, keys: slice, side: int) -> dict[str, np.ndarray]:
        """Max, mean and share of blocks of side × side, and `visible`: how many cells of each are."""
        self.rows(rows)
        shape = (-(-(rows.stop - rows.start) // side), -(-(keys.stop - keys.start) // side))
        largest, total, count = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
        width = keys.stop - keys.start
        step = max(side, CELLS // width // side * side)
        for first in range(rows.start, rows.stop, step):
            some = slice(first, min(first + step, rows.stop))
            across = max(side, CELLS // (some.stop - some.start) // side * side)
            for start in range(keys.start, keys.stop, across):
                part = slice(start, min(start + across, keys.stop))
                probs, visible = self.cells(some, part)
                here = tuple(
                    slice((one.start - whole.start) // side, -(-(one.stop - whole.start) // side))
                    for one, whole in ((some, rows), (part, keys))
                )
                both = ((np.maximum, probs, largest), (np.add, probs, total), (np.add, visible, count))
                for ufunc, array, out in both:
                    wide = array.astype(np.int64) if array.dtype == bool else array
                    out[here] = pooling.fold(ufunc, pooling.fold(ufunc, wide, side, 0), side, 1)
        seeing = pooling.fold(np.add, self.seeing[rows].astype(np.int64), side, 0)
        return reduced(largest, total, count, seeing)


def reduced(
    largest: np.ndarray, total: np.ndarray, count: np.ndarray, seeing: np.ndarray
) -> dict[str, np.ndarray]:
    """What a tile shows of blocks."""
    return {
        "max": largest,
        "mean": total / np.maximum(count, 1),
        "share": total / np.maximum(seeing, 1)[:, None],
        "visible": count,
    }


def difference(tile: "pozor.matrix.Tile", wanted: np.ndarray, visible: np.ndarray) -> float:
    """The largest difference of a tile; NaN counts as infinitely far, a wrong state too."""
    height, width = wanted.shape
    if (tile.states[:height, :width] != np.where(visible > 0, 0, 1)).any():
        return np.inf
    if (tile.states[height:] != 2).any() or (tile.states[:, width:] != 2).any():
        return np.inf
    away = np.abs(tile.values[:height, :width].astype(np.float64) - np.where(visible > 0, wanted, 0))
    return float(np.where(np.isnan(away), np.inf, away).max(initial=0.0))


def places(shown: pozor.AttentionMap, zoom: int, tiles: int, seed: int) -> Iterator[tuple[int, int]]:
    """Corners, the diagonal, the needles, and seeded tiles; those a causal mask hides now and then too."""
    side = SIDE << zoom
    lines, columns = -(-shown.q_len // side), -(-shown.kv_len // side)
    chosen = {(0, 0), (0, columns - 1), (lines - 1, 0), (lines - 1, columns - 1)}
    chosen |= {(n, min(n, columns - 1)) for n in {0, lines // 3, lines // 2, lines - 1}}
    random = np.random.default_rng(seed + zoom)
    for _ in range(min(tiles, lines * columns)):
        line = int(random.integers(lines))
        chosen.add((line, int(random.integers(min(columns, line + 2)))))
    yield from sorted(chosen | {(query // side, key // side) for query, key in needles(shown)})


def needles(shown: pozor.AttentionMap) -> list[tuple[int, int]]:
    """The three largest cells that lie far from the diagonal and the first key, found in the base."""
    base = shown.base().make().whole(ZOOM)
    largest = np.where(base.count > 0, base.largest, 0).copy()
    line, column = np.indices(largest.shape)
    largest[(np.abs(line - column) < 4) | (column == 0)] = 0
    places = np.argsort(largest, axis=None)[::-1][:3]
    return [(64 * int(a), 64 * int(b)) for a, b in zip(*np.unravel_index(places, largest.shape))]


def sampled(shown: pozor.AttentionMap, exact: Exact, tiles: int, seed: int, until: float) -> float:
    """Some tiles of every zoom that does not come from the base."""
    worst = 0.0
    for zoom in range(min(shown.zooms, ZOOM)):
        side, looked, away = SIDE << zoom, 0, dict.fromkeys(REDUCES, 0.0)
        for line, column in places(shown, zoom, max(4, tiles >> (2 * zoom)) if zoom else tiles, seed):
            rows = slice(line * side, min(line * side + side, shown.q_len))
            keys = slice(column * side, min(column * side + side, shown.kv_len))
            if time.monotonic() > until:
                break
            wanted = exact.blocks(rows, keys, 1 << zoom)
            for reduce in REDUCES:
                tile = shown.tile(zoom, line, column, reduce)
                away[reduce] = max(away[reduce], difference(tile, wanted[reduce], wanted["visible"]))
            looked += 1
        print(json.dumps({"zoom": zoom, "tiles": looked, **away}), flush=True)
        worst = max(worst, *away.values())
    return worst


def full(shown: pozor.AttentionMap, exact: Exact, until: float) -> float:
    """Every cell of the matrix, against the base and what is folded from it."""
    base, worst, height = shown.base().make(), 0.0, 1024
    whole = base.whole(ZOOM)
    largest, total = np.zeros(whole.count.shape), np.zeros(whole.count.shape)
    for first in range(0, shown.q_len, height):
        rows = slice(first, min(first + height, shown.q_len))
        keys = slice(0, min(shown.kv_len, rows.stop + 64) if shown.causal_ok else shown.kv_len)
        found = exact.blocks(rows, keys, 64)
        here = (slice(first // 64, -(-rows.stop // 64)), slice(0, found["max"].shape[1]))
        if (found["visible"] != whole.count[here]).any():
            return np.inf
        largest[here], total[here] = found["max"], found["mean"] * found["visible"]
        away = float(np.abs(found["max"] - whole.largest[here]).max(initial=0.0))
        worst = max(worst, away if away == away else np.inf)
        if time.monotonic() > until:
            print(json.dumps({"swept": "rows", "to": rows.stop, "of": shown.q_len}), flush=True)
            return worst
    exactly = pooling.Pooled(largest, total, whole.count, whole.rows)
    for zoom in range(ZOOM, max(shown.zooms, ZOOM + 1)):
        if zoom > ZOOM:
            exactly = exactly.halved()
        mine = base.whole(zoom)
        away = {
            reduce: float(np.nanmax(np.abs(mine.reduced(reduce) - exactly.reduced(reduce)), initial=0.0))
            for reduce in REDUCES
        }
        print(json.dumps({"swept": "every cell", "zoom": zoom, **away}), flush=True)
        worst = max(worst, *away.values())
    return worst


def lines(shown: pozor.AttentionMap, exact: Exact, seed: int) -> tuple[float, float]:
    """The largest absolute difference of eight columns and relative one of eight rows."""
    random = np.random.default_rng(seed)
    exact.rows(slice(0, shown.q_len))
    column = row = 0.0
    for key in {0, shown.kv_len - 1, *random.integers(0, shown.kv_len, 6).tolist()}:
        parts = [
            exact.cells(slice(n, min(n + 4096, shown.q_len)), slice(key, key + 1))[0][:, 0]
            for n in range(0, shown.q_len, 4096)
        ]
        column = max(column, float(np.abs(shown.column(key) - np.concatenate(parts)).max()))
    for query in {0, shown.q_len - 1, *random.integers(0, shown.q_len, 6).tolist()}:
        wanted = exact.cells(slice(query, query + 1), slice(0, shown.kv_len))[0][0]
        some = wanted > 1e-300
        row = max(row, float((np.abs(shown.row(query) - wanted)[some] / wanted[some]).max(initial=0.0)))
    return column, row


def main() -> None:
    """Sweep one head."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("path", type=Path)
    asked.add_argument("--layer", type=int, default=0)
    asked.add_argument("--head", type=int, default=0)
    asked.add_argument(
        "--tiles", type=int, default=200, help="seeded tiles of zoom 0; a quarter at each next"
    )
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--full", action="store_true", help="every cell of the matrix too")
    asked.add_argument("--lines", action="store_true", help="columns and rows too (a pass over the matrix)")
    asked.add_argument("--seconds", type=float, default=float("inf"), help="stop looking after so long")
    given = asked.parse_args()
    shown = pozor.open(given.path)[given.layer, given.head]
    exact, until = Exact(shown), time.monotonic() + given.seconds
    worst = sampled(shown, exact, given.tiles, given.seed, until)
    if given.full:
        worst = max(worst, full(shown, exact, until))
    said = {"recording": given.path.name, "layer": given.layer, "head": given.head, "tokens": shown.kv_len}
    if given.lines:
        said["columns"], said["rows_relative"] = lines(shown, exact, given.seed)
    print(json.dumps(said | {"largest difference": worst}))


if __name__ == "__main__":
    main()
