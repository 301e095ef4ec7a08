"""Pages of a class that open at the same moment, in turns: who came first reads first.

All at once they would share one interpreter, and everybody would wait for the last.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

AT_ONCE = 2
LONGEST = 8.0  # seconds of a turn: a page that opens slowly does not hold up the others
OPENED = ("completed-run", "reconnected")  # what marimo says once a page's cells have run, or were run before


class Turns:
    """Lets so many pages open at a time."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = asyncio.Semaphore(at_once)

    async def open(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page's socket; its turn ends when its cells have run."""
        # answered before its turn comes, so that no browser gives up waiting; marimo answers once more
        await send({"type": "websocket.accept"})
        await self._free.acquire()
        give_up = self._once()
        late = asyncio.get_running_loop().call_later(LONGEST, give_up)

        async def watched(message: Message) -> None:
            if message["type"] == "websocket.accept":
                return
            await send(message)
            start = (message.get("text") or "")[:40].replace(" ", "")
            if any(f'"op":"{word}"' in start for word in OPENED):
                give_up()

        try:
            await app(scope, receive, watched)
        finally:
            late.cancel()
            give_up()

    def _once(self) -> Callable[[], None]:
        held = True

        def give_up() -> None:
            nonlocal held
            if held:
                held = False
                self._free.release()

        return give_up
