"""Laws on random data: the working is attention, its sums are exact, its row adds up to 1."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import attention, by_hand
from pozor.working.exact import decimals, matmul
from pozor.working.records import Scores, Softmax, WeightedSum
from pozor.working.sources import OwnArrays


def step(working, kind):
    return next(s for s in working.steps if isinstance(s, kind))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    q_len=st.integers(1, 5),
    kv_len=st.integers(1, 7),
    groups=st.integers(1, 3),
    causal=st.booleans(),
    q_offset=st.integers(-3, 6),
    scale=st.sampled_from([None, -1.0, 0.0, 2.5]),
    softcap=st.sampled_from([None, 2.0]),
    with_sink=st.booleans(),
    with_bias=st.booleans(),
    with_mask=st.booleans(),
)
def test_the_working_is_attention(
    seed, q_len, kv_len, groups, causal, q_offset, scale, softcap, with_sink, with_bias, with_mask
):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((2 * groups, q_len, 4))
    k, v = rng.standard_normal((2, kv_len, 4)), rng.standard_normal((2, kv_len, 3))
    bias = np.where(rng.random((2 * groups, q_len, kv_len)) < 0.2, -np.inf, rng.standard_normal(kv_len))
    mask = rng.random((q_len, kv_len)) < 0.7
    arrays = {"q": q, "k": k, "v": v}
    arrays |= {"sink": rng.standard_normal(2 * groups)} if with_sink else {}
    arrays |= {"bias": bias} if with_bias else {}
    own = OwnArrays("own", arrays, causal=causal, q_offset=q_offset, scale=scale, softcap=softcap,
                    visible=mask if with_mask else None)  # fmt: skip
    want = attention(
        q, k, v, causal=causal, q_offset=q_offset, scale=scale, softcap=softcap, sink=arrays.get("sink"),
        bias=arrays.get("bias"), mask=mask if with_mask else None, backend="reference",
    )  # fmt: skip
    head, query = seed % (2 * groups), seed % q_len
    working = by_hand(own, query=query, head=head, lang=("cs", "en")[seed % 2])
    out, softmax = step(working, WeightedSum).out, step(working, Softmax)
    assert np.isfinite(out).all()
    assert np.abs(out - want[head, query]).max() <= 1e-13
    total = softmax.probs.sum() + softmax.sink_prob
    assert abs(total - 1) <= 1e-15 * kv_len or (total == 0 and not softmax.visible.any())
    assert working.text
    assert working.html


NUMBER = st.decimals(-1000, 1000, places=6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(*(st.lists(NUMBER, min_size=n, max_size=n) for _ in range(3)))
    )
)
def test_sums_and_products_of_decimals_are_exact(rows):
    q, *k = rows
    own = OwnArrays("own", {"q": decimals([q]), "k": decimals(k)}, scale=1.0)
    for dot, row in zip(step(by_hand(own, query=0), Scores).dots, k):
        assert Fraction(dot) == sum(Fraction(a) * Fraction(b) for a, b in zip(q, row))
    product = matmul(decimals([q]), decimals(k).T)[0]
    assert [Fraction(x) for x in product] == [
        sum(Fraction(a) * Fraction(b) for a, b in zip(q, row)) for row in k
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-30, 30), min_size=1, max_size=6), st.floats(-100, 100))
def test_a_constant_added_to_the_row_changes_lse_alone(logits, constant):
    def row(numbers):
        own = OwnArrays("own", {"q": np.ones((1, 1)), "k": np.array(numbers)[:, None]}, scale=1.0)
        return step(by_hand(own, query=0), Softmax)

    one, other = row(logits), row([x + constant for x in logits])
    assert np.abs(one.probs - other.probs).max() <= 1e-12
    assert abs(other.lse - one.lse - constant) <= 1e-11
