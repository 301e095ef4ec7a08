"""The lessons killed, hung, out of memory, in the way: who started them goes on and says so."""

import io
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from notebook import Reader, heard, serving, signed_in, write
from pozor.cli import main
from pozor.viewer.lessons import MOST_LINES, Lessons, _keep
from pozor.viewer.reasons import why

AGAIN = "Open them again; what is done stays in the browser."
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.05)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path, "endless", "greedy", "hoarder", "holder")


@posix
def test_killed_it_is_ended_and_can_be_started_again(folder: Path) -> None:
    with serving(folder) as lessons:
        first = lessons.pid
        assert lessons.document("en", "here")["url"] == "here"
        os.kill(first or 0, signal.SIGKILL)
        until(lambda: lessons.state == "ended")
        said = lessons.document("en", "here")
        assert said["reason"] == f"The lessons were ended from outside (SIGKILL). {AGAIN}"
        assert said["url"] is None
        assert "ukončilo něco zvenčí (SIGKILL)" in (lessons.document("cs")["reason"] or "")
        lessons.start()
        assert lessons.state == "running"
        assert lessons.pid != first


@posix
def test_what_gives_no_sign_of_life_is_ended(folder: Path) -> None:
    with serving(folder, silence=3.0) as lessons:
        pid = lessons.pid or 0
        os.kill(pid, signal.SIGSTOP)
        until(lambda: lessons.state == "ended")
        assert (
            lessons.document("en")["reason"] == f"The lessons did not answer for 3 s and were ended. {AGAIN}"
        )
        until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text())


def test_a_cell_that_holds_the_interpreter_is_no_sign_of_life(folder: Path) -> None:
    with serving(folder, silence=4.0) as lessons, signed_in(lessons) as client:
        with Reader(lessons, client, "holder").socket():
            until(lambda: lessons.state == "ended", 60)
        assert lessons.reason is not None
        assert lessons.reason.key == "hung"


def test_a_loop_without_an_end_is_interrupted_and_the_others_go_on(folder: Path) -> None:
    with serving(folder, patience=2.0) as lessons, signed_in(lessons) as client:
        with Reader(lessons, client, "endless").socket() as stuck:
            until(lambda: lessons.notes != [])
            heard(stuck, "completed-run")
            with Reader(lessons, client, "small").socket() as other:
                heard(other, "There are 0 steps")
        assert lessons.document("en")["notes"] == [
            "A cell of the lesson endless ran too long and was interrupted."
        ]
        assert lessons.state == "running"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_what_could_never_be_held_fails_in_its_cell_alone(folder: Path) -> None:
    with serving(folder, memory=1 << 30) as lessons, signed_in(lessons) as client:
        with Reader(lessons, client, "greedy").socket() as greedy:
            assert "An internal error occurred" in str(heard(greedy, "completed-run"))
        with Reader(lessons, client, "small").socket() as other:
            heard(other, "There are 0 steps")
        assert lessons.state == "running"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_the_last_lines_of_its_stderr_are_kept_and_no_more(tmp_path: Path) -> None:
    kept: deque[str] = deque(maxlen=MOST_LINES)
    said = "".join(f"line {number}\n\n" for number in range(100)) + "x" * 1000
    _keep(io.StringIO(said), kept)
    assert list(kept) == [f"line {n}" for n in range(63, 100)] + ["x" * 400, "x" * 400, "x" * 200]


def test_what_holds_too_much_is_ended_for_it(folder: Path) -> None:
    with serving(folder, memory=600 << 20) as lessons, signed_in(lessons) as client:
        with Reader(lessons, client, "hoarder").socket():
            until(lambda: lessons.state == "ended")
        assert (
            lessons.document("en")["reason"] == f"The lessons needed too much memory and were ended. {AGAIN}"
        )


def test_the_process_ends_with_who_started_it(folder: Path) -> None:
    code = (
        "from pozor.viewer.lessons import Lessons; import sys, os, signal\n"
        f"lessons = Lessons({{'port': 0, 'folder': {str(folder)!r}}}); lessons.start()\n"
        "print(lessons.pid, flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    until(lambda: not _alive(child))


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_nothing_secret_is_on_a_command_line_or_in_the_first_environment(folder: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("/proc")
    with serving(folder, code="sedm") as lessons:
        for name in ("cmdline", "environ"):
            held = Path(f"/proc/{lessons.pid}/{name}").read_bytes()
            assert lessons.token.encode() not in held
            assert b"sedm" not in held


def test_exit_codes_say_why() -> None:
    assert why(-9, out_of_memory=True).sentence("en").startswith("The lessons needed too much memory")
    assert "(SIGTERM)" in why(-15, out_of_memory=False).sentence("en")
    assert "signal 200" in why(-200, out_of_memory=False).sentence("en")
    assert "(exit code 3)" in why(3, out_of_memory=True).sentence("en")
    assert "(návratový kód 3)" in why(3, out_of_memory=True).sentence("cs")


# ---- the command -------------------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["learn", *arguments])
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_a_taken_port_is_one_sentence(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(small) as lessons:
        said = refused(capsys, "--port", str(lessons.port), "--no-browser")
        assert f"--port must be free for this user; {lessons.port} is not" in said
        assert said.count("\n") == 1


def test_other_wrong_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--port must be from 0 to 65535; got 70000." in refused(capsys, "--port", "70000")
    assert "lesson must be one of 0 (warm_up), 1 (by_hand)" in refused(capsys, "--lesson", "9")
    assert "--host must come with --public" in refused(capsys, "--host", "0.0.0.0")
    assert "lang must be cs or en; got 'de'." in refused(capsys, "--lang", "de")


def test_without_marimo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("pozor.viewer.lessons.find_spec", lambda name: None)
    said = refused(capsys, "--no-browser")
    assert said == (
        "pozor: Lessons need marimo, which is not in this install; run pip install 'pozor[lessons]'.\n"
    )
    lessons = Lessons()
    assert lessons.document("cs")["state"] == "missing"
    assert "pip install 'pozor[lessons]'" in (lessons.document("cs")["reason"] or "")


def test_the_command_ends_with_what_the_lessons_complained_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(lessons: Lessons) -> None:
        lessons._complaints.append("ZeroDivisionError: division by zero")

    monkeypatch.setattr(Lessons, "start", start)
    monkeypatch.setattr(Lessons, "wait", lambda lessons: None)
    with pytest.raises(SystemExit) as stop:
        main(["learn", "--no-browser", "--lang", "cs"])
    assert not stop.value.code
    assert capsys.readouterr().err == (
        "\nNe všechno v nich šlo hladce. Naposledy řekly:\nZeroDivisionError: division by zero\n"
    )


def test_the_command_prints_an_address_that_opens(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pozor",
        "learn",
        "--port",
        "0",
        "--no-browser",
        "--lang",
        "cs",
        "--lesson",
        "0",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "Adresa (jen pro vás, je v ní přístupový klíč):\n"
            address = process.stdout.readline().strip()
            with httpx.Client(follow_redirects=True, timeout=30) as client:
                page = client.get(address)
                assert page.status_code == 200
                assert "token" not in str(page.url)
                assert "url=./lessons/warm_up/?lang=cs" in page.text
                lesson = client.get(str(page.url.join("./lessons/warm_up/?lang=cs")))
            assert lesson.status_code == 200
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
    assert "Lekce skončily." in rest
    assert process.returncode == 0
