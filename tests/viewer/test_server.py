"""A real server on a free port: many at once, slow readers, a stop in the middle of everything."""

import asyncio
import contextlib
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
import uvicorn
from loops import in_a_loop
from viewer_recordings import record, reference

from pozor.errors import OptionError
from pozor.viewer import serve
from pozor.viewer.app import TILES_AT_ONCE, App
from pozor.viewer.guard import Guard
from pozor.viewer.library import Library

TOKEN = "a-token"


class Running:
    """The app on a free port, in a thread of its own."""

    def __init__(self, folder: Path, static: Path) -> None:
        self.listener = serve.listen(0)
        self.port = self.listener.getsockname()[1]
        self.app = App(Library(folder, folder / "none"), None, static)
        guard = Guard(self.app.asgi(), TOKEN, self.port)
        self.server = serve.Server(serve.settings(guard), lambda: None)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def stop(self) -> float:
        """Seconds that stopping took."""
        began = time.perf_counter()
        self.server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()
        return time.perf_counter() - began

    def request(self, path: str, *headers: str) -> bytes:
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Cookie: pozor-{self.port}={TOKEN}"]
        return "\r\n".join([*lines, *headers, "Connection: close", "", ""]).encode()

    def ask(self, path: str, *headers: str) -> tuple[bytes, bytes]:
        """Head and body of an answer."""
        with socket.create_connection(("127.0.0.1", self.port)) as line:
            line.sendall(self.request(path, *headers))
            answer = b"".join(iter(lambda: line.recv(1 << 16), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        return head, body


@pytest.fixture
def running(folder: Path, static: Path) -> Iterator[Running]:
    record(folder / "noise.pozor", 600, layers=1)
    app = Running(folder, static)
    yield app
    if app.thread.is_alive():
        app.stop()
    app.listener.close()


def tiles(app: Running, count: int) -> list[tuple[str, dict[str, int | str]]]:
    """Paths of `count` tiles, no two the same."""
    (card,) = app.app.library.cards()
    places = [
        {"layer": 0, "head": head, "variant": variant, "reduce": reduce, "value": value, **place, "zoom": 0}
        for variant in ("recorded", "unmasked", "causal")
        for reduce in ("max", "mean", "share")
        for value in ("prob", "value_norm")
        for head in range(4)
        for place in ({"row": row, "column": column} for row in range(3) for column in range(3))
    ]
    while len(places) < count:  # the page asks for the same tile again when it comes back to it
        places += places
    return [(f"/api/recordings/{card['id']}/tile?{urlencode(p)}", p) for p in places[:count]]


async def fetch(app: Running, path: str, wait: asyncio.Event | None = None) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", app.port)
    writer.write(app.request(path))
    await writer.drain()
    if wait is not None:
        await wait.wait()
    answer = await reader.read()
    writer.close()
    return answer


def test_a_thousand_tiles_at_once(running: Running) -> None:
    probs = [reference(running.app.library.opened(running.app.library.folder / "noise.pozor").recording, 0, h)
             for h in range(4)]  # fmt: skip
    asked = tiles(running, 1000)

    async def all_at_once() -> list[bytes]:
        return await asyncio.gather(*(fetch(running, path) for path, _ in asked))

    for answer, (_, place) in zip(in_a_loop(all_at_once), asked, strict=True):
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        assert len(body) == 65_536 * 5
        if place["variant"] == "recorded" and place["value"] == "prob":
            row, column = int(place["row"]) * 256, int(place["column"]) * 256
            wanted = probs[int(place["head"])][row : row + 256, column : column + 256]
            shown = np.frombuffer(body, "<f4", 65_536).reshape(256, 256)
            np.testing.assert_allclose(shown[: wanted.shape[0], : wanted.shape[1]], wanted, atol=1e-5)


def test_readers_that_do_not_read_hold_no_more_than_the_gate_lets_through(running: Running) -> None:
    running.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)  # of the connections to come, too
    asked = tiles(running, 400)
    tracemalloc.start()
    lines = []
    try:
        for path, _ in asked:
            lines.append(line := socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            line.connect(("127.0.0.1", running.port))
            line.sendall(running.request(path))
        time.sleep(3)
        _, held = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 400 payloads are 131 MB; through the gate go 32, each once as bytes and once in its connection
    assert held < TILES_AT_ONCE * 2 * 5 * 65_536 + (24 << 20)
    for line in lines:
        with line:
            answer = b"".join(iter(lambda: line.recv(1 << 16), b""))  # noqa: B023
        assert answer.startswith(b"HTTP/1.1 200")
        assert len(answer) > 65_536 * 5


def test_other_answers_come_while_tiles_are_computed(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, free = threading.Event(), threading.Event()

    def slow(*_: object) -> tuple[bytes, bool]:
        busy.set()
        free.wait(30)
        return bytes(65_536 * 5), False

    monkeypatch.setattr("pozor.viewer.answers.tile_payload", slow)
    (path, _), *_ = tiles(running, 1)
    thread = threading.Thread(target=running.ask, args=(path,))
    thread.start()
    try:
        assert busy.wait(10)
        assert running.ask("/")[0].startswith(b"HTTP/1.1 200")
        assert running.ask("/api/start")[0].startswith(b"HTTP/1.1 200")
    finally:
        free.set()
        thread.join()


def test_a_tile_that_nobody_waits_for_is_not_computed(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    free = threading.Event()

    def slow(_: object, tile: object) -> tuple[bytes, bool]:
        computed.append(tile)
        free.wait(30)
        return bytes(65_536 * 5), False

    monkeypatch.setattr("pozor.viewer.answers.tile_payload", slow)
    paths = [path for path, _ in tiles(running, 3 * TILES_AT_ONCE)]
    lines = []
    for path in paths:
        line = socket.create_connection(("127.0.0.1", running.port))
        line.sendall(running.request(path))
        lines.append(line)
    while not computed:
        time.sleep(0.01)
    time.sleep(0.3)
    for line in lines:
        line.close()
    time.sleep(0.3)
    free.set()
    assert running.ask("/")[0].startswith(b"HTTP/1.1 200")
    time.sleep(0.5)
    assert len(computed) <= TILES_AT_ONCE


def test_stopping_waits_for_nobody(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, free = threading.Event(), threading.Event()

    def slow(*_: object) -> tuple[bytes, bool]:
        busy.set()
        free.wait(30)
        return bytes(65_536 * 5), False

    monkeypatch.setattr("pozor.viewer.answers.tile_payload", slow)
    (path, _), *_ = tiles(running, 1)
    with (
        socket.create_connection(("127.0.0.1", running.port)) as computing,
        socket.create_connection(("127.0.0.1", running.port)) as silent,
    ):
        computing.sendall(running.request(path))
        silent.sendall(b"GET / HTTP/1.1\r\n")
        assert busy.wait(10)
        try:
            assert running.stop() < 5
        finally:
            free.set()
        with contextlib.suppress(ConnectionError):
            assert computing.recv(1) == b""


def test_no_header_names_the_server(running: Running) -> None:
    head, _ = running.ask("/api/start")
    assert b"server:" not in head.lower()
    assert b"uvicorn" not in head.lower()


def test_websockets_are_no_way_in(running: Running) -> None:
    upgrade = (
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    )
    for path in ("/", "/api/start", "/live"):
        head, _ = running.ask(path, *upgrade, f"Origin: http://evil.example:{running.port}")
        assert head.startswith(b"HTTP/1.1 403"), path
        assert b"101" not in head.split(b"\r\n")[0]


def test_a_request_too_large_for_a_header_does_no_harm(running: Running) -> None:
    with contextlib.suppress(ConnectionError):  # it may be cut off before it is read
        head, _ = running.ask("/?" + "a" * 200_000)
        assert head == b"" or head.startswith(b"HTTP/1.1 4")
    assert running.ask("/")[0].startswith(b"HTTP/1.1 200")


def test_answers_do_not_wait_for_acknowledgements(running: Running) -> None:
    # with Nagle's algorithm each answer on a kept connection waits 40 ms for a delayed acknowledgement
    with socket.create_connection(("127.0.0.1", running.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert client.recv(1)
        (connection,) = running.server.server_state.connections
        own = connection.transport.get_extra_info("socket")
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


# ---- the port ----------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_said_so() -> None:
    with serve.listen(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=rf"^--port must be free for this user; {port} is not \(.+\)\."):
            serve.listen(port)


def test_without_a_wish_a_taken_port_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve.listen(0) as taken:
        monkeypatch.setattr(serve, "PREFERRED_PORT", taken.getsockname()[1])
        with serve.listen(None) as other:
            assert other.getsockname()[1] not in {0, taken.getsockname()[1]}
    monkeypatch.setattr(serve, "PREFERRED_PORT", 0)
    with serve.listen(None) as free:
        assert free.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1.2.3.4 1 5.6.7.8 22"}, "linux", False),
        ({}, "darwin", True),
        ({}, "win32", True),
        ({"SSH_CLIENT": "1.2.3.4 1 22"}, "darwin", False),
    ],
)
def test_whether_a_browser_would_be_seen(environment: dict[str, str], platform: str, expected: bool) -> None:
    assert serve.has_browser(environment, platform) is expected


@pytest.mark.parametrize(
    ("connection", "command"),
    [
        ("10.0.0.7 50012 10.0.0.9 22", "ssh -N -L 8765:127.0.0.1:8765 jan@10.0.0.9"),
        ("10.0.0.7 50012 10.0.0.9 2222", "ssh -N -L 8765:127.0.0.1:8765 -p 2222 jan@10.0.0.9"),
        ("fe80::1 50012 2001:db8::2 22", "ssh -N -L 8765:127.0.0.1:8765 jan@2001:db8::2"),
        ("", None),
        ("nonsense", None),
    ],
)
def test_the_line_for_ssh(connection: str, command: str | None) -> None:
    assert serve.ssh_command(connection, 8765, "jan") == command


def test_it_says_so_once_the_server_listens(folder: Path, static: Path) -> None:
    with serve.listen(0) as listener:
        port = listener.getsockname()[1]
        said = threading.Event()

        def listening() -> None:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                said.set()

        guard = Guard(App(Library(folder), None, static).asgi(), TOKEN, port)
        server = serve.Server(serve.settings(guard), listening)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert said.wait(10)
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


def test_the_settings_keep_the_log_silent_and_sockets_closed(folder: Path) -> None:
    settings = serve.settings(Guard(App(Library(folder)).asgi(), TOKEN, 1))
    assert isinstance(settings, uvicorn.Config)
    assert (settings.access_log, settings.ws, settings.proxy_headers) == (False, "none", False)
