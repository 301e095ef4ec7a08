"""Observables by hand, ties and edges; and that any split of keys or of queries merges to the whole."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pozor
from pozor import Want
from pozor.observables import distance, entropy, lse, pooled, received, top_k
from pozor.observables.block import Block
from support import assert_close

LN2 = math.log(2)


def observe(backend, logits, want, **options):
    """One row of these logits."""
    k = np.asarray(logits, dtype=np.float64)[:, None]
    return pozor.observe(np.ones((1, 1)), k, np.zeros_like(k), scale=1, want=want, backend=backend, **options)


def test_entropy_in_nats(backend):
    # probs 1/2, 1/4, 1/4: ln 2 / 2 + 2 · ln 4 / 4 = 1.5 ln 2
    seen = observe(backend, [LN2, 0, 0], Want(entropy=True, row_max=True))
    assert_close(seen.entropy, np.array([1.5 * LN2]))
    assert_close(seen.row_max, np.array([LN2]))
    assert_close(seen.lse, np.array([2 * LN2]))


def test_entropy_has_no_term_for_the_sink(backend):
    # one key and the sink, 1/2 each: only the key's -1/2 ln 1/2
    seen = observe(backend, [0], Want(entropy=True), sink=np.array([0.0]), q_offset=0)
    assert_close(seen.entropy, np.array([LN2 / 2]))


def test_entropy_of_one_certain_key_is_0(backend):
    seen = observe(backend, [0, -1e9], Want(entropy=True))
    assert seen.entropy.tolist() == [0.0]
    assert not np.signbit(seen.entropy[0])


def test_top_k_takes_the_lower_index_on_ties(backend):
    seen = observe(backend, [1, 3, 3, 0, 3, 1], Want(top_k=5))
    assert seen.top_keys.tolist() == [[1, 2, 4, 0, 5]]


def test_top_k_beyond_the_visible_keys(backend):
    seen = observe(backend, [0, 0, 0], Want(top_k=4), mask=np.array([False, True, False]))
    assert seen.top_keys.tolist() == [[1, -1, -1, -1]]
    assert_close(seen.top_probs, np.array([[1.0, 0, 0, 0]]))


def test_received_is_a_mean_over_those_who_may_see(backend):
    x = np.zeros((3, 1))
    mask = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
    seen = pozor.observe(x, x, x, mask=mask, want=Want(received=True), backend=backend)
    # key 0: (1 + 1/2) / 2; key 1: (1/2 + 1) / 2; key 2: nobody
    assert_close(seen.received, np.array([0.75, 0.75, np.nan]))


def test_received_counts_every_query_that_one_row_of_bias_speaks_for(backend):
    x = np.zeros((4, 1))
    bias = np.array([[0.0, 0.0, -np.inf, 0.0]])
    seen = pozor.observe(x, x, x, bias=bias, want=Want(received=True), backend=backend)
    # each of 4 queries gives 1/3 to keys 0, 1 and 3: a mean of 1/3, whatever their number
    assert_close(seen.received, np.array([1 / 3, 1 / 3, np.nan, 1 / 3]))


def test_a_row_that_is_not_finite_says_so_at_every_distance_it_sees(backend):
    # inf - inf: no prob of the row is a number, beyond the first block of keys too; keys 2 and 3 are hidden
    mask = np.array([True, True, False, False] + [True] * 1500)
    logits = np.array([0.0, np.inf, 1.0, 2.0] + [0.0] * 1500)
    seen = observe(backend, logits, Want(distance=True), mask=mask, q_offset=0)
    # edges …, -7, -3, -1, 0, 1: what is 2 or 3 ahead is hidden, and 0
    assert seen.distance_edges.tolist()[-5:] == [-7, -3, -1, 0, 1]
    assert np.isnan(seen.distance[0]).tolist()[-4:] == [True, False, True, True]
    assert seen.distance[0, -3] == 0
    assert np.isnan(seen.distance[0, :-4]).all()


def test_distance_bins(backend):
    seen = observe(backend, [0] * 8, Want(distance=True), q_offset=5)
    # delta = 5 - j = 5, 4, 3, 2, 1, 0, -1, -2 in bins … [-3, -1) [-1, 0) [0, 1) [1, 2) [2, 4) [4, 8)
    assert seen.distance_edges.tolist() == [-3, -1, 0, 1, 2, 4, 8]
    assert_close(seen.distance, np.array([[1, 1, 1, 1, 2, 2]]) / 8)


@pytest.mark.parametrize(
    ("lowest", "highest", "edges"),
    [
        (0, 0, [0, 1]),
        (-1, 1, [-1, 0, 1, 2]),
        (-2, 2, [-3, -1, 0, 1, 2, 4]),
        (-7, 0, [-7, -3, -1, 0, 1]),
        (5, 9, [0, 1, 2, 4, 8, 16]),
    ],
)
def test_distance_edges(lowest, highest, edges):
    assert distance.edges_for(lowest, highest).tolist() == edges


def test_pooled_blocks_and_their_edges(backend):
    # causal, q = k = 0, 3 tokens in blocks of 2: rows (1), (1/2, 1/2), (1/3, 1/3 | 1/3)
    x = np.zeros((3, 1))
    seen = pozor.observe(x, x, x, causal=True, want=Want(pooled=2), backend=backend)
    assert seen.pooled.block == 2
    assert_close(seen.pooled.max, np.array([[1, np.nan], [1 / 3, 1 / 3]]))
    assert_close(seen.pooled.mean, np.array([[2 / 3, np.nan], [1 / 3, 1 / 3]]))
    assert_close(seen.pooled.share, np.array([[1, np.nan], [2 / 3, 1 / 3]]))


def test_pooled_counts_rows_that_see_something(backend):
    x = np.zeros((2, 1))
    seen = pozor.observe(
        x, x, x, mask=np.array([[True, True], [False, False]]), want=Want(pooled=2), backend=backend
    )
    assert_close(seen.pooled.share, np.array([[1.0]]))
    assert_close(seen.pooled.mean, np.array([[0.5]]))


@pytest.mark.parametrize("block", [1, 3, 7, 100, 5000])
def test_pooled_of_any_block(backend, block):
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(1, 2, 700, 3)), rng.normal(size=(1, 2, 1300, 3))
    want = Want(pooled=block)
    if block == 1:
        q, k = q[:, :, :9], k[:, :, :11]
    exact = pozor.observe(q, k, None, window=(300, 20), q_offset=50, want=want, backend="reference").pooled
    got = pozor.observe(q, k, None, window=(300, 20), q_offset=50, want=want, backend=backend).pooled
    for name in ("max", "mean", "share"):
        assert_close(getattr(got, name), getattr(exact, name), atol=1e-13)


def block_of(logits, keys):
    """A block of these logits, (heads, rows, keys), as the blocked backend would hand it over."""
    part = logits[..., keys]
    base = part.max(axis=-1, initial=-np.inf)
    exps = np.exp(part - np.where(base == -np.inf, 0, base)[..., None])
    return Block(part, exps, base, part != -np.inf, np.arange(part.shape[1]) + 2, keys)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 9), min_size=0, max_size=3, unique=True))
@example(seed=50, cuts=[])  # a row that sees nothing
def test_any_split_of_the_keys_merges_to_the_definition(seed, cuts):
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=4, size=(2, 4, 10))
    logits[rng.random(logits.shape) < 0.4] = -np.inf
    edges = [0, *sorted(cuts), 10]
    blocks = [block_of(logits, slice(a, b)) for a, b in pairwise(edges)]
    bins = distance.edges_for(-10, 10)

    def grown(update, *extra):
        state = None
        for block in blocks:
            state = update(state, block, *extra)
        return state

    def merged(module, *extra):
        states = [module.update(None, block, *extra) for block in blocks]
        while len(states) > 1:  # from the right: merge is associative
            states[-2:] = [module.merge(states[-2], states[-1])]
        return states[0]

    with np.errstate(all="ignore"):  # as the backends call them: a row that sees nothing has lse log 0
        exact_lse, row_max = lse.define(logits, None)
        log_probs = logits - np.where(exact_lse == -np.inf, 0, exact_lse)[..., None]
        probs = np.exp(log_probs)
        exact_entropy = entropy.define(probs, log_probs)
    exact_top = top_k.define(logits, probs, 3)
    exact_distance = distance.define(probs, np.arange(4) + 2, bins)
    for take in (lambda module, *extra: grown(module.update, *extra), merged):
        with np.errstate(all="ignore"):
            assert_close(lse.finish(take(lse), None), exact_lse)
            assert_close(take(lse).row_max, row_max)
            assert_close(entropy.finish(take(entropy), exact_lse), exact_entropy, atol=1e-12)
            top_probs, top_keys = top_k.finish(take(top_k, 3), exact_lse)
            assert_close(top_probs, exact_top[0], atol=1e-14)
            assert np.array_equal(top_keys, exact_top[1])
            assert_close(distance.finish(take(distance, bins), exact_lse), exact_distance, atol=1e-14)
            totals = pooled.start(2, 4, 10, 3, np.float64)
            pooled.add_rows(totals, take(pooled, 3), exact_lse, slice(0, 4), 3)
        for got, want in zip(
            pooled.finish(totals, np.float64), pooled.define(probs, logits != -np.inf, 3), strict=True
        ):
            assert_close(got, want, atol=1e-14)


def test_received_of_disjoint_queries_merges():
    rng = np.random.default_rng(0)
    probs, visible = rng.random((2, 5, 4)), rng.random((2, 5, 4)) < 0.6
    probs[~visible] = 0
    parts = [
        received.update(received.start(2, 4), probs[:, rows], visible[:, rows], slice(0, 4))
        for rows in (slice(0, 2), slice(2, 5))
    ]
    got = received.finish(received.merge(*parts), np.float64)
    assert_close(got, received.define(probs, visible), atol=1e-15)
