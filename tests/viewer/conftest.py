"""The app in memory, behind its guard, with a page bundle of two files."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pozor.viewer.app import App
from pozor.viewer.guard import BaseUrl, Guard
from pozor.viewer.library import Library

sys.path.insert(0, str(Path(__file__).parent))  # for viewer_recordings

TOKEN = "t0k-en_for.tests"
PORT = 8765
OWN = f"http://127.0.0.1:{PORT}"

Connect = Callable[..., TestClient]


@pytest.fixture
def static(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>pozor</title>", encoding="utf-8")
    (folder / "assets" / "app.js").write_text("export const here = 1;", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("not for the page", encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder the app was started in."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def connect(static: Path, folder: Path, tmp_path: Path) -> Iterator[Connect]:
    """A client of a new app; with signed_in=False it has no cookie."""
    clients = []

    def make(*, signed_in: bool = True, base: str | None = None, lang: str | None = None) -> TestClient:
        app = App(Library(folder, shipped=tmp_path / "shipped"), lang, static)
        guard = Guard(app.asgi(), TOKEN, PORT, BaseUrl.parse(base) if base else None)
        client = TestClient(guard, base_url=OWN, follow_redirects=False, raise_server_exceptions=False)
        if signed_in:
            assert client.get("/", params={"token": TOKEN}).status_code == 303
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(connect: Connect) -> TestClient:
    return connect()


@pytest.fixture
def noise(folder: Path, client: TestClient) -> tuple[str, Any]:
    """The address of a recording of 6 tokens, and the recording."""
    from viewer_recordings import record

    recording = record(folder / "noise.pozor")
    (card,) = client.get("/api/start").json()["recordings"]
    return f"/api/recordings/{card['id']}", recording
