"""Maps made of maps, asked for by an address: tiles, rows and columns of the combination, or one sentence."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from viewer_asking import ask, fits
from viewer_recordings import HEADS, arrays, record, reference

from pozor.errors import OptionError
from pozor.matrix import AttentionMap
from pozor.viewer import documents
from pozor.viewer.derived import Derivation, parse
from pozor.viewer.desk import MapDesk, RecordingDesk
from pozor.viewer.library import Library, NotThere

WHERE = {"layer": 1, "head": 3}
TILE = WHERE | {"zoom": 0, "row": 0, "column": 0}


def values_of(body: bytes, length: int = 6) -> tuple[np.ndarray, np.ndarray]:
    values = np.frombuffer(body, "<f4", 65_536).reshape(256, 256)
    return values[:length, :length], np.frombuffer(body, np.uint8, offset=4 * 65_536).reshape(256, 256)


def combination(recording: Any, derived: str) -> np.ndarray:
    """The matrix that an address derives, in float64."""
    mine = reference(recording, 1, 3)
    if derived == "minus:unmasked":
        return mine - reference(recording, 1, 3, causal=False)
    kind, heads = derived.split(":")
    each = [reference(recording, *map(int, one.split("."))) for one in heads.split(",")]
    return {"mean": lambda: sum(each) / len(each), "max": lambda: np.maximum.reduce(each)}.get(
        kind, lambda: mine - each[0]
    )()


@pytest.mark.parametrize(
    "derived", ["mean:0.1,1.2", "mean:0.0", "max:0.1,1.2,1.3", "minus:0.2", "minus:unmasked"]
)
def test_a_map_of_maps(client: TestClient, noise: tuple[str, Any], derived: str) -> None:
    base, recording = noise
    expected = combination(recording, derived)
    open_cells = derived == "minus:unmasked"
    document = ask(client, f"{base}/map", documents.MapDocument, **WHERE, derived=derived)
    assert document["variants"] == (["recorded"] if open_cells else ["recorded", "unmasked", "causal"])
    assert document["values"] == ["prob", "value_norm"]
    assert document["exact"] == {"max": 0, "mean": 0, "share": 0}
    for reduce in ("max", "mean", "share"):
        body = client.get(f"{base}/tile", params={**TILE, "derived": derived, "reduce": reduce}).content
        values, states = values_of(body)
        np.testing.assert_allclose(values, expected, atol=1e-5)
        np.testing.assert_array_equal(states[:6, :6] == 1, ~np.tri(6, dtype=bool) & (not open_cells))
    row = ask(client, f"{base}/row", documents.RowDocument, **WHERE, derived=derived, query=4)
    np.testing.assert_allclose(row["probs"], expected[4], rtol=1e-9, atol=1e-12)
    assert row["visible"] == [True] * 5 + [open_cells]
    if derived.startswith("minus"):
        assert row["entropy"] is None
    else:
        some = expected[4][expected[4] > 0]
        assert row["entropy"] == pytest.approx(-(some * np.log(some)).sum(), rel=1e-9)
    assert row["lse"] is None
    column = ask(client, f"{base}/column", documents.ColumnDocument, **WHERE, derived=derived, key=1)
    np.testing.assert_allclose(column["probs"], expected[:, 1], atol=1e-6)
    cell = ask(client, f"{base}/cell", documents.CellDocument, **WHERE, derived=derived, query=4, key=1)
    assert cell["prob"] == pytest.approx(expected[4, 1], rel=1e-9)
    assert cell["difference"] < 1e-5
    assert (cell["logit"], cell["lse"], cell["html"]) == (None, None, "")
    assert ask(client, f"{base}/base", documents.BaseDocument, **WHERE, derived=derived)
    tracks = np.frombuffer(client.get(f"{base}/tracks", params={**WHERE, "derived": derived}).content, "<f4")
    if not derived.startswith("max"):
        seen = np.ones((6, 6)) if open_cells else np.tri(6)
        np.testing.assert_allclose(tracks[6:], expected.sum(axis=0) / seen.sum(axis=0), atol=1e-5)


def test_what_its_keys_bring(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    brought = [
        reference(recording, 1, head) * recording.arrays(1)["v_norm"][head].astype(float) for head in (0, 3)
    ]
    where = {**WHERE, "value": "value_norm"}
    for derived, expected in (("mean:1.0,1.3", sum(brought) / 2), ("minus:1.0", brought[1] - brought[0])):
        body = client.get(f"{base}/tile", params={**TILE, "value": "value_norm", "derived": derived}).content
        np.testing.assert_allclose(values_of(body)[0], expected, atol=1e-5)
        row = ask(client, f"{base}/row", documents.RowDocument, **where, derived=derived, query=4)
        np.testing.assert_allclose(row["weighted"], expected[4], rtol=1e-9, atol=1e-12)
        column = ask(client, f"{base}/column", documents.ColumnDocument, **where, derived=derived, key=1)
        np.testing.assert_allclose(column["weighted"], expected[:, 1], atol=1e-6)


def test_a_row_without_a_key(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    rows = []
    for layer, head in ((0, 1), (1, 2)):
        row = reference(recording, layer, head)[5]
        row[2] = 0
        rows.append(row / row.sum())
    found = ask(
        client, f"{base}/row", documents.RowDocument, **WHERE, derived="mean:0.1,1.2", query=5, hidden="2"
    )
    np.testing.assert_allclose(found["probs"], (rows[0] + rows[1]) / 2, rtol=1e-9)


def cards(client: TestClient) -> dict[str, Any]:
    return {card["name"]: card for card in ask(client, "/api/start", documents.StartDocument)["recordings"]}


def test_two_recordings_of_the_same_tokens(folder: Path, client: TestClient) -> None:
    a, b = record(folder / "a.pozor"), record(folder / "b.pozor", seed=7)
    record(folder / "longer.pozor", 7)
    known = cards(client)
    base, other = f"/api/recordings/{known['a']['id']}", known["b"]["id"]
    expected = reference(a, 1, 3) - reference(b, 0, 2)
    query = {**TILE, "derived": f"minus:0.2@{other}"}
    np.testing.assert_allclose(
        values_of(client.get(f"{base}/tile", params=query).content)[0], expected, atol=1e-5
    )
    # the other one is recorded anew: no number of its old state is shown again
    c = record(folder / "b.pozor", seed=99)
    answer = client.get(f"{base}/tile", params=query)
    assert answer.status_code == 409
    assert "b.pozor changed on disk" in answer.json()["error"]
    client.get(f"/api/recordings/{other}")  # opened again
    expected = reference(a, 1, 3) - reference(c, 0, 2)
    np.testing.assert_allclose(
        values_of(client.get(f"{base}/tile", params=query).content)[0], expected, atol=1e-5
    )
    for id, status, words in (
        (
            known["longer"]["id"],
            400,
            "derived must name a recording of the same tokens; no item of longer has",
        ),
        ("0" * 16, 404, "No recording has the id '0000000000000000'"),
    ):
        answer = client.get(f"{base}/tile", params={**TILE, "derived": f"minus:0.2@{id}"})
        assert answer.status_code == status
        assert answer.json()["error"].startswith(words)
    answer = client.get(f"{base}/tile", params={**TILE, "derived": f"minus:5.2@{other}"})
    assert answer.status_code == 404
    assert answer.json()["error"].startswith("layer must be one with self attention (0-1); got 5")


@pytest.mark.parametrize(
    ("derived", "status", "words"),
    [
        ("sum:0.1", 400, "derived must be mean:L.H,L.H or max:L.H,L.H"),
        ("mean:", 400, "derived must be"),
        ("mean:0.1,", 400, "derived must be"),
        ("mean:0.1;1.2", 400, "derived must be"),
        ("mean:-1.0", 400, "derived must be"),
        ("mean:0", 400, "derived must be"),
        ("minus:0.1,1.1", 400, "derived must be"),
        ("minus:0.1@../../etc", 400, "derived must be"),
        ("minus:masked", 400, "derived must be"),
        ("mean:" + "0.1," * 1024 + "0.1", 400, "derived must be"),
        ("mean:\u0661.1", 400, "derived must be"),
        ("mean:0.9", 404, "head must be one that layer 0 keeps (0-3); got 9."),
        ("minus:7.0", 404, "layer must be one with self attention (0-1); got 7."),
    ],
)
@pytest.mark.parametrize("end", ["map", "tile", "row", "base"])
def test_wrong_addresses(
    client: TestClient, noise: tuple[str, Any], derived: str, status: int, words: str, end: str
) -> None:
    more = {"tile": TILE, "row": WHERE | {"query": 1}}.get(end, WHERE)
    answer = client.get(f"{noise[0]}/{end}", params={**more, "derived": derived})
    assert answer.status_code == status
    assert answer.json()["error"].startswith(words)


def test_unmasked_is_compared_with_the_recorded_mask_alone(
    client: TestClient, noise: tuple[str, Any]
) -> None:
    answer = client.get(f"{noise[0]}/map", params={**WHERE, "variant": "causal", "derived": "minus:unmasked"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(
        "variant must be recorded for a difference from the unmasked map"
    )


def test_no_file_is_made_of_a_combination(client: TestClient, noise: tuple[str, Any]) -> None:
    query = {**WHERE, "derived": "mean:0.1,1.2", "form": "csv", "queries": "0:6", "keys": "0:6"}
    answer = client.get(f"{noise[0]}/download", params=query)
    assert answer.status_code == 400
    assert "A file is made of one head" in answer.json()["error"]


def test_what_does_not_follow_waits(folder: Path, connect: Callable[..., TestClient]) -> None:
    record(folder / "long.pozor", 9000, layers=1, dtype=np.float32)
    client = connect()
    base = f"/api/recordings/{cards(client)['long']['id']}"
    where = {"layer": 0, "head": 0, "derived": "mean:0.1,0.2"}
    document = ask(client, f"{base}/map", documents.MapDocument, **where)
    assert document["exact"] == {"max": 5, "mean": 6, "share": 6}
    whole = {**where, "zoom": 6, "row": 0, "column": 0}
    answer = client.get(f"{base}/tile", params=whole)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(
        "reduce must be mean or share of a mean over heads at zoom 6; got max"
    )
    for _ in range(500):
        answer = client.get(f"{base}/tile", params={**whole, "reduce": "share"})
        assert answer.status_code == 200
        if "x-pozor-preview" not in answer.headers:
            break
        time.sleep(0.02)
    values, states = values_of(answer.content, 141)
    np.testing.assert_allclose(np.where(states[:141, :141] == 0, values, 0).sum(axis=1), 1, atol=1e-4)
    done = ask(client, f"{base}/base", documents.BaseDocument, **where)
    assert done == {"ready": True, "done": 1}


def test_heads_of_a_map_in_a_notebook() -> None:
    q, k, _ = arrays(6, dtype=np.float64)
    desk = MapDesk(AttentionMap(q, k, causal=True))
    where = {"layer": "0", "head": "1"}
    probs = [desk.whole.block(slice(0, 6), slice(0, 6), head=head) for head in range(HEADS)]
    body = desk.payload(
        "tile", {**where, "derived": "minus:0.2", "zoom": "0", "row": "0", "column": "0"}
    ).body
    np.testing.assert_allclose(values_of(body)[0], probs[1] - probs[2], atol=1e-6)
    row = desk.document("row", {**where, "derived": "mean:0.0,0.3", "query": "5"})
    assert fits(row, documents.RowDocument)
    np.testing.assert_allclose(row["probs"], (probs[0][5] + probs[3][5]) / 2, rtol=1e-9)
    with pytest.raises(NotThere, match="layer must be 0, kind self; got 1, self"):
        desk.document("map", {**where, "derived": "mean:1.0"})
    with pytest.raises(NotThere, match="derived must name heads of this map, which knows no recording 'ab'"):
        desk.document("map", {**where, "derived": "minus:0.1@ab"})


def test_a_desk_without_others(tmp_path: Path) -> None:
    record(tmp_path / "a.pozor")
    library = Library(tmp_path)
    desk = RecordingDesk(library.opened(tmp_path / "a.pozor"), library.card)
    with pytest.raises(NotThere, match="derived must name heads of this recording; 'ab' cannot be looked up"):
        desk.document("map", {"layer": "0", "head": "0", "derived": "minus:0.1@ab"})


def test_parse() -> None:
    assert parse("mean:3.1,12.0") == Derivation("mean", ((3, 1), (12, 0)))
    assert parse("minus:12.5@0a") == Derivation("difference", ((12, 5),), "0a")
    with pytest.raises(OptionError, match=r"got 'mean:0.1.n'"):
        parse("mean:0.1\n")
