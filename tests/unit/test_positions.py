"""rope, alibi_slopes and sinusoidal: their formulas, laws and words."""

import math

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.positions import alibi_slopes, rope, sinusoidal


def by_loops(x, layout, offset, base):
    """The rotation of every pair, one number at a time."""
    tokens, dim = x.shape
    out = np.empty_like(x)
    for t in range(tokens):
        for i in range(dim // 2):
            a, b = (2 * i, 2 * i + 1) if layout == "pairs" else (i, i + dim // 2)
            angle = (t + offset) * base ** (-2 * i / dim)
            out[t, a] = x[t, a] * math.cos(angle) - x[t, b] * math.sin(angle)
            out[t, b] = x[t, a] * math.sin(angle) + x[t, b] * math.cos(angle)
    return out


@pytest.mark.parametrize("layout", ["pairs", "halves"])
@pytest.mark.parametrize("dim", [2, 6, 8])
def test_rope_is_its_formula(layout, dim):
    x = np.random.default_rng(1).standard_normal((5, dim))
    np.testing.assert_allclose(
        rope(x, layout=layout, offset=3, base=500.0), by_loops(x, layout, 3, 500.0), rtol=0, atol=1e-14
    )


@given(
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(-500, 5000),
    st.sampled_from(["pairs", "halves"]),
)
@settings(max_examples=40, deadline=None)
def test_dot_products_see_the_distance_alone(i, j, shift, layout):
    q, k = np.random.default_rng(2).standard_normal((2, 1, 8))
    here = (rope(q, layout=layout, offset=i) * rope(k, layout=layout, offset=j)).sum()
    there = (rope(q, layout=layout, offset=i + shift) * rope(k, layout=layout, offset=j + shift)).sum()
    assert abs(here - there) <= 1e-10


def test_layouts_agree_after_permuting_channels():
    x = np.random.default_rng(3).standard_normal((2, 3, 4))
    order = [0, 2, 1, 3]
    np.testing.assert_array_equal(
        rope(x[..., order], layout="pairs", offset=2), rope(x, layout="halves", offset=2)[..., order]
    )


def test_offset_per_batch_member():
    x = np.random.default_rng(4).standard_normal((2, 3, 5, 4))
    both = rope(x, layout="halves", offset=np.array([0, 7]))
    for member, offset in enumerate((0, 7)):
        np.testing.assert_array_equal(both[member], rope(x[member], layout="halves", offset=offset))


def test_the_channels_after_rotary_dim_pass_through():
    x = np.random.default_rng(5).standard_normal((3, 8))
    out = rope(x, layout="pairs", rotary_dim=4, offset=1)
    np.testing.assert_array_equal(out[:, 4:], x[:, 4:])
    np.testing.assert_array_equal(out[:, :4], rope(x[:, :4].copy(), layout="pairs", offset=1))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_dtype_and_kind_are_kept(dtype):
    plain = np.random.default_rng(6).standard_normal((2, 3, 6))
    bits = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}[dtype]
    array = plain.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    tensor = torch.tensor(plain, dtype=getattr(torch, dtype))
    want = rope(array.astype(np.float64), layout="halves", offset=5)
    bound = 8 * 2.0**-bits
    out = rope(array, layout="halves", offset=5)
    assert out.dtype == array.dtype
    assert np.abs(out.astype(np.float64) - want).max() <= bound
    out = rope(tensor, layout="halves", offset=5)
    assert isinstance(out, torch.Tensor)
    assert out.dtype == tensor.dtype
    assert np.abs(out.double().numpy() - want).max() <= bound


def test_rope_leaves_its_input_and_read_only_arrays_alone():
    x = np.ones((2, 4))
    x.flags.writeable = False
    rope(x, layout="pairs", offset=1)
    np.testing.assert_array_equal(x, np.ones((2, 4)))


def test_rope_takes_no_tokens():
    assert rope(np.ones((2, 0, 4)), layout="halves").shape == (2, 0, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"x": np.ones((2, 4)), "layout": "neox"}, OptionError, "layout must be 'pairs'"),
        (
            {"x": np.ones((2, 3)), "layout": "pairs"},
            OptionError,
            "rotary_dim must be even and at most head_dim; got 3",
        ),
        ({"x": np.ones((2, 4)), "layout": "pairs", "rotary_dim": 6}, OptionError, "got 6 and head_dim 4"),
        ({"x": np.ones((2, 4)), "layout": "pairs", "frequencies": [1.0]}, ShapeError, "each of the 2 pairs"),
        (
            {"x": np.ones((2, 4)), "layout": "pairs", "base": -1.0},
            OptionError,
            "base must be a finite number above 0",
        ),
        (
            {"x": np.ones((2, 4)), "layout": "pairs", "offset": 0.5},
            OptionError,
            "offset must be a whole number",
        ),
        (
            {"x": np.ones((2, 4)), "layout": "pairs", "offset": [1, 2]},
            ShapeError,
            "needs x (batch, heads, tokens",
        ),
        ({"x": np.ones(4), "layout": "pairs"}, ShapeError, "x must be (..., tokens, head_dim); got (4,)"),
        ({"x": np.ones((2, 4), int), "layout": "pairs"}, DtypeError, "float16 or bfloat16; got int64"),
        ({"x": np.ones((2, 4), np.longdouble), "layout": "pairs"}, DtypeError, "float16 or bfloat16; got"),
        (
            {"x": np.ones((2, 2)), "layout": "pairs", "frequencies": ["a"]},
            DtypeError,
            "frequencies must be numbers, one a pair of channels; got ['a']",
        ),
        (
            {"x": np.ones((2, 2)), "layout": "pairs", "frequencies": [np.nan]},
            OptionError,
            "frequencies must be finite, in radians per token; got [nan]",
        ),
        (
            {"x": np.ones((2, 4)), "layout": "pairs", "offset": [[1], [2, 3]]},
            OptionError,
            "offset must be a whole number",
        ),
        ({"x": [[1.0, 2.0]], "layout": "pairs"}, DtypeError, "got list"),
    ],
)
def test_rope_says_what_is_wrong(arguments, error, words):
    with pytest.raises(error) as caught:
        rope(**arguments)
    assert words in str(caught.value)


def test_sinusoidal_is_its_formula():
    table = sinusoidal(4, 6, offset=2, base=100.0)
    for t in range(4):
        for i in range(3):
            angle = (t + 2) / 100 ** (2 * i / 6)
            assert table[t, 2 * i] == pytest.approx(math.sin(angle), abs=1e-14)
            assert table[t, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-14)


def test_whole_numbers_may_be_numpys():
    x = np.random.default_rng(0).normal(size=(3, 4))
    assert np.array_equal(
        rope(x, layout="pairs", rotary_dim=np.int64(2), base=np.float32(100)),
        rope(x, layout="pairs", rotary_dim=2, base=100),
    )
    assert np.array_equal(alibi_slopes(np.int64(6)), alibi_slopes(6))
    assert np.array_equal(sinusoidal(np.int32(2), np.int64(4)), sinusoidal(2, 4))


def test_sinusoidal_with_an_odd_last_channel():
    np.testing.assert_allclose(sinusoidal(3, 3)[:, 2], np.sin(np.arange(3) / 10_000 ** (2 / 3)), atol=1e-15)
    assert sinusoidal(0, 5).shape == (0, 5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1, 4), "tokens must be a whole number from 0; got -1"),
        ((3, 0), "d_model must be a whole number from 1; got 0"),
        ((2.0, 4), "tokens must be a whole number from 0; got 2.0"),
    ],
)
def test_sinusoidal_says_what_is_wrong(arguments, words):
    with pytest.raises(OptionError) as caught:
        sinusoidal(*arguments)
    assert words in str(caught.value)


@given(st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_alibi_slopes_lie_between_0_and_1_and_differ(num_heads):
    slopes = alibi_slopes(num_heads)
    assert slopes.shape == (num_heads,)
    assert ((slopes > 0) & (slopes < 1)).all()
    assert len(set(slopes.tolist())) == num_heads


@pytest.mark.parametrize("wrong", [0, -2, 2.0, True, None])
def test_alibi_slopes_say_what_is_wrong(wrong):
    with pytest.raises(OptionError) as caught:
        alibi_slopes(wrong)
    assert f"num_heads must be a whole number from 1; got {wrong!r}" in str(caught.value)
