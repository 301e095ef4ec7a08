"""Squares of probs by the kernel: what the float64 matrix by the same lse gives, on each instruction set."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor import Causal, Documents, Padding, Prefix, Window, attend
from pozor.backends import native
from pozor.inputs import as_numpy, problem

ISAS = tuple(native._native.runnable()) if native.available() else ()
MASKS = [
    {},
    {"causal": True},
    {"window": (70, 9)},
    {"mask": Causal() | Prefix(100)},
    {"mask": Documents(np.arange(700) // 90, np.arange(900) // 90), "causal": True},
    {"mask": Padding(np.array([333])) & Window(200, 300)},
    {"mask": np.random.default_rng(1).random((700, 900)) < 0.5, "causal": True},
    {"mask": np.random.default_rng(2).random((1, 1, 1, 900)) < 0.5},
    {"mask": lambda b, h, i, j: (i * 3 + j * 7 + h) % 4 != 0, "window": (400, 400)},
    {"bias": np.where(np.random.default_rng(3).random((700, 900)) < 0.1, -np.inf, 0.7).astype(np.float32)},
    {"softcap": 3.0, "scale": -0.4, "sink": np.array([0.5, 1.0], np.float32)},
]


def call(seed, dtype, options, size=1.0):
    rng = np.random.default_rng(seed)
    q = (size * rng.normal(size=(1, 2, 700, 20))).astype(dtype)
    k = rng.normal(size=(1, 1, 900, 20)).astype(dtype)
    cast = {n: x.astype(dtype) if n in ("bias", "sink") else x for n, x in options.items()}
    judged = as_numpy(problem(q, k, None, q_offset=200, **cast))
    return judged, pozor.observe(q, k, None, q_offset=200, **cast, backend="reference").lse[0, 1]


def by_hand(judged, rows, keys, size, lse, weight):
    """(largest, total, count) of the matrix held whole, in float64."""
    logits, visible = attend.block_logits(judged, 0, 1, rows, keys)
    with np.errstate(all="ignore"):
        probs = np.exp(logits - lse[rows, None].astype(np.float64))
    probs[lse[rows] == -np.inf] = 0
    probs = np.where(visible, probs if weight is None else probs * weight[keys], 0)
    lines, columns = (np.arange(0, n, size) for n in probs.shape)
    return tuple(
        reduce.reduceat(reduce.reduceat(array, lines, axis=0), columns, axis=1)
        for reduce, array in ((np.maximum, probs), (np.add, probs), (np.add, visible.astype(np.int64)))
    )


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from([np.float64, np.float32, np.float16, ml_dtypes.bfloat16]),
    st.sampled_from(MASKS),
    st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.booleans(),
    st.sampled_from([1.0, 30.0]),
)
def test_squares_of_the_float64_matrix(isa, seed, dtype, options, size, first, weighted, loud):
    judged, lse = call(seed, dtype, options, loud)
    rows, keys = (slice(size * a, n) for a, n in zip(first, (700, 900)))
    weight = np.random.default_rng(seed).random(900) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(native.ISA, isa)
        found = attend.squares(judged, 0, 1, rows, keys, size, lse[rows], weight)
        alone = attend.squares(judged, 0, 1, rows, keys, size)
    assert found is not None
    assert alone is not None
    exact = by_hand(judged, rows, keys, size, lse, weight)
    np.testing.assert_array_equal(found[2], exact[2])
    np.testing.assert_array_equal(alone[2], exact[2])
    np.testing.assert_allclose(found[0], exact[0], rtol=0, atol=1e-5)
    # a mean over the square and a share over its rows are both below this
    np.testing.assert_allclose(found[1] / size, exact[1] / size, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("isa", ISAS)
def test_bits_do_not_depend_on_threads_or_on_what_is_asked_beside(isa, monkeypatch):
    monkeypatch.setenv(native.ISA, isa)
    judged, lse = call(5, np.float32, {"causal": True})
    whole = native.squares(judged, 0, 1, slice(0, 700), slice(0, 900), 8, lse, None, 1)
    assert whole is not None
    for threads in (2, 3, 8):
        again = native.squares(judged, 0, 1, slice(0, 700), slice(0, 900), 8, lse, None, threads)
        assert again is not None
        assert [x.tobytes() for x in again] == [x.tobytes() for x in whole]
    part = native.squares(judged, 0, 1, slice(320, 640), slice(64, 900), 8, lse[320:640], None, 2)
    assert part is not None
    for x, y in zip(part, whole):
        np.testing.assert_array_equal(x, y[40:80, 8:])


def test_a_nan_stays_in_its_row_and_no_lse_means_no_probs():
    judged, lse = call(6, np.float32, {"causal": True})
    spoiled = lse.copy()
    spoiled[10], spoiled[20] = np.nan, -np.inf
    found = attend.squares(judged, 0, 1, slice(0, 700), slice(0, 900), 1, spoiled)
    clean = attend.squares(judged, 0, 1, slice(0, 700), slice(0, 900), 1, lse)
    assert found is not None
    assert clean is not None
    np.testing.assert_array_equal(np.isnan(found[0][10]), np.arange(900) <= 210)
    assert (found[0][20] == 0).all()
    assert found[2][20].sum() == 221
    others = np.delete(np.arange(700), [10, 20])
    np.testing.assert_array_equal(found[0][others], clean[0][others])


def test_what_the_kernel_leaves_to_numpy(monkeypatch):
    judged, lse = call(7, np.float32, {})
    everything = (judged, 0, 1, slice(0, 700), slice(0, 900))
    assert attend.squares(*everything, 3, lse) is None
    assert attend.squares(*everything, 128, lse) is None
    monkeypatch.setattr(native, "_native", None)
    assert attend.squares(*everything, 4, lse) is None


@pytest.mark.parametrize("odd", [np.nan, np.inf, 3e38, 1e4])
def test_hidden_rows_and_keys_change_no_bit(odd):
    mask = np.ones((700, 900), dtype=bool)
    mask[50], mask[:, 600] = False, False
    judged, lse = call(8, np.float32, {"mask": mask, "causal": True})
    spoiled_q, spoiled_k = judged.q.copy(), judged.k.copy()
    spoiled_q[0, 1, 50], spoiled_k[0, 0, 600], spoiled_k[0, 0, 899] = odd, odd, odd
    spoiled = as_numpy(problem(spoiled_q, spoiled_k, None, q_offset=190, mask=mask, causal=True))
    clean = as_numpy(problem(judged.q, judged.k, None, q_offset=190, mask=mask, causal=True))
    everything = (0, 1, slice(0, 700), slice(0, 900), 2, lse)
    found, again = attend.squares(clean, *everything), attend.squares(spoiled, *everything)
    assert found is not None
    assert again is not None
    assert [x.tobytes() for x in found] == [x.tobytes() for x in again]
