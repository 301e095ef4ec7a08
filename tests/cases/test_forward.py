"""The core cases of fault reports, masks and softmax: each test bears its case's number, on every backend.

col(a, b) is a (tokens, 1) column; with q = k = 0 all scores are 0, so probs are uniform over what is visible.
"""

import math

import numpy as np
import pytest

import pozor
from pozor import Causal, Documents, Padding, Want
from support import assert_close, pooled_side

LN2, LN3 = math.log(2), math.log(3)


def col(*values):
    return np.array(values, dtype=np.float64)[:, None]


def zeros(tokens, dim=1):
    return np.zeros((tokens, dim))


def out_of(backend, v, q=None, k=None, **options):
    """The single output channel, with q = k = 0 unless given."""
    q = zeros(len(v)) if q is None else q
    k = zeros(len(v)) if k is None else k
    return pozor.attention(q, k, v, backend=backend, **options)[:, 0]


def test_case_01_empty_row(backend):
    mask = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 1]], dtype=bool)
    seen = pozor.observe(
        col(1, 1, 1),
        col(0, LN2, LN3),
        col(6, 12, 18),
        scale=1,
        mask=mask,
        want=Want(entropy=True),
        backend=backend,
    )
    # weights 1 : 2 : 3: (6 + 24 + 54) / 6 = 14 and (6 + 54) / 4 = 15
    assert_close(seen.out[:, 0], np.array([14.0, 0, 15]))
    assert_close(seen.lse, np.array([math.log(6), -np.inf, math.log(4)]))
    assert seen.entropy[1] == 0


def test_case_03_true_means_may_attend(backend):
    v = col(1, 10, 100)
    lower = np.tril(np.ones((3, 3), dtype=bool))
    # means of prefixes; the inverted mask would give [55, 100, 0]
    for options in ({"mask": lower}, {"causal": True}, {"mask": Causal()}):
        assert_close(out_of(backend, v, **options), np.array([1, 5.5, 37]))
    assert_close(out_of(backend, v, mask=~lower), np.array([55.0, 100, 0]))


def test_case_04_integer_mask_is_refused(backend):
    with pytest.raises(pozor.DtypeError, match=r"mask must be boolean \(True = may attend\); got int64"):
        out_of(backend, col(1, 3, 100), mask=np.array([1, 1, 0]))
    assert_close(out_of(backend, col(1, 3, 100), mask=np.array([1, 1, 0]) != 0), np.full(3, 2.0))


@pytest.mark.parametrize("mask", [Padding([2]), Padding(np.array([[True, True, False, False]]))], ids=repr)
def test_case_05_padding_removes_keys(backend, mask):
    v = col(1, 3, 50, 70)
    assert_close(out_of(backend, v, mask=mask, causal=True), np.array([1.0, 2, 2, 2]))
    assert_close(out_of(backend, v, mask=mask), np.full(4, 2.0))
    left = Padding(np.array([[False, False, True, True]]))
    assert_close(out_of(backend, v, mask=left, causal=True), np.array([0.0, 0, 50, 60]))


def test_case_06_batch_axis_of_the_mask(backend):
    b, h, j = np.ogrid[:2, :2, :2]
    v = (100.0 * b + 10 * h + j)[..., None]
    mask = np.array([[True, False], [True, True]]).reshape(2, 1, 1, 2)
    out = pozor.attention(np.zeros((2, 4, 1, 1)), np.zeros((2, 2, 2, 1)), v, mask=mask, backend=backend)
    assert_close(out[:, :, 0, 0], np.array([[0, 0, 10, 10], [100.5, 100.5, 110.5, 110.5]]))


def test_case_07_batch_axes_broadcast(backend):
    v = np.array([[0.0, 3, 6], [3, 6, 9]]).reshape(2, 1, 3, 1)
    out = pozor.attention(np.zeros((1, 1, 2)), np.zeros((2, 1, 3, 2)), v, backend=backend)
    assert_close(out, np.array([3.0, 6]).reshape(2, 1, 1, 1))


def test_case_08_causal_with_one_query_and_a_cache(backend):
    v = col(1, 2, 3, 10)
    with pytest.raises(
        pozor.OptionError, match=r"ambiguous for q_len=1, kv_len=4. Give q_offset: 3 aligns the last"
    ):
        out_of(backend, v, q=zeros(1), causal=True)
    assert_close(out_of(backend, v, q=zeros(1), causal=True, q_offset=3), np.array([4.0]))
    assert_close(out_of(backend, v, q=zeros(1), causal=True, q_offset=0), np.array([1.0]))


def test_case_09_more_queries_than_keys(backend):
    seen = pozor.observe(zeros(4), zeros(2), col(4, 8), causal=True, q_offset=-2, backend=backend)
    assert_close(seen.out[:, 0], np.array([0.0, 0, 4, 6]))
    assert_close(seen.lse, np.array([-np.inf, -np.inf, 0, LN2]))
    assert_close(out_of(backend, col(4, 8), q=zeros(4), causal=True, q_offset=0), np.array([4.0, 6, 6, 6]))


def test_case_10_half_precision_does_not_overflow(backend):
    q = np.full((1, 64), 40, np.float16)
    k = np.stack([np.full(64, 40), np.full(64, 39.5)]).astype(np.float16)
    # raw dots 102,400 and 101,120 exceed 65,504; logits 12,800 and 12,640: weights 1 and e^-160
    seen = pozor.observe(q, k, np.array([[3], [5]], np.float16), backend=backend)
    assert_close(seen.out, np.array([[3]], np.float16))
    assert seen.lse.item() == 12_800


def test_case_11_masks_are_anded_not_added(backend):
    visible = Padding(np.array([[False, False, True]]))
    v = np.array([[1], [10], [100]], np.float32)
    out = pozor.attention(*(np.zeros((3, 1), np.float32),) * 2, v, causal=True, mask=visible, backend=backend)
    assert_close(out, np.array([[0], [0], [100]], np.float32))
    # the usual finite planes, given as bias: they are numbers, and are added as numbers in float32
    lowest = float(np.finfo(np.float32).min)
    plane = np.triu(np.full((3, 3), lowest, np.float32), 1)
    assert_close(
        out_of(backend, v, np.zeros_like(v), np.zeros_like(v), mask=visible, bias=plane),
        np.array([100, 100, 100], np.float32),
    )


def test_case_12_finite_sentinel(backend):
    # the visible score is -30,000: a hidden key has weight 0 however low the rest are
    out = out_of(
        backend, col(2, 50), np.array([[-300.0]]), col(100, 0), scale=1, mask=np.array([True, False])
    )
    assert_close(out, np.array([2.0]))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["k", "v", "k and v"])
@pytest.mark.parametrize(
    "hide",
    [
        {"mask": np.array([True, False])},
        {"bias": np.array([0, -np.inf])},
        {"causal": True},
        {"mask": Padding([1])},
    ],
    ids=["mask", "bias", "causal", "padding"],
)
def test_case_13_hidden_values_that_are_not_finite(backend, odd, where, hide):
    k = np.array([[0.0, 0], [odd, odd]]) if "k" in where else np.zeros((2, 2))
    v = col(3, odd) if "v" in where else col(3, 4)
    seen = pozor.observe(
        np.array([[1.0, 0]]),
        k,
        v,
        backend=backend,
        q_offset=0,
        want=Want(True, True, 2, True, True, pooled_side(backend, 1)),
        **hide,
    )
    assert_close(seen.out, np.array([[3.0]]))
    assert_close(seen.lse, np.array([0.0]))
    assert_close(seen.row_max, np.array([0.0]))
    assert_close(seen.entropy, np.array([0.0]))
    assert_close(seen.top_probs, np.array([[1.0, 0]]))
    assert seen.top_keys.tolist() == [[0, -1]]
    assert_close(seen.received, np.array([1.0, np.nan]))
    assert_close(seen.distance.sum(axis=-1), np.array([1.0]))
    assert_close(seen.pooled.max, np.array([[1.0, np.nan] if backend != "native" else [1.0]]))


def test_case_13_one_row_sees_it_and_its_neighbours_do_not(backend):
    v = col(1, np.inf, 3, np.nan)
    out = out_of(
        backend, v, mask=np.array([[1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]], dtype=bool)
    )
    assert_close(out, np.array([2, np.inf, np.nan, 3]))


def test_case_14_merging_empty_parts():
    def part(out, lse):
        return np.array([[out]], dtype=np.float64), np.array([lse], dtype=np.float64)

    for parts, want in (
        ([(0, -np.inf), (0, -np.inf)], (0, -np.inf)),
        ([(0, -np.inf), (5, 2)], (5, 2)),
        ([(5, 2), (0, -np.inf)], (5, 2)),
    ):
        out, lse = pozor.merge([part(*one) for one in parts])
        assert_close(out, np.array([[want[0]]], dtype=np.float64))
        assert_close(lse, np.array([want[1]], dtype=np.float64))


def test_case_15_natural_lse_merges(backend):
    a = pozor.observe(zeros(1), zeros(1), col(0), backend=backend)
    b = pozor.observe(zeros(1), zeros(3), col(4, 4, 4), backend=backend)
    out, lse = pozor.merge([(a.out, a.lse), (b.out, b.lse)])
    assert_close(out, np.array([[3.0]]))  # 1 of 4 weights on 0, 3 of 4 on 4
    assert_close(lse, np.array([math.log(4)]))


def test_case_16_lse_of_no_keys(backend):
    seen = pozor.observe(
        np.zeros((1, 1, 2, 4)), np.zeros((1, 1, 0, 4)), np.zeros((1, 1, 0, 3)), backend=backend
    )
    assert_close(seen.out, np.zeros((1, 1, 2, 3)))
    assert_close(seen.lse, np.full((1, 1, 2), -np.inf))


@pytest.mark.parametrize("dim", [1, 3, 5, 7, 40, 72, 80, 96, 100])
def test_case_17_scale_of_the_true_head_size(backend, dim):
    # one score dim / sqrt(dim), one 0: sigmoid(sqrt(dim)); for 3: 0.84967455
    out = out_of(backend, col(1, 0), np.ones((1, dim)), np.vstack([np.ones(dim), np.zeros(dim)]))
    assert_close(out, np.array([1 / (1 + math.exp(-math.sqrt(dim)))]))


def test_case_18_bias_is_not_scaled(backend):
    out = out_of(backend, col(1, 0), zeros(1, 4), zeros(2, 4), bias=np.array([0.0, -2]))
    assert_close(out, np.array([1 / (1 + math.exp(-2))]))  # 0.88079708


def test_case_19_negative_scale(backend):
    out = out_of(backend, col(0, 1), np.array([[2.0]]), col(1, 3), scale=-0.5)
    assert_close(out, np.array([math.exp(-2) / (1 + math.exp(-2))]))  # logits -1 and -3: 0.11920292
    assert_close(out_of(backend, col(0, 1), np.array([[2.0]]), col(1, 3), scale=0), np.array([0.5]))


@pytest.mark.parametrize("causal", [False, True])
def test_case_20_no_keys(backend, causal):
    q, k, v = np.ones((2, 3, 4, 8)), np.ones((2, 3, 0, 8)), np.ones((2, 3, 0, 5))
    want = Want(True, True, 2, True, True, pooled_side(backend, 3))
    seen = pozor.observe(q, k, v, causal=causal, q_offset=0, want=want, backend=backend)
    assert_close(seen.out, np.zeros((2, 3, 4, 5)))
    assert_close(seen.lse, np.full((2, 3, 4), -np.inf))
    assert seen.received.shape == (2, 3, 0)
    assert seen.pooled.max.shape == (2, 3, -(-4 // seen.pooled.block), 0)
    assert (seen.top_keys == -1).all()


def test_case_20_no_queries_and_no_sequences(backend):
    want = Want(True, True, 2, True, True, pooled_side(backend, 3))
    seen = pozor.observe(
        np.ones((2, 3, 0, 8)),
        np.ones((2, 3, 4, 8)),
        np.ones((2, 3, 4, 5)),
        want=Want(received=True),
        backend=backend,
    )
    assert_close(seen.out, np.zeros((2, 3, 0, 5)))
    assert_close(seen.received, np.full((2, 3, 4), np.nan))
    seen = pozor.observe(*[np.ones((0, 3, 4, 8))] * 3, want=want, backend=backend)
    assert seen.out.shape == (0, 3, 4, 8)
    assert seen.lse.shape == (0, 3, 4)
    assert seen.pooled.share.shape == (0, 3, *(2 * (-(-4 // pooled_side(backend, 3)),)))


def test_case_21_a_segment_without_queries(backend):
    # query offsets [0, 2, 2, 4], key offsets [0, 1, 3, 4]
    mask = Documents([0, 0, 2, 2], [0, 1, 1, 2])
    assert_close(out_of(backend, col(1, 50, 60, 9), mask=mask), np.array([1.0, 1, 9, 9]))


def test_case_22_lengths_of_k_and_v(backend):
    with pytest.raises(pozor.ShapeError, match=r"v must share kv_len with k; got 5 in k .* and 6 in v"):
        pozor.attention(
            np.zeros((1, 1, 3, 8)), np.zeros((1, 1, 5, 8)), np.zeros((1, 1, 6, 8)), backend=backend
        )


def test_case_23_axes_of_size_1(backend):
    out = pozor.attention(*(x.reshape(1, 1, -1, 1) for x in (col(1, 2), col(1), col(1))), backend=backend)
    assert_close(out, np.ones((1, 1, 2, 1)))
    assert_close(out_of(backend, col(4, 8), col(1, 1), col(0, LN3), scale=1), np.array([7.0, 7]))


@pytest.mark.parametrize("width", [2, 6])
def test_case_24_head_size_of_the_values(backend, width):
    v = np.stack([np.arange(width) + 1.0, 3 * (np.arange(width) + 1.0)])
    out = pozor.attention(zeros(2, 4), zeros(2, 4), v, backend=backend)
    assert_close(out, np.tile(2 * (np.arange(width) + 1.0), (2, 1)))


def test_case_25_permuted_axes(backend):
    v = np.arange(12.0).reshape(1, 3, 2, 2).transpose(0, 2, 1, 3)
    q = np.zeros((1, 3, 2, 2)).transpose(0, 2, 1, 3)
    out = pozor.attention(q, q, v, backend=backend)
    assert_close(out[0], np.stack([np.tile([4.0, 5], (3, 1)), np.tile([6.0, 7], (3, 1))]))
    assert np.array_equal(out, pozor.attention(q.copy(), q.copy(), v.copy(), backend=backend))


def test_case_26_negative_strides_and_read_only_arrays(backend):
    k, v = col(0, LN2, LN3), col(6, 12, 18)
    for array in (k, v):
        array.flags.writeable = False
    one = np.array([[1.0]])
    assert_close(out_of(backend, v[::-1], one, k[::-1], scale=1), np.array([14.0]))
    assert_close(out_of(backend, v[::-1], one, k, scale=1), np.array([10.0]))  # 1 : 2 : 3 on 18, 12, 6
    forward = out_of(backend, v, col(1, 2), k, scale=1)
    assert_close(out_of(backend, v, col(1, 2)[::-1], k, scale=1), forward[::-1])


@pytest.mark.parametrize("tokens", [1, 2, 3, 15, 16, 17, 31, 32, 33, 40, 63, 65, 1023, 1025])
def test_case_27_no_phantom_keys(backend, tokens):
    out = out_of(backend, np.full((tokens, 1), 6.0), zeros(1), zeros(tokens), bias=np.zeros(tokens))
    assert_close(out, np.array([6.0]))
    assert_close(out_of(backend, col(3, 6, 9), bias=np.zeros((3, 3))), np.full(3, 6.0))


def test_case_28_heads_of_a_group_are_neighbours(backend):
    v = np.array([10.0, 20]).reshape(2, 1, 1)
    out = pozor.attention(np.zeros((4, 1, 1)), np.zeros((2, 1, 1)), v, backend=backend)
    assert_close(out.ravel(), np.array([10.0, 10, 20, 20]))
