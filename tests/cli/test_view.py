"""`pozor` and `pozor view`, as processes: what they say, where they are, how they stop, what they refuse."""

import http.client
import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pozor import cli
from pozor.recording import Recording

REMOTE = ("SSH_CONNECTION", "SSH_CLIENT", "DISPLAY", "WAYLAND_DISPLAY", "LC_ALL", "LC_MESSAGES", "LANG")


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in REMOTE}
    return {**kept, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", **more}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with one recording in it, whose name is not only ASCII."""
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 1, 4, 4)).astype(np.float32)
    Recording.from_arrays(tmp_path / "Příběh 1.pozor", [q], [k], [v], causal=True)
    return tmp_path


class Started:
    """A running `pozor`, and the first lines it said."""

    def __init__(self, folder: Path, *words: str, last: str = "Ctrl+C", **more: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pozor", *words],
            cwd=folder,
            env=environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.lines: list[str] = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if last in line:
                break
        else:
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)(\S*)", "\n".join(self.lines))
        if found:
            self.port, self.token, self.fragment = int(found[1]), found[2], found[3]

    def get(self, path: str) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.request("GET", path, headers={"Cookie": f"pozor-{self.port}={self.token}"})
        answer = line.getresponse()
        body = answer.read()
        line.close()
        return answer.status, body

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str, str, float]:
        """Exit code, what it said last on stdout, stderr, seconds."""
        began = time.perf_counter()
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err, time.perf_counter() - began


@pytest.fixture
def start() -> Iterator[type[Started]]:
    made: list[Started] = []

    class Kept(Started):
        def __init__(self, *args: object, **more: object) -> None:
            super().__init__(*args, **more)  # type: ignore[arg-type]
            made.append(self)

    yield Kept
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


@pytest.mark.parametrize(
    ("words", "first", "stop", "stopped"),
    [
        (
            ["--lang", "en"],
            "opening the worked examples and the recordings",
            "Stop with Ctrl+C.",
            "stopped",
        ),
        (["view", "--lang", "cs"], "otevírám spočítané příklady a záznamy ze složky", "Ctrl+C.", "skončil"),
    ],
)
def test_it_says_what_it_does_and_how_to_stop_it(
    start: type[Started], work: Path, words: list[str], first: str, stop: str, stopped: str
) -> None:
    app = start(work, *words, "--port", "0", "--no-open")
    assert first in app.lines[0]
    assert str(work) in app.lines[0]
    assert app.lines[-1].endswith(stop)
    assert len(app.lines) == 4
    code, out, err, _ = app.stop()
    assert (code, err) == (0, "")
    assert stopped in out


def test_the_locale_chooses_the_language(start: type[Started], work: Path) -> None:
    assert "otevírám" in start(work, "--port", "0", LANG="cs_CZ.UTF-8").lines[0]
    assert "opening" in start(work, "--port", "0", LANG="de_DE.UTF-8").lines[0]


def test_the_app_answers(start: type[Started], work: Path) -> None:
    app = start(work, "--port", "0", "--no-open", "--lang", "cs")
    assert len(app.token) >= 32
    status, page = app.get("/")
    assert status == 200
    assert b"<script" in page
    status, body = app.get("/api/start")
    document = json.loads(body)
    assert document["lang"] == "cs"
    assert "Příběh 1" in [card["name"] for card in document["recordings"]]
    assert start(work, "--port", "0", "--no-open").token != app.token


@pytest.mark.parametrize(("lang", "opening"), [("en", "opening"), ("cs", "otevírám záznam")])
def test_a_recording_opens_at_its_first_head(
    start: type[Started], work: Path, lang: str, opening: str
) -> None:
    app = start(work, "view", "Příběh 1.pozor", "--port", "0", "--no-open", "--lang", lang)
    assert f"{opening} Příběh 1.pozor" in app.lines[0]
    assert str(work) in app.lines[0]
    found = re.fullmatch(r"#/map/([0-9a-f]{16})\?layer=0&head=0", app.fragment)
    assert found
    assert app.get(f"/api/recordings/{found[1]}")[0] == 200


def test_over_ssh_it_prints_the_line_to_type_at_home(start: type[Started], work: Path) -> None:
    app = start(
        work, "--port", "0", "--lang", "en", SSH_CONNECTION="10.0.0.7 50012 10.0.0.9 2222", DISPLAY=":0"
    )
    text = "\n".join(app.lines)
    assert re.search(rf"^  ssh -N -L {app.port}:127\.0\.0\.1:{app.port} -p 2222 \S+@10\.0\.0\.9$", text, re.M)
    assert "A browser opens" not in text


def test_behind_a_proxy_it_prints_the_proxys_address(start: type[Started], work: Path) -> None:
    base = "https://hub.example.org/user/me/proxy/8765"
    text = "\n".join(start(work, "--port", "0", "--base-url", base).lines)
    assert re.search(rf"^  {base}/\?token=[\w-]+$", text, re.M)


@pytest.mark.skipif(os.name == "nt", reason="a console event there, not a signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_in_the_middle_of_everything(start: type[Started], work: Path, number: int) -> None:
    app = start(work, "--port", "0", "--no-open")
    with socket.create_connection(("127.0.0.1", app.port)) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\n")
        app.get("/api/start")
        code, _, err, seconds = app.stop(number)
    assert err == ""
    assert code == (0 if number == signal.SIGINT else -signal.SIGTERM)
    assert seconds < 10  # it is about 0.2; a server that waits for its readers would never end


@pytest.mark.skipif(os.name == "nt", reason="no POSIX signals")
def test_it_stops_before_it_listens(work: Path) -> None:
    for pause in (0.05, 0.15, 0.3):
        process = subprocess.Popen(
            [sys.executable, "-m", "pozor", "--port", "0", "--no-open"],
            cwd=work,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


# ---- refused -----------------------------------------------------------------------------------------------


def refused(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str
) -> str:
    """The one sentence of a start that is refused."""
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stop:
        cli.main(["view", *words, "--no-open"])
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    return err


def test_a_port_in_use(
    capsys: pytest.CaptureFixture[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(capsys, work, monkeypatch, "--port", str(port))
    assert said.startswith(f"pozor: --port must be free for this user; {port} is not (")
    assert said.endswith("). Give another, or leave --port out.\n")


def test_recordings_that_cannot_be_opened(
    capsys: pytest.CaptureFixture[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (work / "exploded",))  # type: ignore[return-value]

    (work / "pickled.pozor").write_bytes(pickle.dumps(Bomb()))
    (work / "empty.pozor").mkdir()
    layer = next((work / "Příběh 1.pozor").rglob("layer-*.safetensors"))
    layer.write_bytes(layer.read_bytes()[:-1])
    said = refused(capsys, work, monkeypatch, "nowhere.pozor")
    assert said.startswith(
        "pozor: path must lead to a recording (a folder NAME.pozor); 'nowhere.pozor' is not there."
    )
    for name in ("pickled.pozor", "empty.pozor", "Příběh 1.pozor"):
        assert name in refused(capsys, work, monkeypatch, name)
    assert not (work / "exploded").exists()


def test_a_page_that_is_not_built(
    capsys: pytest.CaptureFixture[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pozor.viewer.serve.STATIC", work / "static")
    assert refused(capsys, work, monkeypatch).endswith("index.html is missing; run make web.\n")


def test_threads_of_blas_are_left_to_whoever_set_them(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.setattr("pozor.viewer.serve.serve", lambda _: seen.append(os.environ["OPENBLAS_NUM_THREADS"]))
    with pytest.raises(SystemExit):
        cli.main(["view"])
    assert seen == ["3"]


def test_the_browser_gets_the_address(
    capsys: pytest.CaptureFixture[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pozor.viewer import serve

    opened: list[str] = []
    shown = threading.Event()

    def open_browser(address: str) -> bool:
        opened.append(address)
        shown.set()
        return True

    def run(self: serve.Server, sockets: list[socket.socket] | None = None) -> None:
        self._listening()

    monkeypatch.setattr("webbrowser.open", open_browser)
    monkeypatch.setattr(serve.Server, "run", run)
    monkeypatch.setattr(serve, "has_browser", lambda _: True)
    monkeypatch.chdir(work)
    for words in (["--no-open"], []):
        with pytest.raises(SystemExit) as stop:
            cli.main(["view", "--port", "0", "--lang", "en", *words])
        assert stop.value.code == 0
        out = capsys.readouterr().out
        assert ("A browser opens by itself" in out) is (words == [])
    assert shown.wait(10)
    (address,) = opened
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32,}", address)
    assert f"  {address}\n" in out
