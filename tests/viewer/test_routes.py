"""What each route answers: documents of the promised shape, numbers of the formula, tiles of the protocol."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from viewer_asking import ask, fits
from viewer_recordings import HOSTILE, arrays, pieces, record, reference

from pozor import __version__
from pozor.matrix import AttentionMap
from pozor.recording import Recording
from pozor.viewer import answers, documents

Connect = Callable[..., TestClient]
WHERE = {"layer": 1, "head": 3}


def test_the_type_check_can_fail() -> None:
    good = {
        "query": 0,
        "probs": [1.0, None],
        "visible": [True, False],
        "entropy": 0.0,
        "lse": None,
        "sink": 0,
        "weighted": None,
    }
    assert fits(good, documents.RowDocument)
    for wrong in ({"query": 0.5}, {"probs": ["1"]}, {"visible": [1]}, {"more": 1}, {"entropy": True}):
        assert not fits(good | wrong, documents.RowDocument), wrong


def test_start(folder: Path, tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "shipped").mkdir()
    record(tmp_path / "shipped" / "first.pozor", layers=1)
    record(folder / "b.pozor", 7)
    record(folder / "a.pozor", dtype=np.float64)
    document = ask(connect(lang="cs"), "/api/start", documents.StartDocument)
    assert (document["version"], document["lang"]) == (__version__, "cs")
    assert document["folder"] == str(folder)
    found = [
        (c["name"], c["shipped"], c["dtype"], c["tokens"], c["layers"], c["heads"])
        for c in document["recordings"]
    ]
    assert found == [
        ("a", False, "float64", 6, 2, 4),
        ("b", False, "bfloat16", 7, 2, 4),
        ("first", True, "bfloat16", 6, 1, 4),
    ]
    assert all(
        c["error"] is None and c["fidelity"] is None and c["model"] == "noise" for c in document["recordings"]
    )
    assert ask(connect(), "/api/start", documents.StartDocument)["lang"] is None


def test_recording_with_hostile_tokens(folder: Path, client: TestClient) -> None:
    record(folder / "words.pozor", len(HOSTILE), tokens=pieces(HOSTILE), text="".join(HOSTILE))
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    document = ask(client, f"/api/recordings/{card['id']}", documents.RecordingDocument)
    assert document["card"] == card
    assert document["items"] == [{"name": "words", "tokens": len(HOSTILE)}]
    item = ask(client, f"/api/recordings/{card['id']}/item", documents.ItemDocument, item=0)
    assert item["text"] == "".join(HOSTILE)
    assert item["texts"] == [None] * len(HOSTILE)
    units = item["text"].encode("utf-16-le")
    for start, stop, text in zip(item["starts"], item["stops"], HOSTILE, strict=True):
        # start and stop cut the same piece out of a JavaScript string
        assert units[2 * start : 2 * stop].decode("utf-16-le") == text
    assert [layer["heads"] for layer in document["layers"]] == [[0, 1, 2, 3]] * 2
    assert document["layers"][0]["kv_heads"] == [0, 0, 1, 1]
    assert document["layers"][0]["scale"] == pytest.approx(8**-0.5, rel=1e-15)
    assert document["layers"][0]["mask"] == "causal"


def test_no_answer_holds_a_character_that_ends_a_script(folder: Path, client: TestClient) -> None:
    record(folder / "words.pozor", len(HOSTILE), tokens=pieces(HOSTILE), text="".join(HOSTILE))
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    answer = client.get(f"/api/recordings/{card['id']}/item")
    assert answer.text.isascii()
    assert "</script" in answer.text  # as a string of JSON, whose type is never HTML:
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_map(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    probs = reference(recording, 1, 3)
    document = ask(client, f"{base}/map", documents.MapDocument, **WHERE)
    assert {n: document[n] for n in ("q_len", "kv_len", "q_offset", "zooms")} == {
        "q_len": 6, "kv_len": 6, "q_offset": 0, "zooms": 1
    }  # fmt: skip
    assert document["variants"] == ["recorded", "unmasked", "causal"]
    assert document["values"] == ["prob", "value_norm"]
    assert document["exact"] == {"max": 0, "mean": 0, "share": 0}
    entropy = [-sum(p * np.log(p) for p in row if p > 0) for row in probs]
    received = [probs[key:, key].mean() for key in range(6)]  # key j is seen by the queries from j on
    tracks = np.frombuffer(client.get(f"{base}/tracks", params=WHERE).content, "<f4")
    np.testing.assert_allclose(tracks, [*entropy, *received], atol=1e-5)


@pytest.mark.parametrize("variant", ["recorded", "unmasked", "causal"])
def test_row_and_column(client: TestClient, noise: tuple[str, Any], variant: str) -> None:
    base, recording = noise
    causal = variant != "unmasked"
    probs = reference(recording, 1, 3, causal=causal)
    row = ask(client, f"{base}/row", documents.RowDocument, **WHERE, variant=variant, query=2)
    np.testing.assert_allclose(row["probs"], probs[2], rtol=1e-12)
    assert row["visible"] == [True, True, True, *[not causal] * 3]
    assert row["entropy"] == pytest.approx(-sum(p * np.log(p) for p in probs[2] if p), rel=1e-12)
    assert row["sink"] == 0.0
    held = recording.arrays(1)
    seen = 3 if causal else 6
    logits = held["k"][1, :seen].astype(float) @ held["q"][3, 2].astype(float) / np.sqrt(8)
    assert row["lse"] == pytest.approx(np.log(np.exp(logits).sum()), rel=1e-12)
    column = ask(client, f"{base}/column", documents.ColumnDocument, **WHERE, variant=variant, key=2)
    np.testing.assert_allclose(column["probs"], probs[:, 2], atol=1e-6)
    assert column["visible"] == [not causal, not causal, True, True, True, True]
    where = WHERE | {"variant": variant}
    tracks = np.frombuffer(client.get(f"{base}/tracks", params=where).content, "<f4")
    assert column["received"] == pytest.approx(tracks[6 + 2], abs=1e-6)


def test_numbers_that_are_not_finite_are_null(folder: Path, client: TestClient) -> None:

    q, k, v = arrays(4)
    q[0, 2] = np.nan
    Recording.from_arrays(folder / "nan.pozor", q, k, v, causal=True)
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    base, where = f"/api/recordings/{card['id']}", {"layer": 0, "head": 0}
    row = ask(client, f"{base}/row", documents.RowDocument, **where, query=2)
    assert row["probs"] == [None, None, None, 0.0]
    assert (row["entropy"], row["lse"]) == (None, None)
    tracks = np.frombuffer(client.get(f"{base}/tracks", params=where).content, "<f4")
    assert np.isnan(tracks[2])
    column = ask(client, f"{base}/column", documents.ColumnDocument, **where, key=0)
    assert column["probs"][2] is None
    assert column["probs"][1] is not None
    values, states = split(
        client.get(f"{base}/tile", params={**where, "zoom": 0, "row": 0, "column": 0}).content
    )
    assert np.isnan(values[2, :3]).all()
    assert (states[2, :4] == [0, 0, 0, 1]).all()


def test_a_row_that_sees_nothing(folder: Path) -> None:
    q, k, v = arrays(4)
    early = AttentionMap(
        q[0], k[0], v[0], causal=True, q_offset=-2
    )  # queries 0, 1 stand before the first key
    shown = answers.Shown(early, None, False, True)
    row = answers.row_document(shown, 1)
    assert (row["probs"], row["visible"]) == ([0.0] * 4, [False] * 4)
    assert (row["entropy"], row["lse"], row["sink"]) == (0.0, None, 0.0)
    tracks = np.frombuffer(answers.tracks_payload(shown), "<f4")
    assert np.isnan(tracks[4 + 2 :]).all()
    assert answers.column_document(shown, 0)["probs"][:2] == [0.0, 0.0]
    cell = answers.cell_document(shown, 1, 0, "en", 3)
    assert (cell["visible"], cell["prob"], cell["logit"], cell["lse"]) == (False, 0.0, None, None)


def test_a_sink_takes_its_part(folder: Path, client: TestClient) -> None:
    recording = record(folder / "sink.pozor", 5, layers=1, sink=np.array([2.0, -1.0, 0.0, 1.0], np.float32))
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    row = ask(client, f"/api/recordings/{card['id']}/row", documents.RowDocument, layer=0, head=0, query=4)
    held = recording.arrays(0)
    logits = held["k"][0].astype(float) @ held["q"][0, 4].astype(float) / np.sqrt(8)
    total = np.exp(logits).sum() + np.exp(2.0)
    assert row["sink"] == pytest.approx(np.exp(2.0) / total, rel=1e-12)
    assert row["lse"] == pytest.approx(np.log(total), rel=1e-12)
    assert sum(row["probs"]) + row["sink"] == pytest.approx(1, rel=1e-12)


# ---- tiles -------------------------------------------------------------------------------------------------


def split(payload: bytes) -> tuple[np.ndarray, np.ndarray]:
    assert len(payload) == 65_536 * 5
    values = np.frombuffer(payload, "<f4", 65_536).reshape(256, 256)
    return values, np.frombuffer(payload, np.uint8, offset=65_536 * 4).reshape(256, 256)


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_tile_is_the_matrix(client: TestClient, noise: tuple[str, Any], encoding: str) -> None:
    base, recording = noise
    query = {**WHERE, "zoom": 0, "row": 0, "column": 0}
    answer = client.get(f"{base}/tile", params=query, headers={"accept-encoding": encoding})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers.get("content-encoding", "identity") == encoding
    assert answer.headers["vary"] == "Accept-Encoding"
    values, states = split(answer.content)
    probs = reference(recording, 1, 3)
    np.testing.assert_allclose(values[:6, :6], probs, atol=1e-5)
    expected = np.full((256, 256), 2)
    expected[:6, :6] = np.where(np.tri(6, dtype=bool), 0, 1)
    assert (states == expected).all()
    assert not values[states != 0].any()


@pytest.mark.parametrize("value", ["prob", "value_norm"])
@pytest.mark.parametrize("reduce", ["max", "mean", "share"])
def test_every_zoom_reduces_the_same_matrix(
    folder: Path, client: TestClient, reduce: str, value: str
) -> None:
    recording = record(folder / "long.pozor", 300, layers=1)
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    base, where = f"/api/recordings/{card['id']}", {"layer": 0, "head": 1, "reduce": reduce, "value": value}
    cells = reference(recording, 0, 1)
    if value == "value_norm":
        cells = cells * recording.arrays(0)["v_norm"][1]
    visible = np.tri(300, dtype=bool)
    assert ask(client, f"{base}/map", documents.MapDocument, layer=0, head=1)["zooms"] == 2

    def tile(**place: int) -> tuple[np.ndarray, np.ndarray]:
        return split(client.get(f"{base}/tile", params={**where, **place}).content)

    values, states = tile(zoom=1, row=0, column=0)
    blocks = cells.reshape(150, 2, 150, 2).transpose(0, 2, 1, 3).reshape(150, 150, 4)
    seen = visible.reshape(150, 2, 150, 2).transpose(0, 2, 1, 3).reshape(150, 150, 4).sum(axis=2)
    wanted = {
        "max": blocks.max(axis=2),
        "mean": blocks.sum(axis=2) / np.maximum(seen, 1),
        "share": blocks.sum(axis=2) / 2,  # both rows of a block see something
    }[reduce]
    np.testing.assert_allclose(values[:150, :150], np.where(seen, wanted, 0), atol=1e-4)
    assert (states[:150, :150] == (seen == 0)).all()
    values, states = tile(zoom=0, row=1, column=1)
    np.testing.assert_allclose(values[:44, :44], cells[256:, 256:], atol=1e-4)
    assert (states[44:] == 2).all()


# ---- cells -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "word"), [("cs", "0,"), ("en", "0.")])
@pytest.mark.parametrize("variant", ["recorded", "unmasked"])
def test_cell(client: TestClient, noise: tuple[str, Any], lang: str, word: str, variant: str) -> None:
    base, recording = noise
    where = {**WHERE, "variant": variant}
    prob = reference(recording, 1, 3, causal=variant == "recorded")[4, 2]
    cell = ask(client, f"{base}/cell", documents.CellDocument, **where, query=4, key=2, lang=lang, digits=5)
    assert cell["visible"] is True
    assert cell["prob"] == pytest.approx(prob, rel=1e-12)
    assert cell["tile"] == pytest.approx(prob, abs=1e-5)
    assert cell["difference"] == abs(cell["tile"] - cell["prob"])
    assert np.exp(cell["logit"] - cell["lse"]) == pytest.approx(prob, rel=1e-12)
    shown = f"{prob:.5f}".replace("0.", word)
    assert shown in cell["html"]
    assert "<script" not in cell["html"]
    assert " style=" not in cell["html"]


def test_a_hidden_cell(client: TestClient, noise: tuple[str, Any]) -> None:
    cell = ask(client, f"{noise[0]}/cell", documents.CellDocument, **WHERE, query=1, key=2, lang="en")
    assert (cell["visible"], cell["prob"], cell["tile"], cell["difference"]) == (False, 0.0, 0.0, 0.0)
    assert cell["logit"] is None
    assert cell["lse"] is not None
    assert cell["html"]


def test_hostile_tokens_are_escaped_in_a_working(folder: Path, client: TestClient) -> None:
    record(folder / "words.pozor", len(HOSTILE), tokens=pieces(HOSTILE), text="".join(HOSTILE))
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    where = {"layer": 0, "head": 0, "query": 5, "lang": "en"}
    for key in range(6):
        html = ask(client, f"/api/recordings/{card['id']}/cell", documents.CellDocument, **where, key=key)[
            "html"
        ]
        for piece in ("<script", "<!--", "<img", "onerror=alert(1)>"):
            assert piece not in html
