"""Maps made of maps: each tile, row and column is that of the combined matrix, or is refused."""

import ml_dtypes
import numpy as np
import pytest

from pozor import AttentionMap, Causal, Prefix, Window
from pozor.errors import OptionError
from pozor.matrix.derived import difference, largest, mean

LENGTH = 700
RNG = np.random.default_rng(11)
NORMS = RNG.random((3, LENGTH)) * 3
MASKS = [
    ({"causal": True}, {"causal": True}, {"causal": True}),
    ({"causal": True}, {"causal": True, "window": (90, 0)}, {}),
    (
        {"window": (30, 10)},
        {"mask": Causal() | Prefix(50)},
        {"mask": Window(400, 0), "sink": np.array([1.0])},
    ),
    ({"mask": RNG.random((LENGTH, LENGTH)) < 0.3}, {"causal": True}, {"causal": True}),
]


def maps(masks, dtype=np.float32):
    rng = np.random.default_rng(2)
    made = []
    for number, options in enumerate(masks):
        q, k = (2 * rng.normal(size=(2, LENGTH, 6))).astype(dtype)
        cast = {n: x.astype(dtype) if n == "sink" else x for n, x in options.items()}
        made.append(AttentionMap(q, k, v_norm=NORMS[number], **cast))
    return made


def matrix(map, value="prob"):
    whole = slice(0, map.q_len), slice(0, map.kv_len)
    probs, seen = map.block(*whole), map.visible(*whole)
    return (probs if value == "prob" else np.where(seen, probs * map.v_norm[0, 0], 0)), seen


def combined(kind, members, value="prob"):
    """The combined matrix held whole, and its cells that somebody shows."""
    cells, seen = zip(*(matrix(one, value) for one in members))
    whole = {
        "mean": lambda: sum(cells) / len(cells),
        "max": lambda: np.maximum.reduce(cells),
        "difference": lambda: cells[0] - cells[1],
    }[kind]()
    return whole, np.logical_or.reduce(seen)


def reduced(cells, seen, size, reduce, signed):
    """(value, state) of every block of the matrix."""

    def fold(ufunc, array):
        places = np.arange(0, LENGTH, size)
        return ufunc.reduceat(ufunc.reduceat(array, places, axis=0), places, axis=1)

    count, total = fold(np.add, seen.astype(np.int64)), fold(np.add, np.where(seen, cells, 0))
    if reduce == "mean":
        value = total / np.maximum(count, 1)
    elif reduce == "share":
        rows = np.add.reduceat(seen.any(axis=1).astype(np.int64), np.arange(0, LENGTH, size))
        value = total / np.maximum(rows, 1)[:, None]
    else:
        value = fold(np.maximum, np.where(seen, cells, 0))
        if signed:
            least = fold(np.minimum, np.where(seen, cells, 0))
            value = np.where(-least > value, least, value)
    return np.where(count > 0, value, 0), (count == 0).astype(np.uint8)


def made(kind, members):
    return {"mean": mean, "max": largest, "difference": lambda pair: difference(*pair)}[kind](members)


@pytest.mark.parametrize("kind", ["mean", "max", "difference"])
@pytest.mark.parametrize("masks", MASKS, ids=["same", "nested", "crossing", "array"])
@pytest.mark.parametrize("value", ["prob", "value_norm"])
def test_tiles_are_those_of_the_combined_matrix(kind, masks, value):
    members = maps(masks)[: 2 if kind == "difference" else 3]
    map = made(kind, members)
    cells, seen = combined(kind, members, value)
    for reduce in ("max", "mean", "share"):
        assert map.exact(reduce) == map.zooms - 1 == 2
        for zoom in range(map.zooms):
            expected, states = reduced(cells, seen, 1 << zoom, reduce, kind == "difference")
            for row, column in {(0, 0), (1, 0), ((len(expected) - 1) // 256,) * 2}:
                here = (slice(256 * row, 256 * (row + 1)), slice(256 * column, 256 * (column + 1)))
                want, state = expected[here], states[here]
                if not want.size:
                    continue
                tile, preview = map.tile_now(zoom, row, column, reduce, value)
                assert not preview
                height, width = want.shape
                np.testing.assert_array_equal(tile.states[:height, :width], state)
                assert (tile.states[height:] == 2).all()
                assert (tile.states[:, width:] == 2).all()
                np.testing.assert_allclose(tile.values[:height, :width], want, atol=2e-5)


@pytest.mark.parametrize("kind", ["mean", "max", "difference"])
@pytest.mark.parametrize("value", ["prob", "value_norm"])
@pytest.mark.parametrize("dtype", [np.float64, ml_dtypes.bfloat16])
def test_rows_columns_and_cells(kind, value, dtype):
    members = maps(MASKS[2], dtype)[: 2 if kind == "difference" else 3]
    map = made(kind, members)
    cells, seen = combined(kind, members, value)
    tolerance = {"rtol": 1e-9, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-6}
    for place in (0, 69, 500, LENGTH - 1):
        np.testing.assert_allclose(map.row(place, value=value), cells[place], **tolerance)
        np.testing.assert_allclose(map.column(place, value=value), cells[:, place], **tolerance)
        np.testing.assert_array_equal(map.visible(slice(place, place + 1), slice(0, LENGTH))[0], seen[place])
    if value == "prob":
        part = slice(40, 90), slice(30, 300)
        np.testing.assert_allclose(map.block(*part), cells[part], **tolerance)
    else:
        return
    tracks = map.tracks().make()
    if kind == "difference":
        entropy = members[0].entropy() - members[1].entropy()
        np.testing.assert_allclose(tracks.entropy, entropy, atol=1e-4)
    else:
        assert np.isnan(tracks.entropy).all()
    if kind == "max":
        assert np.isnan(tracks.received).all()
    else:
        received = cells.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        np.testing.assert_allclose(tracks.received, received, atol=1e-6)


def test_by_hand():
    # row 1 of three heads: (1/4, 3/4), (1/2, 1/2), (1, 0)
    heads = np.array([[[1, 0], [0.25, 0.75]], [[1, 0], [0.5, 0.5]], [[1, 0], [1, 0]]])
    map = AttentionMap.from_probs(heads, mask=np.tri(2, dtype=bool))
    several = [(map, head) for head in range(3)]
    # mean: (1/4 + 1/2 + 1) / 3 = 7/12 and (3/4 + 1/2) / 3 = 5/12; max: 1 and 3/4
    np.testing.assert_allclose(mean(several).row(1), [7 / 12, 5 / 12], rtol=1e-15)
    assert largest(several).row(1).tolist() == [1, 0.75]
    less = difference((map, 0), (map, 2))
    assert less.row(1).tolist() == [-0.75, 0.75]
    assert less.signed
    # without key 1: every head gives all to key 0
    assert mean(several).row(1, hidden=[1]).tolist() == [1, 0]
    assert less.row(1, hidden=[1]).tolist() == [0, 0]
    # max of the four cells is what is farthest from 0: of −3/4 and 3/4 the one above 0
    assert less.tile(0, 0, 0).values[:2, :2].tolist() == [[0, 0], [-0.75, 0.75]]
    assert less.tile(0, 0, 0).states[:2, :2].tolist() == [[0, 1], [0, 0]]


def test_masked_against_unmasked():
    masked = maps(MASKS[0])[0]
    map = difference(masked, masked.variant("unmasked"))
    cells = matrix(masked)[0] - matrix(masked.variant("unmasked"))[0]
    np.testing.assert_allclose(map.row(300), cells[300], rtol=1e-6, atol=1e-9)
    assert map.visible(slice(0, LENGTH), slice(0, LENGTH)).all()
    found = map.tile(2, 0, 0, "mean").values
    expected, _ = reduced(cells, np.ones_like(cells, dtype=bool), 4, "mean", True)
    np.testing.assert_allclose(found[:175, :175], expected, atol=2e-5)
    share = map.tile(2, 0, 0, "share")
    assert abs(share.values.sum(axis=1)).max() < 1e-4  # as much is taken as given
    assert (share.states[:175, :175] == 0).all()


LONG = 9000


@pytest.fixture(scope="module")
def long():
    rng = np.random.default_rng(0)
    windows = [None, (900, 0), None]
    return [
        AttentionMap(*(rng.normal(size=(2, LONG, 4)).astype(np.float32)), causal=True, window=window)
        for window in windows
    ]


@pytest.mark.parametrize("kind", ["mean", "max", "difference"])
def test_coarse_tiles_come_from_the_bases(long, kind):
    members = long[:2] if kind == "difference" else long
    map = made(kind, members)
    reduces = ("max",) if kind == "max" else ("mean", "share")
    first, preview = map.tile_now(6, 0, 0, reduces[0])
    assert preview or all(one.base().ready for one in members)  # a preview's base may be there by now
    for reduce in reduces:
        tile = map.tile(6, 0, 0, reduce)
        assert (map.tile_now(6, 0, 0, reduce)[0].values == tile.values).all()
        for row, column in ((0, 0), (140, 139), (140, 140), (77, 70), (100, 3)):
            here = (
                slice(64 * row, min(64 * (row + 1), LONG)),
                slice(64 * column, min(64 * (column + 1), LONG)),
            )
            cells, seen = map.block(*here), map.visible(*here)
            total = cells[seen].sum()
            want = {"max": cells.max(), "mean": total / seen.sum(), "share": total / len(cells)}[reduce]
            assert tile.values[row, column] == pytest.approx(want, abs=1e-6, rel=1e-4)
    # the first picture of it is near, though of every 16th row
    if preview and kind != "difference":
        shown = first.states == 0
        assert (shown == (map.tile(6, 0, 0, reduces[0]).states == 0)).mean() > 0.98


@pytest.mark.parametrize(
    ("kind", "reduce", "words"),
    [
        (
            "mean",
            "max",
            "reduce must be mean or share of a mean over heads at zoom 6; got max, which does not",
        ),
        (
            "max",
            "share",
            "reduce must be max of a max over heads at zoom 6; got share, which does not follow",
        ),
        ("difference", "max", "reduce must be mean or share of a difference at zoom 6; got max"),
    ],
)
def test_what_does_not_follow_is_refused(long, kind, reduce, words):
    map = made(kind, long[:2])
    with pytest.raises(OptionError, match=words):
        map.tile(6, 0, 0, reduce)
    assert map.exact(reduce) == 5
    assert made("mean", [long[0]] * 40).exact("max") == 3  # fewer cells of more maps
    tile = map.tile(1, 10, 9, reduce)
    here = slice(5120 + 20, 5120 + 22), slice(4608 + 40, 4608 + 42)
    cells = map.block(*here)
    want = cells.ravel()[np.abs(cells).argmax()] if reduce == "max" else cells.sum() / 2
    assert tile.values[10, 20] == pytest.approx(want, abs=1e-6)


@pytest.mark.parametrize(
    ("maps_of", "words"),
    [
        (lambda a: [], "maps must hold one map or more; got none"),
        (lambda a: [a, 3], "maps must be AttentionMaps of one head, or .map, head.; got int"),
        (
            lambda a: [AttentionMap(np.ones((2, 3, 1)), np.ones((2, 3, 1)))],
            "a map of 2 heads and 1 sequences",
        ),
        (lambda a: [(a, 1)], "head must be from 0 to 0; got 1"),
        (
            lambda a: [a, AttentionMap(np.ones((2, 1)), np.ones((3, 1)), q_offset=1)],
            "same queries and keys; map 0 has q_len=3, kv_len=3, q_offset=0, map 1 has 2, 3, 1",
        ),
        (
            lambda a: [a, AttentionMap(np.ones((3, 1)), np.ones((3, 1)), tokens=["a", "x", "c"])],
            "maps must be of the same tokens; tokens.1. is 'b' in map 0 and 'x' in map 1",
        ),
    ],
)
def test_maps_that_do_not_go_together(maps_of, words):
    a = AttentionMap(np.ones((3, 1)), np.ones((3, 1)), tokens=["a", "b", "c"])
    with pytest.raises(OptionError, match=words):
        mean(maps_of(a))


def test_wrong_tiles():
    a = AttentionMap(np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(OptionError, match="zoom must be from 0 to 0; got 1"):
        mean([a]).tile(1, 0, 0)
    with pytest.raises(OptionError, match="value 'value_norm' needs v_norm"):
        mean([a]).tile(0, 0, 0, "max", "value_norm")
    with pytest.raises(OptionError, match="value 'value_norm' needs v_norm"):
        mean([a]).row(0, value="value_norm")
    with pytest.raises(OptionError, match="logits belong to one head; a mean over heads has none"):
        mean([a]).logits(0)


def test_a_nan_is_seen():
    q = np.ones((4, 2))
    q[2] = np.nan
    a, b = AttentionMap(q, np.ones((4, 2)), causal=True), AttentionMap(np.ones((4, 2)), np.ones((4, 2)))
    for map in (mean([a, b]), largest([a, b]), difference(a, b)):
        for reduce in ("max", "mean"):
            values = map.tile(0, 0, 0, reduce).values[:4, :4]
            np.testing.assert_array_equal(
                np.isnan(values), [[False] * 4] * 2 + [[True] * 3 + [False]] + [[False] * 4]
            )
