"""A reader's program in a process of its own: limited in time, memory and output, and it can be stopped."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

from pozor.lessons import program

SECONDS = 10.0
MEMORY = 3 << 30  # bytes of address space
LONGEST_OUTPUT = 100_000  # bytes
# what a program needs of its surroundings; a code that unlocks solutions is not among it
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE")


@dataclass
class Outcome:
    """What came of a program. `end`: "done", "time", "stopped", "output", or "died" (memory, a crash)."""

    end: str
    printed: str
    value: str | None = None
    error: str | None = None
    images: list[str] = field(default_factory=list)


class Run:
    """One running program."""

    def __init__(self, source: str, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pozor-", ignore_cleanup_errors=True)
        self._result = Path(self._folder.name) / "result.json"
        self._end: str | None = None
        self._lock = threading.Lock()
        self._seconds = seconds
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-u", program.__file__, str(self._result), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self._folder.name,
            env={**environment, **threads, "MPLBACKEND": "agg"},
            start_new_session=True,
        )
        self._source = source

    def stop(self, end: str = "stopped") -> None:
        """End it now, with whatever it started."""
        with self._lock:
            if self._process.poll() is not None:
                return
            self._end = self._end or end
            if os.name == "posix":
                os.killpg(self._process.pid, 9)
            else:
                self._process.kill()

    def wait(self) -> Outcome:
        """Wait for its end, at most as long as its time, and say what came of it."""
        timer = threading.Timer(self._seconds, self.stop, args=("time",))
        timer.daemon = True
        timer.start()
        try:
            printed = self._talk()
            self._process.wait()
        finally:
            timer.cancel()
        try:
            result = json.loads(self._result.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            result = None
        self._folder.cleanup()
        if result is None or self._end is not None:
            return Outcome(self._end or "died", printed)
        return Outcome("done", printed, result["value"], result["error"], result["images"])

    def _talk(self) -> str:
        """Give it its source and take what it prints."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(self._source.encode("utf-8", "replace"))
            self._process.stdin.close()
        except OSError:  # it ended before it read all
            pass
        printed = b""
        while part := self._process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
            printed += part
            if len(printed) > LONGEST_OUTPUT:
                self.stop("output")
                printed = printed[:LONGEST_OUTPUT]
                break
        self._process.stdout.close()
        return printed.decode("utf-8", "replace")
