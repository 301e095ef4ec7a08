"""The heads of one map at once: which of them look here, measures, small pictures."""

import numpy as np
import pytest

from pozor import AttentionMap
from pozor.errors import OptionError
from pozor.matrix import thumbs
from pozor.matrix.measuring import MapMeasuring
from pozor.matrix.which import which

PROBS = np.array([[[1, 0], [0.25, 0.75]], [[1, 0], [0.5, 0.5]]])


def test_which_by_hand():
    map = AttentionMap.from_probs(PROBS, mask=np.tri(2, dtype=bool))
    assert which(map, query=1, key=0)[["head", "prob", "at"]].tolist() == [(1, 0.5, -1), (0, 0.25, -1)]
    assert which(map, query=1)[["head", "prob", "at"]].tolist() == [(0, 0.75, 1), (1, 0.5, 0)]
    # key 0 receives (1 + 1/4) / 2 and (1 + 1/2) / 2, most from query 0; key 1 is seen by query 1 alone
    assert which(map, key=0)[["head", "prob", "at"]].tolist() == [(1, 0.75, 0), (0, 0.625, 0)]
    assert which(map, key=1)[["head", "prob", "at"]].tolist() == [(0, 0.75, 1), (1, 0.5, 1)]


def test_where_nothing_is_seen():
    map = AttentionMap(np.ones((3, 1)), np.ones((3, 1)), mask=np.eye(3, k=-1, dtype=bool))
    assert which(map, query=0)[["prob", "at"]].tolist() == [(0, -1)]
    (line,) = which(map, key=2)
    assert np.isnan(line["prob"])
    assert line["at"] == -1
    q = np.ones((3, 1))
    q[1] = np.nan
    (line,) = which(AttentionMap(q, np.ones((3, 1))), query=1)
    assert np.isnan(line["prob"])
    assert line["at"] == -1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "which needs a query, a key, or both; got neither"),
        ({"query": 2}, "query must be from 0 to 1; got 2"),
        ({"query": 0, "key": 2}, "key must be from 0 to 1; got 2"),
        ({"key": 2}, "key must be from 0 to 1; got 2"),
        ({"query": "1"}, "query must be a whole number from 0; got '1'"),
        ({"query": 1, "batch": 1}, "batch must be from 0 to 0; got 1"),
    ],
)
def test_wrong_questions(asked, words):
    with pytest.raises(OptionError, match=words):
        which(AttentionMap.from_probs(PROBS), **asked)


def test_measures_of_a_map_by_hand():
    map = AttentionMap.from_probs(PROBS, tokens=["a", "b"])
    lines = MapMeasuring(map).making.make()
    for name, values in {
        "first": [(1 + 0.25) / 2, (1 + 0.5) / 2],
        "own": [(1 + 0.75) / 2, (1 + 0.5) / 2],
        "previous": [0.25 / 2, 0.5 / 2],
        "distance": [0.25 / 2, 0.5 / 2],
        "entropy": [-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)) / 2, np.log(2) / 2],
    }.items():
        np.testing.assert_allclose(lines[name], values, rtol=1e-12, err_msg=name)
    assert np.isnan(lines["induction"]).all()
    assert lines["head"].tolist() == [0, 1]


def test_without_positions_there_is_no_distance():
    map = AttentionMap(np.ones((2, 3, 1)), np.ones((2, 4, 1)), tokens=["a", "b", "a", "b"])
    lines = MapMeasuring(map).making.make()
    for name in ("own", "previous", "distance", "induction"):
        assert np.isnan(lines[name]).all(), name
    np.testing.assert_allclose(lines["first"], 0.25)
    np.testing.assert_allclose(lines["entropy"], np.log(4))


@pytest.mark.parametrize(
    ("length", "zoom"), [(0, 0), (1, 0), (64, 0), (65, 1), (128, 1), (129, 2), (8192, 7), (131_072, 11)]
)
def test_the_zoom_of_a_small_picture(length, zoom):
    assert thumbs.zoom_of(length, 1) == thumbs.zoom_of(1, length) == zoom
    assert -(-length // 2**zoom) <= 64


def test_a_small_picture_is_that_of_pooled():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 2, 150, 4))
    map = AttentionMap(q, k, causal=True)
    for reduce in ("max", "mean", "share"):
        (values, states), preview = thumbs.thumb(map, reduce, head=1)
        expected = map.pooled(4, reduce, head=1)
        assert not preview
        assert (states[:38, :38] == np.isnan(expected)).all()
        np.testing.assert_allclose(values[:38, :38], np.nan_to_num(expected), atol=1e-6)
        assert (states[38:] == 2).all()
        assert (states[:, 38:] == 2).all()
    for wrong, words in (
        ({"reduce": "min"}, "reduce must be max, mean or share"),
        ({"value": "value_norm"}, "value 'value_norm' needs v_norm"),
        ({"head": 2}, "head must be from 0 to 1; got 2"),
    ):
        with pytest.raises(OptionError, match=words):
            thumbs.thumb(map, **wrong)


def test_a_long_picture_is_that_of_the_base():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 5000, 4)).astype(np.float32)
    map = AttentionMap(q, k, causal=True)
    map.base().make()
    (values, states), preview = thumbs.thumb(map, "mean")
    expected = map.pooled(128, "mean")
    assert not preview
    np.testing.assert_allclose(values[:40, :40], np.nan_to_num(expected), atol=1e-6)
    assert (states[:40, :40] == np.isnan(expected)).all()
