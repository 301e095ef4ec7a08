"""The laws of attention, drawn by Hypothesis, on every backend; shapes cross the edges of small blocks."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor import Want
from support import BACKENDS, assert_close, pooled_side

CLOSE = 1e-11  # float64, sums of at most 40 terms of size 10


@dataclass
class Call:
    """A drawn call: q, k, v in float64 and options that every law may change."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    options: dict[str, Any]

    def observe(self, backend: str, want: Want | None = None, **changes: Any) -> pozor.Observation:
        return pozor.observe(self.q, self.k, self.v, backend=backend, want=want, **(self.options | changes))


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Blocks so small that a dozen tokens cross several of them."""
    from pozor.backends import blocked
    from pozor.backends.torch import rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocked, "BLOCK_Q", 16)
        patch.setattr(blocked, "BLOCK_KV", 5)
        patch.setattr(blocked, "CELLS", 200)
        patch.setattr(rows, "CELLS", {"cpu": 60})
        patch.setattr(rows, "ROWS", 2)
        yield


@st.composite
def calls(draw, grouped: bool = False):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    batch, kv_heads, group = (
        draw(st.integers(1, 2)),
        draw(st.integers(1, 2)),
        draw(st.integers(1 + grouped, 3)),
    )
    q_len, kv_len = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    dim, v_dim = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    heads = kv_heads * group
    options: dict[str, Any] = {"q_offset": draw(st.integers(-3, 6))}
    if draw(st.booleans()):
        options["causal"] = True
    if draw(st.booleans()):
        options["window"] = (draw(st.sampled_from([None, 0, 1, 4])), draw(st.sampled_from([None, 0, 2])))
    if draw(st.booleans()):
        lead = draw(st.sampled_from([(), (1, 1), (batch, 1), (batch, heads)]))
        options["mask"] = rng.random((*lead, q_len, kv_len)) < 0.7
    if draw(st.booleans()):
        bias = rng.normal(size=(batch, heads, q_len, kv_len))
        options["bias"] = np.where(rng.random(bias.shape) < 0.1, -np.inf, bias)
    if draw(st.booleans()):
        options["softcap"] = draw(st.sampled_from([0.5, 3.0]))
    if draw(st.booleans()):
        options["sink"] = rng.normal(size=heads)
    if draw(st.booleans()):
        options["scale"] = draw(st.sampled_from([-1.0, 0.0, 0.3, 4.0]))
    q = rng.normal(size=(batch, heads, q_len, dim))
    k, v = rng.normal(size=(batch, kv_heads, kv_len, dim)), rng.normal(size=(batch, kv_heads, kv_len, v_dim))
    return Call(q, k, v, options)


def probs_of(call: Call, backend: str) -> np.ndarray:
    """Probs by giving each key a value of its own."""
    count = call.k.shape[2]
    return replace(call, v=np.broadcast_to(np.eye(count), (*call.k.shape[:3], count))).observe(backend).out


def visible_of(call: Call) -> np.ndarray:
    """What may be seen, cell by cell from the definition, (batch, heads, q_len, kv_len)."""
    batch, heads, q_len = call.q.shape[:3]
    options, kv_len = call.options, call.k.shape[2]
    position, j = np.arange(q_len)[:, None] + options["q_offset"], np.arange(kv_len)[None, :]
    seen = np.ones((batch, heads, q_len, kv_len), dtype=bool)
    if options.get("causal"):
        seen &= j <= position
    left, right = options.get("window", (None, None))
    if left is not None:
        seen &= j >= position - left
    if right is not None:
        seen &= j <= position + right
    if "mask" in options:
        seen &= options["mask"]
    if "bias" in options:
        seen &= options["bias"] != -np.inf
    return seen


def moved(call: Call, order: np.ndarray, visible: np.ndarray) -> Call:
    """The same keys in another order; all masks become one array, for they go by position."""
    options = {name: value for name, value in call.options.items() if name not in ("causal", "window")}
    options["mask"] = visible[..., order]
    if "bias" in options:
        options["bias"] = options["bias"][..., order]
    return Call(call.q, call.k[:, :, order], call.v[:, :, order], options)


laws = settings(max_examples=25, deadline=None)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls())
def test_rows_and_the_sinks_part_sum_to_1_or_0(backend, call):
    seen, probs = call.observe(backend), probs_of(call, backend)
    total = probs.sum(axis=-1)
    if "sink" in call.options:
        total = total + np.exp(call.options["sink"][:, None] - seen.lse)
        assert_close(total, np.ones_like(total), atol=CLOSE)
    else:
        assert_close(total, np.where(visible_of(call).any(axis=-1), 1.0, 0.0), atol=CLOSE)
    assert (probs[~visible_of(call)] == 0).all()
    assert_close(probs @ np.repeat(call.v, call.q.shape[1] // call.v.shape[1], axis=1), seen.out, atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls(), seed=st.integers(0, 1000))
def test_permuting_keys_with_values_and_mask_changes_nothing(backend, call, seed):
    order = np.random.default_rng(seed).permutation(call.k.shape[2])
    want = Want(row_max=True, entropy=True)
    a = call.observe(backend, want)
    b = moved(call, order, visible_of(call)).observe(backend, want)
    for name in ("out", "lse", "row_max", "entropy"):
        assert_close(getattr(b, name), getattr(a, name), atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls(), seed=st.integers(0, 1000))
def test_a_constant_added_to_a_row_changes_only_lse(backend, call, seed):
    call.options.pop("sink", None)  # the sink's logit does not move with the row
    shift = np.random.default_rng(seed).normal(scale=5, size=(*call.q.shape[:3], 1))
    a = call.observe(backend, Want(entropy=True))
    b = call.observe(backend, Want(entropy=True), bias=call.options.get("bias", 0) + shift)
    assert_close(b.out, a.out, atol=CLOSE)
    assert_close(b.entropy, a.entropy, atol=CLOSE)
    assert_close(b.lse, a.lse + shift[..., 0], atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls(), cuts=st.lists(st.integers(0, 12), min_size=2, max_size=2))
def test_any_split_of_the_keys_merges_to_the_whole(backend, call, cuts):
    kv_len, offset = call.k.shape[2], call.options["q_offset"]
    edges = [0, *sorted(min(cut, kv_len) for cut in cuts), kv_len]
    parts = []
    for start, stop in pairwise(edges):
        options = call.options | {"q_offset": offset - start}
        for name in ("mask", "bias"):
            if name in options:
                options[name] = options[name][..., start:stop]
        if start:
            options.pop("sink", None)  # the sink is counted once
        if start == 0 and stop == 0:
            continue  # the sink belongs to a part; the next one with start 0 has it
        seen = Call(call.q, call.k[:, :, start:stop], call.v[:, :, start:stop], options).observe(backend)
        parts.append((seen.out, seen.lse))
    whole = call.observe(backend)
    together = pozor.merge(parts)
    assert_close(together[0], whole.out, atol=CLOSE)
    assert_close(together[1], whole.lse, atol=CLOSE)
    # associative
    left = pozor.merge([pozor.merge(parts[:2]), *parts[2:]])
    right = pozor.merge([parts[0], pozor.merge(parts[1:])]) if len(parts) > 1 else left
    for a, b in zip(left, right):
        assert_close(a, b, atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls(grouped=True))
def test_grouped_heads_are_repeated_kv_heads(backend, call):
    group = call.q.shape[1] // call.k.shape[1]
    repeated = replace(call, k=np.repeat(call.k, group, axis=1), v=np.repeat(call.v, group, axis=1))
    a, b = call.observe(backend), repeated.observe(backend)
    assert_close(b.out, a.out, atol=CLOSE)
    assert_close(b.lse, a.lse, atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls(), odd=st.sampled_from([np.nan, np.inf, -np.inf, 1e300]), seed=st.integers(0, 1000))
def test_a_row_does_not_change_with_keys_it_may_not_see(backend, call, odd, seed):
    rng = np.random.default_rng(seed)
    want = Want(row_max=True, entropy=True, top_k=3, distance=True)
    a = call.observe(backend, want)
    visible = visible_of(call)
    key = int(rng.integers(call.k.shape[2]))
    k, v = call.k.copy(), call.v.copy()
    k[:, :, key, rng.integers(k.shape[3])], v[:, :, key, rng.integers(v.shape[3])] = odd, odd
    b = replace(call, k=k, v=v).observe(backend, want)
    blind = ~visible[..., key]
    for name in ("out", "lse", "row_max", "entropy", "top_probs", "top_keys", "distance"):
        assert_close(getattr(b, name)[blind], getattr(a, name)[blind], atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls(), odd=st.sampled_from([np.nan, np.inf]), seed=st.integers(0, 1000))
def test_what_a_key_receives_does_not_change_with_queries_that_may_not_see_it(backend, call, odd, seed):
    a = call.observe(backend, Want(received=True))
    visible = visible_of(call)
    query = int(np.random.default_rng(seed).integers(call.q.shape[2]))
    q = call.q.copy()
    q[:, :, query] = odd
    b = replace(call, q=q).observe(backend, Want(received=True))
    unseen = ~visible[:, :, query]
    assert_close(b.received[unseen], a.received[unseen], atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls())
def test_a_batch_equals_its_members(backend, call):
    want = Want(
        row_max=True, entropy=True, top_k=2, received=True, distance=True, pooled=pooled_side(backend, 3)
    )
    whole = call.observe(backend, want)
    for b in range(len(call.q)):
        options = {
            name: value[b : b + 1]
            if name in ("mask", "bias") and value.ndim == 4 and len(value) > 1
            else value
            for name, value in call.options.items()
        }
        one = Call(call.q[b : b + 1], call.k[b : b + 1], call.v[b : b + 1], options).observe(backend, want)
        for name in ("out", "lse", "row_max", "entropy", "top_probs", "top_keys", "received", "distance"):
            assert_close(getattr(whole, name)[b : b + 1], getattr(one, name), atol=CLOSE)
        assert_close(whole.pooled.share[b : b + 1], one.pooled.share, atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(tokens=st.integers(1, 15), left=st.integers(0, 6), right=st.integers(0, 6))
def test_a_window_shows_left_1_right_keys(backend, tokens, left, right):
    x = np.zeros((tokens, 1))
    shown = np.exp(pozor.observe(x, x, x, window=(left, right), backend=backend).lse)  # q = k = 0: lse = ln n
    i = np.arange(tokens)
    inside = np.minimum(i + right, tokens - 1) - np.maximum(i - left, 0) + 1
    assert_close(shown, inside.astype(float), atol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
@laws
@given(call=calls())
def test_observables_are_sums_of_probs(backend, call):
    side = pooled_side(backend, 4)
    seen = call.observe(
        backend, Want(row_max=True, entropy=True, top_k=40, received=True, distance=True, pooled=side)
    )
    probs, visible = probs_of(call, backend), visible_of(call)
    with np.errstate(all="ignore"):
        plogp = np.where(probs > 0, probs * np.log(probs), 0)
    assert_close(seen.entropy, -plogp.sum(axis=-1), atol=1e-9)
    assert_close(seen.top_probs.sum(axis=-1), probs.sum(axis=-1), atol=CLOSE)
    assert_close(seen.distance.sum(axis=-1), probs.sum(axis=-1), atol=CLOSE)
    assert ((seen.top_keys >= 0).sum(axis=-1) == visible.sum(axis=-1)).all()
    queries = visible.sum(axis=-2)
    received = np.where(queries == 0, np.nan, probs.sum(axis=-2) / np.maximum(queries, 1))
    assert_close(seen.received, received, atol=CLOSE)
    rows = np.nansum(seen.pooled.share, axis=-1)
    for block in range(rows.shape[-1]):
        part = slice(side * block, side * block + side)
        seeing = visible[:, :, part].any(axis=-1).sum(axis=-1)
        want = probs[:, :, part].sum(axis=(-1, -2)) / np.maximum(seeing, 1)
        assert_close(rows[..., block], want, atol=CLOSE)
