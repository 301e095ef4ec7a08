"""The threads that compute: a few, shared by all requests; none of them keeps the process from ending.

Not `ThreadPoolExecutor` or anyio's threads: Python waits for those at its end, so that Ctrl+C would last as
long as the longest computation.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class Workers:
    """`count` daemon threads, started with the first piece of work."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = False
        self._at_work = 0

    @property
    def busy(self) -> bool:
        """Whether something is being computed right now."""
        return self._at_work > 0

    async def run(self, work: Callable[[], Result]) -> Result:
        """What `work` returns or raises. Cancelled while it waits for its turn, it is never begun."""
        with self._lock:
            if not self._started:
                self._started = True
                for number in range(self._count):
                    threading.Thread(target=self._serve, name=f"pozor {number}", daemon=True).start()
        future: Future[Result] = Future()
        self._waiting.put((future, work))
        return await asyncio.wrap_future(future)

    def _serve(self) -> None:
        while True:
            future, work = self._waiting.get()
            if future.set_running_or_notify_cancel():
                self._count_work(1)
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
                self._count_work(-1)
            del future, work  # an idle thread holds no tile

    def _count_work(self, more: int) -> None:
        with self._lock:
            self._at_work += more


# computing takes processors, not requests: more threads than that would only hold memory
WORKERS = Workers(max(2, min(8, os.cpu_count() or 2)))
