"""CASE-35 … 39: rolling caches, ALiBi slopes and sign, rotary layouts and offsets."""

import math

import numpy as np
import pytest

from pozor import KVCache, attention
from pozor.positions import alibi_slopes, rope


def test_case_35_a_rolling_cache_at_the_edge_of_its_window():
    """Window of 3 keys: nothing leaves while the total is at most 3, then exactly the last 3 stay."""
    cache = KVCache(window=(2, 0))
    column = np.array([[10.0], [11.0]])
    cache.append(0 * column, column)
    kept, outs = [], []
    for token in (12.0, 13.0, 14.0):
        zero = np.zeros((1, 1))
        k, v = cache.append(zero, np.array([[token]]))
        outs.append(attention(zero, k, v, causal=True, window=cache.window, q_offset=cache.q_offset).item())
        kept.append(cache.v.ravel().tolist())
    assert kept == [[10, 11, 12], [11, 12, 13], [12, 13, 14]]
    np.testing.assert_allclose(outs, [11, 12, 13], rtol=0, atol=1e-12)  # means of three neighbours


def test_case_36_slopes_of_6_and_12_heads():
    # 4 heads: 2^-2, 2^-4, 2^-6, 2^-8; then every other slope of 8 heads: 2^-1, 2^-3
    assert np.log2(alibi_slopes(6)).tolist() == [-2, -4, -6, -8, -1, -3]
    # 8 heads: 2^-1 … 2^-8; then every other slope of 16: 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5
    want = [-1, -2, -3, -4, -5, -6, -7, -8, -0.5, -1.5, -2.5, -3.5]
    np.testing.assert_allclose(np.log2(alibi_slopes(12)), want, rtol=0, atol=1e-12)
    # one geometric series for every number of heads is another convention, and wrong here
    assert abs(alibi_slopes(6)[0] - 2 ** (-8 / 6)) > 0.1


def test_case_37_the_bias_falls_with_the_distance():
    # slope ln 2, query 2: bias ln 2 · (j − 2) gives weights 1/4 : 1/2 : 1 = 1/7, 2/7, 4/7
    bias = math.log(2) * (np.arange(3.0) - 2)[None, :]
    zero, v = np.zeros((3, 1)), np.array([[0.0], [0.0], [7.0]])
    out = attention(zero[:1], zero, v, bias=bias)
    assert out.item() == pytest.approx(4, abs=1e-12)
    assert attention(zero[:1], zero, v, bias=-bias).item() == pytest.approx(1, abs=1e-12)  # the reversed sign
    assert (alibi_slopes(8) * (0 - 2) < 0).all()  # slope · (key − query) of an earlier key


def test_case_38_pairs_and_halves():
    x, angles = np.array([[1.0, 2.0, 3.0, 4.0]]), [math.pi / 2, 0.0]
    # a quarter turn takes (a, b) to (-b, a)
    pairs = rope(x, layout="pairs", offset=1, frequencies=angles)
    halves = rope(x, layout="halves", offset=1, frequencies=angles)
    np.testing.assert_allclose(pairs, [[-2, 1, 3, 4]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(halves, [[-3, 2, 1, 4]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_case_39_the_offset_counts_every_time(layout):
    x = np.array([[1.0, 0.0]])
    for offset, want in ((0, [1, 0]), (1, [0, 1]), (0, [1, 0])):
        out = rope(x, layout=layout, offset=offset, frequencies=[math.pi / 2])
        np.testing.assert_allclose(out, [want], rtol=0, atol=1e-12)
