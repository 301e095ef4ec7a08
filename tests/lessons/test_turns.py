"""Pages that open at the same moment do so in turns; none waits for one that fails or never ends."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pozor.lessons import turns

DONE = '{"op": "completed-run", "data": {}}'


def finished(scene: Coroutine[Any, Any, Any]) -> Any:
    """Run it in a thread of its own: Playwright's loop may run in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, scene).result()


async def nothing() -> Any:
    return {"type": "websocket.connect"}


def test_who_came_first_opens_first_and_all_are_answered_at_once() -> None:
    async def scene() -> list[str]:
        seen: list[str] = []
        ready = asyncio.Event()

        def page(name: str) -> Any:
            async def app(scope: Any, receive: Any, send: Any) -> None:
                seen.append(f"{name} starts")
                await send({"type": "websocket.accept"})
                await ready.wait()
                await send({"type": "websocket.send", "text": DONE})
                await asyncio.sleep(0.05)
                seen.append(f"{name} goes on")

            return app

        def send(name: str) -> Any:
            async def sent(message: Any) -> None:
                if message["type"] == "websocket.accept":
                    seen.append(f"{name} answered")

            return sent

        one = turns.Turns(at_once=1)
        both = asyncio.gather(*(one.open(page(name), {}, nothing, send(name)) for name in "ab"))
        await asyncio.sleep(0.02)
        ready.set()
        await both
        return seen

    assert finished(scene()) == [
        "a answered",
        "a starts",
        "b answered",
        "b starts",  # while a goes on: its turn ended when its cells had run
        "a goes on",
        "b goes on",
    ]


def test_a_turn_ends_when_its_page_fails_or_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONGEST", 0.05)

    async def scene() -> bool:
        one = turns.Turns(at_once=1)

        async def sent(message: Any) -> None:
            del message

        async def fails(scope: Any, receive: Any, send: Any) -> None:
            raise RuntimeError("broken")

        async def endless(scope: Any, receive: Any, send: Any) -> None:
            await asyncio.Event().wait()

        reached = asyncio.Event()

        async def last(scope: Any, receive: Any, send: Any) -> None:
            reached.set()

        with pytest.raises(RuntimeError):
            await one.open(fails, {}, nothing, sent)
        stuck = asyncio.create_task(one.open(endless, {}, nothing, sent))
        await asyncio.sleep(0)
        await asyncio.wait_for(one.open(last, {}, nothing, sent), 2)
        stuck.cancel()
        return reached.is_set()

    assert finished(scene())
