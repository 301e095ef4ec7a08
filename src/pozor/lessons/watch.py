"""Signs of life of the lessons' process, and the end of a cell that never ends.

marimo runs the pages of all readers as threads of one process; a loop without an end would take a processor
from the others for good. Who takes too long is interrupted, as Ctrl+C does.
"""

import asyncio
import ctypes
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO


async def watch(site: Any, patience: float, told: TextIO, every: float) -> None:
    """Say every second that the process lives, and interrupt cells that run longer than `patience`."""
    from pozor.lessons.server import tell

    busy: dict[str, float] = {}
    while True:
        stuck = _stuck(site, busy, patience)
        for lesson, thread in stuck:
            interrupt(thread)
            tell(told, interrupted=lesson)
        taken = resident()
        if site.settings.memory and taken > site.settings.memory:
            tell(told, memory=taken)
            os._exit(1)
        tell(told, beat=sum(len(_sessions(app)) for app in site.notebooks.values()))
        await asyncio.sleep(every)


def _stuck(site: Any, busy: dict[str, float], patience: float) -> list[tuple[str, threading.Thread]]:
    """The pages whose cells have run too long; `busy` holds since when each is at work."""
    now, found, running = time.monotonic(), [], set()
    for lesson, app in site.notebooks.items():
        for id, session in _sessions(app).items():
            states = session.session_view.cell_notifications.values()
            if not any(state.status == "running" for state in states):
                continue
            running.add(id)
            if now - busy.setdefault(id, now) > patience:
                busy[id] = now  # and again, should it not listen
                thread = session._kernel_manager.kernel_task
                if isinstance(thread, threading.Thread):
                    found.append((lesson, thread))
    for id in set(busy) - running:
        del busy[id]
    return found


def _sessions(app: Any) -> dict[str, Any]:
    return dict(app.state.session_manager.sessions)


def resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    with suppress(OSError, ValueError):
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def interrupt(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread, at the next line of Python that it runs."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
    )
