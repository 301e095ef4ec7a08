"""A row without some of its keys: the rest in the same proportions, worked out anew."""

import numpy as np
import pytest

from pozor import AttentionMap
from pozor.errors import OptionError

RNG = np.random.default_rng(4)


def test_by_hand():
    # logits 0, ln 2, ln 3, ln 4 of four keys: 1, 2, 3, 4 tenths; without key 3: 1, 2, 3 sixths
    k = np.log(np.array([[1.0], [2.0], [3.0], [4.0]]))
    map = AttentionMap(np.ones((1, 1)), k, scale=1.0, q_offset=3)
    np.testing.assert_allclose(map.row(0), [0.1, 0.2, 0.3, 0.4], rtol=1e-14)
    np.testing.assert_allclose(map.row(0, hidden=[3]), [1 / 6, 2 / 6, 3 / 6, 0], rtol=1e-14)
    np.testing.assert_allclose(map.row(0, hidden=[0, 3, 3]), [0, 2 / 5, 3 / 5, 0], rtol=1e-14)
    assert map.row(0, hidden=range(4)).tolist() == [0, 0, 0, 0]
    # a sink of logit ln 5 keeps its five parts: 1, 2, 3 of 11
    sunk = AttentionMap(np.ones((1, 1)), k, scale=1.0, q_offset=3, sink=np.log([5.0]))
    np.testing.assert_allclose(sunk.row(0, hidden=[3]), [1 / 11, 2 / 11, 3 / 11, 0], rtol=1e-14)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"sink": np.array([0.3, 2.0])}, {"softcap": 1.5}])
def test_it_is_the_row_of_a_mask_that_hides_them_too(options):
    q, k = RNG.normal(size=(2, 9, 4)), RNG.normal(size=(1, 9, 4))
    hidden = [1, 4, 8]
    seen = np.ones(9, dtype=bool)
    seen[hidden] = False
    map = AttentionMap(q, k, **options)
    masked = AttentionMap(q, k, mask=seen, **options)
    given = AttentionMap.from_probs(
        np.stack([[map.row(i, head=h) for i in range(9)] for h in (0, 1)]),
        mask=np.tri(9, dtype=bool) if "causal" in options else None,
        sink="sink" in options,
    )
    for query in range(9):
        row = masked.row(query, head=1)
        np.testing.assert_allclose(map.row(query, hidden=hidden, head=1), row, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(given.row(query, hidden=hidden, head=1), row, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("wrong", [[9], [-1], [True], [1.0]])
def test_keys_that_are_none(wrong):
    map = AttentionMap(np.ones((9, 2)), np.ones((9, 2)))
    with pytest.raises(OptionError, match="hidden must be from 0 to 8; got"):
        map.row(0, hidden=wrong)
