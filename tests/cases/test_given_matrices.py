"""CASE-53, 54, 56, 66, 67, 71: matrices that come from elsewhere, their axes, labels and reduction."""

import numpy as np
import pytest

from pozor import AttentionMap
from pozor.errors import DtypeError, OptionError, ShapeError


def said(error, probs, **options):
    with pytest.raises(error) as caught:
        AttentionMap.from_probs(probs, **options)
    return str(caught.value)


def uniform(*shape):
    return np.full(shape, 1 / shape[-1])


@pytest.mark.parametrize(
    ("attentions", "came"),
    [(None, "got None."), ((), "got an empty tuple."), ((None, None), "got a tuple of 2 None.")],
)
def test_case_53_no_weights_is_said(attentions, came):
    words = said(DtypeError, attentions, tokens=list("abcd"))
    assert came in words
    assert "Fused attention returns no weights" in words
    assert "pozor.record" in words
    assert "attn_implementation='eager'" in words


def test_case_54_heads_are_kept_apart():
    pattern = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    made = AttentionMap.from_probs(pattern)
    assert (made.num_heads, made.q_len, made.kv_len) == (2, 1, 2)
    assert made.row(0, head=0).tolist() == [1, 0]
    assert made.row(0, head=1).tolist() == [0, 1]
    # the same by masks, from q and k
    q, k = np.zeros((2, 1, 1)), np.zeros((2, 2, 1))
    made = AttentionMap(q, k, mask=pattern.astype(bool))
    assert [made.row(0, head=h).tolist() for h in range(2)] == [[1, 0], [0, 1]]
    assert [made.block(slice(0, 1), slice(0, 2), head=h).tolist() for h in range(2)] == [[[1, 0]], [[0, 1]]]


def test_case_56_targets_are_rows_and_sources_columns():
    weights = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    targets, sources = ["ona", "spí"], ["she", "is", "asleep"]
    made = AttentionMap.from_probs(weights, tokens=sources, query_tokens=targets)
    assert (made.q_len, made.kv_len) == (2, 3)
    assert (made.query_tokens, made.tokens) == (targets, sources)
    assert made.row(0).tolist() == [0.5, 0.25, 0.25]
    words = said(OptionError, weights.T, tokens=sources, query_tokens=targets)
    assert "each row of probs (a query over the keys) must sum to 1 or 0" in words
    assert "The axes are the other way round: pass probs.swapaxes(-1, -2)." in words
    square = np.array([[0.5, 0.0, 1.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0]])  # columns sum to 1, rows do not
    assert "The axes are the other way round" in said(OptionError, square)
    assert "query_tokens must be one for each of q_len=2; got 3." in said(
        ShapeError, weights, tokens=sources, query_tokens=sources
    )


def test_case_66_only_the_batch_axis_is_taken_away():
    layers = (uniform(2, 3, 4, 4), uniform(2, 3, 4, 4))
    assert "got a tuple of 2. Pass one layer: attentions[layer]." in said(
        DtypeError, layers, tokens=list("abcd")
    )
    words = said(OptionError, layers[0], tokens=list("abcd"))
    assert "holds a batch of 2" in words
    assert "Give batch=, from 0 to 1." in words
    made = AttentionMap.from_probs(layers[0], tokens=list("abcd"), batch=1)
    assert (made.batch, made.num_heads, made.q_len, made.kv_len) == (1, 3, 4, 4)
    for shape, tokens in (((1, 1, 1, 1), ["a"]), ((1, 1, 4, 4), list("abcd"))):
        made = AttentionMap.from_probs(uniform(*shape), tokens=tokens)
        assert (made.batch, made.num_heads, made.q_len, made.kv_len) == shape
    assert "got (2, 2, 3, 4, 4). Pick a layer: probs[layer]." in said(ShapeError, np.stack(layers))
    assert "batch must be from 0 to 1 for probs (2, 3, 4, 4); got 2." in said(OptionError, layers[0], batch=2)


def test_case_67_the_queries_are_the_last_tokens():
    tokens = list("abcde")
    made = AttentionMap.from_probs(uniform(2, 5), tokens=tokens)
    assert made.query_tokens == ["d", "e"]
    assert made.tokens == tokens
    q, k = np.zeros((2, 1)), np.zeros((5, 1))
    assert AttentionMap(q, k, tokens=tokens).query_tokens == ["d", "e"]
    assert AttentionMap(q, k, causal=True, q_offset=3, tokens=tokens).query_tokens == ["d", "e"]
    # a part of a prompt: positions 1 and 2
    assert AttentionMap(q, k, causal=True, q_offset=1, tokens=tokens).query_tokens == ["b", "c"]


def test_case_71_an_isolated_peak_survives():
    matrix = np.zeros((1024, 1024))
    matrix[517, 301] = 1.0
    made = AttentionMap.from_probs(matrix)
    small = made.pooled(16)  # 1024 cells on 64 pixels
    assert small.shape == (64, 64)
    assert small[32, 18] == 1.0  # 517 // 16, 301 // 16
    assert small.sum() == 1.0
    assert made.pooled(16, "mean")[32, 18] == 1 / 256
    assert made.zooms == 3
    far = made.tile(2, 0, 0)
    assert far.values[517 // 4, 301 // 4] == 1.0
    assert far.values.sum() == 1.0
    near = made.tile(0, 517 // 256, 301 // 256)
    assert near.values[517 % 256, 301 % 256] == 1.0
    assert near.values.sum() == 1.0
