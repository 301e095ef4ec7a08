"""The core cases about gradients, through the torch backend: empty rows give 0, never NaN."""

import math

import numpy as np
import pytest
import torch

import pozor
from support import assert_close

LN3 = math.log(3)


def leaf(*values, shape=None):
    tensor = torch.tensor(values, dtype=torch.float64).reshape(shape or (-1, 1))
    return tensor.requires_grad_()


@pytest.fixture(params=["auto", "torch"])
def backend(request):
    return request.param


def test_case_02_gradient_of_an_empty_row(backend):
    q, k, v = leaf(1, 1), leaf(0, LN3), leaf(0, 4)
    mask = torch.tensor([[True, True], [False, False]])
    out = pozor.attention(q, k, v, scale=1, mask=mask, backend=backend)
    out.sum().backward()
    assert_close(out[:, 0], np.array([3.0, 0]))
    # row 0: p = (1/4, 3/4), dS = p · (v - out) = (-3/4, 3/4)
    assert_close(q.grad[:, 0], np.array([0.75 * LN3, 0]))
    assert_close(k.grad[:, 0], np.array([-0.75, 0.75]))
    assert_close(v.grad[:, 0], np.array([0.25, 0.75]))


@pytest.mark.parametrize("causal", [False, True])
def test_case_20_gradients_without_keys(backend, causal):
    q, k, v = (torch.ones(2, 3, n, e, requires_grad=True) for n, e in ((4, 8), (0, 8), (0, 5)))
    pozor.attention(q, k, v, causal=causal, q_offset=0, backend=backend).sum().backward()
    assert_close(q.grad, np.zeros((2, 3, 4, 8), np.float32))
    assert k.grad.shape == (2, 3, 0, 8)
    assert v.grad.shape == (2, 3, 0, 5)


@pytest.mark.parametrize("batch", [0, 2])
def test_case_20_gradients_without_queries_or_sequences(backend, batch):
    q, k, v = (torch.ones(batch, 3, n, 8, requires_grad=True) for n in (0, 4, 4))
    pozor.attention(q, k, v, backend=backend).sum().backward()
    assert all(x.grad is not None and not x.grad.any() for x in (q, k, v))


def test_case_21_keys_nobody_reads(backend):
    q, k, v = leaf(0, 0, 0, 0), leaf(0, 0, 0, 0), leaf(1, 50, 60, 9)
    out = pozor.attention(q, k, v, mask=pozor.Documents([0, 0, 2, 2], [0, 1, 1, 2]), backend=backend)
    out.sum().backward()
    assert_close(out[:, 0], np.array([1.0, 1, 9, 9]))
    assert_close(v.grad[:, 0], np.array([2.0, 0, 0, 2]))
    assert_close(k.grad[:, 0], np.zeros(4))


def test_case_29_gradients_are_summed_over_the_group(backend):
    q, k, v = leaf(1, 2, shape=(2, 1, 1)), leaf(0, 0, shape=(1, 2, 1)), leaf(0, 1, shape=(1, 2, 1))
    out = pozor.attention(q, k, v, scale=1, backend=backend)
    out.backward(torch.tensor([1.0, 3.0], dtype=torch.float64).reshape(2, 1, 1))
    assert_close(v.grad.ravel(), np.array([2.0, 2]))  # 1/2 · (1 + 3)
    assert_close(k.grad.ravel(), np.array([-1.75, 1.75]))  # 1/4 · (1 · 1 + 3 · 2)


def test_case_30_only_the_bias_requires_a_gradient(backend):
    bias = leaf(0, LN3, shape=(1, 2))
    zero = torch.zeros((1, 1), dtype=torch.float64)
    v = torch.tensor([[0.0], [4.0]], dtype=torch.float64)
    pozor.attention(zero, torch.zeros_like(v), v, bias=bias, backend=backend).sum().backward()
    assert_close(bias.grad, np.array([[-0.75, 0.75]]))


def test_gradient_of_the_sink():
    sink = leaf(0, shape=(1,))
    one = torch.ones((1, 1), dtype=torch.float64)
    pozor.attention(one * 0, one * 0, one * 8, sink=sink).sum().backward()
    assert_close(sink.grad, np.array([-2.0]))  # out = 8 / (1 + e^s): -8 · 1/2 · 1/2


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_a_hidden_key_that_is_not_finite_reaches_no_gradient(odd):
    q, k, v = leaf(1, 1), leaf(0, LN3, odd), leaf(0, 4, odd)
    mask = torch.tensor([[True, True, False], [True, False, False]])
    out = pozor.attention(q, k, v, scale=1, mask=mask)
    out.sum().backward()
    assert_close(q.grad[:, 0], np.array([0.75 * LN3, 0]))
    assert_close(k.grad[:, 0], np.array([-0.75, 0.75, 0]))
    assert_close(v.grad[:, 0], np.array([1.25, 0.75, 0]))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"causal": True, "q_offset": 2},
        {"window": (2, 1), "q_offset": 0},
        {"softcap": 1.5},
        {"mask": lambda b, h, i, j: (i + j + h) % 3 != 0},
    ],
    ids=["open", "causal", "window", "softcap", "callable"],
)
def test_gradients_agree_with_finite_differences(options, monkeypatch):
    from pozor.backends.torch import rows

    monkeypatch.setattr(rows, "CELLS", {"cpu": 24})  # several chunks of rows
    generator = torch.Generator().manual_seed(0)
    q, k, v, bias, sink = (
        torch.randn(shape, dtype=torch.float64, generator=generator, requires_grad=True)
        for shape in ((2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3), (1, 1, 3, 5), (4,))
    )

    def both(q, k, v, bias, sink):
        seen = pozor.observe(q, k, v, bias=bias, sink=sink, backend="torch", **options)
        return seen.out, seen.lse

    assert torch.autograd.gradcheck(both, (q, k, v, bias, sink), fast_mode=True)
