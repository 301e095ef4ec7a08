"""All heads at once: measures, which of them look here, thumbnails; over HTTP and of a map in a notebook."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from viewer_asking import ask, fits
from viewer_recordings import HEADS, arrays, pieces, record, reference

from pozor.errors import OptionError
from pozor.matrix import AttentionMap
from pozor.viewer import documents
from pozor.viewer.desk import MapDesk

IDS = np.array([7, 3, 5, 7, 3, 9])
WORDS = ("a", "b", "c", "a", "b", "d")


def measured(client: TestClient, base: str) -> dict[str, Any]:
    """The heads once they are all measured."""
    for _ in range(300):
        document = ask(client, f"{base}/heads", documents.HeadsDocument)
        if document["done"] == 1:
            return document
        time.sleep(0.02)
    raise AssertionError(f"not measured in 6 s: {document['done']}")


def test_heads_are_there_at_once_and_their_measures_follow(folder: Path, client: TestClient) -> None:
    recording = record(folder / "a.pozor", 6, tokens=replace(pieces(WORDS), token_ids=IDS))
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    base = f"/api/recordings/{card['id']}"
    first = ask(client, f"{base}/heads", documents.HeadsDocument)
    places = [(layer, head) for layer in range(2) for head in range(HEADS)]
    assert [(line["layer"], line["head"]) for line in first["heads"]] == places
    for line in measured(client, base)["heads"]:
        probs = reference(recording, line["layer"], line["head"])
        assert line["first"] == pytest.approx(probs[:, 0].mean(), rel=1e-5)
        assert line["own"] == pytest.approx(np.trace(probs) / 6, rel=1e-5)
        assert line["previous"] == pytest.approx(np.trace(probs, -1) / 6, rel=1e-5)
        assert line["entropy"] == pytest.approx(-sum(p * np.log(p) for p in probs[probs > 0]) / 6, rel=1e-5)
        away = abs(np.arange(6)[:, None] - np.arange(6))
        assert line["distance"] == pytest.approx((probs * away).sum() / 6, rel=1e-5)
        # query 3 (a) may look at key 1 that followed the first a, query 4 (b) at key 2
        assert line["induction"] == pytest.approx((probs[3, 1] + probs[4, 2]) / 2, rel=1e-5)


def test_which_heads_look_here(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    probs = {(layer, h): reference(recording, layer, h) for layer in range(2) for h in range(HEADS)}
    cases: list[tuple[dict[str, int], Any]] = [
        ({"query": 4, "key": 2}, lambda p: (p[4, 2], None)),
        ({"query": 4}, lambda p: (p[4].max(), p[4].argmax())),
        ({"key": 2}, lambda p: (p[2:, 2].mean(), p[:, 2].argmax())),
    ]
    for asked, expected in cases:
        found = ask(client, f"{base}/which", documents.WhichDocument, **asked)
        assert (found["query"], found["key"]) == (asked.get("query"), asked.get("key"))
        values = [line["prob"] for line in found["heads"]]
        assert values == sorted(values, reverse=True)
        assert len(values) == len(probs)
        for line in found["heads"]:
            prob, at = expected(probs[line["layer"], line["head"]])
            assert line["prob"] == pytest.approx(prob, abs=1e-6)
            assert line["at"] == at
    hidden = ask(client, f"{base}/which", documents.WhichDocument, query=2, key=4)
    assert {line["prob"] for line in hidden["heads"]} == {0.0}
    seen = ask(client, f"{base}/which", documents.WhichDocument, query=2, key=4, variant="unmasked")
    best = seen["heads"][0]
    open_probs = reference(recording, best["layer"], best["head"], causal=False)
    assert best["prob"] == pytest.approx(open_probs[2, 4], abs=1e-6)


def parts(body: bytes, heads: int) -> tuple[np.ndarray, np.ndarray]:
    assert len(body) == heads * 64 * 64 * 5
    values = np.frombuffer(body, "<f4", heads * 4096).reshape(heads, 64, 64)
    return values, np.frombuffer(body, np.uint8, offset=heads * 4096 * 4).reshape(heads, 64, 64)


@pytest.mark.parametrize("reduce", ["max", "mean", "share"])
@pytest.mark.parametrize("value", ["prob", "value_norm"])
def test_thumbnails_are_exact_reductions(folder: Path, client: TestClient, reduce: str, value: str) -> None:
    recording = record(folder / "a.pozor", 150)  # 150 tokens: a pixel is 4 × 4 cells, the last one 2 × 2
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    answer = client.get(
        f"/api/recordings/{card['id']}/thumbs", params={"layer": 1, "reduce": reduce, "value": value}
    )
    assert answer.status_code == 200
    values, states = parts(answer.content, HEADS)
    for head in range(HEADS):
        cells = reference(recording, 1, head)
        if value == "value_norm":
            cells = cells * recording.arrays(1)["v_norm"][head]
        seen = np.tri(150, dtype=bool)
        for row, column in [(0, 0), (5, 2), (37, 37), (37, 0), (2, 5), (38, 0), (63, 63)]:
            here = slice(4 * row, 4 * row + 4), slice(4 * column, 4 * column + 4)
            block, visible = cells[here], seen[here]
            state = 2 if not block.size else 0 if visible.any() else 1
            assert states[head, row, column] == state
            if state == 0:
                total = block[visible].sum()
                reduced = {"max": block.max(), "mean": total / visible.sum(), "share": total / block.shape[0]}
                assert values[head, row, column] == pytest.approx(reduced[reduce], abs=1e-5, rel=1e-5)
            else:
                assert values[head, row, column] == 0


def test_a_long_thumbnail_comes_from_the_base(client: TestClient, folder: Path) -> None:
    recording = record(folder / "long.pozor", 4200, layers=1)
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    path = f"/api/recordings/{card['id']}/thumbs"
    for _ in range(300):
        answer = client.get(path, params={"layer": 0, "reduce": "mean"})
        if "x-pozor-preview" not in answer.headers:
            break
        time.sleep(0.02)
    values, states = parts(answer.content, HEADS)
    assert states[0, 33, 0] == 2  # 4,200 tokens are 33 pixels of 128
    block = recording.map(0, 2).block(slice(128 * 30, 128 * 31), slice(128 * 5, 128 * 6))
    assert values[2, 30, 5] == pytest.approx(block.mean(), rel=1e-4)


@pytest.mark.parametrize(
    ("end", "query", "status", "sentence"),
    [
        ("which", {}, 400, "which needs a query, a key, or both; got neither."),
        ("which", {"query": "6"}, 400, "query must be below 6, the longest q_len of the item; got 6."),
        ("which", {"query": "-1"}, 400, "query must be a whole number from 0 up; got '-1'."),
        ("which", {"key": "1", "variant": "unmasked"}, 400, "a column can be compared as it was recorded;"),
        ("which", {"key": "1", "item": "1"}, 404, "item must be below 1 (items of this recording); got 1."),
        ("which", {"key": "1", "layer": "0"}, 400, "'layer' is no parameter here; there are item, variant,"),
        ("heads", {"item": "7"}, 404, "item must be below 1 (items of this recording); got 7."),
        ("heads", {"layer": "0"}, 400, "'layer' is no parameter here; there are item, version."),
        ("thumbs", {}, 400, "layer is missing; give layer=N."),
        ("thumbs", {"layer": "2"}, 404, "layer must be one with self attention (0-1); got 2."),
        ("thumbs", {"layer": "0", "item": "1"}, 404, "item must be below 1; got 1."),
        ("thumbs", {"layer": "0", "head": "1"}, 400, "'head' is no parameter here; there are item, layer,"),
        ("thumbs", {"layer": "0", "reduce": "min"}, 400, "reduce must be max or mean or share; got 'min'."),
        ("thumbs", {"layer": "0", "kind": "cross"}, 404, "layer must be one with cross attention (none)"),
    ],
)
def test_wrong_questions(
    client: TestClient, noise: tuple[str, Any], end: str, query: dict[str, str], status: int, sentence: str
) -> None:
    answer = client.get(f"{noise[0]}/{end}", params=query)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(sentence)


@pytest.mark.parametrize("end", ["which", "heads", "thumbs"])
def test_a_recording_that_changed(client: TestClient, noise: tuple[str, Any], end: str) -> None:
    base, recording = noise
    query = {"which": {"query": 1}, "heads": {}, "thumbs": {"layer": 1}}[end]
    assert client.get(f"{base}/{end}", params=query).status_code == 200
    record(recording.path, 5)
    answer = client.get(f"{base}/{end}", params=query)
    assert answer.status_code == 409
    assert "changed on disk" in answer.json()["error"]


@pytest.mark.parametrize("from_probs", [False, True])
def test_a_map_in_a_notebook(from_probs: bool) -> None:
    q, k, _ = arrays(6, dtype=np.float64)
    shown = AttentionMap(q, k, causal=True, tokens=WORDS)
    probs = np.stack([shown.block(slice(0, 6), slice(0, 6), head=head) for head in range(HEADS)])
    if from_probs:
        shown = AttentionMap.from_probs(probs, tokens=WORDS, mask=np.tri(6, dtype=bool))
    desk = MapDesk(shown)
    found = desk.document("which", {"query": "4"})
    assert fits(found, documents.WhichDocument)
    order = np.argsort(-probs[:, 4].max(axis=1))
    assert [line["head"] for line in found["heads"]] == order.tolist()
    found = desk.document("which", {"query": "4", "key": "1"})
    assert [line["head"] for line in found["heads"]] == np.argsort(-probs[:, 4, 1]).tolist()
    found = desk.document("which", {"key": "1"})
    received = probs[:, 1:, 1].mean(axis=1)
    assert [line["prob"] for line in found["heads"]] == pytest.approx(np.sort(received)[::-1])
    assert found["heads"][0]["at"] == probs[received.argmax(), :, 1].argmax()

    assert fits(desk.document("heads", {}), documents.HeadsDocument)
    desk.measuring(0).making.make()
    lines = desk.document("heads", {})["heads"]
    for head, line in enumerate(lines):
        assert (line["layer"], line["head"]) == (0, head)
        assert line["first"] == pytest.approx(probs[head, :, 0].mean())
        assert line["own"] == pytest.approx(np.trace(probs[head]) / 6)
        assert line["previous"] == pytest.approx(np.trace(probs[head], -1) / 6)
        assert line["induction"] == pytest.approx((probs[head, 3, 1] + probs[head, 4, 2]) / 2)
    values, states = parts(desk.payload("thumbs", {"layer": "0"}).body, HEADS)
    np.testing.assert_allclose(values[:, :6, :6], probs, atol=1e-6)
    assert (states[:, 6:] == 2).all()


def test_a_row_without_some_keys(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    probs = reference(recording, 1, 3)[5]
    probs[[0, 4]] = 0
    probs /= probs.sum()
    where = {"layer": 1, "head": 3, "query": 5}
    found = ask(client, f"{base}/row", documents.RowDocument, **where, hidden="4,0,4")
    np.testing.assert_allclose(found["probs"], probs, rtol=1e-12)
    assert found["visible"] == [True] * 6  # by the mask
    assert found["entropy"] == pytest.approx(-sum(p * np.log(p) for p in probs if p), rel=1e-12)
    whole = ask(client, f"{base}/row", documents.RowDocument, **where)
    assert ask(client, f"{base}/row", documents.RowDocument, **where, hidden="") == whole
    assert found["lse"] == pytest.approx(
        whole["lse"] + np.log(1 - whole["probs"][0] - whole["probs"][4]), rel=1e-12
    )
    nothing = ask(client, f"{base}/row", documents.RowDocument, **where, hidden="0,1,2,3,4,5")
    assert nothing["probs"] == [0] * 6
    assert nothing["lse"] is None
    for wrong, status in (("6", 404), ("1,", 400), ("a", 400), ("1;2", 400), ("-1", 400), ("," * 9, 400)):
        answer = client.get(f"{base}/row", params={**where, "hidden": wrong})
        assert answer.status_code == status, wrong
        assert answer.json()["error"].startswith("hidden must be"), wrong


def test_a_failure_behind_is_told_once(
    client: TestClient, noise: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _ = noise
    with monkeypatch.context() as patch:

        def broken(*_: object, **__: object) -> None:
            raise OptionError("the disk is gone.")

        patch.setattr("pozor.matrix.measuring.measured", broken)
        for _ in range(300):
            answer = client.get(f"{base}/heads")
            if answer.status_code != 200:
                break
            time.sleep(0.02)
        assert answer.status_code == 400
        assert answer.json()["error"] == "the disk is gone."
    assert all(line["entropy"] is not None for line in measured(client, base)["heads"])


def test_many_questions_at_once(client: TestClient, noise: tuple[str, Any]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    base, _ = noise
    asks = [
        f"{base}/{end}"
        for n in range(60)
        for end in (
            f"which?query={n % 6}",
            f"which?key={n % 6}",
            f"thumbs?layer={n % 2}",
            "heads",
            f"which?query={n}9",
        )
    ]
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda path: client.get(path).status_code, asks))
    assert set(statuses) == {200, 400}
    assert statuses.count(400) == 60
