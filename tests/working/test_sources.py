"""Maps, recordings and layers: the working ends where the thing itself ends."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import pozor
from pozor import AttentionMap, DtypeError, MultiHeadAttention, OptionError, ShapeError, attention, by_hand
from pozor.recording import Recording
from pozor.recording import open as open_recording
from pozor.working.records import (
    Comparison,
    Mask,
    Output,
    Residual,
    Rotation,
    Softmax,
    Split,
    Start,
    WeightedSum,
)


def step(working, kind):
    return next(s for s in working.steps if isinstance(s, kind))


def layer(rng, *, kv_heads=4, dtype=np.float64, **options) -> MultiHeadAttention:
    """d_model 12, 4 heads of 3, values of 2."""
    draw = lambda *shape: rng.standard_normal(shape).astype(dtype)  # noqa: E731
    return MultiHeadAttention(
        draw(12, 12), draw(12, 3 * kv_heads), draw(12, 2 * kv_heads), draw(8, 12),
        num_heads=4, num_kv_heads=kv_heads, **options,
    )  # fmt: skip


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("options", [{}, {"causal": True, "residual": True}, {"scale": 0.3}])
def test_a_layer_is_worked_out_to_its_own_result(kv_heads, options):
    rng = np.random.default_rng(kv_heads)
    mha, x = layer(rng, kv_heads=kv_heads, **options), rng.standard_normal((5, 12))
    want = mha(x)
    for query in range(5):
        working = by_hand(mha, x, query=query, head=3)
        got = step(working, Residual).total if options.get("residual") else step(working, Output).result
        assert np.isfinite(got).all()
        assert np.abs(got - want[query]).max() <= 1e-12
    assert step(working, Split).kv_head == 3 * kv_heads // 4
    assert "W_O" in working.text


def test_a_layer_with_biases_and_rotary_positions():
    rng = np.random.default_rng(9)
    biases = {name: rng.standard_normal(n) for name, n in (("b_q", 8), ("b_k", 4), ("b_v", 4), ("b_o", 8))}
    w = [rng.standard_normal((8, n)) for n in (8, 4, 4)]
    mha = MultiHeadAttention(*w, rng.standard_normal((8, 8)), num_heads=4, num_kv_heads=2, rope="halves",
                             causal=True, residual=True, **biases)  # fmt: skip
    x = rng.standard_normal((2, 1, 6, 8))[0]
    working = by_hand(mha, x, query=4, head=2, lang="en", digits=6)
    assert np.abs(step(working, Residual).total - mha(x)[0, 4]).max() <= 1e-12
    assert np.array_equal(step(working, Rotation).after, mha.steps(x).q[0, 2, 4])
    assert "b_Q" in working.text
    assert "RoPE" in working.text


def test_a_layer_of_torch_tensors_is_worked_out_in_float64():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    weights = [torch.tensor(rng.standard_normal((4, 4)), dtype=torch.float32) for _ in range(4)]
    mha, x = (
        MultiHeadAttention(*weights, num_heads=2),
        torch.tensor(rng.standard_normal((3, 4)), dtype=torch.float32),
    )
    got = step(by_hand(mha, x, query=1), Output).result
    assert got.dtype == np.float64
    assert np.abs(got - mha(x)[1].numpy()).max() <= 1e-5


def test_a_map_is_worked_out_from_its_q_k_v():
    rng = np.random.default_rng(0)
    q = rng.standard_normal((4, 7, 6)).astype(ml_dtypes.bfloat16)
    k, v = (rng.standard_normal((2, 9, 6)).astype(ml_dtypes.bfloat16) for _ in range(2))
    options = {"causal": True, "q_offset": 2, "softcap": 3.0, "sink": np.ones(4, np.float32)}
    shown = AttentionMap(q, k, v, tokens=[f"t{i}" for i in range(9)], **options)
    double = {"q": q.astype(float), "k": k.astype(float), "v": v.astype(float)}
    want = attention(**double, **options, backend="reference")
    for head in range(4):
        working = by_hand(shown, query=3, head=head)
        assert np.abs(step(working, Softmax).probs - shown.row(3, head=head)).max() <= 1e-15
        assert np.abs(step(working, WeightedSum).out - want[head, 3]).max() <= 1e-14
        assert step(working, Comparison).holds
    assert step(by_hand(shown, query="t5", key="t2"), Start).query.index == 3


def test_a_map_without_v_ends_at_the_probabilities():
    q = np.eye(3, dtype=np.float32)
    working = by_hand(AttentionMap(q, q), query=0, lang="en")
    assert not [s for s in working.steps if isinstance(s, WeightedSum)]


def test_hidden_nan_stays_where_it_is():
    q, k, v = np.ones((1, 2)), np.array([[1.0, 0], [np.nan, 0]]), np.array([[1.0], [np.nan]])
    shown = AttentionMap(q, k, v, mask=np.array([[True, False]]), tokens=["a", "b"])
    working = by_hand(shown, query=0)
    assert step(working, WeightedSum).out.tolist() == [1]
    assert "NaN" in working.text


@pytest.fixture
def recorded(tmp_path):
    rng = np.random.default_rng(4)
    q = rng.standard_normal((4, 12, 8)).astype(ml_dtypes.bfloat16)
    k, v = (rng.standard_normal((2, 12, 8)).astype(ml_dtypes.bfloat16) for _ in range(2))
    w_o = rng.standard_normal((32, 6)).astype(ml_dtypes.bfloat16)
    tokens = ["<start>", *(f" w{i}" for i in range(10)), " w3"]
    Recording.from_arrays(tmp_path / "own.pozor", q, k, v, causal=True, w_o=w_o, tokens=tokens)
    return open_recording(tmp_path / "own.pozor"), (q, k, v, w_o)


@pytest.mark.parametrize("head", [0, 3])
def test_a_recording_goes_to_the_heads_out_and_its_part_of_w_o(recorded, head):
    rec, (q, k, v, w_o) = recorded
    working = by_hand(rec, head=head, query=8, lang="en", digits=6)
    out = attention(*(a.astype(float) for a in (q, k, v)), causal=True, backend="reference")[head, 8]
    assert np.abs(step(working, WeightedSum).out - out).max() <= 1e-14
    want = out @ w_o.astype(float)[8 * head : 8 * head + 8]
    assert np.abs(step(working, Output).result - want).max() <= 1e-13
    assert step(working, Comparison).holds
    start = step(working, Start)
    assert (start.source, start.head, start.kv_head, start.mask) == ("recording", head, head // 2, "causal")
    assert "Recording own, model own arrays: item 0, layer 0 (self), head" in " ".join(working.text.split())
    assert "This is the share of this head" in " ".join(working.text.split())


def test_a_map_taken_from_a_recording_knows_where_it_is_from(recorded):
    rec, _ = recorded
    assert step(by_hand(rec[0, 2], query=8), Start).head == 2
    open_map = rec[0, 2].variant("unmasked")
    working = by_hand(open_map, query=8, lang="en")
    assert step(working, Mask).visible.all()
    assert "Nothing is hidden here" in working.text


def test_words_of_a_recording_name_a_token_once(recorded):
    rec, _ = recorded
    assert step(by_hand(rec, query="w5"), Start).query.index == 6
    with pytest.raises(
        OptionError, match=r"query must name one token; 'w3' is at 4, 11\. Give the index instead\."
    ):
        by_hand(rec, query="w3")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: by_hand("papir", query=0),
            OptionError,
            r"source must be 'paper' or 'pub', .*; got 'papir'\.",
        ),
        (
            lambda: by_hand(3, query=0),
            DtypeError,
            r"source must be 'paper', .* a MultiHeadAttention; got int\.",
        ),
        (
            lambda: by_hand("pub", query=6),
            OptionError,
            r"query must be an index from 0 to 5; got 6\. There are 6",
        ),
        (
            lambda: by_hand("pub", query="kočka"),
            OptionError,
            r"query must be an index or a word .*got 'kočka'\. The",
        ),
        (lambda: by_hand("pub", query=1.5), DtypeError, r"query must be an index or a word; got float\."),
        (lambda: by_hand("pub", query=True), DtypeError, r"query must be an index or a word; got bool\."),
        (lambda: by_hand("pub", query=0, key=9), OptionError, r"key must be an index from 0 to 5; got 9"),
        (lambda: by_hand("pub", query=0, head=1), OptionError, r"head must be an index from 0 to 0; got 1\."),
        (lambda: by_hand("pub", query=0, head="a"), DtypeError, r"head must be an index; got str\."),
        (lambda: by_hand("pub", query=0, lang="de"), OptionError, r"lang must be cs or en; got 'de'\."),
        (lambda: by_hand("pub", np.ones(2), query=0), OptionError, r"x belongs to a MultiHeadAttention"),
    ],
)
def test_wrong_calls_are_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_wrong_maps_and_inputs_are_one_sentence(recorded):
    rec, _ = recorded
    with pytest.raises(OptionError, match="this map was made from probs: nothing to work out"):
        by_hand(AttentionMap.from_probs(np.eye(2)), query=0)
    batch = np.ones((2, 1, 3, 4))
    with pytest.raises(OptionError, match=r"source must be a map of one sequence; got a batch of 2\."):
        by_hand(AttentionMap(batch, batch), query=0)
    with pytest.raises(OptionError, match=r"layer must be one of the recorded self layers"):
        by_hand(rec, layer=7, query=0)
    mha = layer(np.random.default_rng(0))
    with pytest.raises(DtypeError, match=r"x must be given for a MultiHeadAttention"):
        by_hand(mha, query=0)
    with pytest.raises(DtypeError, match=r"x must be a NumPy array or a torch tensor; got list\."):
        by_hand(mha, [[1.0]], query=0)
    with pytest.raises(ShapeError, match=r"with d_model=12, one sequence; got \(2, 3, 12\)\."):
        by_hand(mha, np.ones((2, 3, 12)), query=0)
    with pytest.raises(ShapeError, match=r"x must hold one token or more; got \(0, 12\)\."):
        by_hand(mha, np.ones((0, 12)), query=0)


def test_tokens_that_recur_are_named_with_their_index(recorded):
    rec, _ = recorded
    for form in ("text", "markdown", "html", "latex"):
        assert re.search(r"4\D{1,60}w3", getattr(by_hand(rec, query=11, key=4, lang="en"), form))
    text = by_hand(rec, query=11, key=4, lang="en").text
    assert text.startswith("By hand: how much attention 11 “␣w3” pays to 4 “␣w3”")
    assert "q(11 ␣w3) · k(4 ␣w3)" in text
    assert "“␣w3”" not in text.replace("4 “␣w3”", "").replace("11 “␣w3”", "")


def test_every_head_of_the_shipped_recording_keeps_its_bound():
    rec = open_recording(Path(pozor.__file__).parent / "data" / "red-ball.pozor")
    for entry in rec.layers:
        for head in entry.heads:
            query = (7 * entry.layer + head) % len(rec.items[0].tokens)
            working = by_hand(rec, layer=entry.layer, head=head, query=query)
            found = step(working, Comparison)
            assert found.holds, (entry.layer, head)
            shown = rec[entry.layer, head]
            assert np.abs(step(working, Softmax).probs - shown.row(query)).max() <= 1e-14


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["q", "k", "v"])
def test_what_is_not_finite_is_worked_out_as_it_is(bad, where):
    rng = np.random.default_rng(0)
    held = {name: rng.standard_normal((1, 5, 4)).astype(np.float32) for name in "qkv"}
    held[where][0, 1, 2] = bad
    shown = AttentionMap(held["q"], held["k"], held["v"], causal=True)
    for query in range(5):
        for key in (None, 1):
            for digits in (3, None):
                working = by_hand(shown, query=query, key=key, digits=digits, lang="en")
                assert np.array_equal(step(working, Softmax).probs, shown.row(query), equal_nan=True) or (
                    np.abs(step(working, Softmax).probs - shown.row(query)).max() <= 1e-15
                )
                if np.isnan(shown.row(query)).any():
                    assert "the whole row with it" in " ".join(working.text.replace("\n| ", " ").split())
                    assert not step(working, Comparison).holds
                assert working.html
                assert working.latex
    # what the first row may not see cannot reach it
    if where != "q":
        assert np.isfinite(step(by_hand(shown, query=0), WeightedSum).out).all()


def test_a_map_without_keys_is_one_sentence():
    nothing = AttentionMap(np.ones((1, 2, 4)), np.ones((1, 0, 4)), q_offset=0)
    with pytest.raises(OptionError, match=r"source must have one key or more; this map has none\."):
        by_hand(nothing, query=0)
