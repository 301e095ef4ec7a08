"""The base of a head and what it is made of: equal to the matrix held whole, whatever the mask."""

import threading
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor import AttentionMap, Causal, Documents, Padding, Prefix, Sinks, Window
from pozor.matrix import base as bases
from pozor.matrix import making as making_room
from pozor.matrix.base import ZOOM
from pozor.matrix.counting import counted
from pozor.matrix.making import BEHIND, Kept, Making
from pozor.matrix.part import part

Q, K, OFFSET = 700, 900, 200
RNG = np.random.default_rng(1)
MASKS = {
    "all": {},
    "causal": {"causal": True},
    "window": {"causal": True, "window": (150, None)},
    "both sides": {"window": (70, 9)},
    "prefix": {"mask": Causal() | Prefix(100)},
    "documents": {"mask": Documents(np.arange(Q) // 90, np.arange(K) // 90), "causal": True},
    "many runs": {"mask": Documents(np.arange(Q) % 3, np.arange(K) % 3), "causal": True},
    "padding": {"mask": Padding(np.array([333])) & Window(200, 300)},
    "sink keys": {"mask": Causal() & (Window(30, 0) | Sinks(4))},
    "array": {"mask": RNG.random((Q, K)) < 0.01, "causal": True},
    "one key": {"mask": np.arange(K)[None] == 5},
    "callable": {"mask": lambda b, h, i, j: (i * 3 + j * 7 + h) % 400 == 0},
    "bias": {"bias": np.where(RNG.random((Q, K)) < 0.9, -np.inf, 0.7).astype(np.float32)},
    "sink": {"sink": np.array([0.5, 1.0], np.float32), "softcap": 3.0, "scale": -0.4},
    "nothing": {"mask": np.zeros((Q, K), dtype=bool)},
}


def arrays(seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    q, k = size * rng.normal(size=(2, Q, 20)), rng.normal(size=(1, K, 20))
    return q.astype(np.float32), k.astype(np.float32), rng.random((2, K)).astype(np.float32)


def exact(q, k, options, head=1):
    """(probs, visible) of the matrix held whole, in float64; sums of a row in one go."""
    judged = AttentionMap(q.astype(np.float64), k.astype(np.float64), q_offset=OFFSET, **options).problem
    logits, visible = pozor.attend.block_logits(judged, 0, head, slice(0, len(q[0])), slice(0, len(k[0])))
    sink = -np.inf if judged.sink is None else float(judged.sink[head])
    with np.errstate(all="ignore"):
        top = np.maximum(logits.max(axis=1, initial=-np.inf), sink)
        exps = np.where(visible, np.exp(logits - np.where(top == -np.inf, 0, top)[:, None]), 0)
        whole = exps.sum(axis=1) + np.exp(sink - top)
        return np.where(visible, exps / np.where(whole > 0, whole, 1)[:, None], 0), visible


def blocks(probs, visible, height, width):
    """(largest, total, count, rows that see) by blocks, plainly."""
    lines, columns = np.arange(0, len(probs), height), np.arange(0, probs.shape[1], width)
    folded = [
        reduce.reduceat(reduce.reduceat(array, lines, axis=0), columns, axis=1)
        for reduce, array in ((np.maximum, probs), (np.add, probs), (np.add, visible.astype(np.int64)))
    ]
    return (*folded, np.add.reduceat(visible.any(axis=1).astype(np.int64), lines))


def assert_is(pooled, wanted, side):
    """Max to 1e-5; totals so that a mean over the block and a share of its rows are."""
    np.testing.assert_array_equal(pooled.count, wanted[2])
    np.testing.assert_array_equal(pooled.rows, wanted[3])
    np.testing.assert_allclose(pooled.largest, wanted[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(pooled.total / side, wanted[1] / side, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("way", ["stored", "observed", "torch", "numpy"])
@pytest.mark.parametrize("name", MASKS)
def test_base_and_coarser_zooms_are_the_matrix_reduced(name, way, monkeypatch):
    q, k, norms = arrays()
    options = MASKS[name]
    if way == "torch" and "bias" in options:
        options = {"bias": torch.from_numpy(options["bias"])}
    if way == "torch" and "sink" in options:
        options = options | {"sink": torch.from_numpy(options["sink"])}
    if way == "numpy":
        monkeypatch.setattr(pozor.backends.native, "_native", None)
    given_k = torch.from_numpy(k) if way == "torch" else k
    given_q = torch.from_numpy(q) if way == "torch" else q
    lse = AttentionMap(q, k, q_offset=OFFSET, **MASKS[name]).lse if way == "stored" else None
    shown = AttentionMap(given_q, given_k, q_offset=OFFSET, **options, lse=lse, v_norm=norms)
    shown._cells.backend = "torch" if way == "torch" else "auto"
    monkeypatch.setattr(bases, "BAND", 200 * K)  # several bands
    probs, visible = exact(q, k, MASKS[name])
    for value, cells in (("prob", probs), ("value_norm", probs * norms[1])):
        made = shown.base(value, head=1).make()
        for zoom in range(ZOOM, ZOOM + 5):
            side = 1 << zoom
            assert_is(made.whole(zoom), blocks(cells, visible, side, side), side)
        some = made.cut(ZOOM, slice(2, 6), slice(3, 300))
        wanted = blocks(cells[128:384, 192:], visible[128:384, 192:], 64, 64)[:3]
        assert_is(some, (*wanted, made.whole(ZOOM).rows[2:6]), 64)


@pytest.mark.parametrize("name", ["causal", "many runs", "callable", "bias", "sink"])
def test_a_preview_is_the_same_of_every_16th_row(name, monkeypatch):
    monkeypatch.setattr(bases, "NO_PREVIEW", 100)
    q, k, _ = arrays(1)
    shown = AttentionMap(q, k, q_offset=OFFSET, **MASKS[name])
    making = shown.base(head=1)
    making.wants_preview = True
    while making.preview is None:
        making.step()
    probs, visible = (array[::16] for array in exact(q, k, MASKS[name]))
    assert_is(making.preview.whole(ZOOM), blocks(probs, visible, 4, 64), 64)
    assert_is(making.preview.whole(ZOOM + 1), blocks(probs, visible, 8, 128), 128)
    made = making.make()
    assert making.preview is None
    assert making.peek() is made


def test_a_short_map_has_no_preview():
    q, k, _ = arrays(1)
    found, preview = AttentionMap(q, k, q_offset=OFFSET, causal=True).base(head=1).picture()
    assert not preview
    assert found.whole(ZOOM).count.shape == (11, 15)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("rows", [slice(0, Q), slice(64, 300), slice(0, Q, 16), slice(5, 5)])
def test_some_rows_of_a_head_are_a_call_of_their_own(name, rows):
    q, k, _ = arrays(2)
    whole = AttentionMap(q, k, q_offset=OFFSET, **MASKS[name])
    some = part(whole.problem, 0, 1, rows)
    keys = slice(0, K)
    count = len(range(Q)[rows])
    logits, visible = pozor.attend.block_logits(some, 0, 0, slice(0, count), keys)
    wanted = pozor.attend.block_logits(whole.problem, 0, 1, slice(0, Q), keys)
    np.testing.assert_array_equal(visible, wanted[1][rows])
    np.testing.assert_allclose(logits, wanted[0][rows], rtol=1e-12)


def test_rows_of_one_sequence_of_a_batch():
    rng = np.random.default_rng(3)
    q, k = rng.normal(size=(2, 2, 50, 6)), rng.normal(size=(2, 2, 60, 6))
    options = {"q_offset": np.array([3, 10]), "causal": True, "mask": Padding(np.array([20, 44]))}
    whole = AttentionMap(q, k, **options)
    for batch, head in np.ndindex(2, 2):
        some = part(whole.problem, batch, head, slice(10, 40))
        found = pozor.attend.block_logits(some, 0, 0, slice(0, 30), slice(0, 60))
        wanted = pozor.attend.block_logits(whole.problem, batch, head, slice(10, 40), slice(0, 60))
        np.testing.assert_array_equal(found[1], wanted[1])
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cells_are_counted_from_ranges(data):
    rows, keys = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 70))
    height, width = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 70))
    seed, ranges = data.draw(st.integers(0, 999)), data.draw(st.integers(1, 3))
    first = data.draw(st.integers(0, keys - 1))
    ends = np.sort(np.random.default_rng(seed).integers(0, keys + 1, (rows, 2 * ranges)), axis=1)
    starts, stops = ends[:, ::2], ends[:, 1::2]
    here = slice(first, keys)
    index = np.arange(keys)
    visible = ((index >= starts[..., None]) & (index < stops[..., None])).any(axis=1)[:, here]
    wanted = blocks(np.zeros(visible.shape), visible, height, width)[2]
    np.testing.assert_array_equal(counted((starts, stops), here, height, width), wanted)


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("size", [1.0, 6.0, 40.0])
def test_loud_logits_stay_within_the_tolerance(size, stored):
    q, k, _ = arrays(4, size)
    lse = AttentionMap(q, k, q_offset=OFFSET, causal=True).lse if stored and size < 10 else None
    shown = AttentionMap(q, k, q_offset=OFFSET, causal=True, lse=lse)
    probs, visible = exact(q, k, {"causal": True})
    tile = shown.tile(0, 1, 1, head=1)
    np.testing.assert_allclose(tile.values, probs[256:512, 256:512], rtol=0, atol=1e-5)
    np.testing.assert_allclose(shown.column(40, head=1), probs[:, 40], rtol=0, atol=1e-5)
    assert_is(shown.base(head=1).make().whole(ZOOM), blocks(probs, visible, 64, 64), 64)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_a_visible_number_that_is_none_is_shown_and_a_hidden_one_is_not(odd):
    q, k, norms = arrays(5)
    clean = AttentionMap(q, k, q_offset=OFFSET, causal=True, v_norm=norms).base(head=1).make()
    k[0, 899] = odd  # hidden from all queries but the last
    shown = AttentionMap(q, k, q_offset=OFFSET, causal=True, v_norm=norms)
    made = shown.base(head=1).make()
    with np.errstate(all="ignore"):
        probs, visible = exact(q, k, {"causal": True})
    wanted = blocks(probs, visible, 64, 64)
    np.testing.assert_array_equal(np.isnan(made.whole(ZOOM).largest), np.isnan(wanted[0]))
    held, before = made.whole(ZOOM), clean.whole(ZOOM)
    np.testing.assert_allclose(held.largest[:10], before.largest[:10], atol=1e-6)
    np.testing.assert_allclose(held.total[:10], before.total[:10], rtol=1e-5, atol=1e-6)


def test_a_given_matrix_has_a_base_too():
    q, k, _ = arrays(6)
    probs, visible = exact(q, k, {"causal": True})
    for mask in (None, visible):
        shown = AttentionMap.from_probs(probs.astype(np.float32), mask=mask)
        seen = np.ones_like(visible) if mask is None else mask
        assert_is(shown.base().make().whole(ZOOM), blocks(probs, seen, 64, 64), 64)


# ---- tracks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MASKS)
def test_tracks_are_entropy_and_received(name, monkeypatch):
    monkeypatch.setattr(pozor.matrix.cells, "TRACK_CELLS", 200 * K)
    q, k, _ = arrays(7)
    made = AttentionMap(q, k, q_offset=OFFSET, **MASKS[name]).tracks(head=1).make()
    probs, visible = exact(q, k, MASKS[name])
    with np.errstate(all="ignore"):
        entropy = -np.where(probs > 0, probs * np.log(probs), 0).sum(axis=1)
        received = np.where(visible.any(axis=0), probs.sum(axis=0) / visible.sum(axis=0), np.nan)
    assert (made.entropy.dtype, made.received.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(made.entropy, entropy, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(made.received, received, rtol=1e-4, atol=1e-6)


# ---- making -----------------------------------------------------------------------------------------------


class Thing:
    """What a making gives."""

    def __init__(self, nbytes=1):
        self.nbytes = nbytes


def slowly(steps, log=None, name="", wait=0.0):
    """A making of so many steps."""

    def run(making):
        for step in range(steps):
            time.sleep(wait)
            if log is not None:
                log.append(name)
            yield (step + 1) / steps
        return Thing()

    return Making(run)


def until(true, seconds=20.0):
    """Wait for something that happens behind."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def test_progress_grows_to_one_and_the_same_is_given_again():
    making = slowly(4)
    seen = []
    while making.step() is None:
        seen.append(making.progress)
    assert seen == [0.25, 0.5, 0.75, 1.0]
    assert making.ready
    assert making.make() is making.peek() is making.step()


def test_what_is_started_is_made_behind():
    making = slowly(3).start()
    until(lambda: making.ready)
    assert making.progress == 1.0


def test_the_newest_wish_goes_first():
    log: list[str] = []
    slowly(40, log, "old", 0.01).start()
    until(lambda: log)
    new = slowly(5, log, "new", 0.01).start()
    until(lambda: new.ready)
    first = log.index("new")
    assert set(log[first : first + 5]) == {"new"}


def test_what_is_stopped_is_forgotten_and_can_be_made_anew():
    making = slowly(1000, wait=0.005).start()
    until(lambda: making.progress > 0)
    making.stop()
    assert (making.progress, making.ready, making.begun) == (0.0, False, False)
    time.sleep(0.05)
    assert not making.begun


def test_a_failure_behind_is_kept_and_one_here_is_raised():
    def failing(_):
        yield 0.5
        raise ValueError("no more")

    making = Making(failing).start()
    until(lambda: making.error is not None)
    assert str(making.error) == "no more"
    with pytest.raises(ValueError, match="no more"):
        making.make()
    assert not making.begun


def test_many_threads_get_one_thing_and_steps_never_overlap():
    inside, made = [], []

    def run(_):
        for _ in range(20):
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.001)
            inside.pop()
            yield 0.5
        return Thing()

    making = Making(run)
    threads = [threading.Thread(target=lambda: made.append(making.make())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(map(id, made))) == 1


def test_what_is_kept_is_bounded_and_what_left_is_made_anew(monkeypatch):
    kept = Kept(100)
    monkeypatch.setattr(making_room, "KEPT", kept)

    def one():
        def run(_):
            yield 0.5
            return Thing(40)

        return Making(run)

    makings = [one() for _ in range(5)]
    for making in makings:
        making.make()
    assert [making.ready for making in makings] == [False, False, False, True, True]
    assert kept.total == 80
    del makings, making
    assert kept.total == 0  # what nobody has any more counts no more


def test_the_bases_of_many_heads_do_not_pile_up(monkeypatch):
    q, k, _ = arrays(8)
    kept = Kept(30_000)
    monkeypatch.setattr(making_room, "KEPT", kept)
    maps = [AttentionMap(q, k, q_offset=OFFSET, causal=True) for _ in range(40)]
    for shown in maps:
        shown.base(head=0).make()
    assert kept.total <= 30_000
    assert sum(shown.base(head=0).ready for shown in maps) < 25


def test_who_draws_goes_before_what_is_made_behind():
    making = slowly(200, wait=0.001)
    with BEHIND.drawing():
        making.start()
        time.sleep(0.1)
        assert making.progress < 0.05
    until(lambda: making.ready)


def test_the_picture_of_a_long_map_is_a_preview_until_the_base_is_there(monkeypatch):
    monkeypatch.setattr(bases, "NO_PREVIEW", 100)
    monkeypatch.setattr(BEHIND, "add", lambda making: None)  # nobody makes it behind
    q, k, _ = arrays(9)
    shown = AttentionMap(q, k, q_offset=OFFSET, causal=True)
    assert (shown.needs_base(ZOOM - 1), shown.needs_base(ZOOM)) == (False, True)
    found, preview = shown.base(head=1).picture()
    assert (preview, found.cells.q_len) == (True, 44)
    shown.base(head=1).make()
    found, preview = shown.base(head=1).picture()
    assert (preview, found.cells.q_len) == (False, Q)
