"""Coroutines in tests. The main thread may hold the loop of Playwright, so they run in one of their own."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from anyio.from_thread import start_blocking_portal

T = TypeVar("T")


def in_a_loop(asked: Callable[[], Awaitable[T]]) -> T:
    """What `asked` answers in a new event loop."""
    with start_blocking_portal() as portal:
        return portal.call(asked)
