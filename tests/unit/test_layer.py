"""MultiHeadAttention and KVCache: against plain products, against torch, piece by piece, and their words."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import KVCache, MultiHeadAttention, Window, attention, rope
from pozor.errors import DtypeError, OptionError, ShapeError

SIZES = {"d_model": 12, "num_heads": 4, "num_kv_heads": 2, "head_dim": 6, "v_head_dim": 5, "d_out": 12}


def arrays(seed=0, d_model=12, num_heads=4, num_kv_heads=2, head_dim=6, v_head_dim=5, d_out=12):
    """Weights (in, out) and biases, float64."""
    rng = np.random.default_rng(seed)
    widths = (num_heads * head_dim, num_kv_heads * head_dim, num_kv_heads * v_head_dim)
    weights = {f"w_{n}": rng.standard_normal((d_model, w)) / 3 for n, w in zip("qkv", widths)}
    weights["w_o"] = rng.standard_normal((num_heads * v_head_dim, d_out)) / 3
    biases = {f"b_{n}": rng.standard_normal(w) for n, w in zip("qkvo", (*widths, d_out))}
    return weights, biases


def layer(seed=0, biases=True, **options):
    weights, added = arrays(seed)
    return MultiHeadAttention(
        **weights, **(added if biases else {}), **({"num_heads": 4, "num_kv_heads": 2} | options)
    )


def by_loops(made, x, visible):
    """The layer for one sequence, head by head, in plain NumPy."""
    q, k, v = x @ made.w_q + made.b_q, x @ made.w_k + made.b_k, x @ made.w_v + made.b_v
    heads = []
    for h in range(made.num_heads):
        g = h // (made.num_heads // made.num_kv_heads)
        qh = q[:, 6 * h : 6 * h + 6]
        kh, vh = k[:, 6 * g : 6 * g + 6], v[:, 5 * g : 5 * g + 5]
        scores = np.where(visible, qh @ kh.T / np.sqrt(6), -np.inf)
        exps = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(exps / exps.sum(axis=1, keepdims=True) @ vh)
    return np.concatenate(heads, axis=1) @ made.w_o + made.b_o


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("residual", [False, True])
def test_a_layer_is_its_formula(causal, residual):
    made, x = layer(causal=causal, residual=residual), np.random.default_rng(1).standard_normal((2, 7, 12))
    visible = np.tri(7, dtype=bool) if causal else np.ones((7, 7), dtype=bool)
    out = made(x)
    for member in range(2):
        want = by_loops(made, x[member], visible) + (x[member] if residual else 0)
        np.testing.assert_allclose(out[member], want, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(made(x[0]), out[0])


def test_a_layer_is_that_of_torch():
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(theirs.in_proj_bias)
    w_q, w_k, w_v = (w.T.detach() for w in theirs.in_proj_weight.chunk(3))
    b_q, b_k, b_v = theirs.in_proj_bias.detach().chunk(3)
    ours = MultiHeadAttention(
        w_q, w_k, w_v, theirs.out_proj.weight.T.detach(), num_heads=3, b_q=b_q, b_k=b_k, b_v=b_v,
        b_o=theirs.out_proj.bias.detach(), causal=True,
    )  # fmt: skip
    x = torch.randn(2, 5, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)  # True = hidden there
    want = theirs(x, x, x, attn_mask=hidden, need_weights=False)[0]
    got = ours(x)
    assert isinstance(got, torch.Tensor)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)


def test_steps_are_the_products_between():
    made, x = layer(causal=True, rope="pairs"), np.random.default_rng(2).standard_normal((5, 12))
    steps = made.steps(x)
    np.testing.assert_array_equal(steps.xq, x @ made.w_q + made.b_q)
    split = steps.xq.reshape(5, 4, 6).swapaxes(0, 1)
    np.testing.assert_array_equal(steps.q, rope(split, layout="pairs"))
    np.testing.assert_array_equal(steps.out, attention(steps.q, steps.k, steps.v, causal=True))
    np.testing.assert_array_equal(steps.joined[:, 5:10], steps.out[1])
    np.testing.assert_array_equal(steps.y, made(x))
    assert steps.q_offset == 0


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_lower_precision_stays_itself(dtype):
    weights, biases = arrays(4)
    x = np.random.default_rng(4).standard_normal((6, 12))
    want = MultiHeadAttention(**weights, **biases, num_heads=4, num_kv_heads=2)(x)
    low = {n: a.astype(dtype) for n, a in (weights | biases).items()}
    out = MultiHeadAttention(**low, num_heads=4, num_kv_heads=2)(x.astype(dtype))
    assert out.dtype == dtype
    bound = {"float32": 1e-5, "float16": 3e-2}[dtype]
    assert np.abs(out - want).max() <= bound


def test_a_mask_is_anded():
    made, x = layer(causal=True), np.random.default_rng(5).standard_normal((6, 12))
    visible = np.tri(6, dtype=bool) & ~np.tri(6, k=-3, dtype=bool)
    np.testing.assert_allclose(made(x, mask=Window(2, 0)), by_loops(made, x, visible), rtol=0, atol=1e-12)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.sampled_from([None, "pairs", "halves"]))
@settings(max_examples=30, deadline=None)
def test_decoding_piece_by_piece_is_the_full_pass(pieces, turned):
    made = layer(causal=True, rope=turned, residual=True)
    x = np.random.default_rng(6).standard_normal((2, sum(pieces), 12))
    cache, parts, start = KVCache(), [], 0
    for piece in pieces:
        parts.append(made(x[:, start : start + piece], cache=cache))
        start += piece
        assert cache.length == start
        np.testing.assert_array_equal(cache.positions, np.arange(start))
    np.testing.assert_allclose(np.concatenate(parts, axis=1), made(x), rtol=0, atol=1e-12)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_rolling_cache_is_the_windowed_pass(pieces, left, turned):
    made = layer(causal=True, rope="halves" if turned else None)
    tokens = sum(pieces)
    x = np.random.default_rng(7).standard_normal((tokens, 12))
    cache, parts, start = KVCache(window=(left, 0)), [], 0
    for piece in pieces:
        parts.append(made(x[start : start + piece], cache=cache))
        start += piece
        kept = min(start, left + 1)
        assert cache.k.shape == (2, kept, 6)
        assert cache.v.shape == (2, kept, 5)
        np.testing.assert_array_equal(cache.positions, np.arange(start - kept, start))
    want = made(x, mask=Window(left, 0))
    np.testing.assert_allclose(np.concatenate(parts), want, rtol=0, atol=1e-12)


def test_decoding_in_torch():
    weights, _ = arrays(8)
    made = MultiHeadAttention(
        **{n: torch.from_numpy(w) for n, w in weights.items()}, num_heads=4, num_kv_heads=2, causal=True,
        rope={"layout": "halves", "base": 100_000.0},
    )  # fmt: skip
    x = torch.randn(1, 6, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    cache = KVCache()
    got = torch.cat(
        [made(x[:, :4], cache=cache), made(x[:, 4:5], cache=cache), made(x[:, 5:], cache=cache)], 1
    )
    torch.testing.assert_close(got, made(x), rtol=0, atol=1e-12)


def test_gradients_reach_the_weights():
    weights, _ = arrays(9)
    made = MultiHeadAttention(
        **{n: torch.from_numpy(w).requires_grad_() for n, w in weights.items()}, num_heads=4, num_kv_heads=2,
        causal=True, rope="pairs",
    )  # fmt: skip
    made(torch.randn(3, 12, dtype=torch.float64)).sum().backward()
    for name in ("w_q", "w_k", "w_v", "w_o"):
        gradient = getattr(made, name).grad
        assert torch.isfinite(gradient).all()
        assert gradient.abs().max() > 0


def said(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"num_heads": 0}, OptionError, "num_heads must be a whole number from 1; got 0."),
        ({"num_heads": 3}, ShapeError, "num_heads must be a multiple of num_kv_heads; got 3 and 2."),
        ({"num_heads": 5, "num_kv_heads": 1}, ShapeError, "axis 1 of w_q must be a multiple of num_heads=5"),
        ({"w_q": np.ones(3)}, ShapeError, "w_q must be (in, out); got (3,)."),
        (
            {"w_k": np.ones((12, 10))},
            ShapeError,
            "must be 12 (num_kv_heads · head_dim = 2 · 6)",
        ),
        ({"w_v": np.ones((11, 10))}, ShapeError, "axis 0 of w_v must be 12 (d_model, as w_q has it)"),
        ({"w_o": np.ones((12, 20))}, ShapeError, "Weights are (in, out), for x @ w."),
        ({"w_o": np.ones((20, 7)), "b_o": None, "residual": True}, ShapeError, "residual=True needs w_o"),
        ({"b_k": np.ones(5)}, ShapeError, "b_k must be (12,) to fit w_k; got (5,)."),
        ({"b_k": np.ones((1, 12))}, ShapeError, "b_k must be (out,); got (1, 12)."),
        ({"w_q": [[1.0]]}, DtypeError, "w_q must be a floating NumPy array or torch tensor; got list."),
        ({"w_q": np.ones((12, 24), int)}, DtypeError, "got int64"),
        ({"w_v": np.ones((12, 10), np.float32)}, DtypeError, "w_v must share kind and dtype with w_q"),
        ({"w_v": torch.ones(12, 10)}, DtypeError, "got torch float32 and NumPy float64."),
        ({"rope": "neox"}, OptionError, "rope must be 'pairs', 'halves', or a mapping of layout"),
        ({"rope": {"layout": "pairs", "theta": 1}}, OptionError, "got {'layout': 'pairs', 'theta': 1}."),
        ({"rope": True}, OptionError, "got True."),
        ({"causal": "yes"}, DtypeError, "causal must be True or False; got 'yes'."),
        ({"residual": 1}, DtypeError, "residual must be True or False; got 1."),
        ({"scale": "big"}, DtypeError, "scale must be a number; got str."),
    ],
)
def test_wrong_weights_are_one_sentence(changed, error, words):
    weights, biases = arrays()
    given_now = weights | biases | {"num_heads": 4, "num_kv_heads": 2} | changed
    assert words in said(error, lambda: MultiHeadAttention(**given_now))


def test_wrong_calls_are_one_sentence():
    made, x = layer(), np.ones((3, 12))
    causal = layer(causal=True)
    cases = (
        (ShapeError, lambda: made(np.ones((3, 11))), "with d_model=12; got (3, 11)."),
        (ShapeError, lambda: made(np.ones(12)), "x must be (tokens, d_model) or (batch, tokens, d_model)"),
        (DtypeError, lambda: made(np.ones((3, 12), np.float32)), "x must share kind and dtype with w_q"),
        (
            DtypeError,
            lambda: made([[1.0] * 12]),
            "x must be a floating NumPy array or torch",
        ),
        (DtypeError, lambda: causal(x, cache={}), "cache must be a KVCache; got dict."),
        (OptionError, lambda: made(x, cache=KVCache()), "cache needs causal=True, a window or a mask"),
    )
    for error, call, words in cases:
        assert words in said(error, call)


def test_a_mask_over_keys_let_go_is_refused():
    made, cache = layer(causal=True), KVCache(window=(1, 0))
    made(np.ones((4, 12)), cache=cache)
    assert cache.dropped == 2
    mask = np.ones((1, 2), dtype=bool)
    assert "has let go of 2 keys" in said(OptionError, lambda: made(np.ones((1, 12)), mask=mask, cache=cache))


@pytest.mark.parametrize("window", [3, (2,), (2, 1), (-1, 0), (2.0, 0), (True, 0)])
def test_a_cache_refuses_other_windows(window):
    assert "window of a cache must be (left, 0)" in said(OptionError, lambda: KVCache(window=window))


def test_a_cache_refuses_what_does_not_fit():
    cache = KVCache(window=(None, 0))
    k, v = np.ones((2, 3, 4)), np.ones((2, 3, 5))
    cache.append(k, v)
    cases = (
        (ShapeError, (k, v[:, :2]), "share all axes but the last; got (2, 3, 4) and (2, 2, 5)."),
        (ShapeError, (k[0, 0], v[0, 0]), "k and v must be (…, num_kv_heads, tokens, head_dim)"),
        (ShapeError, (k[:1], v[:1]), "k must fit what the cache keeps in all axes but tokens"),
        (ShapeError, (k, v[..., :4]), "v must fit what the cache keeps"),
        (DtypeError, (k.astype(np.float32), v), "k must be the kind and dtype of what the cache keeps"),
        (DtypeError, (k.tolist(), v), "k must be a floating NumPy array or torch tensor; got list."),
    )
    for error, pair, words in cases:
        assert words in said(error, lambda pair=pair: cache.append(*pair))
    assert cache.length == 3
