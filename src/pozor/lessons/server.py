"""The process that the lessons run in: settings on stdin, its state on stdout, one JSON object a line.

It ends when its stdin does, so that it never outlives who started it, however that ended.
"""

import asyncio
import atexit
import json
import os
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from pozor.errors import PozorError
from pozor.lessons.settings import HOST, PREFERRED_PORT, Settings

BEAT = 1.0  # seconds between two signs of life
# marimo reads and writes its user's configuration, keys of AI services included: lessons have their own
CONFIGURATION = """
[display]
theme = "system"
[package_management]
manager = "pip"
[experimental]
isolate_apps = false
[runtime]
auto_instantiate = true
[ai]
enabled = false
"""


def main() -> None:
    """Serve the lessons until stdin ends."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever a notebook prints is no message of ours
    settings = Settings.from_json(sys.stdin.readline())
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        _limit(settings.memory)
        _prepare(settings)
        serve(settings, told)
    except PozorError as error:
        tell(told, failed=str(error))
        os._exit(2)
    os._exit(0)


def serve(settings: Settings, told: TextIO) -> None:
    """Listen, say where, and serve.

    Raises:
        OptionError: The port is taken or not allowed.
    """
    import uvicorn

    from pozor.lessons.site import Site
    from pozor.lessons.watch import watch
    from pozor.viewer.guard import Guard
    from pozor.viewer.serve import Server

    listener = _listen(settings)
    port = listener.getsockname()[1]
    site = Site(settings)
    guard = Guard(site.app, settings.token, port, hosts=own_hosts(settings.host), policy=site.policy)
    config = uvicorn.Config(
        guard,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=1 << 20,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=60,
    )
    tasks: list[asyncio.Task[Any]] = []

    def listening() -> None:
        tell(told, running=port)
        tasks.append(asyncio.get_running_loop().create_task(watch(site, settings.patience, told, BEAT)))

    with listener, suppress(KeyboardInterrupt):
        Server(config, listening).run(sockets=[listener])


def tell(told: TextIO, **message: Any) -> None:
    """Say something to who started this process; gone, it gets nothing."""
    with suppress(OSError, ValueError):
        print(json.dumps(message), file=told, flush=True)


def own_hosts(host: str) -> frozenset[str]:
    """The names under which a server that listens on `host` is asked for, besides the loopback's."""
    import socket

    if host not in {"0.0.0.0", "::"}:
        return frozenset({host.lower()}) - {HOST}
    names = {socket.gethostname().lower(), address_outward()}
    with suppress(OSError):
        names |= {
            str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        }
    return frozenset(names)


def address_outward() -> str:
    """The address of this machine that the others in its network see; nothing is sent to find it."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        asking.connect(("192.0.2.1", 9))  # an address that is nobody's; connecting sends no packet
        return str(asking.getsockname()[0])
    return HOST


def _listen(settings: Settings) -> Any:
    from pozor.viewer.serve import listen

    return listen(settings.port, settings.host, PREFERRED_PORT)


def _prepare(settings: Settings) -> None:
    home = tempfile.mkdtemp(prefix="pozor-lessons-")
    atexit.register(_remove, home)
    surroundings(Path(home), settings)


def surroundings(home: Path, settings: Settings) -> None:
    """What marimo and the notebooks find in their environment; `home` is an empty folder."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(home)
    (home / "marimo").mkdir()
    (home / "marimo" / "marimo.toml").write_text(CONFIGURATION, encoding="utf-8")
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # lessons compute small things for many at once
    os.environ["POZOR_LESSONS_PUBLIC"] = "1" if settings.public else "0"
    os.environ["POZOR_LESSONS_PRESENTER"] = "1" if settings.presenter else "0"
    if settings.code is not None:
        os.environ["POZOR_SOLUTION_CODE"] = settings.code
    if settings.lang is not None:
        os.environ["POZOR_LANG"] = settings.lang


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _limit(memory: int) -> None:
    """Refuse what could never be held, and be the first that the system ends where memory runs out."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("600", encoding="ascii")
    if memory:
        with suppress(ImportError):  # Windows has no such limit
            import resource

            # addresses are not memory: stacks of threads and mapped files count, though nobody holds them
            most = 2 * memory + (4 << 30)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _end_with_stdin() -> None:
    while sys.stdin.readline():
        pass
    os._exit(0)
