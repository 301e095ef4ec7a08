"""Against torch's own scaled_dot_product_attention and flex_attention, where they mean the same."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

import pozor
from pozor import Causal, Documents, Window
from support import assert_close

GENERATOR = torch.Generator().manual_seed(0)


def drawn(*shape, dtype=torch.float64):
    return torch.randn(shape, generator=GENERATOR, dtype=dtype)


@pytest.fixture
def qkv():
    return drawn(2, 4, 33, 16), drawn(2, 2, 47, 16), drawn(2, 2, 47, 16)


def test_plain_and_grouped(backend, qkv):
    assert_close(pozor.attention(*qkv, backend=backend), sdpa(*qkv, enable_gqa=True), atol=1e-13)


def test_causal_is_top_left_in_torch(backend, qkv):
    got = pozor.attention(*qkv, causal=True, q_offset=0, backend=backend)
    assert_close(got, sdpa(*qkv, is_causal=True, enable_gqa=True), atol=1e-13)


def test_boolean_mask_with_empty_rows(backend, qkv):
    mask = torch.rand((2, 1, 33, 47), generator=GENERATOR) < 0.3
    mask[:, :, 5] = False
    got = pozor.attention(*qkv, mask=mask, backend=backend)
    assert_close(got, sdpa(*qkv, attn_mask=mask, enable_gqa=True), atol=1e-13)


def test_bias_and_scale(backend, qkv):
    bias = drawn(1, 4, 33, 47)
    got = pozor.attention(*qkv, bias=bias, scale=0.3, backend=backend)
    assert_close(got, sdpa(*qkv, attn_mask=bias, scale=0.3, enable_gqa=True), atol=1e-13)


def test_the_gradients_are_torchs(qkv):
    ours, theirs = ([x.clone().requires_grad_() for x in qkv] for _ in range(2))
    weights = drawn(2, 4, 33, 16)
    (pozor.attention(*ours, causal=True, q_offset=0, backend="torch") * weights).sum().backward()
    (sdpa(*theirs, is_causal=True, enable_gqa=True) * weights).sum().backward()
    for a, b in zip(ours, theirs):
        assert_close(a.grad, b.grad, atol=1e-12)


def test_torchs_fused_gradients_come_through(qkv):
    q, k, v = (drawn(1, 2, 64, 16).requires_grad_() for _ in range(3))
    fused = torch.autograd.grad(pozor.attention(q, k, v, causal=True).sum(), (q, k, v))
    rows = torch.autograd.grad(pozor.observe(q, k, v, causal=True).out.sum(), (q, k, v))
    for a, b in zip(fused, rows):
        assert_close(a, b, atol=1e-12)


FLEX = {
    "causal": (Causal(), lambda b, h, i, j: j <= i),
    "window": (Window(3, 0), lambda b, h, i, j: (j <= i) & (i - j <= 3)),
    "documents": (Documents(np.arange(32) // 10), lambda b, h, i, j: i // 10 == j // 10),
}


@pytest.mark.parametrize("name", FLEX)
@pytest.mark.filterwarnings("ignore")  # flex_attention warns that it is not compiled
def test_flex_attention(backend, name):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = (drawn(1, 2, 32, 16, dtype=torch.float32) for _ in range(3))
    mask, mask_mod = FLEX[name]
    blocks = create_block_mask(mask_mod, None, None, 32, 32, device="cpu", BLOCK_SIZE=16)
    out, lse = flex_attention(q, k, v, block_mask=blocks, return_lse=True)
    for given in (mask, mask_mod):
        seen = pozor.observe(q, k, v, mask=given, backend=backend)
        assert_close(seen.out, out, atol=1e-6)
        assert_close(as_float32(seen.lse), lse, atol=2e-6)


def as_float32(tensor):
    return tensor.to(torch.float32)
