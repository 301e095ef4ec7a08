"""Start the app on this machine and stop it: port, token, address, browser, what the terminal says."""

import getpass
import logging
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from pozor import __version__
from pozor.errors import OptionError
from pozor.viewer.app import STATIC, App
from pozor.viewer.guard import BaseUrl, Guard
from pozor.viewer.library import Library

HOST = "127.0.0.1"
PREFERRED_PORT = 8765

WORDS = {
    "en": {
        "starting": "pozor {version}: opening the worked examples and the recordings in {folder}.",
        "recording": "pozor {version}: opening {recording}, beside the worked examples and the recordings in "
        "{folder}.",
        "address": "Address (only for you, it holds the key):",
        "ssh": "You are connected over ssh. Run this on your own machine, then open the address there:",
        "browser": "A browser opens by itself; if it does not, open the address.",
        "stop": "Stop with Ctrl+C.",
        "stopped": "pozor has stopped.",
    },
    "cs": {
        "starting": "pozor {version}: otevírám spočítané příklady a záznamy ze složky {folder}.",
        "recording": "pozor {version}: otevírám záznam {recording}; vedle něj jsou spočítané příklady "
        "a záznamy ze složky {folder}.",
        "address": "Adresa (jen pro vás, je v ní přístupový klíč):",
        "ssh": "Jste připojeni přes ssh. Na svém počítači spusťte tento příkaz a adresu otevřete tam:",
        "browser": "Prohlížeč se otevře sám; pokud ne, otevřete adresu.",
        "stop": "Program ukončíte klávesami Ctrl+C.",
        "stopped": "pozor skončil.",
    },
}


@dataclass(frozen=True)
class Start:
    """What a start was asked for."""

    folder: Path
    recording: str | None = None
    port: int | None = None  # None: the preferred one, or a free one if it is taken
    open_browser: bool = True
    base: BaseUrl | None = None
    lang: str | None = None  # as asked for; None leaves it to the browser
    words: str = "en"  # the terminal's language


class Server(uvicorn.Server):
    """A server that says when it listens, and does not wait for anybody when it stops."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop at once: an answer nobody will read is not worth a second."""
        self.force_exit = True
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # that answers are cut off is no news
        for connection in self.server_state.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await super().shutdown(sockets)


def serve(start: Start) -> None:
    """Run the app until it is stopped.

    Raises:
        OptionError: The port is taken or not allowed, or the page bundle is missing.
        NotThere: The recording is not there.   RecordingError: It cannot be opened.
    """
    if not (STATIC / "index.html").is_file():
        raise OptionError(f"The page is not built yet: {STATIC / 'index.html'} is missing; run make web.")
    library = Library(start.folder)
    fragment = ""
    if start.recording is not None:
        fragment = first_map(library, start.recording)
    listener = listen(start.port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(32)
    app = App(library, start.lang, base=start.base)
    guard = Guard(app.asgi(), token, port, start.base)
    address = f"{start.base.address if start.base else f'http://{HOST}:{port}/'}?token={token}{fragment}"
    opens = start.open_browser and start.base is None and has_browser(os.environ)

    def listening() -> None:
        say(start, address, port, opens)
        if opens:  # beside the server, because some systems wait until the browser ends
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        with listener, suppress(KeyboardInterrupt):
            Server(settings(guard), listening).run(sockets=[listener])
    finally:
        app.lessons.stop()
    print(f"\n{WORDS[start.words]['stopped']}", flush=True)


def settings(guard: Guard) -> uvicorn.Config:
    """How uvicorn runs the app: silent, without sockets, trusting no header about who asks."""
    return uvicorn.Config(
        guard,
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=60,
    )


def first_map(library: Library, path: str) -> str:
    """Open a recording; the fragment of the page that shows its first head."""
    id = library.open(path)["id"]
    layers = library.current(id).recording.layers
    return f"#/map/{id}?layer={layers[0].layer}&head={layers[0].heads[0]}" if layers else ""


def listen(port: int | None, host: str = HOST, preferred: int = PREFERRED_PORT) -> socket.socket:
    """A socket that listens on `port` of `host`; 0 takes a free one, None the preferred if free.

    Raises:
        OptionError: The port is taken, or not allowed.
    """
    try:
        return _bind(host, preferred if port is None else port)
    except OSError as error:
        if port is None:
            return _bind(host, 0)
        raise OptionError(
            f"--port must be free for this user; {port} is not ({error.strerror or error}). "
            "Give another, or leave --port out."
        ) from None


def _bind(host: str, port: int) -> socket.socket:
    # TCP by name: else asyncio leaves TCP_NODELAY off, and answers wait 40 ms for an acknowledgement
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "nt":  # there, reuse would let two servers share one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined]
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except BaseException:
        listener.close()
        raise
    return listener


def has_browser(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser opened from here would be on the user's own screen."""
    if environment.get("SSH_CONNECTION") or environment.get("SSH_CLIENT"):
        return False
    if platform in {"win32", "darwin", "cygwin"}:
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def ssh_command(connection: str, port: int, user: str | None = None) -> str | None:
    """The line that makes `port` reachable from where the user sits; None if `connection` is not ssh's.

    Example:
        >>> ssh_command("10.0.0.7 50012 10.0.0.9 22", 8765, user="jan")
        'ssh -N -L 8765:127.0.0.1:8765 jan@10.0.0.9'
    """
    parts = connection.split()
    if len(parts) != 4:
        return None
    try:
        user = user or getpass.getuser()
    except (OSError, KeyError):  # an account without a name
        user = "user"
    own_port = "" if parts[3] == "22" else f"-p {parts[3]} "
    return f"ssh -N -L {port}:{HOST}:{port} {own_port}{user}@{parts[2]}"


def say(start: Start, address: str, port: int, opens: bool) -> None:
    """Tell the terminal what is happening, where, and how to stop it."""
    words = WORDS[start.words]
    lines = [
        words["starting" if start.recording is None else "recording"].format(
            version=__version__, folder=start.folder, recording=start.recording
        ),
        words["address"],
        f"  {address}",
    ]
    command = ssh_command(os.environ.get("SSH_CONNECTION", ""), port)
    if command and start.base is None:
        lines += [words["ssh"], f"  {command}"]
    if opens:
        lines.append(words["browser"])
    print("\n".join([*lines, words["stop"]]), flush=True)
