"""Tiles at every zoom are the reduction of the exact matrix: ragged edges, masks, heads, batches, NaN."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import AttentionMap, Causal, Documents, Padding, Prefix, Window
from pozor.backends import reference
from pozor.inputs import as_numpy, problem
from pozor.matrix.tiles import zooms

SIDE = 256
TOLERANCE = 1e-5  # the promise of the tile protocol, absolute


@pytest.fixture(params=["kernel", "numpy"], scope="module", autouse=True)
def way(request):
    """Every test twice: by the kernel, and as where it could not be built."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr("pozor.matrix.cells.squares", lambda *_: None)
        yield request.param


def exact(q, k, *, batch=0, head=0, **options):
    """(probs, visible) of one head in float64 by the formula, held whole."""
    judged = as_numpy(problem(q, k, None, **options))
    with np.errstate(all="ignore"):
        logits, visible = reference.logits_of(judged, batch)
        logits, visible = logits[head], visible[head]
        sink = -np.inf if judged.sink is None else float(judged.sink[head])
        top = np.maximum(logits.max(axis=1, initial=-np.inf), sink)
        top = np.where(top == -np.inf, 0, top)[:, None]
        exps = np.exp(logits - top)
        total = exps.sum(axis=1, keepdims=True) + np.exp(sink - top)
        return np.where(visible, exps / np.where(total == 0, 1, total), 0), visible


def blocks(array, size, fill):
    """(block rows, size, block columns, size): the matrix padded to whole blocks."""
    rows, columns = (-(-n // size) * size for n in array.shape)
    padded = np.full((rows, columns), fill, dtype=array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    return padded.reshape(rows // size, size, columns // size, size)


def reduced(probs, visible, size, reduce):
    """The exact matrix in blocks, and how many visible cells each has."""
    count = blocks(visible, size, False).sum(axis=(1, 3))
    total = blocks(probs, size, 0.0).sum(axis=(1, 3))
    sees = blocks(visible.any(axis=1)[:, None], size, False).sum(axis=(1, 3))
    with np.errstate(all="ignore"):
        value = {
            "max": blocks(probs, size, 0.0).max(axis=(1, 3)),
            "mean": total / count,
            "share": total / sees,
        }[reduce]
    return np.where(count > 0, value, 0), count


def check_tiles(made, probs, visible, *, zoom_range=None, head=0, batch=0, value="prob", tolerance=TOLERANCE):
    """Every tile of every zoom, for each reduction; also what lies outside."""
    for zoom in zoom_range or range(made.zooms):
        for reduce in ("max", "mean", "share"):
            want, count = reduced(probs, visible, 1 << zoom, reduce)
            for row in range(max(1, -(-want.shape[0] // SIDE))):
                for column in range(max(1, -(-want.shape[1] // SIDE))):
                    tile = made.tile(zoom, row, column, reduce, value, head=head, batch=batch)
                    here = (slice(SIDE * row, SIDE * (row + 1)), slice(SIDE * column, SIDE * (column + 1)))
                    compare(tile, want[here], count[here], tolerance, f"{zoom} {reduce} {row} {column}")


def compare(tile, want, count, tolerance, where):
    assert tile.values.shape == tile.states.shape == (SIDE, SIDE), where
    assert (tile.values.dtype, tile.states.dtype) == (np.float32, np.uint8), where
    inside = (slice(0, want.shape[0]), slice(0, want.shape[1]))
    states = np.full((SIDE, SIDE), 2)
    states[inside] = np.where(count > 0, 0, 1)
    np.testing.assert_array_equal(tile.states, states, err_msg=where)
    assert (tile.values[tile.states != 0] == 0).all(), where
    got = tile.values[inside]
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=where)
    finite = ~np.isnan(want)
    if finite.any():
        difference = np.abs(got[finite] - want[finite]).max()
        assert difference <= tolerance, f"{where}: {difference}"


def test_the_comparison_can_fail():
    q, k = vectors(0, (300, 4), (300, 4))
    made = AttentionMap(q, k, causal=True)
    probs, visible = exact(q, k, causal=True)
    want, count = reduced(probs, visible, 2, "mean")
    tile = made.tile(1, 0, 0, "mean")
    compare(tile, want, count, TOLERANCE, "")
    off, spoiled, hidden = want.copy(), want.copy(), count.copy()
    off[70, 3] += 2e-5
    spoiled[70, 3] = np.nan
    hidden[70, 3] = 0
    for wrong in ((off, count), (spoiled, count), (want, hidden), (want[:-1], count[:-1])):
        with pytest.raises(AssertionError):
            compare(tile, *wrong, TOLERANCE, "")
    with pytest.raises(AssertionError):
        compare(made.tile(1, 0, 0, "share"), want, count, TOLERANCE, "")


def vectors(seed, q_shape, kv_shape, dtype=np.float32, size=1.5):
    rng = np.random.default_rng(seed)
    return tuple((size * rng.standard_normal(shape)).astype(dtype) for shape in (q_shape, kv_shape))


RAGGED = [
    ("all visible", (700, 8), (700, 8), {}),
    ("causal", (700, 8), (700, 8), {"causal": True}),
    ("causal, cached", (300, 8), (1100, 8), {"causal": True, "q_offset": 800}),
    ("causal, first with first", (513, 8), (257, 8), {"causal": True, "q_offset": 0}),
    ("more queries than keys", (1100, 4), (70, 4), {"causal": True, "q_offset": -1030}),
    ("window", (700, 8), (700, 8), {"window": (37, 5)}),
    ("causal window", (511, 8), (511, 8), {"causal": True, "window": (100, 0)}),
    ("softcap, negative scale", (300, 8), (300, 8), {"softcap": 2.5, "scale": -0.7}),
    ("one query", (1, 8), (1100, 8), {}),
    ("one key", (1100, 8), (1, 8), {}),
    ("mask object", (600, 8), (600, 8), {"mask": (Causal() | Prefix(70)) & Window(300, 200)}),
]


@pytest.mark.parametrize(("name", "q_shape", "kv_shape", "options"), RAGGED, ids=[r[0] for r in RAGGED])
def test_every_tile_is_the_reduction_of_the_exact_matrix(name, q_shape, kv_shape, options):
    q, k = vectors(len(name), q_shape, kv_shape)
    check_tiles(AttentionMap(q, k, **options), *exact(q, k, **options))


@given(
    st.integers(0, 50), st.integers(0, 50), st.integers(1, 60), st.floats(0, 1), st.booleans(), st.integers()
)
@settings(max_examples=60, deadline=None)
def test_any_mask_in_blocks_of_any_size(q_len, kv_len, block, density, sink, seed):
    rng = np.random.default_rng(seed % 2**32)
    q, k = rng.standard_normal((1, q_len, 3)), rng.standard_normal((1, kv_len, 3))
    options = {"mask": rng.random((q_len, kv_len)) < density, "sink": np.array([0.3]) if sink else None}
    made = AttentionMap(q, k, **options)
    probs, visible = exact(q, k, **options)
    for reduce in ("max", "mean", "share"):
        want, count = reduced(probs, visible, block, reduce)
        got = made.pooled(block, reduce)
        np.testing.assert_array_equal(np.isnan(got), count == 0)
        np.testing.assert_allclose(np.nan_to_num(got), want, rtol=0, atol=1e-6)
    if q_len and kv_len:
        check_tiles(made, probs, visible)


def test_threads_see_the_same_tiles():
    q, k = vectors(23, (2, 80, 4), (1, 8300, 4))
    places = [(zoom, head) for zoom in (5, 6) for head in (0, 1)] * 4
    alone, shared = AttentionMap(q, k), AttentionMap(q, k)
    with ThreadPoolExecutor(8) as pool:
        tiles = list(pool.map(lambda place: shared.tile(place[0], 0, 0, head=place[1]), places))
    for (zoom, head), tile in zip(places, tiles):
        np.testing.assert_array_equal(tile.values, alone.tile(zoom, 0, 0, head=head).values)


def test_what_was_asked_before_leaves_no_trace():
    # without a stored lse the base finds it in its own pass, a finer tile in another
    q, k = vectors(23, (2, 80, 4), (1, 8300, 4))
    up, down = AttentionMap(q, k), AttentionMap(q, k)
    finer_first = [up.tile(zoom, 0, 0, head=1).values for zoom in (5, 6)]
    coarser_first = [down.tile(zoom, 0, 0, head=1).values for zoom in (6, 5)]
    np.testing.assert_array_equal(finer_first[0], coarser_first[1])
    np.testing.assert_array_equal(finer_first[1], coarser_first[0])


def test_grouped_heads_and_batches():
    q, k = vectors(1, (2, 4, 300, 6), (2, 2, 300, 6))
    options = {"causal": True, "mask": Padding(np.array([300, 170])), "q_offset": np.array([0, 3])}
    made = AttentionMap(q, k, **options)
    for batch, head in ((0, 0), (0, 3), (1, 1), (1, 2)):
        check_tiles(
            made, *exact(q, k, batch=batch, head=head, **options), batch=batch, head=head, zoom_range=[0, 1]
        )


def test_sinks_and_rows_that_see_nothing():
    q, k = vectors(2, (2, 400, 6), (1, 400, 6))
    mask = np.ones((400, 400), dtype=bool)
    mask[40:90] = False
    mask[:, 128:192] = False
    mask[256:320, :64] = False
    options = {"sink": np.array([0.5, -2.0], dtype=np.float32), "mask": mask}
    made = AttentionMap(q, k, **options)
    for head in range(2):
        probs, visible = exact(q, k, head=head, **options)
        check_tiles(made, probs, visible, head=head)
        assert (probs.sum(axis=1)[visible.any(axis=1)] < 1).all()


def test_a_bias_of_minus_infinity_hides():
    q, k = vectors(3, (2, 300, 6), (2, 300, 6))
    distance = np.arange(300) - np.arange(300)[:, None]
    bias = (np.array([0.5, 0.01])[:, None, None] * -np.abs(distance)).astype(np.float32)
    bias[1, 100:164] = -np.inf
    bias[0, :, 64:128] = -np.inf
    made = AttentionMap(q, k, bias=bias, causal=True)
    for head in range(2):
        check_tiles(made, *exact(q, k, head=head, bias=bias, causal=True), head=head)


def test_masks_that_differ_by_head():
    q, k = vectors(4, (2, 300, 6), (1, 300, 6))
    mask = np.random.default_rng(5).random((2, 300, 300)) < 0.3
    for options in ({"mask": mask}, {"mask": lambda b, h, i, j: (i + j) % (h + 2) == 0}):
        made = AttentionMap(q, k, **options)
        for head in range(2):
            check_tiles(made, *exact(q, k, head=head, **options), head=head)


def test_documents():
    q, k = vectors(6, (500, 6), (500, 6))
    ids = np.repeat(np.arange(4), [100, 250, 3, 147])
    options = {"mask": Documents(ids) & Causal()}
    check_tiles(AttentionMap(q, k, **options), *exact(q, k, **options))


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16])
def test_every_dtype(dtype):
    q, k = vectors(7, (300, 8), (300, 8), dtype)
    check_tiles(AttentionMap(q, k, causal=True), *exact(q, k, causal=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensors_are_read_where_they_lie(dtype):
    q, k = (torch.from_numpy(x).to(dtype).requires_grad_() for x in vectors(8, (300, 8), (300, 8)))
    made = AttentionMap(q, k, causal=True)
    check_tiles(made, *exact(q, k, causal=True))
    assert isinstance(made.row(3), np.ndarray)
    assert isinstance(made.lse, np.ndarray)


def test_strides_and_read_only_arrays():
    q, k = vectors(9, (300, 2, 8), (300, 1, 8))
    for array in (q, k):
        array.flags.writeable = False
    q, k = q.swapaxes(0, 1), k.swapaxes(0, 1)[..., ::-1]
    made = AttentionMap(q, k, causal=True)
    check_tiles(made, *exact(q, k, head=1, causal=True), head=1, zoom_range=[0])


def test_the_stored_lse_is_what_tiles_show():
    q, k = vectors(10, (300, 8), (300, 8))
    plain = AttentionMap(q, k, causal=True)
    stored = plain.lse.astype(np.float32)
    for lse in (stored, stored[0], stored[0, 0], torch.from_numpy(stored.copy())):
        made = AttentionMap(q, k, causal=True, lse=lse)
        np.testing.assert_array_equal(made.tile(1, 0, 0).values, plain.tile(1, 0, 0).values)
    doubled = AttentionMap(q, k, causal=True, lse=stored - np.float32(np.log(2)))
    np.testing.assert_allclose(
        doubled.tile(0, 0, 0).values, 2 * plain.tile(0, 0, 0).values, rtol=1e-5, atol=1e-7
    )
    np.testing.assert_array_equal(doubled.row(7), plain.row(7))  # a row comes from q and k alone


def test_what_is_hidden_cannot_be_seen():
    q, k = vectors(11, (300, 6), (300, 6))
    k2, norm = k.copy(), np.ones((1, 300), np.float32)
    k2[200] = np.nan
    k2[201] = np.inf
    norm[0, [200, 203]] = np.nan  # 203 shares its pixels with 202, which is seen
    mask = np.ones((300, 300), dtype=bool)
    mask[:, [200, 201, 203]] = False
    spoiled = AttentionMap(q, k2, causal=True, mask=mask, v_norm=norm)
    clean = AttentionMap(q, k, causal=True, mask=mask, v_norm=np.ones((1, 300), np.float32))
    for zoom, value in ((0, "prob"), (1, "prob"), (1, "value_norm")):
        a, b = (made.tile(zoom, 0, 0, "max", value) for made in (spoiled, clean))
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.states, b.states)
    np.testing.assert_array_equal(spoiled.column(200), np.zeros(300))


def test_a_visible_nan_is_shown():
    q, k = vectors(12, (400, 6), (400, 6))
    k[300] = np.nan
    made = AttentionMap(q, k, causal=True)
    probs, visible = exact(q, k, causal=True)
    assert np.isnan(probs[300:]).any()
    assert np.isfinite(probs[:300]).all()
    check_tiles(made, probs, visible)
    q, k = vectors(13, (300, 6), (300, 6))
    q[70] = np.inf
    check_tiles(AttentionMap(q, k, causal=True), *exact(q, k, causal=True))


def test_rows_whose_scores_are_all_minus_infinity():
    q, k = np.ones((3, 1)), np.array([[-np.inf], [-np.inf], [0.0]])
    made = AttentionMap(q, k, causal=True)
    assert made.row(1).tolist() == [0, 0, 0]
    tile = made.tile(0, 0, 0)
    assert tile.values[:3, :3].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert tile.states[:3, :3].tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("shapes", [((0, 4), (5, 4)), ((5, 4), (0, 4)), ((0, 4), (0, 4))])
def test_empty_axes(shapes):
    made = AttentionMap(*vectors(14, *shapes))
    assert made.zooms == 1
    tile = made.tile(0, 0, 0)
    assert (tile.states == 2).all()
    assert (tile.values == 0).all()


@pytest.mark.parametrize("value", ["prob", "value_norm"])
@pytest.mark.parametrize(
    ("q_len", "kv_len", "options"),
    [
        (300, 8301, {"causal": True, "q_offset": 8001}),
        (130, 16_500, {"causal": True, "q_offset": 16_300, "window": (9000, 0)}),
        (8250, 70, {}),
    ],
)
def test_zooms_from_the_base_on(q_len, kv_len, options, value):
    q, k = vectors(15, (2, q_len, 4), (1, kv_len, 4))
    norm = np.random.default_rng(16).random((2, kv_len)).astype(np.float32)
    made = AttentionMap(q, k, v_norm=norm, **options)
    assert made.zooms >= 7
    probs, visible = exact(q, k, head=1, **options)
    if value == "value_norm":
        probs = probs * norm[1]
    check_tiles(made, probs, visible, head=1, value=value, zoom_range=range(5, made.zooms))


def test_the_base_skips_nothing_of_masks_by_head():
    q, k = vectors(17, (2, 70, 4), (2, 8300, 4))
    mask = np.random.default_rng(18).random((2, 70, 8300)) < 0.01
    for options in (
        {"mask": mask},
        {"mask": lambda b, h, i, j: (i + j) % (h + 9) == 0},
        {"bias": np.where(mask, 0, -np.inf).astype(np.float32)},
        {"sink": np.array([1.0, 2.0], dtype=np.float32), "mask": mask},
    ):
        made = AttentionMap(q, k, **options)
        for head in range(2):
            check_tiles(made, *exact(q, k, head=head, **options), head=head, zoom_range=[6])


def test_value_norm_weighs_each_key():
    q, k = vectors(19, (2, 300, 6), (1, 300, 6))
    norm = (3 * np.random.default_rng(20).random((2, 300))).astype(np.float32)
    made = AttentionMap(q, k, causal=True, v_norm=norm)
    for head in range(2):
        probs, visible = exact(q, k, head=head, causal=True)
        check_tiles(made, probs * norm[head], visible, head=head, value="value_norm", tolerance=3e-5)


def test_memory_does_not_grow_with_the_matrix():
    q, k = vectors(21, (8200, 4), (8200, 4))
    made = AttentionMap(q, k, causal=True)
    assert made.lse is not None
    tracemalloc.start()
    try:
        made.tile(5, 0, 0)
        made.tile(6, 0, 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6  # 8,192 × 8,192 cells in float32 would be 268 MB


def test_bytes_of_a_tile():
    q, k = vectors(22, (300, 4), (300, 4))
    tile = AttentionMap(q, k, causal=True).tile(0, 1, 1)
    payload = tile.to_bytes()
    assert len(payload) == 65_536 * 4 + 65_536
    values = np.frombuffer(payload, dtype="<f4", count=65_536).reshape(256, 256)
    states = np.frombuffer(payload, dtype=np.uint8, offset=65_536 * 4).reshape(256, 256)
    np.testing.assert_array_equal(values, tile.values)
    np.testing.assert_array_equal(states, tile.states)


@pytest.mark.parametrize(
    ("lengths", "count"),
    [
        ((0, 0), 1),
        ((1, 256), 1),
        ((257, 1), 2),
        ((512, 512), 2),
        ((2048, 2048), 4),
        ((2049, 3), 5),
        ((131_072,) * 2, 10),
    ],
)
def test_the_last_zoom_is_the_first_with_one_tile(lengths, count):
    assert zooms(*lengths) == count
    assert 256 * 2 ** (count - 1) >= max(lengths)
    assert count == 1 or 256 * 2 ** (count - 2) < max(lengths)
