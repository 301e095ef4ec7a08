"""Which heads look here: every head as its own map says it, by cell, row and column."""

import ml_dtypes
import numpy as np
import pytest
from noise_layers import write_layers

from pozor.errors import OptionError
from pozor.recording import Recording
from pozor.recording.document import Rows
from pozor.recording.mask_form import MaskForm

MASKS = [
    {"causal": True},
    {},
    {"window": (9, 3)},
    {"causal": True, "window": (4, 0)},
    {"causal": True, "documents": (7, 0, 20, 13)},
    {"prefix": 12},
    {"causal": True, "softcap": 2.0, "scale": -0.7},
    {"causal": True, "sink": [np.array([0.5, -2.0, 3.0, 0.0], np.float32)] * 3},
]


def recorded(path, length=40, queries=slice(None), dtype=np.float32, seed=0, layers=3, **options):
    """A recording of `layers` layers of 4 heads that read 2 key heads."""
    rng = np.random.default_rng(seed)
    q = [(2 * rng.normal(size=(4, length, 8))).astype(dtype)[:, queries] for _ in range(layers)]
    k = [rng.normal(size=(2, length, 8)).astype(dtype) for _ in range(layers)]
    options = {"q_offset": queries.start or 0} | options
    return Recording.from_arrays(path, q, k, k, overwrite=True, **options)


def of_maps(recording, measure):
    """prob and at of every head, by its own map."""
    return {
        (entry.layer, entry.kind, head): measure(recording.map(entry.layer, head, kind=entry.kind))
        for entry in recording.layers
        for head in entry.heads
    }


def agree(lines, expected, rtol=1e-12):
    found = {(int(n), str(kind), int(head)): (prob, at) for n, kind, head, prob, at in lines}
    assert found.keys() == expected.keys()
    for place, (prob, at) in expected.items():
        np.testing.assert_allclose(found[place][0], prob, rtol=rtol, atol=1e-15, err_msg=str(place))
        assert found[place][1] == at, place
    probs = lines["prob"][~np.isnan(lines["prob"])]
    assert (np.diff(probs) <= 0).all()


def largest(values):
    return (values.max(), int(values.argmax())) if values.any() else (0.0, -1)


def received(map, key):
    seen = map.visible(slice(0, map.q_len), slice(key, key + 1))[:, 0]
    return (map.column(key)[seen].mean(), largest(map.column(key))[1]) if seen.any() else (np.nan, -1)


@pytest.mark.parametrize("options", MASKS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("queries", [slice(0, 40), slice(13, 31)], ids=str)
def test_every_head_as_its_own_map_says(tmp_path, options, dtype, queries):
    recording = recorded(tmp_path / "a.pozor", queries=queries, dtype=dtype, **options)
    for query, key in ((0, 0), (17, 13), (11, 30), (5, 39)):
        cell = of_maps(recording, lambda m: (m.row(query)[key], -1))  # noqa: B023
        agree(recording.which(query=query, key=key), cell)
        agree(recording.which(query=query), of_maps(recording, lambda m: largest(m.row(query))))  # noqa: B023
        agree(recording.which(key=key), of_maps(recording, lambda m: received(m, key)), 1e-5)  # noqa: B023


@pytest.mark.parametrize("variant", ["unmasked", "causal"])
def test_a_cell_and_a_row_under_another_mask(tmp_path, variant):
    recording = recorded(tmp_path / "a.pozor", queries=slice(9, 30), causal=True, window=(3, 0))
    for query, key in ((0, 0), (11, 14), (20, 39)):
        cell = of_maps(recording, lambda m: (m.variant(variant).row(query)[key], -1))  # noqa: B023
        agree(recording.which(query=query, key=key, variant=variant), cell)
        row = of_maps(recording, lambda m: largest(m.variant(variant).row(query)))  # noqa: B023
        agree(recording.which(query=query, variant=variant), row)


def test_by_hand(tmp_path):
    # one query, scale ln 2: head 0 has logits 0, 1, 2 in ln 2, so 1/7, 2/7, 4/7; head 1 has 0, 0, 0: 1/3 each
    q = np.array([[[1.0]], [[0.0]]], np.float32)
    k = np.array([[[0.0], [1.0], [2.0]]], np.float32)
    recording = Recording.from_arrays(tmp_path / "a.pozor", q, k, k, q_offset=2, scale=float(np.log(2)))
    assert [(h, round(p, 6), at) for _, _, h, p, at in recording.which(query=0).tolist()] == [
        (0, round(4 / 7, 6), 2),
        (1, round(1 / 3, 6), 0),
    ]
    assert [(h, round(p, 6)) for _, _, h, p, _ in recording.which(query=0, key=1).tolist()] == [
        (1, round(1 / 3, 6)),
        (0, round(2 / 7, 6)),
    ]
    assert [(h, round(p, 6), at) for _, _, h, p, at in recording.which(key=2).tolist()] == [
        (0, round(4 / 7, 6), 0),
        (1, round(1 / 3, 6), 0),
    ]


def test_kept_heads_that_share_keys_unevenly_and_a_cross_layer(tmp_path):
    padded = MaskForm(key_padding=((0, 2), (4, 6)))
    recording = write_layers(
        tmp_path / "a.pozor",
        [
            ("self", (0, 4, 5), (0, 1, 1), Rows(6, 6, MaskForm(causal=True))),
            ("self", (7, 2, 1), (3, 1, 0), Rows(6, 6, padded)),
            ("cross", (0, 1), (0, 1), Rows(4, 6, MaskForm())),
        ],
    )
    for query, key in ((0, 0), (2, 2), (3, 5)):
        agree(
            recording.which(query=query, key=key),
            of_maps(recording, lambda m: (m.row(query)[key], -1)),  # noqa: B023
        )
        agree(recording.which(query=query), of_maps(recording, lambda m: largest(m.row(query))))  # noqa: B023
        agree(recording.which(key=key), of_maps(recording, lambda m: received(m, key)), 1e-5)  # noqa: B023
    beyond = recording.which(query=5)  # the cross layer has no such query: no number, and last
    assert [line["kind"] for line in beyond[-2:]] == ["cross", "cross"]
    assert np.isnan(beyond["prob"][-2:]).all()
    with pytest.raises(OptionError, match="variant 'causal' has no meaning for cross-attention"):
        recording.which(query=1, variant="causal")


def test_what_is_not_a_number_comes_last(tmp_path):
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 5, 4)).astype(np.float32), rng.normal(size=(1, 5, 4)).astype(np.float32)
    q[0, 3] = np.nan
    recording = Recording.from_arrays(tmp_path / "a.pozor", q, k, k, causal=True)
    for asked in ({"query": 3}, {"query": 3, "key": 1}, {"key": 1}):
        lines = recording.which(**asked)
        assert lines["head"].tolist() == [1, 0], asked
        assert np.isnan(lines["prob"][1]), asked
        assert not np.isnan(lines["prob"][0]), asked


def test_a_key_without_readers_has_no_number(tmp_path):
    recording = recorded(tmp_path / "a.pozor", queries=slice(0, 20), causal=True)
    lines = recording.which(key=30)
    assert np.isnan(lines["prob"]).all()
    assert (lines["at"] == -1).all()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "which needs a query, a key, or both; got neither"),
        ({"query": -1}, "query must be a whole number from 0; got -1"),
        ({"key": 1.0}, "key must be a whole number from 0; got 1.0"),
        ({"key": True}, "key must be a whole number from 0; got True"),
        ({"query": 40}, "query must be below 40, the longest q_len of the item; got 40"),
        ({"key": 99}, "key must be below 40, the longest kv_len of the item; got 99"),
        ({"query": 1, "item": 1}, "item must be from 0 to 0; got 1"),
        ({"query": 1, "variant": "none"}, "variant must be recorded, unmasked or causal; got 'none'"),
        ({"key": 1, "variant": "unmasked"}, "a column can be compared as it was recorded; got variant"),
    ],
)
def test_wrong_questions_are_one_sentence(tmp_path, asked, words):
    recording = recorded(tmp_path / "a.pozor", causal=True)
    with pytest.raises(OptionError, match=words):
        recording.which(**asked)
