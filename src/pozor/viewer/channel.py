"""A widget's channel: numbered questions in, numbered answers out, each message small. Knows no widget."""

import asyncio
import json
import logging
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pozor.errors import OptionError, PozorError
from pozor.viewer.desk import PAYLOADS, Desk
from pozor.viewer.library import Changed, NotThere, sentence
from pozor.viewer.workers import WORKERS

PART = 512 << 10  # bytes of one message's buffer; hosts send it as base64 at worst: 683 KiB of a million
A_WHILE = 0.15  # seconds, until one asks again for what is being made behind
SMALL = 16 << 10  # bytes that are not worth packing
MOST = 256  # questions that wait at once

Send = Callable[[dict[str, Any], list[bytes]], None]
Work = Callable[[], list[tuple[dict[str, Any], list[bytes]]]]


class Channel:
    """Answers what comes over one widget's channel; questions are computed in threads of their own.

    `receive` runs on the thread of the kernel's event loop, and so does `send`: what a thread has computed is
    handed back to the loop. Without a loop a question is answered before `receive` returns.

    Args:
        desk: Who knows the answers.
        send: Takes a message and its buffers.
    """

    def __init__(self, desk: Desk, send: Send) -> None:
        self._desk: Desk | None = desk
        self._send = send
        self._waiting: dict[int, asyncio.Task[None]] = {}

    @property
    def waiting(self) -> int:
        """How many questions have no answer yet."""
        return len(self._waiting)

    def receive(self, content: Any) -> None:
        """One message: a question, a list of them, or the numbers of those that nobody waits for any more."""
        if isinstance(content, Mapping) and isinstance(content.get("cancel"), list):
            self.cancel(*(n for n in content["cancel"] if isinstance(n, int)))
            return
        for question in content if isinstance(content, list) else [content]:
            # what else may come over a channel (another library's commands) is not for us
            if isinstance(question, Mapping) and _number(question.get("n")) and "ask" in question:
                self._begin(question["n"], question["ask"], question.get("given"))

    def cancel(self, *numbers: int) -> None:
        """Forget these questions: one that waits for a thread is never begun, another's answer not sent."""
        for number in numbers:
            task = self._waiting.pop(number, None)
            if task is not None:
                task.cancel()

    def close(self) -> None:
        """Forget them all; nothing is answered any more, and the desk is let go."""
        self._desk = None
        self.cancel(*self._waiting)

    def _begin(self, number: int, ask: Any, given: Any) -> None:
        desk = self._desk
        if desk is None:
            return
        if number in self._waiting or len(self._waiting) >= MOST:
            wrong = f"At most {MOST} questions may wait, each with a number of its own; {number} is too much."
            self._send({"n": number, "error": wrong, "status": 400}, [])
            return

        work, waits = partial(answered, desk, number, ask, given), partial(_waits, desk, ask, given)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._deliver(work())
            return
        self._waiting[number] = loop.create_task(self._answer(number, work, waits))

    async def _answer(self, number: int, work: Work, waits: Callable[[], bool]) -> None:
        while await WORKERS.run(waits):  # so that no thread waits
            await asyncio.sleep(A_WHILE)
        messages = await WORKERS.run(work)
        if self._waiting.pop(number, None) is not None:
            self._deliver(messages)

    def _deliver(self, messages: list[tuple[dict[str, Any], list[bytes]]]) -> None:
        if self._desk is not None:
            for message, buffers in messages:
                self._send(message, buffers)


def _waits(desk: Desk, ask: Any, given: Any) -> bool:
    """Whether the answer is still being made behind; a wrong question does not wait."""
    try:
        return isinstance(ask, str) and ask in PAYLOADS and desk.waits(ask, _strings(given))
    except (PozorError, OSError):
        return False


def _strings(given: Any) -> dict[str, str]:
    if not isinstance(given or {}, Mapping):
        raise OptionError("A question is {n: number, ask: name, given: {name: text}}.")
    return {str(name): str(value) for name, value in (given or {}).items()}


def answered(desk: Desk, number: int, ask: Any, given: Any) -> list[tuple[dict[str, Any], list[bytes]]]:
    """The messages that answer a question, an error included; their buffers together are the body."""
    try:
        strings = _strings(given)
        if isinstance(ask, str) and ask in PAYLOADS:
            payload = desk.payload(ask, strings)
            return _parts(
                {"n": number, "payload": True, "preview": payload.preview}, payload.body, zlib.Z_RLE
            )
        # as ASCII bytes: a lone surrogate of a token would not pass a host's own JSON
        body = json.dumps(desk.document(str(ask), strings), allow_nan=False, separators=(",", ":")).encode(
            "ascii"
        )
        return _parts({"n": number, "document": True}, body, zlib.Z_DEFAULT_STRATEGY)
    except (PozorError, OSError) as error:
        missing = isinstance(error, NotThere | FileNotFoundError)
        status = 404 if missing else 409 if isinstance(error, Changed) else 400
        text = sentence(error)
    except Exception as error:
        logging.getLogger(__name__).exception("the map's view: %s %s", ask, given)
        status, text = (
            500,
            f"pozor failed here ({type(error).__name__}: {error!s:.200}); the kernel's log shows where.",
        )
    return [({"n": number, "error": text.encode("utf-8", "replace").decode(), "status": status}, [])]


def _parts(head: dict[str, Any], body: bytes, strategy: int) -> list[tuple[dict[str, Any], list[bytes]]]:
    packed = len(body) > SMALL
    if packed:
        packer = zlib.compressobj(1, strategy=strategy)
        small = packer.compress(body) + packer.flush()
        packed = len(small) < len(body)
        body = small if packed else body
    pieces = [body[start : start + PART] for start in range(0, len(body), PART)] or [b""]
    head |= {"packed": packed, "of": len(pieces)}
    return [({**head, "part": part}, [piece]) for part, piece in enumerate(pieces)]


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
