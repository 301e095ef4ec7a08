"""Measures of a head: by hand, and against sums over the whole float64 matrix under every kind of mask."""

import ml_dtypes
import numpy as np
import pytest

import pozor
from pozor import AttentionMap, Causal, Documents, Padding, Prefix, Window
from pozor.matrix import measures
from pozor.matrix.measures import measured

LENGTHS = (60, 90)
NOISE = np.random.default_rng(7)
MASKS = [
    {},
    {"causal": True},
    {"window": (7, 0)},
    {"window": (20, 9)},
    {"causal": True, "softcap": 2.0, "scale": -0.8},
    {"causal": True, "sink": np.array([0.4, -1.0])},
    {"window": (6, 6), "sink": np.array([3.0, 1.0])},
    {"mask": Causal() | Prefix(12)},
    {"mask": Documents(np.arange(60) // 17, np.arange(90) // 17), "causal": True},
    {"mask": Padding(np.array([[True, False, True] * 30]))},
    {"mask": NOISE.random((60, 90)) < 0.4},
    {"mask": lambda b, h, i, j: (i + 2 * j + h) % 3 != 0, "causal": True},
    {"bias": np.where(NOISE.random((60, 90)) < 0.2, -np.inf, 0.5)},
    {"mask": np.zeros((60, 90), dtype=bool)},
]
IDS = NOISE.integers(0, 9, 90)


def of(map, ids=None, **options):
    *_, (done, sums) = measured(map, ids, **options)
    assert done == 1
    return sums.entropy, sums.distance, sums.induction


def whole(map, ids, offset, head):
    """The definitions, cell by cell of the matrix held whole."""
    rows, keys = (slice(0, n) for n in (map.q_len, map.kv_len))
    probs, seen = map.block(rows, keys, head=head), map.visible(rows, keys, head=head)
    position, key = np.arange(map.q_len)[:, None] + offset, np.arange(map.kv_len)
    logs = np.log(np.where(probs > 0, probs, 1))
    entropy = -(probs * logs).sum() / seen.any(axis=1).sum() if seen.any() else np.nan
    distance = (probs * abs(position - key)).sum() / probs.sum() if probs.sum() else np.nan
    gifts = []
    for query in range(map.q_len if ids is not None else 0):
        after = [
            j
            for j in range(1, map.kv_len)
            if ids[j - 1] == ids[query + offset] and j < query + offset and seen[query, j]
        ]
        gifts += [probs[query, after].sum()] if after else []
    return entropy, distance, np.mean(gifts) if gifts else np.nan


@pytest.mark.parametrize("options", MASKS, ids=lambda options: "-".join(options) or "open")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, ml_dtypes.bfloat16])
def test_measures_are_sums_over_the_matrix(options, dtype, monkeypatch):
    monkeypatch.setattr(measures, "BAND", 16)  # several bands, the last one short
    rng = np.random.default_rng(1)
    q = (1.5 * rng.normal(size=(2, LENGTHS[0], 8))).astype(dtype)
    k = rng.normal(size=(1, LENGTHS[1], 8)).astype(dtype)
    cast = {n: x.astype(dtype) if n in ("bias", "sink") else x for n, x in options.items()}
    map = AttentionMap(q, k, q_offset=25, **cast)
    for head in (0, 1):
        expected = whole(map, IDS, 25, head)
        np.testing.assert_allclose(of(map, IDS, head=head), expected, rtol=1e-5, atol=1e-6)
        assert np.isnan(of(map, head=head)[2])
        assert np.isnan(of(map, IDS, head=head, one_sequence=False)[1:]).all()


def test_measures_of_a_given_matrix(monkeypatch):
    monkeypatch.setattr(measures, "CHUNK", 90 * 7)
    probs = NOISE.random((2, 30, 90))
    mask = np.tri(30, 90, 60, dtype=bool)
    mask[3] = False
    probs = np.where(mask, probs, 0)
    probs /= np.maximum(probs.sum(axis=2, keepdims=True), 1e-300)
    map = AttentionMap.from_probs(probs, mask=mask)
    np.testing.assert_allclose(of(map, IDS, head=1), whole(map, IDS, 60, 1), rtol=1e-12)


def test_by_hand():
    # tokens a b a b: query 2 (a) may look at key 1, which followed the a before; query 3 (b) at key 2.
    # row 2: logits 0, ln 2, 0 → 1/4, 2/4, 1/4; row 3: 0, 0, ln 6, 0 → 1/9, 1/9, 6/9, 1/9
    rows = [[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 4, 2 / 4, 1 / 4, 0], [1 / 9, 1 / 9, 6 / 9, 1 / 9]]
    probs = np.array(rows)
    with np.errstate(divide="ignore"):
        bias = np.log(probs)
    map = AttentionMap(np.zeros((4, 1)), np.zeros((4, 1)), bias=bias)
    # entropy: 0, ln 2, 1.5 ln 2, and ln 9 − 6/9 ln 6; mean of the four rows
    entropy = (2.5 * np.log(2) + np.log(9) - 6 / 9 * np.log(6)) / 4
    # distance: row 1: 1/2; row 2: 2/4 + 2/4 = 1; row 3: 3/9 + 2/9 + 6/9 = 11/9; over four rows
    distance = (1 / 2 + 1 + 11 / 9) / 4
    # induction: query 2 gives 2/4 to key 1, query 3 gives 6/9 to key 2
    induction = (2 / 4 + 6 / 9) / 2
    for ids in ([5, 8, 5, 8], ["a", "b", "a", "b"]):
        np.testing.assert_allclose(of(map, ids), (entropy, distance, induction), rtol=1e-12)


def test_a_token_that_repeats_at_once_does_not_count_itself():
    map = AttentionMap(np.zeros((3, 1)), np.zeros((3, 1)), causal=True)
    # a a a: query 1 follows the a before, but is itself; query 2 may look at key 1, a third of its row
    np.testing.assert_allclose(of(map, [1, 1, 1])[2], 1 / 3, rtol=1e-12)
    assert np.isnan(of(map, [1, 1, 2])[2])
    assert np.isnan(of(map, [1, 2, 3])[2])


def test_far_keys_do_not_cost_digits(monkeypatch):
    monkeypatch.setattr(measures, "BAND", 256)
    rng = np.random.default_rng(0)
    q = rng.normal(size=(1500, 16)).astype(np.float32)
    k = rng.normal(size=(1500, 16)).astype(np.float32)
    map = AttentionMap(q, k, causal=True, window=(40, 0), scale=1.0)
    expected = whole(map, None, 0, 0)
    assert abs(of(map)[1] - expected[1]) < 1e-4
    exact = AttentionMap(q.astype(np.float64), k.astype(np.float64), causal=True, window=(40, 0), scale=1.0)
    np.testing.assert_allclose(of(exact)[:2], expected[:2], rtol=1e-6)


def test_a_nan_is_no_number():
    q, k = np.ones((5, 2)), np.ones((5, 2))
    q[3] = np.nan
    assert np.isnan(of(AttentionMap(q, k, causal=True), [1, 2, 1, 2, 1])).all()


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_nothing_to_measure(shape):
    q_len, kv_len = shape
    map = AttentionMap(np.zeros((q_len, 2)), np.zeros((kv_len, 2)), q_offset=0)
    assert np.isnan(of(map, np.arange(kv_len))).all()


def test_the_kernel_and_numpy_agree(monkeypatch):
    if "native" not in pozor.available_backends():
        pytest.skip("native: this install has no kernel")
    rng = np.random.default_rng(3)
    q, k = rng.normal(size=(2, 300, 8)).astype(np.float32)
    map = AttentionMap(q, k, causal=True, mask=Window(50, 3))
    ids = rng.integers(0, 20, 300)
    found = of(map, ids)
    monkeypatch.setattr("pozor.attend._installed", lambda name: name != "native")
    np.testing.assert_allclose(of(map, ids), found, rtol=1e-5)
