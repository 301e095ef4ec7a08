"""`pozor view` of one recording in a process of its own, and questions to it as a page asks them."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

PAUSE = 0.02  # seconds between two looks at the memory


@dataclass
class Server:
    """A running server.

    Attributes:
        address: With its key, and the fragment that opens the first head.
        anonymous: The most that it held besides mapped files, in bytes.
    """

    address: str
    process: subprocess.Popen[str]
    anonymous: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def client(self) -> httpx.Client:
        """A client that has exchanged the key for the cookie."""
        signed_in = httpx.get(self.address.split("#")[0]).cookies
        origin, gzip = self.address.split("/?")[0], {"accept-encoding": "gzip"}
        many = httpx.Limits(max_connections=None)
        return httpx.Client(base_url=origin, cookies=signed_in, headers=gzip, timeout=120, limits=many)

    @property
    def id(self) -> str:
        """Under which it knows the recording."""
        return re.search(r"#/map/([^?]+)", self.address)[1]  # type: ignore[index]

    @property
    def resident(self) -> int:
        """The most that it held, mapped files included, in bytes."""
        return self._status("VmHWM")

    def watch_memory(self) -> None:
        """Keep `anonymous` up until stopped."""
        while not self.stopped.wait(PAUSE):
            self.anonymous = max(self.anonymous, self._status("RssAnon"))

    def _status(self, name: str) -> int:
        try:
            said = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:  # it has ended
            return 0
        found = re.search(rf"{name}:\s+(\d+) kB", said)
        return int(found[1]) * 1024 if found else 0


@contextmanager
def serving(recording: Path) -> Iterator[Server]:
    """`pozor view` of a recording; its address is read from what it prints."""
    command = [sys.executable, "-m", "pozor", "view", recording.name]
    command += ["--no-open", "--port", "0", "--lang", "en"]
    process = subprocess.Popen(command, cwd=recording.parent, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"http://\S+token=\S+", line):
                server = Server(found.group(0), process)
                threading.Thread(target=server.watch_memory, daemon=True).start()
                yield server
                server.stopped.set()
                return
        raise SystemExit("pozor view printed no address.")
    finally:
        process.terminate()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


class Asking:
    """Questions about one head of the recording."""

    def __init__(self, server: Server, client: httpx.Client, layer: int = 0, head: int = 0) -> None:
        self.path = f"/api/recordings/{server.id}"
        self.client, self.map = client, {"layer": str(layer), "head": str(head)}

    def document(self, ask: str, **given: Any) -> dict[str, Any]:
        """A JSON document of the map."""
        return self.asked(ask, self.map | given).json()

    def tile(self, zoom: int, row: int, column: int, **more: Any) -> httpx.Response:
        """The payload of a tile; `is_preview` tells whether it is final."""
        return self.asked("tile", self.map | {"zoom": zoom, "row": row, "column": column} | more)

    def asked(self, ask: str, given: dict[str, Any]) -> httpx.Response:
        """The answer; an error ends the run with its sentence."""
        answer = self.client.get(f"{self.path}/{ask}", params=given)
        if answer.is_error:
            raise SystemExit(f"{ask} {given}: {answer.status_code} {answer.text}")
        return answer


def is_preview(answer: httpx.Response) -> bool:
    """Whether a payload was made before its base map."""
    return answer.headers.get("x-pozor-preview") == "1"
