"""What a head does on the whole: how spread its attention is, how far it reaches, what it repeats.

Entropy and distance come out of one pass over q · k, in which the values are the positions of the keys. The
induction score is a pass over the pairs it counts alone: queries and keys are put in the order of their
tokens, so that what followed a query's token earlier is a few ranges of keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pozor.attend import Want, observe, solve
from pozor.inputs import Problem
from pozor.masks import Causal, Mask, Ranges, Visibility
from pozor.matrix.cells import ScoredCells
from pozor.matrix.part import part

if TYPE_CHECKING:
    from pozor.matrix.map import AttentionMap

BAND = 4096  # rows of one pass: positions are counted from its middle, so that float32 keeps 1e-3 of a token
BAND_CELLS = 1 << 27  # of one pass: a tenth of a second or two
CHUNK = 1 << 21  # cells held at once where no pass of the kernel says it


@dataclass
class Measures:
    """Sums over the rows of a head, and the three means that follow from them; NaN where there is none.

    Attributes:
        entropy: −Σ p ln p in nats, mean over the rows that see something.
        distance: |position of the query − position of the key| in tokens, mean weighted by prob (what goes
            to a sink counts for nothing). NaN where queries and keys are not tokens of one sequence.
        induction: How much a query gives to the keys that follow right after earlier occurrences of its own
            token (the query itself left out), together; mean over the queries that may see such a key. NaN
            where none may: no token repeats. On a text that repeats it is the prefix-matching score of Olsson
            et al. 2022, "In-context Learning and Induction Heads".
    """

    rows: int = 0
    entropies: float = 0.0
    distances: float = 0.0
    given: float = 0.0
    inductions: float = 0.0
    repeats: int = 0

    @property
    def entropy(self) -> float:
        """Nats."""
        return self.entropies / self.rows if self.rows else np.nan

    @property
    def distance(self) -> float:
        """Tokens."""
        return self.distances / self.given if self.given > 0 else np.nan

    @property
    def induction(self) -> float:
        """A prob."""
        return self.inductions / self.repeats if self.repeats else np.nan


def measured(
    shown: "AttentionMap", ids: Any = None, *, one_sequence: bool = True, head: int = 0, batch: int = 0
) -> Iterator[tuple[float, Measures]]:
    """Measure one head band by band: how far it is (0 … 1) and the measures so far, in the end all of them.

    Args:
        shown: The map.
        ids: What tells tokens apart, one for each key; None leaves the induction score out.
        one_sequence: Whether the queries are tokens of the keys' sequence, at their positions.
        head, batch: Of the map.
    """
    cells, sums = shown._cells, Measures()
    positions = np.arange(shown.q_len, dtype=np.int64) + _offset(shown, batch) if one_sequence else None
    followed = None
    if ids is not None and positions is not None and shown.kv_len:
        followed = Followed(np.asarray(ids), positions)
    most = BAND_CELLS if isinstance(cells, ScoredCells) else CHUNK
    step = max(1, min(BAND, most // max(1, shown.kv_len)))
    for start in range(0, shown.q_len, step):
        rows = slice(start, min(start + step, shown.q_len))
        sums.rows += int(cells.seeing(batch, head)[rows].sum())
        here = None if positions is None else positions[rows]
        if isinstance(cells, ScoredCells):
            _pass(sums, part(cells.problem, batch, head, rows), here)
        else:
            _cells(sums, cells.probs(batch, head, rows, slice(0, shown.kv_len))[0], here)
        if followed is not None:
            followed.add(sums, cells, batch, head, rows)
        yield rows.stop / shown.q_len, sums
    if not shown.q_len:
        yield 1.0, sums


def _offset(shown: "AttentionMap", batch: int) -> int:
    return shown.q_offset if shown.problem is None else int(shown.problem.q_offset[batch])


# ---- entropy and distance ---------------------------------------------------------------------------------


def _pass(sums: Measures, band: Problem, positions: np.ndarray | None) -> None:
    """A band of rows of one head: its entropy, and its distance from Σ p and Σ p · position of the key."""
    if not band.kv_len:
        return
    wide = band.compute_dtype
    middle = 0 if positions is None else int(positions[len(positions) // 2])
    values = np.stack([np.arange(band.kv_len) - float(middle), np.ones(band.kv_len)], axis=1).astype(wide)
    # out has the dtype of q, which may be too narrow for a position
    q, k = (array.astype(wide, copy=False) for array in (band.q, band.k))
    band = replace(band, q=q, k=k, v=values[None, None])
    found = solve(band, Want(entropy=True))
    sums.entropies += float(found.entropy.astype(np.float64).sum())
    if positions is None:
        return
    given = found.out[0, 0].astype(np.float64)  # Σ p · (position of the key − middle), Σ p
    own = positions - middle
    behind = own * given[:, 1] - given[:, 0]
    ranges = None if band.bias is not None else band.visibility.ranges(0, 0, slice(0, band.q_len))
    if ranges is None or (np.max(ranges[1], axis=1, initial=0) > positions + 1).any():
        # Σ p |i − j| = Σ p (j − i) + 2 Σ over the keys up to i of p (i − j)
        left = solve(replace(band, visibility=_up_to_own(band), sink=None), Want())
        with np.errstate(invalid="ignore"):
            share = np.exp(left.lse[0, 0].astype(np.float64) - found.lse[0, 0].astype(np.float64))
        share[left.lse[0, 0] == -np.inf] = 0
        kept = left.out[0, 0].astype(np.float64) * share[:, None]
        behind = 2 * (own * kept[:, 1] - kept[:, 0]) - behind
    sums.distances += float(behind.sum())
    sums.given += float(given[:, 1].sum())


def _up_to_own(band: Problem) -> Visibility:
    seen = band.visibility
    return Visibility(seen.grid, 1, (*seen.terms, Causal()), seen.arrays, seen.callables, seen.device)


def _cells(sums: Measures, probs: np.ndarray, positions: np.ndarray | None) -> None:
    """The same of probs that are there; hidden ones are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sums.entropies -= float(np.where(probs == 0, 0, probs * np.log(probs)).sum())
    if positions is not None:
        away = np.abs(positions[:, None] - np.arange(probs.shape[1]))
        sums.distances += float((probs * away).sum())
        sums.given += float(probs.sum())


# ---- induction --------------------------------------------------------------------------------------------


class KeyRanges(Mask):
    """Ranges of keys, written down row by row."""

    def __init__(self, starts: np.ndarray, stops: np.ndarray):
        self.starts, self.stops = starts, stops

    def ranges(self, grid: Any, batch: int, rows: slice) -> Ranges:
        """Those of the rows."""
        del grid, batch
        return self.starts[rows], self.stops[rows]


class Followed:
    """The keys that follow an earlier occurrence of each query's token.

    ids: of each key's token.   positions: of each query among the keys.
    """

    def __init__(self, ids: np.ndarray, positions: np.ndarray):
        _, token = np.unique(ids, return_inverse=True)
        self.positions, self.count = positions, len(token)
        inside = (positions >= 0) & (positions < self.count)
        self.token = np.where(inside, token[np.clip(positions, 0, self.count - 1)], -1)
        # a key is found by the token before it, then by its place: one number tells both
        keys = np.arange(1, self.count)
        code = token[:-1].astype(np.int64) * self.count + keys
        order = np.argsort(code)
        self.keys, self.codes = keys[order], code[order]
        self.before = token[:-1]

    def add(self, sums: Measures, cells: Any, batch: int, head: int, rows: slice) -> None:
        """What some rows give to them."""
        ranges = None
        if isinstance(cells, ScoredCells) and cells.problem.bias is None:
            ranges = cells.problem.visibility.ranges(batch, head, rows)
        if ranges is None:
            self._by_cells(sums, cells, batch, head, rows)
        else:
            self._by_ranges(sums, cells, batch, head, rows, ranges)

    def _by_ranges(
        self, sums: Measures, cells: ScoredCells, batch: int, head: int, rows: slice, ranges: Ranges
    ) -> None:
        """Queries and keys in the order of their tokens: the keys of a query are ranges again."""
        positions, token = self.positions[rows], self.token[rows]
        first = np.maximum(ranges[0], 1)
        stop = np.minimum(ranges[1], positions[:, None])  # before the query itself
        at = (token * self.count)[:, None]
        starts, stops = (
            np.searchsorted(self.codes, at + np.clip(end, 0, self.count)) for end in (first, stop)
        )
        stops = np.maximum(starts, stops)
        some = np.flatnonzero((stops > starts).any(axis=1) & (token >= 0))
        if not len(some):
            return
        some = some[np.argsort(starts[some, 0], kind="stable")]
        least, most = int(starts[some].min()), int(stops[some].max())
        problem, lse = cells.problem, cells.lse(batch, head)[rows].astype(np.float64)
        kv_head = head // problem.group_size
        found = observe(
            problem.q[batch, head, rows][some],
            problem.k[batch, kv_head][self.keys[least:most]],
            None,
            mask=KeyRanges(starts[some] - least, stops[some] - least),
            scale=problem.scale,
            softcap=problem.softcap,
        )
        with np.errstate(invalid="ignore"):
            sums.inductions += float(np.exp(found.lse.astype(np.float64) - lse[some]).sum())
        sums.repeats += len(some)

    def _by_cells(self, sums: Measures, cells: Any, batch: int, head: int, rows: slice) -> None:
        step = max(1, CHUNK // self.count)
        for start in range(rows.start, rows.stop, step):
            some = slice(start, min(start + step, rows.stop))
            probs, visible = cells.probs(batch, head, some, slice(0, self.count))
            if visible is False:
                continue
            asked = np.zeros(probs.shape, dtype=bool)
            asked[:, 1:] = self.before == self.token[some, None]
            asked &= np.arange(self.count) < self.positions[some, None]
            asked &= np.asarray(visible)
            sums.inductions += float(probs[asked].sum())
            sums.repeats += int(asked.any(axis=1).sum())
