"""One list of cases for all backends; the oracle is the reference in float64.

Tolerance: no worse than twice a plain softmax in the same precision, and one rounding.
"""

import ml_dtypes
import numpy as np
import pytest

import pozor
from pozor import Causal, Documents, Padding, Prefix, Sinks, Want, Window, inputs
from pozor.backends.reference import logits_of
from support import assert_close

FAST = tuple(name for name in pozor.available_backends() if name != "reference")
ARRAYS = (
    "out", "lse", "row_max", "entropy", "top_probs", "top_keys", "received", "distance", "distance_edges",
)  # fmt: skip
FULL = Want(row_max=True, entropy=True, top_k=4, received=True, distance=True, pooled=16)
RNG = np.random.default_rng(7)
STRIPES = np.arange(300) % 3 != 0

# name: (batch, heads, kv heads, q_len, kv_len, head_dim, v_head_dim, options)
CASES = {
    "plain": (2, 3, 3, 70, 70, 16, 16, {}),
    "one token": (1, 1, 1, 1, 1, 1, 1, {}),
    "long rows": (1, 1, 1, 3, 2600, 8, 8, {"q_offset": 0}),
    "many rows": (1, 2, 1, 1100, 30, 8, 5, {"q_offset": -1000}),
    "causal": (1, 4, 2, 530, 530, 16, 8, {"causal": True}),
    "decode": (2, 8, 2, 1, 1500, 32, 32, {"causal": True, "q_offset": [1499, 700]}),
    "prefill behind a cache": (1, 2, 2, 40, 1300, 16, 16, {"causal": True, "q_offset": 1260}),
    "queries before the keys": (1, 2, 1, 20, 9, 4, 4, {"causal": True, "q_offset": -8}),
    "window": (1, 2, 2, 600, 600, 8, 8, {"window": (17, 3)}),
    "window and sinks": (1, 2, 1, 1200, 1200, 8, 8, {"mask": Causal() & (Window(50, 0) | Sinks(4))}),
    "prefix": (2, 2, 2, 90, 90, 8, 8, {"mask": Causal() | Prefix([20, 50])}),
    "documents": (2, 2, 1, 300, 300, 8, 8, {"mask": Documents(np.arange(300) // 70), "causal": True}),
    "padding": (2, 2, 2, 64, 64, 8, 8, {"mask": Padding([5, 64]), "causal": True}),
    "striped padding": (1, 2, 2, 300, 300, 8, 8, {"mask": Padding(STRIPES) & Window(100, 0)}),
    "mask by head": (2, 4, 2, 80, 90, 8, 8, {"mask": RNG.random((2, 4, 80, 90)) < 0.2, "q_offset": 0}),
    "mask by key": (2, 4, 2, 80, 90, 8, 8, {"mask": RNG.random((2, 1, 1, 90)) < 0.5, "q_offset": 0}),
    "callable": (2, 4, 2, 80, 90, 8, 8, {"mask": lambda b, h, i, j: (i * j + h + b) % 3 == 0, "q_offset": 0}),
    "bias": (2, 4, 2, 80, 90, 8, 8, {"bias": RNG.normal(size=(1, 4, 80, 90)), "q_offset": 0}),
    "bias that hides": (
        1, 2, 2, 80, 90, 8, 8, {"bias": np.where(RNG.random((80, 90)) < 0.5, -np.inf, 1.0), "q_offset": 0},
    ),
    "bias by key that hides": (
        2, 4, 2, 80, 90, 8, 8,
        {"bias": np.where(RNG.random((2, 1, 1, 90)) < 0.5, -np.inf, 1.0), "q_offset": 0},
    ),
    "bias by query that hides": (
        1, 2, 2, 80, 90, 8, 8, {"bias": np.where(RNG.random((2, 80, 1)) < 0.5, -np.inf, 1.0), "q_offset": 0},
    ),
    "mask read backwards": (
        1, 2, 2, 80, 90, 8, 8, {"mask": (RNG.random((80, 90)) < 0.5)[::-1, ::-1], "q_offset": 0},
    ),
    "softcap": (1, 2, 2, 64, 64, 8, 8, {"softcap": 1.5, "causal": True}),
    "sink": (1, 4, 2, 64, 64, 8, 8, {"sink": np.array([0.5, -3, 8, 0]), "window": (7, 0)}),
    "negative scale": (1, 2, 2, 64, 64, 8, 8, {"scale": -0.7}),
    "large logits": (1, 1, 1, 64, 64, 8, 8, {"scale": 30.0}),
    "everything": (
        2, 4, 2, 90, 130, 16, 8,
        {
            "mask": Padding([100, 130]), "causal": True, "window": (60, None), "q_offset": [10, 40],
            "scale": 0.3, "softcap": 4.0,
            "sink": np.array([0.5, -3, 2, 0]), "bias": RNG.normal(size=(2, 1, 90, 130)),
        },
    ),
}  # fmt: skip


def arrays(case, dtype):
    batch, heads, kv_heads, q_len, kv_len, dim, v_dim, options = CASES[case]
    rng = np.random.default_rng(len(case))
    q = rng.normal(size=(batch, heads, q_len, dim)).astype(dtype)
    k, v = (rng.normal(size=(batch, kv_heads, kv_len, e)).astype(dtype) for e in (dim, v_dim))
    return (
        q,
        k,
        v,
        options | {name: options[name].astype(dtype) for name in ("bias", "sink") if name in options},
    )


def widened(array):
    return array.astype(np.float64)


def plainly(q, k, v, options):
    """out and lse in q's own compute precision, probs held whole: what an ordinary implementation gives."""
    wide = np.float64 if q.dtype == np.float64 else np.float32
    problem = inputs.problem(q, k, v, **options)
    outs, lses = [], []
    for b in range(len(q)):
        _, visible = logits_of(problem, b)
        k_b, v_b = (np.repeat(x[b].astype(wide), problem.group_size, axis=0) for x in (problem.k, problem.v))
        scores = (problem.q[b].astype(wide) @ k_b.transpose(0, 2, 1)) * wide(problem.scale)
        if problem.softcap:
            scores = wide(problem.softcap) * np.tanh(scores / wide(problem.softcap))
        if problem.bias is not None:
            scores = scores + np.broadcast_to(problem.bias, (len(q), *visible.shape))[b].astype(wide)
        scores = np.where(visible, scores, -np.inf)
        if problem.sink is not None:
            tail = np.broadcast_to(problem.sink.astype(wide)[:, None, None], (*scores.shape[:2], 1))
            scores = np.concatenate((scores, tail), axis=-1)
        top = scores.max(axis=-1, keepdims=True)
        top[top == -np.inf] = 0
        e = np.exp(scores - top)
        total = e.sum(axis=-1, keepdims=True)
        count = visible.shape[-1]
        outs.append(((e / np.where(total == 0, 1, total))[..., :count] @ v_b).astype(q.dtype))
        with np.errstate(divide="ignore"):
            lses.append((np.log(total) + top)[..., 0])
    return np.stack(outs), np.stack(lses)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("case", CASES)
def test_every_number_in_float64(name, case):
    q, k, v, options = arrays(case, np.float64)
    want = pozor.observe(q, k, v, **options, want=FULL, backend="reference")
    got = pozor.observe(q, k, v, **options, want=FULL, backend=name)
    assert got.backend == name
    for field in (
        "out",
        "lse",
        "row_max",
        "entropy",
        "top_probs",
        "top_keys",
        "received",
        "distance",
        "distance_edges",
    ):
        assert_close(getattr(got, field), getattr(want, field), atol=1e-12)
    for field in ("max", "mean", "share"):
        assert_close(getattr(got.pooled, field), getattr(want.pooled, field), atol=1e-12)
    assert_close(pozor.attention(q, k, v, **options, backend=name), want.out, atol=1e-12)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name
)
@pytest.mark.parametrize("case", CASES)
def test_low_precision_is_no_worse_than_a_plain_softmax(name, dtype, case):
    q, k, v, options = arrays(case, dtype)
    wide = options | {x: widened(options[x]) for x in ("bias", "sink") if x in options}
    exact = pozor.observe(widened(q), widened(k), widened(v), **wide, backend="reference")
    got = pozor.observe(q, k, v, **options, backend=name)
    plain_out, plain_lse = plainly(q, k, v, options)
    dtype_name = np.dtype(dtype).name
    assert_close(got.out, exact.out, plain=plain_out, dtype=dtype_name)
    assert_close(got.lse, exact.lse, plain=plain_lse, dtype="float32")
    # where only out is asked for another path may be taken
    assert_close(
        pozor.attention(q, k, v, **options, backend=name), exact.out, plain=plain_out, dtype=dtype_name
    )


def test_the_fused_kernel_is_taken_only_where_it_means_the_same():
    import torch

    from pozor.backends.torch import run

    def path(**options):
        problem = inputs.problem(x, x, options.pop("v", x), **options)
        return run(problem, None).path

    x = torch.randn(1, 2, 64, 16)
    assert path() == path(causal=True) == "sdpa"
    hidden = x.clone()
    hidden[0, 0, -1, 0] = float("nan")
    assert path(causal=True, v=hidden) == "rows"
    for options in (
        {"causal": True, "q_offset": 3},
        {"window": (3, 0)},
        {"softcap": 2.0},
        {"scale": -1.0},
        {"sink": torch.zeros(2)},
        {"bias": torch.zeros(64)},
        {"v": torch.randn(1, 2, 64, 8)},
        {"mask": torch.ones(64, 64, dtype=torch.bool)},
    ):
        assert path(**options) == "rows", options


def test_a_path_is_not_chosen_by_the_batch():
    q, k, v, _ = arrays("causal", np.float32)
    many = [np.concatenate([x] * 3) for x in (q, k, v)]
    whole = pozor.attention(*many, causal=True, backend="blocked")
    assert np.array_equal(whole[2], pozor.attention(q, k, v, causal=True, backend="blocked")[0])


def test_merge_of_tensors_is_merge_of_arrays():
    import torch

    rng = np.random.default_rng(1)
    parts = [(rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 4))) for _ in range(3)]
    parts[1][1][0] = -np.inf
    out, lse = pozor.merge(parts)
    t_out, t_lse = pozor.merge([tuple(torch.from_numpy(x) for x in part) for part in parts])
    assert_close(t_out, out)
    assert_close(t_lse, lse)
