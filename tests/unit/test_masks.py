"""Mask objects against the definition, cell by cell; ranges and blocks must say the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor.masks import MAX_RANGES, Causal, Documents, Grid, Padding, Prefix, Sinks, Visibility, Window

Q_LEN, KV_LEN, BATCH = 6, 11, 2
GRID = Grid(BATCH, Q_LEN, KV_LEN, np.array([3, -2]))
RNG = np.random.default_rng(0)
IDS, KV_IDS = RNG.integers(0, 3, (BATCH, Q_LEN)), RNG.integers(0, 3, (BATCH, KV_LEN))
REAL = RNG.random((BATCH, KV_LEN)) < 0.6

# each mask with its definition, of batch, position and key
LEAVES = [
    (Causal(), lambda b, i, p, j: j <= p),
    (Window(2, 1), lambda b, i, p, j: p - 2 <= j <= p + 1),
    (Window(None, 0), lambda b, i, p, j: j <= p),
    (Window(0, None), lambda b, i, p, j: j >= p),
    (Window(None, None), lambda b, i, p, j: True),
    (Window(10**30, 10**30), lambda b, i, p, j: True),
    (Prefix(4), lambda b, i, p, j: j < 4),
    (Prefix([0, 20]), lambda b, i, p, j: j < (0, 20)[b]),
    (Sinks(2), lambda b, i, p, j: j < 2),
    (Padding([5, 9]), lambda b, i, p, j: j < (5, 9)[b]),
    (Padding(REAL), lambda b, i, p, j: REAL[b, j]),
    (Documents(IDS, KV_IDS), lambda b, i, p, j: IDS[b, i] == KV_IDS[b, j]),
    (Documents(IDS[0], KV_IDS), lambda b, i, p, j: IDS[0, i] == KV_IDS[b, j]),
]


def defined(rule, batch):
    return np.array(
        [[bool(rule(batch, i, i + GRID.q_offset[batch], j)) for j in range(KV_LEN)] for i in range(Q_LEN)]
    )


def drawn():
    """A mask with its definition, some & and | deep."""

    def join(children):
        def both(pair):
            (a, rule_a), (b, rule_b), use_and = pair
            if use_and:
                return a & b, lambda *x: rule_a(*x) and rule_b(*x)
            return a | b, lambda *x: rule_a(*x) or rule_b(*x)

        return st.tuples(children, children, st.booleans()).map(both)

    return st.recursive(st.sampled_from(LEAVES), join, max_leaves=5)


@settings(max_examples=60, deadline=None)
@given(drawn(), st.integers(0, Q_LEN - 1), st.integers(0, KV_LEN - 1))
def test_ranges_and_blocks_are_the_definition(pair, first_row, first_key):
    mask, rule = pair
    mask.check(GRID)
    visibility = Visibility(GRID, 3, [mask])
    rows, keys = slice(first_row, Q_LEN), slice(first_key, KV_LEN)
    for batch in range(BATCH):
        want = defined(rule, batch)
        block = visibility.block(batch, 1, rows, keys)
        assert np.array_equal(np.broadcast_to(block, want[rows, keys].shape), want[rows, keys])
        assert block is True or block is False or not (block.all() or not block.any())
        ranges = visibility.ranges(batch, 1, rows)
        if ranges is not None:
            from_ranges = np.zeros_like(want[rows])
            for start, stop in zip(ranges[0].T, ranges[1].T):
                cells = (np.arange(KV_LEN) >= start[:, None]) & (np.arange(KV_LEN) < stop[:, None])
                assert not (from_ranges & cells).any(), "ranges are disjoint"
                from_ranges |= cells
            assert np.array_equal(from_ranges, want[rows])
        seen = np.zeros(KV_LEN, dtype=bool)
        for span in visibility.spans(batch, rows):
            assert not seen[span].any()
            seen[span] = True
        assert not want[rows][:, ~seen].any(), "no visible key outside the spans"


def test_nothing_hidden():
    visibility = Visibility(GRID, 1)
    assert visibility.block(0, 0, slice(0, 2), slice(0, 3)) is True
    starts, stops = visibility.ranges(0, 0, slice(0, 2))
    assert (starts == 0).all()
    assert (stops == KV_LEN).all()


def test_masks_given_together_are_anded():
    array = RNG.random((1, 3, Q_LEN, 1)) < 0.5
    visibility = Visibility(
        GRID, 3, [Causal(), Padding([5, 9])], [array], [lambda b, h, i, j: (i + j + h) % 2 == 0]
    )
    for b in range(BATCH):
        for h in range(3):
            i, j = np.ogrid[:Q_LEN, :KV_LEN]
            want = (j <= i + GRID.q_offset[b]) & (j < (5, 9)[b]) & array[0, h] & ((i + j + h) % 2 == 0)
            got = visibility.block(b, h, slice(0, Q_LEN), slice(0, KV_LEN))
            assert np.array_equal(np.broadcast_to(got, want.shape), want)
    assert visibility.ranges(0, 0, slice(0, 2)) is None


def test_more_than_eight_ranges_are_asked_by_block():
    striped = np.arange(40) % 2 == 0
    grid = Grid(1, 40, 40, np.zeros(1, dtype=np.int64))
    for mask in (Padding(striped), Documents(striped.astype(int))):
        assert mask.ranges(grid, 0, slice(0, 40)) is None
        visibility = Visibility(grid, 1, [mask, Window(2 * MAX_RANGES, 0)])
        got = visibility.block(0, 0, slice(0, 40), slice(0, 40))
        i, j = np.ogrid[:40, :40]
        same = striped[None, :] if isinstance(mask, Padding) else striped[:, None] == striped[None, :]
        assert np.array_equal(got, same & (i - j <= 16) & (j <= i))
        # the window still bounds what is looked at
        assert visibility.spans(0, slice(38, 40)) == [slice(22, 40)]


def test_window_shows_left_plus_one_plus_right_keys():
    grid = Grid(1, 9, 9, np.zeros(1, dtype=np.int64))
    seen = np.broadcast_to(Visibility(grid, 1, [Window(3, 1)]).block(0, 0, slice(0, 9), slice(0, 9)), (9, 9))
    assert seen.sum(axis=1).tolist() == [2, 3, 4, 5, 5, 5, 5, 5, 4]


def test_a_callable_gets_integer_arrays_in_order():
    got = []

    def mask_mod(b, h, q_idx, kv_idx):
        got.append((b, h, q_idx, kv_idx))
        return (q_idx >= kv_idx) & (b >= 0) & (h >= 0)

    x = np.zeros((2, 3, 4, 5))
    pozor.attention(x, x, x, mask=mask_mod, q_offset=7)
    assert all(index.dtype == np.int64 for call in got for index in call)
    assert {int(call[0].ravel()[0]) for call in got} == {0, 1}
    assert got[0][2].ravel().tolist() == [0, 1, 2, 3], "q_idx is without the offset"


def test_a_callable_gets_tensors_where_q_is_a_tensor():
    import torch

    document = torch.tensor([0, 0, 1, 1])
    x = torch.zeros(1, 1, 4, 1)
    v = torch.tensor([1.0, 3, 10, 30]).reshape(1, 1, 4, 1)
    for backend in ("blocked", "torch"):
        out = pozor.attention(x, x, v, mask=lambda b, h, i, j: document[i] == document[j], backend=backend)
        assert out.ravel().tolist() == [2, 2, 20, 20]


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: Window(-1, 0), pozor.OptionError, "left must be 0 tokens or more; got -1"),
        (lambda: Window(1.0, 0), pozor.DtypeError, "left must be a whole number of tokens or None"),
        (
            lambda: Window(0, True),
            pozor.DtypeError,
            "right must be a whole number of tokens.*; got True",
        ),
        (lambda: Sinks(2.5), pozor.DtypeError, "n must be a whole number of tokens; got 2.5"),
        (lambda: Prefix([1.5]), pozor.DtypeError, r"Prefix\(n\) must be integers; got float64"),
        (lambda: Prefix(-2), pozor.OptionError, r"Prefix\(n\) must be 0 or more; got -2"),
        (lambda: Prefix([[1]]), pozor.ShapeError, r"Prefix\(n\) must be a number or \(batch,\)"),
        (lambda: Padding([0.5]), pozor.DtypeError, "Padding lengths must be integers; got float64"),
        (lambda: Padding([[3]]), pozor.ShapeError, r"Padding takes lengths \(batch,\)"),
        (
            lambda: Padding(np.ones((1, 1, 1), bool)),
            pozor.ShapeError,
            "Padding takes bool",
        ),
        (lambda: Padding([[1, 1, 0]]), pozor.ShapeError, r"got shape \(1, 3\). Use mask != 0 for ones"),
        (
            lambda: Padding([[True], [True, False]]),
            pozor.ShapeError,
            "Padding must be an array; got rows of different lengths",
        ),
        (
            lambda: Documents([[0], [0, 1]]),
            pozor.ShapeError,
            r"Documents\(q_ids\) must be an array; got rows of different lengths",
        ),
        (lambda: Documents(["a"]), pozor.DtypeError, r"Documents\(q_ids\) must be integers"),
        (lambda: Documents(3), pozor.ShapeError, r"q_ids must be \(tokens,\) or \(batch, tokens\)"),
    ],
)
def test_wrong_masks(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (Padding([1, 2, 3]), "Padding lengths must hold one entry a sequence; got 3 for batch 2"),
        (Padding(np.ones((2, 4), bool)), "Padding must cover kv_len=11 tokens; got 4"),
        (Documents(np.zeros(Q_LEN, int)), r"Documents\(kv_ids\) must cover kv_len=11 tokens; got 6"),
        (
            Documents(np.zeros(5, int), np.zeros(11, int)),
            "must cover q_len=6 tokens; got 5",
        ),
        (Prefix([1, 2, 3]), r"Prefix\(n\) must hold one entry a sequence; got 3 for batch 2"),
        (Causal() & Padding([1, 2, 3]), "Padding lengths must hold one entry"),
    ],
)
def test_masks_that_do_not_fit_the_call(mask, words):
    with pytest.raises(pozor.ShapeError, match=words):
        pozor.attention(np.ones((2, 1, Q_LEN, 2)), *[np.ones((2, 1, KV_LEN, 2))] * 2, mask=mask, q_offset=0)


def test_masks_combine_with_masks_only():
    array = np.ones((2, 2), bool)
    for join, sign in (
        (lambda: Causal() & array, "&"),
        (lambda: array & Causal(), "&"),
        (lambda: Causal() | array, r"\|"),
        (lambda: array | Causal(), r"\|"),
    ):
        with pytest.raises(
            pozor.DtypeError, match=f"{sign} joins two mask objects; got ndarray. Use Padding"
        ):
            join()
