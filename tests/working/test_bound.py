"""How far float32 may be from the working: the bound holds on random data and fails on a wrong value."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor import AttentionMap, by_hand
from pozor.working.compare import gamma
from pozor.working.records import Comparison


def compared(shown, query, key=None, head=0) -> Comparison:
    steps = by_hand(shown, query=query, key=key, head=head).steps
    return next(step for step in steps if isinstance(step, Comparison))


def arrays(seed, q_len, kv_len, head_dim, size, dtype=np.float32):
    rng = np.random.default_rng(seed)
    q, k = (rng.standard_normal((2, n, head_dim)) * size for n in (q_len, kv_len))
    return q.astype(dtype), k.astype(dtype)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    tokens=st.integers(1, 90),
    head_dim=st.sampled_from([1, 4, 64, 200]),
    size=st.sampled_from([0.01, 1.0, 3.0]),
    causal=st.booleans(),
    softcap=st.sampled_from([None, 5.0]),
    sink=st.sampled_from([None, 0.5]),
)
def test_the_bound_holds_on_random_data(seed, tokens, head_dim, size, causal, softcap, sink):
    q, k = arrays(seed, tokens, tokens, head_dim, size)
    sinks = None if sink is None else np.full(2, sink, np.float32)
    shown = AttentionMap(q, k, causal=causal, softcap=softcap, sink=sinks)
    row = compared(shown, seed % tokens)
    assert row.holds
    assert math.isfinite(row.bound)
    cell = compared(shown, seed % tokens, key=(seed * 7) % tokens, head=1)
    assert cell.holds
    # the bound is of use: nowhere near the size of the numbers themselves
    assert row.bound <= 0.02 * max(row.prob, 1e-6) + 2e-5 * size**2 * head_dim


def test_the_bound_holds_where_the_logits_are_computed_in_float32_in_any_order():
    rng = np.random.default_rng(5)
    for head_dim in (3, 64, 257):
        q, k = (
            rng.standard_normal((1, head_dim)).astype(np.float32),
            rng.standard_normal((50, head_dim)).astype(np.float32),
        )
        exact = q.astype(float) @ k.astype(float).T
        size = np.abs(q.astype(float)) @ np.abs(k.astype(float)).T
        for order in (np.arange(head_dim), rng.permutation(head_dim)):
            total = np.zeros((1, 50), np.float32)
            for i in order:
                total += q[:, i, None] * k[None, :, i]
            assert (np.abs(total - exact) <= gamma(head_dim) * size).all()


@pytest.mark.parametrize("wrong", [1.002, 0.998])
@pytest.mark.parametrize("key", [None, 3])
def test_the_bound_fails_where_the_stored_lse_is_wrong(wrong, key):
    q, k = arrays(1, 20, 20, 16, 1.0)
    lse = np.array(AttentionMap(q, k, causal=True).lse)
    assert compared(AttentionMap(q, k, causal=True, lse=lse), 11, key).holds
    bad = lse.copy()
    bad[0, 0, 11] *= wrong
    found = compared(AttentionMap(q, k, causal=True, lse=bad), 11, key)
    assert not found.holds
    text = by_hand(AttentionMap(q, k, causal=True, lse=bad), query=11, key=key, lang="en").text
    assert "POZOR: the difference is larger than rounding allows" in " ".join(
        text.replace("\n| ", " ").split()
    )


def test_the_bound_fails_where_a_key_was_corrupted_after_the_lse_was_stored():
    q, k = arrays(2, 20, 20, 16, 1.0)
    lse = np.array(AttentionMap(q, k).lse)
    k = k.copy()
    k[0, 4, 7] += 0.01
    found = compared(AttentionMap(q, k, lse=lse), 11)
    assert not found.holds
    assert found.lse_difference > found.lse_bound


def test_a_stored_nan_never_passes():
    q, k = arrays(3, 8, 8, 4, 1.0)
    lse = np.array(AttentionMap(q, k).lse)
    lse[0, 0, 2] = np.nan
    found = compared(AttentionMap(q, k, lse=lse), 2)
    assert not found.holds


def test_what_stands_beside_is_what_the_tile_shows():
    q, k = arrays(4, 300, 300, 8, 1.0)
    shown = AttentionMap(q, k, causal=True)
    cell = compared(shown, 290, key=270)
    assert cell.shown == shown.tile(0, 1, 1).values[290 - 256, 270 - 256]
    assert math.isclose(cell.prob, shown.row(290)[270], rel_tol=1e-13)
    assert cell.stored_lse == shown.lse[0, 0, 290]
    whole = compared(shown, 290)
    row, column = divmod(whole.key.index, 256)
    assert whole.shown == shown.tile(0, 1, row).values[290 - 256, column]
    hidden = compared(shown, 3, key=200)
    assert (hidden.shown, hidden.prob, hidden.difference, hidden.bound) == (0, 0, 0, 0)
    assert hidden.holds


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_the_text_says_both_numbers_their_difference_and_the_bound(lang):
    q, k = arrays(6, 10, 10, 4, 1.0)
    shown = AttentionMap(q, k)
    found = compared(shown, 3, key=5)
    text = " ".join(by_hand(shown, query=3, key=5, lang=lang).text.split())
    mark = "," if lang == "cs" else "."
    for number in (found.shown, found.prob, found.lse, found.stored_lse):
        assert f"{number:.9f}".replace(".", mark) in text
    assert "u = 2⁻²⁴" in text
    assert "Σ|qᵢkᵢ|" in text
