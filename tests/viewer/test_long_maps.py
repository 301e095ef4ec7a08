"""Maps of long texts over HTTP: previews while a base is made, tracks, requests that are out of reason."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from viewer_asking import ask
from viewer_recordings import record, reference

import pozor
from pozor.matrix.making import BEHIND, KEPT
from pozor.viewer import documents

TOKENS = 16_640  # the first length with 8 zooms
TOP = {"layer": 0, "head": 1, "zoom": 7, "row": 0, "column": 0}
CELLS = 256 * 256


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two recordings of 16,640 tokens that differ in their numbers alone."""
    folder = tmp_path_factory.mktemp("long")
    for seed in (0, 1):
        record(folder / f"long-{seed}.pozor", TOKENS, seed=seed, layers=1, dtype=np.float32)
    return folder


@pytest.fixture
def client(connect: Any, folder: Path, long: Path) -> TestClient:
    """The app in a folder with links to their files (base/ is each test's own)."""
    for name in ("long-0.pozor", "long-1.pozor"):
        for file in (long / name).rglob("*"):
            place = folder / name / file.relative_to(long / name)
            if file.is_file() and "base" not in place.parts:
                place.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, place)
    return connect()


@pytest.fixture
def paths(client: TestClient) -> list[str]:
    """Their addresses."""
    cards = client.get("/api/start").json()["recordings"]
    return [f"/api/recordings/{card['id']}" for card in sorted(cards, key=lambda card: card["name"])]


def tile(client: TestClient, path: str, **query: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """(values, states, whether it is a preview)."""
    answer = client.get(f"{path}/tile", params=TOP | query)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) == 5 * CELLS
    values = np.frombuffer(answer.content[: 4 * CELLS], "<f4").reshape(256, 256)
    states = np.frombuffer(answer.content[4 * CELLS :], np.uint8).reshape(256, 256)
    return values, states, answer.headers.get("x-pozor-preview") == "1"


def ready(client: TestClient, path: str, **query: Any) -> list[float]:
    """Asks for the base until it is there; how far it was each time."""
    done: list[float] = []
    end = time.monotonic() + 60
    while True:
        answer = ask(client, f"{path}/base", documents.BaseDocument, layer=0, head=1, **query)
        done.append(answer["done"])
        if answer["ready"]:
            return done
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_preview_comes_first_and_then_the_exact_picture(
    client: TestClient, paths: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(BEHIND, "add", lambda making: None)  # nobody makes it behind
        values, states, preview = tile(client, paths[0])
        assert preview
        fine, _, exact = tile(client, paths[0], zoom=0)
        assert not exact
    done = ready(client, paths[0])
    assert done == sorted(done)
    assert done[-1] == 1.0
    best, where, preview = tile(client, paths[0])
    assert not preview
    recording = pozor.open(folder / "long-0.pozor")
    wanted = recording[0, 1].tile(7, 0, 0)
    np.testing.assert_array_equal(best, wanted.values)
    np.testing.assert_array_equal(where, wanted.states)
    # every row of the preview is one of the matrix: never more than the exact picture, and in the same places
    assert (values <= best + 1e-5).all()
    np.testing.assert_array_equal(states, where)
    held = recording.arrays(0)
    q, k = (held[name][row].astype(np.float64) for name, row in (("q", 1), ("k", 0)))
    logits = np.tril(q[:256] @ k[:256].T / np.sqrt(8)) + np.triu(np.full((256, 256), -np.inf), 1)
    probs = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    np.testing.assert_allclose(fine, probs, rtol=0, atol=1e-5)


def test_tracks_come_while_no_worker_waits_for_them(
    client: TestClient, paths: list[str], folder: Path
) -> None:
    answer = client.get(f"{paths[0]}/tracks", params={"layer": 0, "head": 1})
    assert answer.status_code == 200
    both = np.frombuffer(answer.content, "<f4")
    made = pozor.open(folder / "long-0.pozor")[0, 1].tracks().make()
    np.testing.assert_array_equal(both, np.concatenate((made.entropy, made.received)))


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"zoom": 8}, 404, "zoom must be below 8 (zooms of this map); got 8."),
        ({"zoom": 999_999_999}, 404, "zoom must be below 8"),
        ({"zoom": "9" * 40}, 400, "zoom must be a whole number from 0 up"),
        ({"zoom": -1}, 400, "zoom must be a whole number from 0 up"),
        ({"zoom": 6, "row": 2}, 404, "row must be below 2 (tiles at zoom 6); got 2."),
        ({"zoom": 6, "column": 2}, 404, "column must be below 2 (tiles at zoom 6); got 2."),
        ({"zoom": 0, "row": 65}, 404, "row must be below 65 (tiles at zoom 0); got 65."),
        ({"row": 1}, 404, "row must be below 1 (tiles at zoom 7); got 1."),
        ({"head": 4}, 404, "head must be one that layer 0 keeps (0-3); got 4."),
        ({"layer": 1}, 404, "layer must be one with self attention (0); got 1."),
        ({"item": 7}, 404, "item must be below 1; got 7."),
        ({"kind": "cross"}, 404, "layer must be one with cross attention (none); got 0."),
        ({"kind": "both"}, 400, "kind must be self or cross; got 'both'."),
        ({"value": "logit"}, 400, "value must be prob or value_norm; got 'logit'."),
        ({"reduce": "median"}, 400, "reduce must be max or mean or share; got 'median'."),
        ({"variant": "none"}, 400, "variant must be recorded or unmasked or causal; got 'none'."),
        ({"size": 3}, 400, "'size' is no parameter here"),
    ],
    ids=lambda value: (
        "&".join(f"{n}={v:.9}" for n, v in ((n, str(v)) for n, v in value.items()))
        if isinstance(value, dict)
        else ""
    ),
)
def test_a_tile_that_is_not_there_gets_a_sentence_at_once(
    client: TestClient, paths: list[str], query: dict[str, Any], status: int, words: str
) -> None:
    kept = KEPT.total
    answer = client.get(f"{paths[0]}/tile", params=TOP | query)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text
    assert KEPT.total == kept  # nothing was made for it


def test_a_thousand_questions_good_and_bad_hold_no_more_than_a_few(
    client: TestClient, paths: list[str]
) -> None:
    for path in paths:
        ready(client, path)
    wanted = {path: tile(client, path)[0] for path in paths}
    faults: list[str] = []

    def some(seed: int) -> None:
        mine = np.random.default_rng(seed)
        for _ in range(100):
            path = paths[int(mine.integers(2))]
            zoom, row = int(mine.integers(0, 10)), int(mine.integers(0, 80))
            answer = client.get(f"{path}/tile", params=TOP | {"zoom": zoom, "row": row, "column": row // 2})
            good = zoom < 8 and row < -(-TOKENS // (256 << zoom))
            if answer.status_code != (200 if good else 404):
                faults.append(f"{zoom} {row} {answer.status_code}")
            found = np.frombuffer(answer.content[: 4 * CELLS], "<f4") if good and zoom == 7 else None
            if found is not None and (found != wanted[path].ravel()).any():
                faults.append("the numbers of another recording")

    threads = [threading.Thread(target=some, args=(seed,)) for seed in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert KEPT.total <= KEPT.budget


def test_recordings_do_not_see_each_other(client: TestClient, paths: list[str], folder: Path) -> None:
    for number, path in enumerate(paths):
        ready(client, path)
        recording = pozor.open(folder / f"long-{number}.pozor")
        np.testing.assert_array_equal(tile(client, path)[0], recording[0, 1].tile(7, 0, 0).values)
    assert (tile(client, paths[0])[0] != tile(client, paths[1])[0]).any()
    # a base of one under the name of the other's is passed over
    name = "base/item-000/layer-000-self/head-001-prob.safetensors"
    os.replace(folder / "long-1.pozor" / name, folder / "long-0.pozor" / name)
    again = pozor.open(folder / "long-0.pozor")[0, 1].tile(7, 0, 0).values
    np.testing.assert_array_equal(again, tile(client, paths[0])[0])


def test_a_recording_that_changes_while_its_base_is_made(
    client: TestClient, paths: list[str], folder: Path
) -> None:
    version = client.get(paths[0]).json()["card"]["version"]
    asked = {"layer": 0, "head": 1, "version": version}
    assert client.get(f"{paths[0]}/base", params=asked).status_code == 200
    file = folder / "long-0.pozor" / "item-000" / "layer-000-self.safetensors"
    content = file.read_bytes()
    file.unlink()  # a link to what all tests share
    file.write_bytes(content)
    for leaf, query in (("tile", TOP), ("base", {}), ("tracks", {})):
        answer = client.get(f"{paths[0]}/{leaf}", params=query | asked)
        assert answer.status_code == 409, leaf
    assert client.get(paths[0]).status_code == 200
    ready(client, paths[0])
    assert not tile(client, paths[0])[2]


def test_the_float64_matrix_of_a_short_text_needs_no_base(connect: Any, tmp_path: Path, folder: Path) -> None:
    recording = record(folder / "short.pozor", 300)
    client = connect()
    (card,) = client.get("/api/start").json()["recordings"]
    values, _, preview = tile(client, f"/api/recordings/{card['id']}", zoom=0)
    assert not preview
    np.testing.assert_allclose(values, reference(recording, 0, 1)[:256, :256], rtol=0, atol=1e-5)
    assert ready(client, f"/api/recordings/{card['id']}")[-1] == 1.0
    assert not (folder / "short.pozor" / "base").exists()
