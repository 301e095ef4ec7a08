"""The core cases of fault reports, options, sizes and repeatability: each test bears its case's number."""

import math
import threading

import ml_dtypes
import numpy as np
import pytest

import pozor
from pozor import Causal, Documents, Padding, Sinks, Want, Window
from support import assert_close

LN2 = math.log(2)


def col(*values):
    return np.array(values, dtype=np.float64)[:, None]


def out_of(backend, v, q=None, k=None, **options):
    """The single output channel, with q = k = 0 unless given."""
    q = np.zeros((len(v), 1)) if q is None else q
    k = np.zeros((len(v), 1)) if k is None else k
    return pozor.attention(q, k, v, backend=backend, **options)[:, 0]


def test_case_31_no_dropout(backend):
    first = out_of(backend, col(2, 4))
    assert all(np.array_equal(first, out_of(backend, col(2, 4))) for _ in range(5))
    assert_close(first, np.array([3.0, 3]))


@pytest.mark.parametrize(
    ("dim", "v_dim"), [(576, 512), (64, 64), (96, 96), (128, 128), (192, 128), (256, 256), (257, 512)]
)
def test_case_32_large_and_unequal_head_sizes(backend, dim, v_dim):
    q, k = math.sqrt(dim) * np.eye(3, dim), np.eye(3, dim)
    v = np.repeat(np.arange(3.0)[:, None], v_dim, axis=1)
    e = math.e  # scores: 1 on the diagonal, 0 off it
    rows = np.array([3 / (e + 2), 1, (2 * e + 1) / (e + 2)])
    assert_close(pozor.attention(q, k, v, backend=backend), np.repeat(rows[:, None], v_dim, axis=1))


@pytest.mark.parametrize(
    "options", [{"window": (1, 0)}, {"mask": Window(1, 0)}, {"window": (1, None), "causal": True}]
)
def test_case_33_window_of_two(backend, options):
    assert_close(out_of(backend, col(1, 2, 4, 8, 16), **options), np.array([1, 1.5, 3, 6, 12]))


def test_case_34_window_alone(backend):
    v = col(2, 4, 8, 16)
    assert_close(out_of(backend, v, window=(1, 0)), np.array([2.0, 3, 6, 12]))
    assert_close(out_of(backend, v, window=(None, None)), np.full(4, 7.5))
    assert_close(out_of(backend, v, window=(0, 1)), np.array([3.0, 6, 12, 16]))
    assert_close(out_of(backend, v, window=(None, 0)), out_of(backend, v, causal=True))


@pytest.mark.parametrize("tokens", [(10, 11, 12), (11, 12, 13), (12, 13, 14)])
def test_case_35_a_rolling_cache_of_three(backend, tokens):
    first = tokens[0] - 10  # tokens that have left the cache
    out = out_of(backend, col(*tokens), q=np.zeros((1, 1)), window=(2, 0), q_offset=2)
    assert_close(out, np.array([tokens[1]], dtype=np.float64))
    everything = col(*range(10, tokens[-1] + 1))
    whole = out_of(backend, everything, q=np.zeros((1, 1)), window=(2, 0), q_offset=2 + first)
    assert_close(whole, out)


def test_case_37_bias_that_favours_the_near(backend):
    bias = LN2 * (np.arange(3.0) - 2)  # slope · (j - i): weights 1/7, 2/7, 4/7
    assert_close(out_of(backend, col(0, 0, 7), q=np.zeros((1, 1)), bias=bias), np.array([4.0]))


def test_case_40_softcap_before_the_mask(backend):
    for hide in ({"mask": np.array([True, False])}, {"bias": np.array([0, -np.inf])}):
        assert_close(out_of(backend, col(1, 0), softcap=1, **hide), np.array([1.0, 1]))


def test_case_41_softcap_formula(backend):
    out = out_of(backend, col(1, 0), q=np.array([[1.0]]), k=col(4, 0), scale=1, softcap=2)
    assert_close(out, np.array([1 / (1 + math.exp(-2 * math.tanh(2)))]))  # 0.87303400
    far = pozor.observe(
        np.array([[1.0]]),
        col(1e6, -1e6),
        col(1, 0),
        scale=1,
        softcap=2,
        backend=backend,
        want=Want(row_max=True),
    )
    assert_close(far.row_max, np.array([2.0]))
    small = out_of(backend, col(1, 0), q=np.array([[1.0]]), k=col(1e-3, 0), scale=1, softcap=1e6)
    assert_close(small, np.array([1 / (1 + math.exp(-1e-3))]))


def test_case_42_sink_in_the_denominator(backend):
    out = out_of(backend, col(1, 1), q=np.zeros((1, 1)), sink=np.array([LN2]))
    assert_close(out, np.array([0.5]))  # 2 / (2 + e^ln2)


def test_case_43_sink_has_no_value(backend):
    hidden = pozor.observe(
        np.zeros((1, 1)),
        np.zeros((2, 1)),
        col(5, 6),
        mask=np.zeros((1, 2), dtype=bool),
        sink=np.array([0.7]),
        want=Want(row_max=True, entropy=True),
        backend=backend,
    )
    assert_close(hidden.out, np.array([[0.0]]))
    assert_close(hidden.lse, np.array([0.7]))
    assert_close(hidden.row_max, np.array([-np.inf]))
    assert_close(hidden.entropy, np.array([0.0]))
    one = pozor.observe(np.zeros((1, 1)), np.zeros((1, 1)), col(8), sink=np.array([0.0]), backend=backend)
    assert_close(one.out, np.array([[4.0]]))
    assert_close(one.lse, np.array([LN2]))


def test_case_44_beyond_31_bits(backend, tmp_path):
    stride = 2_200_000_000
    flat = np.memmap(
        tmp_path / "sparse", dtype=np.float32, mode="w+", shape=(stride + 1,)
    )  # two pages are written
    flat[0], flat[stride] = 1, 3
    v = np.lib.stride_tricks.as_strided(flat, (2, 1), (stride * 4, 4))
    out = pozor.attention(np.zeros((1, 1), np.float32), np.zeros((2, 1), np.float32), v, backend=backend)
    assert_close(np.asarray(out), np.array([[2]], np.float32))
    k = np.lib.stride_tricks.as_strided(flat, (2, 1), (stride * 4, 4))
    out = pozor.attention(np.zeros((1, 1), np.float32), k, np.array([[1], [3]], np.float32), backend=backend)
    assert_close(np.asarray(out), np.array([[2]], np.float32))


def test_case_46_a_batch_equals_its_members(backend):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((16, 2, 37, 24), dtype=np.float32) for _ in range(3))
    whole = pozor.attention(q, k, v, backend=backend)
    for b in range(16):
        assert_close(whole[b], pozor.attention(q[b], k[b], v[b], backend=backend), ulps=4)


def test_case_47_threads_do_not_meet(backend):
    wrong = []

    def work(t):
        rng = np.random.default_rng(t)
        q_len, kv_len = 5 + t, 7 + 3 * t
        q, k = rng.standard_normal((2, q_len, 8)), rng.standard_normal((1, kv_len, 8))
        v = np.full((1, kv_len, 3), t + 1.0)
        for _ in range(200):
            out = pozor.attention(q, k, v, causal=True, q_offset=kv_len, backend=backend)
            if not np.abs(out - (t + 1)).max() <= 1e-12:
                wrong.append(t)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_case_48_float64_stays_float64(backend):
    out = pozor.attention(np.array([[1.0]]), col(0, 1e-9), col(0, 1), scale=1, backend=backend)
    assert out.dtype == np.float64
    assert_close(out, np.array([[0.50000000025]]))  # sigmoid(x) = 1/2 + x/4 near 0; 0.5 if float32 were used


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_case_48_out_has_the_dtype_of_q(backend, dtype):
    x = np.array([[1.0], [2.0]]).astype(dtype)
    seen = pozor.observe(x, x, x, backend=backend)
    assert seen.out.dtype == np.dtype(dtype)
    assert seen.lse.dtype in (np.float32, np.float64)


def test_case_49_packed_documents(backend):
    v = col(1, 3, 10, 30)
    want = np.array([1.0, 2, 10, 20])
    assert_close(out_of(backend, v, causal=True, mask=Documents([0, 0, 1, 1])), want)
    assert_close(out_of(backend, v, causal=True, mask=Documents([0, 0, 1, 1]) & Padding([4])), want)


def test_case_50_left_padding_through_two_layers(backend):
    mask = Padding(np.array([[False, True, True]]))
    first = out_of(backend, col(100, 2, 4), causal=True, mask=mask)
    assert_close(first, np.array([0.0, 2, 3]))
    for at_padding in (0, np.nan):
        second = out_of(backend, col(at_padding, 2, 3), causal=True, mask=mask)
        assert_close(second, np.array([0, 2, 2.5]))


def test_ordinary_sink_tokens_are_keys_with_values(backend):
    # what StreamingLLM calls sinks: the first keys stay visible beside the window
    mask = Causal() & (Window(1, 0) | Sinks(1))
    assert_close(out_of(backend, col(1, 2, 3, 4, 5), mask=mask), np.array([1, 1.5, 2, 8 / 3, 10 / 3]))
