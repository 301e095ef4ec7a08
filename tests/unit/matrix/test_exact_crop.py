"""Every tile of 4,096 tokens, every zoom and reduce, in full: the float64 matrix reduced, to 1e-5."""

import numpy as np
import pytest

from pozor import AttentionMap
from pozor.matrix.base import ZOOM
from pozor.matrix.pooling import fold
from pozor.matrix.tiles import REDUCES, SIDE

N = 4096
NEEDLE = (3840, 455)  # a query and the one key far away that it gives most of its prob


def head(kind, seed=0):
    """q and k of a head that spreads its probs, with a needle, or that looks at the token before, loudly."""
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, N, 64)).astype(np.float32)
    if kind == "needle":
        q[NEEDLE[0]] = 1.4 * k[NEEDLE[1]]
    else:
        q[1:] = 4.0 * k[:-1]
    return q, k


def matrix(q, k, rows):
    """Some rows of the causal matrix in float64, by the formula."""
    logits = 0.125 * (q[rows].astype(np.float64) @ k.astype(np.float64).T)
    logits[np.arange(N)[None] > np.arange(N)[rows, None]] = -np.inf
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module", params=["needle", "token before"])
def both(request):
    """A map with the lse that a recording stores, and the matrix held whole (128 MB)."""
    q, k = head(request.param)
    lse = AttentionMap(q, k, causal=True).lse
    rows = [slice(first, first + 512) for first in range(0, N, 512)]
    exact = np.concatenate([matrix(q, k, some) for some in rows])
    return AttentionMap(q, k, causal=True, lse=lse), exact


def test_every_tile_in_full(both):
    shown, exact = both
    largest, total = exact, exact
    count = np.tril(np.ones((N, N), dtype=np.int64))
    for zoom in range(ZOOM + 1):
        side = 1 << zoom
        wanted = {
            "max": largest,
            "mean": total / np.maximum(count, 1),
            "share": total / side,
        }
        for reduce in REDUCES:
            if zoom < ZOOM - 1:
                tiles = range(0, N // side, SIDE)
                found = np.block(
                    [[shown.tile(zoom, a // SIDE, b // SIDE, reduce).values for b in tiles] for a in tiles]
                )
            else:  # coarser than one tile: the base itself
                found = np.nan_to_num(shown.base().make().whole(ZOOM).reduced(reduce))
                if zoom < ZOOM:
                    continue
            found = found[: N // side, : N // side]
            difference = np.abs(np.where(count > 0, found - wanted[reduce], found)).max()
            assert difference <= 1e-5, (zoom, reduce, difference)
        largest = fold(np.maximum, fold(np.maximum, largest, 2, 0), 2, 1)
        total = fold(np.add, fold(np.add, total, 2, 0), 2, 1)
        count = fold(np.add, fold(np.add, count, 2, 0), 2, 1)


def test_columns_cells_and_rows(both):
    shown, exact = both
    for key in (0, 1, 455, 2047, N - 1):
        np.testing.assert_allclose(shown.column(key), exact[:, key], rtol=0, atol=1e-5)
    for query in (0, 1, 2048, 3840, N - 1):
        np.testing.assert_allclose(shown.row(query), exact[query], rtol=1e-12, atol=1e-300)


def test_the_needle_stands_out_in_the_whole_picture():
    q, k = head("needle")
    shown = AttentionMap(q, k, causal=True)
    p = shown.row(NEEDLE[0])[NEEDLE[1]]
    assert p > 0.5
    for zoom in range(5):
        side = 1 << zoom
        query, key = NEEDLE[0] // side, NEEDLE[1] // side
        tile = shown.tile(zoom, query // SIDE, key // SIDE)
        assert tile.values[query % SIDE, key % SIDE] == pytest.approx(p, abs=1e-5)
