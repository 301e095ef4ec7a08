"""Files to take away from the viewer: the cells of the block that is seen, and a picture of it."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

WHERE = {"layer": 1, "head": 3, "queries": "1:5", "keys": "0:6"}


def test_cells_are_those_of_the_matrix(client: TestClient, noise: tuple[str, Any]) -> None:
    base, recording = noise
    found = client.get(f"{base}/download", params=WHERE | {"form": "npz"})
    assert found.status_code == 200, found.text
    with np.load(io.BytesIO(found.content), allow_pickle=False) as held:
        np.testing.assert_array_equal(held["prob"], recording[1, 3].block(slice(1, 5), slice(0, 6)))
        np.testing.assert_array_equal(held["queries"], [1, 2, 3, 4])
    lines = client.get(f"{base}/download", params=WHERE | {"form": "csv"}).text.splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("query,0")
    assert float(lines[1].split(",")[1]) == recording[1, 3].block(slice(1, 2), slice(0, 1))[0, 0]


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_says_what_it_shows(
    client: TestClient, noise: tuple[str, Any], form: str, start: bytes
) -> None:
    asked = WHERE | {"form": form, "lang": "en", "variant": "unmasked", "scale": "log"}
    found = client.get(f"{noise[0]}/download", params=asked)
    assert found.status_code == 200, found.text
    assert found.content.startswith(start)
    if form == "svg":
        assert "Recomputed" in found.text  # the caption tells another mask


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"form": "exe"}, "form must be csv or npz or svg or pdf or png; got 'exe'."),
        ({"queries": "all"}, "queries must be A:B, such as 0:256; got 'all'."),
        ({"keys": "0:7"}, "keys"),
        ({"colour": "rainbow"}, "colour must be viridis or cividis or magma or paper; got 'rainbow'."),
        ({"lang": "xx"}, "lang must be"),
    ],
)
def test_wrong_wishes_get_a_sentence(
    client: TestClient, noise: tuple[str, Any], change: dict[str, str], words: str
) -> None:
    answer = client.get(f"{noise[0]}/download", params=WHERE | {"form": "csv"} | change)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(words)


def test_nothing_stays_behind(
    client: TestClient, noise: tuple[str, Any], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert client.get(f"{noise[0]}/download", params=WHERE | {"form": "csv"}).status_code == 200
    assert not list(tmp_path.glob("pozor-*"))
