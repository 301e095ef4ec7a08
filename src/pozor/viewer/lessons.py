"""Starts the lessons' process, listens to its signs of life, and says what became of it.

Lessons run code, so they never run in the app's process. Nothing of them is imported here.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from importlib.util import find_spec
from typing import IO, Any

from pozor.errors import BackendUnavailable, OptionError
from pozor.viewer.documents import LearnDocument, LearnState
from pozor.viewer.reasons import SENTENCES, Reason, kills_for_memory, why

SILENCE = 20.0  # seconds without a sign of life after which the process is given up
STARTUP = 60.0  # seconds
MOST_LINES, LONGEST_LINE = 40, 400  # of what the process says to nobody in particular


class Lessons:
    """At most one process with lessons; every method may be called from any thread.

    Args:
        settings: What the process is told, by the names of `pozor.lessons.settings.Settings`.
        silence: Seconds without a sign of life after which it is ended.
    """

    def __init__(self, settings: dict[str, Any] | None = None, silence: float = SILENCE) -> None:
        self._settings, self._silence = settings or {}, silence
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._process: subprocess.Popen[str] | None = None
        self._state: LearnState = "off"
        self._reason: Reason | None = None
        self._token, self._port = "", 0
        self._beat, self._kills = 0.0, 0
        self._notes: deque[Reason] = deque(maxlen=5)
        self._complaints: deque[str] = deque(maxlen=MOST_LINES)

    # ---- what is asked -------------------------------------------------------------------------------------

    @property
    def state(self) -> LearnState:
        """How it is."""
        return "missing" if self._state == "off" and find_spec("marimo") is None else self._state

    @property
    def reason(self) -> Reason | None:
        """Why it ended, or cannot be."""
        return (
            Reason("missing") if self.state == "missing" else self._reason if self._state == "ended" else None
        )

    @property
    def notes(self) -> list[Reason]:
        """What happened in it while it went on, the last of it."""
        return list(self._notes)

    @property
    def complaints(self) -> list[str]:
        """The last lines of its stderr: errors of cells and of ourselves."""
        return list(self._complaints)

    @property
    def pid(self) -> int | None:
        """The number of the process while there is one."""
        process = self._process
        return None if process is None else process.pid

    @property
    def port(self) -> int:
        """Where it listens, while it runs."""
        return self._port

    @property
    def token(self) -> str:
        """What opens its pages."""
        return self._token

    def start(self, timeout: float = STARTUP) -> None:
        """Start it, or find it running; return when it answers.

        Raises:
            BackendUnavailable: marimo is not installed.
            OptionError: It could not start; the sentence says why.
        """
        self.begin()
        with self._lock:
            self._changed.wait_for(lambda: self._state != "starting", timeout)
            if self._state == "starting":
                self._end(Reason("slow", (("seconds", f"{timeout:.0f}"),)))
            if self._state == "ended":
                assert self._reason is not None
                raise OptionError(self._reason.sentence("en"))

    def begin(self) -> None:
        """Start it unless it is there, and do not wait for it.

        Raises:
            BackendUnavailable: marimo is not installed.
        """
        with self._lock:
            if self._state not in {"starting", "running"}:
                self._launch()

    def document(self, lang: str, url: str | None = None) -> LearnDocument:
        """How it is, for a page; `url` is passed on where it runs."""
        with self._lock:
            state, reason = self.state, self.reason
        return {
            "state": state,
            "url": url if state == "running" else None,
            "reason": None if reason is None else reason.sentence(lang),
            "notes": [note.sentence(lang) for note in self.notes],
        }

    def stop(self) -> None:
        """End it, and everything it started."""
        with self._lock:
            self._kill()
            self._state = "off"
            self._changed.notify_all()

    def wait(self) -> Reason | None:
        """Wait until it has ended; why it did, None if it was stopped."""
        with self._lock:
            self._changed.wait_for(lambda: self._state in {"off", "ended"})
            return self._reason if self._state == "ended" else None

    # ---- the process ---------------------------------------------------------------------------------------

    def _launch(self) -> None:
        if find_spec("marimo") is None:
            raise BackendUnavailable(SENTENCES["en"]["missing"])
        self._token = secrets.token_urlsafe(32)
        self._state, self._reason, self._beat = "starting", None, time.monotonic()
        self._notes.clear()
        self._complaints = deque(maxlen=MOST_LINES)
        self._kills = kills_for_memory()
        process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-m", "pozor.lessons"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl+C in the terminal is ours to pass on
        )
        self._process = process
        assert process.stdin is not None
        assert process.stderr is not None
        with suppress(OSError):  # ended already; the exit code says why
            process.stdin.write(json.dumps({**self._settings, "token": self._token}) + "\n")
            process.stdin.flush()
        complaining = threading.Thread(target=_keep, args=(process.stderr, self._complaints), daemon=True)
        complaining.start()
        threading.Thread(target=self._listen, args=(process, complaining), daemon=True).start()
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()

    def _listen(self, process: subprocess.Popen[str], complaining: threading.Thread) -> None:
        """Read what it says until it says no more, then find out why."""
        assert process.stdout is not None
        with process.stdout as said:
            for line in said:
                with suppress(ValueError), self._lock:
                    if process is self._process:
                        self._hear(json.loads(line))
        code = process.wait()
        complaining.join(1.0)  # its last words; a program that it left behind may still hold the pipe
        with self._lock:
            if process is self._process:
                self._end(self._reason or why(code, kills_for_memory() > self._kills))

    def _hear(self, message: dict[str, Any]) -> None:
        self._beat = time.monotonic()
        if "running" in message:
            self._port, self._state = int(message["running"]), "running"
            self._changed.notify_all()
        if "interrupted" in message:
            self._notes.append(Reason("interrupted", (("lesson", str(message["interrupted"])),)))
        if "failed" in message:
            self._reason = Reason("failed", own=str(message["failed"]))
        if "memory" in message:
            self._reason = Reason("memory")

    def _watch(self, process: subprocess.Popen[str]) -> None:
        """Give it up when it is silent for long: a loop that holds the interpreter, a stopped process."""
        while process.poll() is None:
            time.sleep(min(1.0, self._silence / 4))
            with self._lock:
                if process is not self._process:
                    return
                if self._state == "running" and time.monotonic() - self._beat > self._silence:
                    self._end(Reason("hung", (("seconds", f"{self._silence:.0f}"),)))
                    return

    def _end(self, reason: Reason) -> None:
        self._kill()
        self._state, self._reason = "ended", reason
        self._changed.notify_all()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":  # its whole group: a reader's program that it started goes with it
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        if process.poll() is None:
            threading.Thread(target=process.wait, daemon=True).start()  # so that no zombie stays


def _keep(said: IO[str], lines: deque[str]) -> None:
    """Read a stream to its end and keep its last lines; what is read by nobody would stop who writes."""
    with said, suppress(ValueError):
        while line := said.readline(LONGEST_LINE):
            if line.strip():
                lines.append(line.rstrip())
