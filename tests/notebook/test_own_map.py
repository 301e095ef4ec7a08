"""A map on its own, asked as a recording is: its heads, sequences, labels and mask; given probs too."""

from typing import Any

import numpy as np
import pytest

import pozor
from pozor.viewer.desk import MapDesk

ONE = {"layer": "0", "head": "0"}
rng = np.random.default_rng(4)


def probs(*shape: int) -> np.ndarray:
    made = rng.random(shape)
    return made / made.sum(axis=-1, keepdims=True)


def test_every_head_and_sequence_is_there() -> None:
    q, k = rng.normal(size=(2, 2, 4, 5, 8))
    whole = pozor.AttentionMap(q, k[:, :2], causal=True)
    desk = MapDesk(whole, "mine")
    found = desk.document("recording", {})
    assert (found["card"]["name"], [one["name"] for one in found["items"]]) == ("mine", ["0", "1"])
    layer = found["layers"][0]
    assert (layer["heads"], layer["kv_heads"], layer["head_dim"]) == ([0, 1, 2, 3], [0, 0, 1, 1], 8)
    for batch in range(2):
        row = desk.document("row", {"layer": "0", "head": "3", "item": str(batch), "query": "4"})
        assert np.allclose(row["probs"], whole.row(4, head=3, batch=batch), rtol=1e-12)


def test_without_tokens_indices_are_the_labels() -> None:
    desk = MapDesk(pozor.AttentionMap.from_probs(probs(3, 5)))
    item = desk.document("item", {})
    assert item["texts"] == ["0", "1", "2", "3", "4"]
    assert item["starts"] == [-1] * 5  # of no text
    assert desk.document("map", ONE)["q_offset"] == 2  # the last of them ask


def test_given_probs_say_what_they_do_not_know() -> None:
    given = probs(2, 4, 4)
    desk = MapDesk(pozor.AttentionMap.from_probs(given, tokens=list("abcd")))
    assert desk.document("map", ONE)["variants"] == ["recorded"]
    assert desk.document("recording", {})["layers"][0]["mask"] == "not known"
    row = desk.document("row", {**ONE, "query": "2"})
    assert row["probs"] == given[0, 2].tolist()
    assert row["lse"] is None
    cell = desk.document("cell", {**ONE, "query": "2", "key": "1"})
    assert (cell["prob"], cell["logit"], cell["html"]) == (given[0, 2, 1], None, "")
    tile = np.frombuffer(
        desk.payload("tile", {**ONE, "zoom": "0", "row": "0", "column": "0"}).body, "<f4", 256 * 256
    )
    assert np.allclose(tile.reshape(256, 256)[:4, :4], given[0], atol=1e-7)
    assert [one["head"] for one in desk.document("which", {"query": "1"})["heads"]] != []


def test_queries_of_another_sequence_keep_their_own_words() -> None:
    desk = MapDesk(
        pozor.AttentionMap.from_probs(probs(2, 3), tokens=["le", "chat", "noir"], query_tokens=["the", "cat"])
    )
    texts, first = desk.document("item", {})["texts"], desk.document("map", ONE)["q_offset"]
    assert texts[first : first + 2] == ["the", "cat"]
    assert texts[:3] == ["le", "chat", "noir"]
    # those that are among the keys stand there once
    q = rng.normal(size=(1, 2, 4))
    desk = MapDesk(pozor.AttentionMap(q, rng.normal(size=(1, 3, 4)), q_offset=1, tokens=list("abc")))
    assert desk.document("item", {})["texts"] == ["a", "b", "c"]
    assert desk.document("map", ONE)["q_offset"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "none"),
        ({"causal": True}, "causal"),
        ({"causal": True, "window": (1, None)}, "causal & window (1, open)"),
        ({"mask": pozor.Causal() | pozor.Prefix(2)}, "causal | prefix 2"),
        ({"mask": pozor.Padding([2, 3])}, "key padding"),
        ({"mask": pozor.Documents([0, 0, 1]), "causal": True}, "causal & own documents"),
        ({"mask": np.ones((3, 3), bool)}, "own mask"),
        ({"mask": lambda b, h, q_idx, kv_idx: q_idx >= kv_idx}, "own mask"),
        ({"mask": pozor.Causal() & (pozor.Window(1, 0) | pozor.Sinks(1))}, "own mask"),
    ],
)
def test_a_mask_has_words(options: dict[str, Any], words: str) -> None:
    x = np.zeros((2, 1, 3, 2))
    layer = MapDesk(pozor.AttentionMap(x, x, **options)).document("recording", {})["layers"][0]
    assert layer["mask"] == words
