"""Rows, columns, blocks, summaries, variants and labels of a map, and the words of every refusal."""

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import AttentionMap, Causal, Prefix, Want, attention, observe
from pozor.errors import DtypeError, OptionError, ShapeError


def vectors(seed=0, q_len=9, kv_len=9, heads=4, kv_heads=2, dim=6, batch=2):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((batch, heads, q_len, dim)),
        rng.standard_normal((batch, kv_heads, kv_len, dim)),
        rng.standard_normal((batch, kv_heads, kv_len, 3)),
    )


OPTIONS = [
    {},
    {"causal": True},
    {"causal": True, "window": (2, 0), "softcap": 1.5, "scale": 2.0},
    {"sink": np.array([0.0, 1.0, -1.0, 3.0]), "mask": np.tri(9, k=-1, dtype=bool)},
    {"bias": np.where(np.tri(9, k=2), np.arange(9.0), -np.inf), "q_offset": 3, "causal": True},
    {"bias": np.where(np.arange(9) % 4 == 1, -np.inf, 0.5), "mask": Causal() | Prefix(3)},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_rows_are_what_attention_weighs_v_with(options):
    q, k, v = vectors()
    made, out = AttentionMap(q, k, v, **options), attention(q, k, v, **options)
    for batch, head in np.ndindex(2, 4):
        rows = np.stack([made.row(i, head=head, batch=batch) for i in range(9)])
        assert rows.dtype == np.float64
        np.testing.assert_allclose(rows @ v[batch, head // 2], out[batch, head], rtol=0, atol=1e-12)
        block = made.block(slice(0, 9), slice(0, 9), head=head, batch=batch)
        np.testing.assert_allclose(block, rows, rtol=0, atol=1e-13)
        columns = np.stack([made.column(j, head=head, batch=batch) for j in range(9)], axis=1)
        np.testing.assert_allclose(columns, block, rtol=0, atol=1e-14)
        seen = made.visible(slice(0, 9), slice(0, 9), head=head, batch=batch)
        assert seen.dtype == bool
        assert (rows[~seen] == 0).all()


@pytest.mark.parametrize("options", OPTIONS)
def test_no_queries_or_no_keys_are_an_empty_block(options):
    q, k, _ = vectors()
    made = AttentionMap(q, k, **options)
    for queries, keys, shape in (
        (slice(4, 4), slice(0, 9), (0, 9)),
        (slice(0, 9), range(9, 9), (9, 0)),
        (slice(0, 0), slice(0, 0), (0, 0)),
    ):
        assert made.block(queries, keys, head=1).shape == shape
        assert made.visible(queries, keys, head=1).shape == shape


@pytest.mark.parametrize("options", OPTIONS)
def test_logits_and_lse_give_the_row(options):
    q, k, _ = vectors(1)
    made = AttentionMap(q, k, **options)
    lse = made.lse
    assert lse.shape == (2, 4, 9)
    np.testing.assert_allclose(lse, observe(q, k, None, **options).lse, rtol=0, atol=1e-13)
    for i in range(9):
        logits = made.logits(i, head=3, batch=1)
        hidden = ~made.visible(slice(i, i + 1), slice(0, 9), head=3, batch=1)[0]
        assert (logits[hidden] == -np.inf).all()
        if not hidden.all():
            np.testing.assert_allclose(
                np.exp(logits - lse[1, 3, i]), made.row(i, head=3, batch=1), rtol=0, atol=1e-13
            )


@pytest.mark.parametrize("options", OPTIONS)
def test_summaries_are_those_observed(options):
    q, k, _ = vectors(2)
    made = AttentionMap(q, k, **options)
    whole = observe(q, k, None, want=Want(entropy=True, received=True, pooled=4), **options)
    for batch, head in np.ndindex(2, 4):
        place = {"head": head, "batch": batch}
        np.testing.assert_allclose(made.entropy(**place), whole.entropy[batch, head], rtol=0, atol=1e-12)
        np.testing.assert_allclose(made.received(**place), whole.received[batch, head], rtol=0, atol=1e-12)
        for reduce in ("max", "mean", "share"):
            np.testing.assert_allclose(
                made.pooled(4, reduce, **place), getattr(whole.pooled, reduce)[batch, head], rtol=0, atol=1e-6
            )


@given(st.integers(1, 3000), st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_a_block_row_of_shares_adds_up_to_1(block, q_len, kv_len):
    rng = np.random.default_rng(3)
    made = AttentionMap(rng.standard_normal((q_len, 3)), rng.standard_normal((kv_len, 3)))
    shares = made.pooled(block, "share")
    assert shares.shape == (-(-q_len // block), -(-kv_len // block))
    if kv_len:
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-5)


def test_blocks_larger_than_what_is_held_at_once():
    q, k, _ = vectors(4, q_len=1300, kv_len=4500, heads=1, kv_heads=1, batch=1)
    made = AttentionMap(q, k, causal=True, q_offset=3200)
    rows = made.block(slice(0, 1300), slice(0, 4500))
    visible = made.visible(slice(0, 1300), slice(0, 4500))
    for block, corner in ((4096, slice(0, 4096)), (700, slice(0, 700)), (10_000, slice(0, 4500))):
        cut = rows[: min(block, 1300), corner]
        seen = visible[: min(block, 1300), corner]
        assert made.pooled(block, "max")[0, 0] == pytest.approx(cut.max(), abs=1e-6)
        assert made.pooled(block, "mean")[0, 0] == pytest.approx(cut.sum() / seen.sum(), abs=1e-8)
        assert made.pooled(block, "share")[0, 0] == pytest.approx(cut.sum() / len(cut), abs=1e-5)


def test_rows_in_float64_of_low_precision():
    q, k, _ = vectors(5)
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32):
        low = [x.astype(dtype) for x in (q, k)]
        wide = AttentionMap(*(x.astype(np.float64) for x in low), causal=True)
        made = AttentionMap(*low, causal=True)
        np.testing.assert_array_equal(made.row(5, head=2), wide.row(5, head=2))
        np.testing.assert_array_equal(made.logits(5, head=2), wide.logits(5, head=2))
        assert made.lse.dtype == np.float32


def test_ranges_are_slices():
    q, k, _ = vectors(6)
    made = AttentionMap(q, k)
    np.testing.assert_array_equal(
        made.block(range(2, 5), range(1, 9)), made.block(slice(2, 5), slice(1, None))
    )
    assert made.block(slice(4, 4), slice(0, 9)).shape == (0, 9)


def test_variants():
    q, k, _ = vectors(7)
    bias = np.random.default_rng(8).standard_normal((9, 9))
    recorded = AttentionMap(
        q, k, mask=np.eye(9, dtype=bool), bias=bias, scale=0.3, softcap=2.0, sink=np.ones(4),
        tokens=list("abcdefghi"), v_norm=np.ones((2, 4, 9)),
    )  # fmt: skip
    recorded.source = "here"
    assert recorded.variant("recorded") is recorded
    same = {"bias": bias, "scale": 0.3, "softcap": 2.0, "sink": np.ones(4)}
    for name, options in (("unmasked", {}), ("causal", {"causal": True})):
        made, want = recorded.variant(name), AttentionMap(q, k, **same, **options)
        np.testing.assert_array_equal(made.row(4, head=1), want.row(4, head=1))
        np.testing.assert_array_equal(made.lse, want.lse)
        assert (made.tokens, made.source, made.has_v_norm) == (recorded.tokens, "here", True)
        assert recorded.variant(name) is made
    np.testing.assert_allclose(
        recorded.row(4).sum(), np.exp(recorded.logits(4)[4]) / np.exp(recorded.lse[0, 0, 4])
    )


def test_the_causal_variant_needs_a_position():
    q, k, _ = vectors(9, q_len=2)
    made = AttentionMap(q, k)
    assert not made.causal_ok
    words = said(OptionError, lambda: made.variant("causal"))
    assert "variant 'causal' needs q_offset where q_len=2 and kv_len=9 differ." in words
    placed = AttentionMap(q, k, q_offset=7)
    assert placed.causal_ok
    assert placed.q_offset == 7
    assert (placed.variant("causal").row(0)[8:] == 0).all()
    assert made.variant("unmasked").causal_ok is False


def test_labels():
    q, k, _ = vectors(10, q_len=3)
    tokens = list("abcdefghi")
    assert AttentionMap(q, k).tokens is None
    assert AttentionMap(q, k).query_tokens is None
    assert AttentionMap(q, k, tokens=tuple(tokens)).query_tokens == ["g", "h", "i"]
    assert AttentionMap(q, k, tokens=tokens, q_offset=0).query_tokens == ["a", "b", "c"]
    assert AttentionMap(q, k, tokens=tokens, q_offset=-1).query_tokens is None
    assert AttentionMap(q, k, tokens=tokens, q_offset=7).query_tokens is None
    assert AttentionMap(q, k, tokens=tokens, query_tokens=["x", "y", "z"]).query_tokens == ["x", "y", "z"]
    assert repr(AttentionMap(q, k)) == "<AttentionMap: 4 heads, 3 queries × 9 keys>"


def test_a_map_keeps_no_graph():
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in vectors(11))
    made = AttentionMap(q * 2, k, v, bias=torch.zeros(9, 9, dtype=torch.float64, requires_grad=True))
    assert isinstance(made.problem.q, np.ndarray)
    plain = AttentionMap(q.detach() * 2, k.detach())
    np.testing.assert_allclose(made.entropy(), plain.entropy(), rtol=0, atol=1e-12)


def test_a_given_matrix_is_read_as_it_is():
    q, k, _ = vectors(12)
    scored = AttentionMap(q, k, causal=True)
    whole = (slice(0, 9), slice(0, 9))
    probs = np.stack([np.stack([scored.block(*whole, head=h, batch=b) for h in range(4)]) for b in range(2)])
    mask = np.tri(9, dtype=bool)
    for given_probs in (probs, torch.from_numpy(probs)):
        made = AttentionMap.from_probs(given_probs, mask=mask)
        place = {"head": 3, "batch": 1}
        np.testing.assert_array_equal(made.row(4, **place), probs[1, 3, 4])
        np.testing.assert_array_equal(made.column(4, **place), probs[1, 3, :, 4])
        np.testing.assert_array_equal(made.block(slice(0, 9), slice(0, 9), **place), probs[1, 3])
        np.testing.assert_allclose(made.entropy(**place), scored.entropy(**place), rtol=0, atol=1e-12)
        np.testing.assert_allclose(made.received(**place), scored.received(**place), rtol=0, atol=1e-12)
        for reduce in ("max", "mean", "share"):
            a, b = (m.tile(0, 0, 0, reduce, **place) for m in (made, scored))
            np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-7)
            np.testing.assert_array_equal(a.states, b.states)
        assert made.lse is None
        assert made.problem is None
    assert "logits need q and k" in said(OptionError, lambda: made.logits(0))
    assert "variant 'unmasked' needs q and k" in said(OptionError, lambda: made.variant("unmasked"))
    assert made.variant("recorded") is made


def test_a_given_matrix_in_low_precision_and_with_a_sink():
    probs = np.full((1, 300, 300), 1 / 300)
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32):
        assert AttentionMap.from_probs(probs.astype(dtype)).row(0).sum() == pytest.approx(1, abs=2e-2)
    made = AttentionMap.from_probs(probs * 0.7, sink=True)
    assert made.pooled(300, "share")[0, 0] == pytest.approx(0.7, abs=1e-7)
    made = AttentionMap.from_probs(np.where(np.arange(300)[:, None] == 5, np.nan, probs))
    assert np.isnan(made.row(5)).all()
    assert np.isnan(made.tile(1, 0, 0).values[2]).sum() == 150


def test_a_given_matrix_above_the_base():
    probs = np.zeros((3, 8300))
    probs[[0, 1, 2], [0, 8299, 4000]] = 1
    made = AttentionMap.from_probs(probs)
    assert made.zooms == 7
    tile = made.tile(6, 0, 0)
    assert np.argwhere(tile.values).tolist() == [[0, 0], [0, 62], [0, 129]]
    assert made.tile(6, 0, 0, "share").values[0, 62] == pytest.approx(1 / 3)


def said(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_wrong_arguments_are_one_sentence():
    q, k, _ = vectors(13)
    ones = np.ones((2, 4, 9))
    cases = [
        (
            ShapeError,
            {"lse": np.ones((4, 8))},
            "(batch, num_heads, tokens) = (2, 4, 9); got (4, 8).",
        ),
        (DtypeError, {"lse": np.ones((2, 4, 9), int)}, "lse must be floating point; got int64."),
        (ShapeError, {"v_norm": ones[:, :2]}, "v_norm must be (batch, num_heads, tokens)"),
        (ShapeError, {"tokens": ["a"]}, "tokens must be one for each of kv_len=9; got 1."),
        (ShapeError, {"query_tokens": ["a"]}, "query_tokens must be one for each of q_len=9; got 1."),
        (
            DtypeError,
            {"tokens": "abcdefghi"},
            "must be a list of strings, one a token; got one string.",
        ),
        (DtypeError, {"tokens": 9}, "tokens must be a list of strings, one a token; got int."),
        (DtypeError, {"tokens": list(range(9))}, "tokens must be strings; got int."),
        (ShapeError, {"mask": np.ones((8, 9), bool)}, "mask must broadcast to"),
        (DtypeError, {"mask": np.ones((9, 9))}, "mask must be boolean (True = may attend); got float64."),
    ]
    for error, options, words in cases:
        assert words in said(error, lambda options=options: AttentionMap(q, k, **options))


def test_wrong_questions_are_one_sentence():
    made, empty = AttentionMap(*vectors(14)[:2]), AttentionMap(np.ones((0, 2)), np.ones((1, 2)))
    cases = [
        (lambda: made.row(9), "query must be from 0 to 8; got 9."),
        (lambda: made.row(-1), "query must be from 0 to 8; got -1."),
        (lambda: made.row(1.0), "query must be from 0 to 8; got 1.0."),
        (lambda: made.column(9), "key must be from 0 to 8; got 9."),
        (lambda: made.row(0, head=4), "head must be from 0 to 3; got 4."),
        (lambda: made.row(0, batch=2), "batch must be from 0 to 1; got 2."),
        (lambda: made.tile(1, 0, 0), "zoom must be from 0 to 0; got 1."),
        (lambda: made.tile(0, 1, 0), "row must be from 0 to 0; got 1."),
        (lambda: made.tile(0, 0, 1), "column must be from 0 to 0; got 1."),
        (lambda: made.tile(0, 0, 0, "sum"), "reduce must be max, mean or share; got 'sum'."),
        (lambda: made.tile(0, 0, 0, "max", "logit"), "value must be prob or value_norm; got 'logit'."),
        (lambda: made.tile(0, 0, 0, "max", "value_norm"), "value 'value_norm' needs v_norm"),
        (lambda: made.pooled(0), "block must be a whole number of tokens from 1; got 0."),
        (lambda: made.block(slice(0, 9, 2), slice(0, 9)), "queries must be a slice or range of step 1"),
        (lambda: made.block(slice(0, 9), 3), "keys must be a slice or range of step 1 within 0 … 9; got 3."),
        (lambda: made.block(slice(0.5, 9), slice(0, 9)), "got slice(0.5, 9, None)."),
        (lambda: made.block(range(0, 10), slice(0, 9)), "got range(0, 10)."),
        (lambda: made.variant("bare"), "variant must be recorded, unmasked or causal; got 'bare'."),
        (lambda: empty.row(0), "query must be one of the map's, which has none; got 0."),
    ]
    for call, words in cases:
        assert words in said(OptionError, call)


def test_wrong_matrices_are_one_sentence():
    half = np.full((2, 2), 0.5)
    cases = [
        (ShapeError, (np.ones(3),), {}, "probs must be (q_len, kv_len), (num_heads, q_len, kv_len)"),
        (ShapeError, (np.ones((0, 2, 2)),), {}, "num_heads must be 1 or more; got 0 in probs (0, 2, 2)."),
        (DtypeError, (np.ones((2, 2), int),), {}, "float16 or bfloat16; got int64."),
        (DtypeError, (np.eye(2, dtype=np.longdouble),), {}, "probs must be float64, float32, float16 or"),
        (DtypeError, ("half",), {}, "probs must be a NumPy array or a torch tensor; got str."),
        (
            OptionError,
            (half * 0.7,),
            {},
            "got 0.7 in row 0 of head 0 in probs (2, 2).",
        ),
        (OptionError, (half * 2,), {"sink": True}, "must sum to 1 or 0; got 2 in row 0"),
        (
            OptionError,
            (half - [[1, -1]],),
            {},
            "must be 0 or more; got -0.5. Pass what the softmax",
        ),
        (DtypeError, (half,), {"mask": half}, "mask must be boolean (True = may attend); got float64."),
        (ShapeError, (half,), {"mask": np.ones((3, 2), bool)}, "mask must broadcast to"),
        (ShapeError, (half,), {"tokens": ["a"]}, "tokens must be one for each of kv_len=2; got 1."),
    ]
    for error, arguments, options, words in cases:
        assert words in said(error, lambda a=arguments, o=options: AttentionMap.from_probs(*a, **o))
