"""torch.ops.pozor.attention: torch's own checks of an operator, whole graphs, gradients and their refusal."""

import pytest
import torch
import torch.nn.functional as F

import pozor
import pozor.torch
from pozor import BackendUnavailable, DtypeError, OptionError
from support import assert_close

GENERATOR = torch.Generator().manual_seed(0)


def drawn(*shape, dtype=torch.float64):
    return torch.randn(shape, generator=GENERATOR, dtype=dtype)


def compiled(function, **options):
    """The whole function as one graph, or an error; without a C++ compiler."""
    torch.compiler.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager", **options)


@pytest.fixture
def qkv():
    return drawn(2, 4, 9, 8), drawn(2, 2, 9, 8), drawn(2, 2, 9, 8)


@pytest.mark.parametrize("backend", ["auto", "blocked", "torch"])
def test_torchs_checks_of_an_operator(qkv, backend):
    q, k, v = qkv
    mask, bias, sink = drawn(9, 9) > 0, drawn(1, 4, 9, 9), drawn(4)
    for options in (
        (None, None, None, True, False, None, None, None, None, None, backend),
        (mask, bias, sink, False, True, 3, None, 0, 0.5, 20.0, backend),
    ):
        torch.library.opcheck(torch.ops.pozor.attention.default, (q, k, v, *options))


def test_torchs_checks_with_gradients(qkv):
    given = [x.requires_grad_() for x in (*qkv, drawn(1, 1, 9, 9), drawn(4))]
    q, k, v, bias, sink = given
    options = (None, bias, sink, True, False, None, None, None, None, None, "torch")
    torch.library.opcheck(torch.ops.pozor.attention.default, (q, k, v, *options))


OPTIONS = {
    "plain": {},
    "causal": {"causal": True},
    "window": {"window": (3, 0), "q_offset": 0},
    "softcap": {"softcap": 2.0, "scale": 0.7},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_graph_holds_it_whole(qkv, name):
    options = OPTIONS[name]
    got = compiled(lambda q, k, v: pozor.torch.attention(q * 2, k, v, **options) + 1)(*qkv)
    q, k, v = qkv
    assert_close(got, pozor.attention(q * 2, k, v, **options) + 1, atol=1e-13)


def test_tensor_options_in_a_graph(qkv):
    mask, bias, sink = drawn(2, 1, 9, 9) > 0, drawn(1, 4, 9, 9), drawn(4)

    def call(q, k, v, mask, bias, sink):
        return pozor.torch.attention(q, k, v, mask=mask, bias=bias, sink=sink)

    want = pozor.attention(*qkv, mask=mask, bias=bias, sink=sink)
    assert_close(compiled(call)(*qkv, mask, bias, sink), want, atol=1e-13)


def test_sdpa_in_a_graph_with_lengths_that_change():
    def call(q, k, v, mask):
        return pozor.torch.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)

    graph = compiled(call, dynamic=True)
    for length in (5, 7, 12):
        q, k, mask = drawn(2, 4, length, 8), drawn(2, 2, length, 8), drawn(length, length) > 0
        want = F.scaled_dot_product_attention(q, k, k, attn_mask=mask, enable_gqa=True)
        assert_close(graph(q, k, k, mask), want, atol=1e-13)


def test_the_block_reaches_into_a_graph(qkv):
    q, k, v = qkv
    hidden = torch.zeros(9, 9, dtype=torch.bool)

    def call(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)

    with pozor.torch.replace_sdpa():
        graph = compiled(call)
        assert not graph(q, k, v, hidden).any()
        with pytest.raises(Exception, match="pozor drops nothing"):
            compiled(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5))(q)


@pytest.mark.parametrize("whole", [False, True], ids=["eager", "graph"])
def test_gradients_by_auto_are_torchs(qkv, whole):
    bias = drawn(1, 4, 9, 9)

    def call(q, k, v, bias):
        return pozor.torch.attention(q, k, v, bias=bias).square()

    def theirs(q, k, v, bias):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True).square()

    found = []
    for function in (compiled(call) if whole else call, theirs):
        leaves = [x.clone().requires_grad_() for x in (*qkv, bias)]
        function(*leaves).sum().backward()
        found.append([x.grad for x in leaves])
    for a, b in zip(*found):
        assert_close(a, b, atol=1e-12)


@pytest.mark.parametrize("whole", [False, True], ids=["eager", "graph"])
def test_a_backend_without_gradients_refuses_in_the_backward(qkv, whole):
    backend = "native" if "native" in pozor.available_backends() else "blocked"
    q, k, v = qkv
    q.requires_grad_()

    def call(q, k, v):
        return pozor.torch.attention(q, k, v, backend=backend)

    out = (compiled(call) if whole else call)(q, k, v)
    assert_close(out.detach(), pozor.attention(q.detach(), k, v), atol=1e-13)
    with pytest.raises(BackendUnavailable, match=f"backend='{backend}' gives no gradients, and the backward"):
        out.sum().backward()


def test_only_what_needs_a_gradient_gets_one(qkv):
    q, k, v = qkv
    v.requires_grad_()
    out = compiled(lambda q, k, v: pozor.torch.attention(q, k, v, causal=True))(q, k, v)
    (got,) = torch.autograd.grad(out.sum(), v)
    want = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    assert_close(got, torch.autograd.grad(want.sum(), v)[0], atol=1e-12)


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (OptionError, "window must be a pair", {"window": 3}),
        (DtypeError, "mask must be a boolean tensor inside a graph; got Causal", {"mask": pozor.Causal()}),
        (DtypeError, "q_offset must be one integer inside a graph", {"q_offset": torch.tensor([1, 2])}),
    ],
)
def test_what_a_graph_cannot_hold_is_said(qkv, error, words, options):
    q, k, v = qkv
    q.requires_grad_()
    with pytest.raises(error, match=words):
        pozor.torch.attention(q, k, v, backend="blocked", **options)


def test_importing_it_loads_no_transformers():
    import subprocess
    import sys

    code = "import sys, pozor.torch; print('transformers' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
