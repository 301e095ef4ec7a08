"""An outside model in plain NumPy (grouped queries, RoPE): every intermediate must come out the same."""

import glassllm
import numpy as np
import pytest

import pozor


@pytest.fixture(scope="module")
def traced() -> tuple:
    model, tokenizer = glassllm.load_pretrained("en")
    trace = glassllm.Tracer()
    model.forward(tokenizer.encode("Alice looked at the rabbit and the rabbit looked at Alice."), trace=trace)
    return model, trace


@pytest.mark.parametrize("layer", range(4))
def test_heads_equal_its_own_softmax_and_mix(traced: tuple, layer: int) -> None:
    _, trace = traced
    q, k, v, probs, mixed = (
        trace.get(step, layer).value
        for step in ("attn.rope_q", "attn.rope_k", "attn.v", "attn.softmax", "attn.mix")
    )
    out = pozor.attention(q, k, v, causal=True)
    # its softmax runs in its own precision; 1e-6 is a few float32 roundings of numbers below 10
    np.testing.assert_allclose(out, mixed, atol=1e-6 * np.abs(mixed).max(), rtol=0)
    rows = pozor.AttentionMap(q, k, causal=True)
    for head in range(q.shape[0]):
        for query in range(q.shape[1]):
            np.testing.assert_allclose(rows.row(query, head=head), probs[head, query], atol=1e-6, rtol=0)


@pytest.mark.parametrize("layer", range(4))
def test_the_layer_from_its_weights(traced: tuple, layer: int) -> None:
    model, trace = traced
    weights = model.blocks[layer].attn
    ours = pozor.MultiHeadAttention(
        *(w.data.astype(np.float64) for w in (weights.W_Q, weights.W_K, weights.W_V, weights.W_O)),
        num_heads=4,
        num_kv_heads=2,
        causal=True,
        rope="pairs",
    )
    x = trace.get("norm.attn", layer).value.astype(np.float64)
    theirs = trace.get("attn.out", layer).value
    np.testing.assert_allclose(ours(x), theirs, atol=2e-6 * np.abs(theirs).max(), rtol=0)
