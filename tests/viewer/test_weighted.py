"""What a key brings: weight times ‖v_j W_O‖, in rows, columns and cells, against the formula in float64."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from viewer_asking import ask
from viewer_recordings import HEAD_DIM, record, reference

from pozor.recording import Recording
from pozor.viewer import documents

WHERE = {"layer": 1, "head": 3}


@pytest.fixture
def noise(folder: Path, client: TestClient) -> tuple[str, Any]:
    recording = record(folder / "noise.pozor")
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    return f"/api/recordings/{card['id']}", recording


def lengths(recording: Any) -> np.ndarray:
    """‖v_j W_O‖ of layer 1, head 3: v of its key head (1 of 2) times the head's own rows of W_O."""
    held = recording.arrays(1)
    rows = slice(3 * HEAD_DIM, 4 * HEAD_DIM)
    return np.linalg.norm(held["v"][1].astype(float) @ held["w_o"][rows].astype(float), axis=1)


def test_a_row_says_what_each_key_brings(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    row = ask(client, f"{base}/row", documents.RowDocument, **WHERE, query=4, value="value_norm")
    expected = reference(recording, 1, 3)[4] * lengths(recording)
    np.testing.assert_allclose(row["weighted"], expected, rtol=1e-6)  # v_norm is stored in float32
    assert row["weighted"][5] == 0.0  # hidden
    assert ask(client, f"{base}/row", documents.RowDocument, **WHERE, query=4)["weighted"] is None


def test_a_column_says_what_the_key_brings_to_each_query(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    column = ask(client, f"{base}/column", documents.ColumnDocument, **WHERE, key=2, value="value_norm")
    expected = reference(recording, 1, 3)[:, 2] * lengths(recording)[2]
    np.testing.assert_allclose(column["weighted"], expected, atol=1e-5)
    assert column["weighted"][:2] == [0.0, 0.0]
    assert ask(client, f"{base}/column", documents.ColumnDocument, **WHERE, key=2)["weighted"] is None


def test_a_cell_says_the_length_of_its_key(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    cell = ask(client, f"{base}/cell", documents.CellDocument, **WHERE, query=4, key=2, lang="en", digits=3)
    assert cell["norm"] == pytest.approx(lengths(recording)[2], rel=1e-6)


def test_without_w_o_there_is_nothing_to_weigh_by(folder: Path, client: TestClient) -> None:
    record(folder / "plain.pozor", w_o=None)
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    base = f"/api/recordings/{card['id']}"
    cell = ask(client, f"{base}/cell", documents.CellDocument, **WHERE, query=4, key=2, lang="en", digits=3)
    assert cell["norm"] is None
    for end in ({"query": 1}, {"key": 1}):
        answer = client.get(
            f"{base}/{'row' if 'query' in end else 'column'}", params=WHERE | end | {"value": "value_norm"}
        )
        assert answer.status_code == 404
        assert answer.json()["error"].startswith("value must be prob: this layer was recorded without v_norm")


def test_a_length_that_is_not_finite_is_null_where_it_is_seen(folder: Path, client: TestClient) -> None:
    # two keys, equal scores: weights 1/2 and 1/2; the values are 3 and inf, W_O is 2: lengths 6 and inf
    q = k = np.zeros((1, 2, 1), np.float32)
    v = np.array([[[3.0], [np.inf]]], np.float32)
    Recording.from_arrays(folder / "inf.pozor", q, k, v, causal=True, w_o=[np.full((1, 1), 2, np.float32)])
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    base, where = f"/api/recordings/{card['id']}", {"layer": 0, "head": 0, "value": "value_norm"}
    first = ask(client, f"{base}/row", documents.RowDocument, **where, query=0)
    last = ask(client, f"{base}/row", documents.RowDocument, **where, query=1)
    assert first["weighted"] == [6.0, 0.0]  # the infinite key is hidden from query 0
    assert last["weighted"] == [3.0, None]
