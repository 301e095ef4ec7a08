"""Which recordings there are, broken ones among them, and what happens when one changes while it is open."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from viewer_recordings import record, reference

from pozor.errors import RecordingError
from pozor.viewer.library import Library, NotThere, identity

OWN = {"origin": "http://127.0.0.1:8765"}
WHERE = {"layer": 0, "head": 0}
TILE = {**WHERE, "zoom": 0, "row": 0, "column": 0}


class Bomb:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return (Path.touch, (Path("exploded"),))


def test_ids_are_the_real_path(folder: Path, tmp_path: Path) -> None:
    path = record(folder / "a.pozor").path
    (card,) = Library(folder, tmp_path).cards()
    assert card["id"] == identity(path) == identity(folder / ".." / folder.name / "a.pozor")
    (again,) = Library(folder, tmp_path).cards()
    assert again == card


def test_a_folder_without_recordings_or_without_itself(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert Library(tmp_path / "empty", tmp_path).cards() == []
    assert Library(tmp_path / "missing", tmp_path).cards() == []


def test_a_folder_that_is_no_recording_is_not_walked_through(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody opens "/" or a home folder: the answer must not wait for a walk through it."""

    def walk(*_: Any) -> None:
        raise AssertionError("walked")

    monkeypatch.setattr(os, "walk", walk)
    with pytest.raises(RecordingError, match=r"is not a recording: it holds no recording\.json"):
        Library(folder, tmp_path).open("..")


def test_the_shipped_recording_is_whole_and_listed_last(folder: Path) -> None:
    record(folder / "a.pozor")
    library = Library(folder)
    own, *shipped = library.cards()
    assert (own["name"], own["shipped"]) == ("a", False)
    assert shipped
    for card in shipped:
        assert card["shipped"]
        assert card["error"] is None
        assert library.current(card["id"]).recording.items


@pytest.fixture
def broken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole recording among every kind of broken one."""
    monkeypatch.chdir(folder)
    record(folder / "whole.pozor")
    (folder / "pickled.pozor").write_bytes(pickle.dumps(Bomb()))
    (folder / "empty.pozor").mkdir()
    (folder / "foreign.pozor").mkdir()
    (folder / "foreign.pozor" / "recording.json").write_text("[]", encoding="utf-8")
    (folder / "noise.pozor").mkdir()
    (folder / "noise.pozor" / "recording.json").write_bytes(bytes(range(256)))
    shutil.copytree(folder / "whole.pozor", folder / "newer.pozor")
    newer = folder / "newer.pozor" / "recording.json"
    text = json.loads(newer.read_text(encoding="utf-8"))
    version = next(name for name in text if "version" in name or name == "format")
    newer.write_text(json.dumps(text | {version: 999}), encoding="utf-8")
    shutil.copytree(folder / "whole.pozor", folder / "cut.pozor")
    cut = next((folder / "cut.pozor").rglob("layer-001-self.safetensors"))
    cut.write_bytes(cut.read_bytes()[:-1])
    shutil.copytree(folder / "whole.pozor", folder / "wordless.pozor")
    next((folder / "wordless.pozor").rglob("tokens.safetensors")).unlink()
    (folder / "dangling.pozor").symlink_to(folder / "nowhere")
    (folder / "half.pozor.part").mkdir()
    return folder


BROKEN = ["cut", "dangling", "empty", "foreign", "newer", "noise", "pickled", "wordless"]


def test_broken_recordings_are_listed_with_a_sentence(broken: Path, tmp_path: Path) -> None:
    cards = {Path(card["path"]).stem: card for card in Library(broken, tmp_path).cards()}
    assert sorted(cards) == sorted([*BROKEN, "whole"])
    assert cards["whole"]["error"] is None
    for name in BROKEN:
        error = cards[name]["error"]
        assert error is not None, name
        assert error.endswith("."), name
        assert "\n" not in error, name
        assert (cards[name]["items"], cards[name]["layers"]) == (0, 0), name
    assert not (broken / "exploded").exists()


def test_a_broken_recording_cannot_be_opened(broken: Path, client: TestClient) -> None:
    cards = {Path(card["path"]).stem: card for card in client.get("/api/start").json()["recordings"]}
    for name in BROKEN:
        for end in ("", "/map", "/tile"):
            query = {} if not end else WHERE if end == "/map" else TILE
            answer = client.get(f"/api/recordings/{cards[name]['id']}{end}", params=query)
            assert answer.status_code in {400, 404}, (name, end)
            assert answer.json()["error"].endswith(".")
    assert client.get(f"/api/recordings/{cards['whole']['id']}").status_code == 200


def test_open_by_path(folder: Path, tmp_path: Path, client: TestClient) -> None:
    elsewhere = record(tmp_path / "elsewhere.pozor", 5).path
    for path in (str(elsewhere), "../elsewhere.pozor"):
        answer = client.post("/api/open", json={"path": path}, headers=OWN)
        assert answer.status_code == 200, answer.text
        card = answer.json()
        assert (card["name"], card["tokens"], card["id"]) == ("elsewhere", 5, identity(elsewhere))
    assert [c["name"] for c in client.get("/api/start").json()["recordings"]] == ["elsewhere"]
    assert client.get(f"/api/recordings/{card['id']}").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (
            b'{"path": "nowhere.pozor"}',
            404,
            "path must lead to a recording (a folder NAME.pozor);",
        ),
        (b'{"path": ""}', 404, "path must lead to a recording (a folder NAME.pozor); '' is not there."),
        (
            b'{"path": "\\u0000"}',
            404,
            "path must lead to a recording (a folder NAME.pozor);",
        ),
        (b'{"path": "~nobody-of-that-name/x"}', 404, "path must lead to a recording"),
        (b'{"path": "' + b"a" * 5000 + b'"}', 404, "path must lead to a recording"),
        (b'{"path": "."}', 400, ""),
        (b'{"path": 1}', 400, 'The body must be {"path": "NAME.pozor"}.'),
        (b'{"other": "x"}', 400, 'The body must be {"path": "NAME.pozor"}.'),
        (b"[" * 50_000, 400, 'The body must be {"path": "NAME.pozor"}.'),
        (b"\xff", 400, 'The body must be {"path": "NAME.pozor"}.'),
        (b"", 400, 'The body must be {"path": "NAME.pozor"}.'),
        (b" " * 70_000, 400, "The body must be at most 65536 bytes."),
    ],
    ids=range(12),
)
def test_wrong_bodies(client: TestClient, body: bytes, status: int, sentence: str) -> None:
    headers = {**OWN, "content-type": "application/json"}
    answer = client.post("/api/open", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"].startswith(sentence)
    assert client.get("/api/start").json()["recordings"] == []


def test_only_json_is_taken(client: TestClient) -> None:
    answer = client.post("/api/open", content=b'{"path": "x"}', headers={**OWN, "content-type": "text/plain"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("The body must be JSON, sent as application/json")


def test_an_unknown_id(client: TestClient) -> None:
    for end, query in (("", {}), ("/map", WHERE), ("/tile", TILE)):
        answer = client.get(f"/api/recordings/0123456789abcdef{end}", params=query)
        assert (answer.status_code, answer.json()) == (
            404, {"error": "No recording has the id '0123456789abcdef'."}
        )  # fmt: skip


# ---- changed on disk ---------------------------------------------------------------------------------------


def look(client: TestClient) -> tuple[str, dict[str, Any]]:
    (card,) = client.get("/api/start").json()["recordings"]
    base = f"/api/recordings/{card['id']}"
    assert client.get(base).status_code == 200
    assert client.get(f"{base}/tile", params=TILE).status_code == 200
    return base, card


def changes() -> dict[str, Callable[[Path], object]]:
    def cut(path: Path) -> None:
        file = next(path.rglob("layer-000-self.safetensors"))
        file.write_bytes(file.read_bytes()[:-1])

    return {
        "recorded again": lambda path: record(path, 6, seed=5),
        "another length": lambda path: record(path, 3),
        "a layer cut off": cut,
        "a layer removed": lambda path: next(path.rglob("layer-000-self.safetensors")).unlink(),
        "removed": shutil.rmtree,
    }


@pytest.mark.parametrize("kind", list(changes()))
@pytest.mark.parametrize("known", [True, False], ids=["with its version", "without"])
def test_a_recording_that_changed_is_said_to_have_changed(
    folder: Path, client: TestClient, kind: str, known: bool
) -> None:
    path = record(folder / "a.pozor").path
    base, card = look(client)
    changes()[kind](path)
    version = {"version": card["version"]} if known else {}
    for end, query in (
        ("map", WHERE),
        ("tile", TILE),
        ("row", {**WHERE, "query": 0}),
        ("column", {**WHERE, "key": 0}),
        ("cell", {**WHERE, "query": 0, "key": 0}),
    ):
        answer = client.get(f"{base}/{end}", params={**query, **version})
        assert answer.status_code == 409, (end, answer.text)
        assert answer.json() == {"error": "a.pozor changed on disk after it was opened; open it again."}


def test_after_opening_it_again_the_new_numbers_come(folder: Path, client: TestClient) -> None:
    path = record(folder / "a.pozor").path
    base, card = look(client)
    fresh = record(path, 6, seed=5)
    assert client.get(f"{base}/row", params={**WHERE, "query": 3}).status_code == 409
    again = client.get(base).json()["card"]
    assert (again["id"], again["version"] != card["version"]) == (card["id"], True)
    row = client.get(f"{base}/row", params={**WHERE, "query": 3}).json()
    assert row["probs"] == pytest.approx(reference(fresh, 0, 0)[3].tolist(), rel=1e-12)
    # a second tab still holds the old text: it must not be shown the new numbers
    old = client.get(f"{base}/row", params={**WHERE, "query": 3, "version": card["version"]})
    assert old.status_code == 409


def test_the_list_alone_does_not_hide_a_change_from_an_open_page(folder: Path, client: TestClient) -> None:
    path = record(folder / "a.pozor").path
    base, _ = look(client)
    record(path, 6, seed=5)
    assert client.get("/api/start").status_code == 200
    assert client.get(f"{base}/tile", params=TILE).status_code == 409


def test_a_cache_in_base_is_no_change(folder: Path, client: TestClient) -> None:
    path = record(folder / "a.pozor").path
    base, card = look(client)
    (path / "base").mkdir()
    (path / "base" / "layer-000-self.bin").write_bytes(b"anything")
    answer = client.get(f"{base}/tile", params={**TILE, "version": card["version"]})
    assert answer.status_code == 200


def test_more_recordings_than_are_kept_open(folder: Path, client: TestClient) -> None:
    for number in range(20):
        record(folder / f"{number:02}.pozor", 3, layers=1, seed=number)
    cards = client.get("/api/start").json()["recordings"]
    for card in [*cards, *cards]:
        base, version = f"/api/recordings/{card['id']}", {"version": card["version"]}
        assert client.get(f"{base}/tile", params={**TILE, **version}).status_code == 200


def test_the_library_says_what_it_raises(folder: Path) -> None:
    library = Library(folder)
    with pytest.raises(NotThere, match="path must lead to a recording"):
        library.open("x.pozor")
    (folder / "x.pozor").mkdir()
    with pytest.raises(RecordingError):
        library.open("x.pozor")
    with pytest.raises(NotThere, match="No recording has the id 'x'"):
        library.current("x")
