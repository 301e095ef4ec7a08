"""pozor.torch.scaled_dot_product_attention against torch's own, and the block that swaps it in."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention as torchs

import pozor.torch
from pozor import DtypeError, OptionError, ShapeError
from support import assert_close

ours = pozor.torch.scaled_dot_product_attention


def drawn(*shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=dtype)


def same(*qkv, **options):
    assert_close(ours(*qkv, **options), torchs(*qkv, **options), atol=1e-13)


SHAPES = {
    "two axes": ((3, 4), (5, 4), (5, 6)),
    "three axes": ((2, 3, 4), (2, 5, 4), (2, 5, 6)),
    "four axes": ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 8)),
    "five axes": ((2, 2, 3, 4, 8), (2, 2, 3, 5, 8), (2, 2, 3, 5, 4)),
    "one batch of keys": ((4, 3, 4, 8), (1, 3, 5, 8), (1, 3, 5, 8)),
    "one kv head": ((2, 3, 4, 8), (2, 1, 5, 8), (2, 1, 5, 8)),
    "one query head": ((2, 1, 4, 8), (2, 3, 5, 8), (2, 3, 5, 8)),
    "one head of v": ((2, 3, 4, 8), (2, 3, 5, 8), (2, 1, 5, 8)),
    "axes added": ((7, 2, 3, 4, 8), (3, 5, 8), (1, 3, 5, 8)),
    "no queries": ((2, 3, 0, 8), (2, 3, 5, 8), (2, 3, 5, 8)),
    "no keys": ((2, 3, 4, 8), (2, 3, 0, 8), (2, 3, 0, 8)),
    "no batch": ((0, 3, 4, 8), (0, 3, 5, 8), (0, 3, 5, 8)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_leading_axes_are_torchs(name, causal):
    same(*(drawn(*shape, seed=i) for i, shape in enumerate(SHAPES[name])), is_causal=causal)


GROUPS = {
    "groups": ((2, 6, 4, 8), (2, 2, 5, 8), (2, 2, 5, 8)),
    "different groups of k and v": ((2, 6, 4, 8), (2, 2, 5, 8), (2, 3, 5, 8)),
    "without a batch": ((6, 4, 8), (2, 5, 8), (2, 5, 8)),
    "no groups": ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 8)),
}


@pytest.mark.parametrize("name", GROUPS)
def test_grouped_queries_are_torchs(name):
    same(*(drawn(*shape, seed=i) for i, shape in enumerate(GROUPS[name])), enable_gqa=True)


@st.composite
def calls(draw):
    batch, heads, q_len, kv_len = (draw(st.integers(1, n)) for n in (3, 4, 40, 40))
    head_dim, v_head_dim = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    groups = draw(st.sampled_from([n for n in range(1, heads + 1) if heads % n == 0]))
    shape = [draw(st.sampled_from([1, n])) for n in (batch, heads, q_len, kv_len)]
    masks = st.sampled_from(["none", "bool", "float", "causal"])
    return {
        "q": (batch, heads, q_len, head_dim),
        "k": (batch, groups, kv_len, head_dim),
        "v": (batch, groups, kv_len, v_head_dim),
        "mask": draw(masks),
        "mask_shape": shape[draw(st.integers(0, 2)) :],
        "scale": draw(st.sampled_from([None, 0.3, 2.0])),  # below 0 torch gives NaN on some paths
        "dtype": draw(st.sampled_from([torch.float64, torch.float32])),
        "seed": draw(st.integers(0, 99)),
    }


@settings(max_examples=60, deadline=None)
@given(calls())
def test_every_option_means_what_it_means_in_torch(call):
    q, k, v = (drawn(*call[name], dtype=call["dtype"], seed=call["seed"]) for name in "qkv")
    options = {"scale": call["scale"], "enable_gqa": True}
    if call["mask"] == "causal":
        options["is_causal"] = True
    if call["mask"] == "bool":
        options["attn_mask"] = drawn(*call["mask_shape"], seed=call["seed"]) > 0.5  # with empty rows
    if call["mask"] == "float":
        bias = drawn(*call["mask_shape"], dtype=call["dtype"], seed=call["seed"])
        options["attn_mask"] = bias.masked_fill(bias > 1, -torch.inf)
    exact = torchs(q.double(), k.double(), v.double(), **_double(options))
    assert_close(
        ours(q, k, v, **options), exact, plain=torchs(q, k, v, **options), dtype="", atol=_atol(call["dtype"])
    )


def _double(options):
    mask = options.get("attn_mask")
    return options if mask is None or mask.dtype == torch.bool else options | {"attn_mask": mask.double()}


def _atol(dtype):
    return 1e-13 if dtype == torch.float64 else 1e-6


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_at_least_as_near_as_torchs(dtype):
    q, k, v = (drawn(1, 4, 65, 32, dtype=torch.float32, seed=i).to(dtype) for i in range(3))
    exact = torchs(q.double(), k.double(), v.double(), is_causal=True)
    got = ours(q, k, v, is_causal=True)
    assert got.dtype == dtype
    assert_close(got, exact, plain=torchs(q, k, v, is_causal=True), dtype="")


def test_a_float32_mask_goes_with_half_precision():
    q = drawn(1, 2, 5, 8, dtype=torch.float32).half()
    assert_close(
        ours(q, q, q, attn_mask=torch.ones(5, 5)), torchs(q, q, q, attn_mask=torch.ones(5, 5)), ulps=4
    )


def test_a_mask_and_causal_are_anded():
    q, mask = (
        drawn(1, 2, 5, 8),
        drawn(5, 5) > 0,
    )  # torch takes both on some of its paths, and refuses on others
    got = ours(q, q, q, attn_mask=mask, is_causal=True)
    assert_close(got, torchs(q, q, q, attn_mask=mask & torch.ones(5, 5).tril().bool()), atol=1e-13)


def test_strides_are_free():
    q, k, v = (drawn(2, 9, 4, 8, seed=i).transpose(1, 2) for i in range(3))
    same(q, k, v)
    same(q[..., ::2], k[..., ::2], v[:, :, :, ::3], is_causal=True)
    wide = drawn(2, 4, 9, 9).transpose(-1, -2) > 0
    same(q, k, v, attn_mask=wide)
    same(q, k, v, attn_mask=drawn(2, 1, 1, 1).expand(2, 4, 9, 9))


def test_a_row_that_sees_nothing_gives_zeros_as_in_torch():
    q = drawn(1, 1, 3, 4)
    assert not ours(q, q, q, attn_mask=torch.zeros(3, 3, dtype=torch.bool)).any()
    assert not ours(q, q, q, attn_mask=torch.full((3, 3), -torch.inf, dtype=torch.float64)).any()


def test_a_hidden_nan_stays_hidden_where_torch_lets_it_through():
    q, v = drawn(1, 1, 3, 4), drawn(1, 1, 3, 4)
    v[..., 2, :] = torch.nan
    mask = torch.tensor([True, True, False]).expand(3, 3)
    assert torch.isfinite(ours(q, q, v, attn_mask=mask)).all()


@pytest.mark.parametrize("masked", ["none", "causal", "bool", "float"])
def test_the_gradients_are_torchs(masked):
    given = [drawn(2, 4, 33, 8), drawn(2, 2, 33, 8), drawn(2, 2, 33, 8)]
    options = {"enable_gqa": True, "is_causal": masked == "causal"}
    if masked == "bool":
        options["attn_mask"] = drawn(33, 33) > 0
    if masked == "float":
        given.append(drawn(33, 33))
    found = []
    for function in (ours, torchs):
        leaves = [x.clone().requires_grad_() for x in given]
        mask = {"attn_mask": leaves[3]} if masked == "float" else {}
        (function(*leaves[:3], **options, **mask) * drawn(2, 4, 33, 8, seed=5)).sum().backward()
        found.append([x.grad for x in leaves])
    for a, b in zip(*found):
        assert_close(a, b, atol=1e-12)


def test_autocast_lowers_the_precision_as_torch_does():
    q = drawn(1, 2, 5, 8, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        got, want = ours(q, q, q, attn_mask=torch.zeros(5, 5)), torchs(q, q, q, attn_mask=torch.zeros(5, 5))
        double = ours(q.double(), q.double(), q.double())
    assert (got.dtype, double.dtype) == (torch.bfloat16, torch.float64)
    assert_close(got, want, ulps=4)


# ---- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "words", "change"),
    [
        (OptionError, r"dropout_p must be 0, pozor drops nothing; got 0\.1\.", {"dropout_p": 0.1}),
        (
            ShapeError,
            r"attn_mask must broadcast to .* = \(1, 2, 3, 3\); got \(6, 1, 3, 3\)",
            "mask too large",
        ),
        (
            DtypeError,
            r"attn_mask must be bool, float32 or the dtype of query, .*; got torch\.int64",
            "int mask",
        ),
        (ShapeError, r"query must have 2 axes or more, .*; got \(4,\)", "one axis"),
        (ShapeError, r"enable_gqa=True needs an axis of heads", "gqa of two axes"),
        (ShapeError, r"the heads of query must be a multiple of those of key; got 2 and 3", "odd groups"),
        (ShapeError, r"before the last two must broadcast; got \(1, 2, 3, 4\), \(1, 3, 3, 4\)", "heads"),
        (DtypeError, r"query must be an ordinary dense tensor; got a nested or sparse one", "sparse"),
    ],
)
def test_what_is_refused_is_said(error, words, change):
    q = k = v = drawn(1, 2, 3, 4)
    options = change if isinstance(change, dict) else {}
    if change == "mask too large":
        options = {"attn_mask": torch.zeros(6, 1, 3, 3, dtype=torch.float64)}
    elif change == "int mask":
        options = {"attn_mask": torch.ones(3, 3, dtype=torch.int64)}
    elif change == "one axis":
        q = q[0, 0, 0]
    elif change == "gqa of two axes":
        q, k, v, options = q[0, 0], k[0, 0][:2], v[0, 0][:2], {"enable_gqa": True}
        k = k[0]
        k = v = drawn(2, 3, 4)
    elif change in ("odd groups", "heads"):
        k = v = drawn(1, 3, 3, 4)
        options = {"enable_gqa": change == "odd groups"}
    elif change == "sparse":
        q = q.to_sparse()
    with pytest.raises(error, match=words):
        ours(q, k, v, **options)


# ---- the block -------------------------------------------------------------------------------------------


@pytest.fixture
def q():
    """Three tokens whose hidden value is NaN: torch's own gives NaN, ours does not."""
    return drawn(1, 1, 3, 4)


def is_ours(q):
    """Whether torch's name is pozor's now: only pozor refuses dropout."""
    try:
        F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    except OptionError:
        return True
    return False


def test_the_block_swaps_it_in_and_back(q):
    assert not is_ours(q)
    with pozor.torch.replace_sdpa():
        assert is_ours(q)
        assert_close(torchs(q, q, q), ours(q, q, q), atol=0)  # a name imported before
        with pozor.torch.replace_sdpa():
            assert is_ours(q)
        assert is_ours(q)
    assert not is_ours(q)


def test_an_error_in_the_block_restores_it(q):
    with pytest.raises(ZeroDivisionError), pozor.torch.replace_sdpa():
        _ = 1 / 0
    assert not is_ours(q)


def test_other_threads_keep_torchs(q):
    inside, outside = threading.Event(), threading.Event()

    def block():
        with pozor.torch.replace_sdpa():
            inside.set()
            outside.wait(10)
            return is_ours(q)

    with ThreadPoolExecutor(1) as thread:
        theirs = thread.submit(block)
        assert inside.wait(10)
        here = is_ours(q)
        outside.set()
        assert theirs.result()
    assert not here


def test_multihead_attention_and_training_run_through_it():
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
    x = drawn(2, 7, 16)
    for training in (False, True):
        layer.train(training)
        want, _ = layer(x, x, x, need_weights=False)
        with pozor.torch.replace_sdpa():
            got, _ = layer(x, x, x, need_weights=False)
        assert_close(got.detach(), want.detach(), atol=1e-12)
    grads = [torch.autograd.grad((y**2).sum(), layer.in_proj_weight)[0] for y in (got, want)]
    assert_close(*grads, atol=1e-10)
