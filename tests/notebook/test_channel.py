"""Questions and answers over a widget's channel, without a widget and without a page."""

import asyncio
import json
import threading
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import pozor
from pozor.errors import OptionError
from pozor.viewer.channel import MOST, PART, Channel
from pozor.viewer.desk import MapDesk, Payload
from pozor.viewer.library import Changed, NotThere

ONE = {"layer": "0", "head": "0"}
TILE = {**ONE, "zoom": "0", "row": "0", "column": "0"}


class Said:
    """What was sent, put together again as the page does."""

    def __init__(self) -> None:
        self.messages: list[tuple[dict[str, Any], list[bytes]]] = []

    def send(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        self.messages.append((message, buffers))

    def numbers(self) -> list[int]:
        return [message["n"] for message, _ in self.messages]

    def body(self, number: int) -> bytes:
        parts = [(head, buffers) for head, buffers in self.messages if head["n"] == number]
        assert [head["part"] for head, _ in parts] == list(range(parts[0][0]["of"]))
        whole = b"".join(buffers[0] for _, buffers in parts)
        return zlib.decompress(whole) if parts[0][0]["packed"] else whole

    def document(self, number: int) -> Any:
        return json.loads(self.body(number))


def desk(count: int = 6, **options: Any) -> MapDesk:
    q, k = np.random.default_rng(0).normal(size=(2, 2, count, 4)).astype(np.float32)
    return MapDesk(pozor.AttentionMap(q, k, causal=True, **options))


class Slow(MapDesk):
    """A desk whose answers wait until they are let go."""

    def __init__(self) -> None:
        super().__init__(desk().whole)
        self.go, self.begun = threading.Event(), threading.Semaphore(0)
        self.asked: list[str] = []

    def document(self, ask: str, given: Mapping[str, str]) -> Mapping[str, Any]:
        self.asked.append(given.get("item", ""))
        self.begun.release()
        assert self.go.wait(30)
        return {"item": given.get("item")}


def test_each_question_gets_its_answer() -> None:
    said = Said()
    asked = desk()
    channel = Channel(asked, said.send)
    channel.receive([{"n": 7, "ask": "recording", "given": {}}, {"n": 8, "ask": "tile", "given": TILE}])
    assert said.document(7) == asked.document("recording", {})
    assert said.body(8) == asked.payload("tile", TILE).body
    assert said.messages[1][0]["preview"] is False
    assert channel.waiting == 0


def test_numbers_that_are_no_strings_are_taken_as_written() -> None:
    said = Said()
    Channel(desk(), said.send).receive({"n": 1, "ask": "row", "given": {"layer": 0, "head": 1, "query": 2}})
    assert said.document(1)["query"] == 2


def test_no_message_is_large() -> None:
    """131,072 keys in JSON are some 3 MB."""
    said, many = Said(), 1 << 17
    k = np.random.default_rng(1).normal(size=(many, 2)).astype(np.float32)
    q = k[:1]
    tokens = [f"{n:x}" for n in range(many)]
    asked = MapDesk(pozor.AttentionMap(q, k, q_offset=many - 1, tokens=tokens))
    channel = Channel(asked, said.send)
    channel.receive(
        [{"n": 1, "ask": "row", "given": {**ONE, "query": "0"}}, {"n": 2, "ask": "item", "given": {}}]
    )
    assert said.document(1) == asked.document("row", {**ONE, "query": "0"})
    assert said.document(2)["texts"] == tokens
    assert len(said.body(1)) > 2_000_000
    for head, buffers in said.messages:
        # as base64 in JSON, as the least able host has it
        assert len(json.dumps(head)) + 4 * len(b"".join(buffers)) / 3 < 1_000_000
        assert len(buffers[0]) <= PART
    assert len(said.messages) > 2


def test_a_lone_surrogate_passes_as_ascii() -> None:
    said = Said()
    asked = desk(3, tokens=["a", "\ud800", "é"])
    Channel(asked, said.send).receive({"n": 1, "ask": "item", "given": {}})
    assert said.document(1)["texts"] == ["a", "\ud800", "é"]
    assert said.body(1).isascii()


@pytest.mark.parametrize(
    ("ask", "given", "status", "sentence"),
    [
        ("row", {**ONE, "query": "6"}, 404, "query must be below 6 (queries of this map); got 6."),
        ("row", ONE, 400, "query is missing; give query=N."),
        ("tile", {**TILE, "zoom": "1"}, 404, "zoom must be below 1 (zooms of this map); got 1."),
        ("tile", {**TILE, "head": "9"}, 404, "head must be below 2 (heads of this map); got 9."),
        ("tracks", {**ONE, "head": "9"}, 404, "head must be below 2 (heads of this map); got 9."),
        ("close", {}, 404, "There is no question 'close'"),
        (3, {}, 404, "There is no question '3'"),
        ("row", [1], 400, "A question is {n: number, ask: name, given: {name: text}}."),
        (["tile"], TILE, 404, "There is no question"),
    ],
)
def test_a_wrong_question_gets_a_sentence(ask: Any, given: Any, status: int, sentence: str) -> None:
    said = Said()
    Channel(desk(), said.send).receive({"n": 1, "ask": ask, "given": given})
    (message, buffers) = said.messages[0]
    assert (message["n"], message["status"], buffers) == (1, status, [])
    assert message["error"].startswith(sentence)


@pytest.mark.parametrize(
    ("failure", "status", "sentence"),
    [
        (Changed("It changed; open it again."), 409, "It changed; open it again."),
        (NotThere("No."), 404, "No."),
        (OptionError("Wrong \ud800."), 400, "Wrong ?."),
        (FileNotFoundError(2, "No such file", "/gone"), 404, "/gone: No such file."),
        (PermissionError(13, "Denied", "/shut"), 400, "/shut: Denied."),
        (
            ZeroDivisionError("by zero"),
            500,
            "pozor failed here (ZeroDivisionError: by zero); the kernel's log shows where.",
        ),
    ],
)
def test_a_failure_gets_a_sentence(
    failure: Exception,
    status: int,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> Payload:
        raise failure

    monkeypatch.setattr(MapDesk, "payload", fail)
    said = Said()
    Channel(desk(), said.send).receive({"n": 1, "ask": "tile", "given": TILE})
    assert said.messages == [({"n": 1, "error": sentence, "status": status}, [])]
    assert bool(caplog.records) == (status == 500)


def test_what_is_no_question_is_let_pass() -> None:
    said = Said()
    channel = Channel(desk(), said.send)
    for content in (
        None,
        3,
        "x",
        [],
        {},
        {"n": 1},
        {"n": "1", "ask": "recording"},
        {"n": True, "ask": "recording"},
        [None],
    ):
        channel.receive(content)
    channel.receive({"cancel": ["x", 5]})
    assert said.messages == []


def test_the_loop_goes_on_while_threads_compute() -> None:
    async def main() -> None:
        said, slow, sent_from = Said(), Slow(), []

        def send(*message: Any) -> None:
            sent_from.append(threading.current_thread())
            said.send(*message)

        channel = Channel(slow, send)
        channel.receive({"n": 1, "ask": "item", "given": {"item": "5"}})
        await asyncio.to_thread(slow.begun.acquire, timeout=30)
        assert (said.messages, channel.waiting) == ([], 1)
        slow.go.set()
        while channel.waiting:
            await asyncio.sleep(0.01)
        assert said.document(1) == {"item": "5"}
        assert set(sent_from) == {threading.current_thread()}  # the loop's own, not the one that computed

    asyncio.run(main())


def test_a_dropped_question_is_neither_begun_nor_answered() -> None:
    async def main() -> None:
        said, slow = Said(), Slow()
        channel = Channel(slow, said.send)
        channel.receive([{"n": n, "ask": "item", "given": {"item": str(n)}} for n in range(40)])
        await asyncio.to_thread(slow.begun.acquire, timeout=30)
        begun = len(slow.asked)
        assert begun < 40
        channel.receive({"cancel": list(range(39))})
        await asyncio.sleep(0.05)  # the loop passes it on to what waits for a thread
        slow.go.set()
        while channel.waiting:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert said.numbers() == [39]
        assert len(slow.asked) == begun + 1

    asyncio.run(main())


def test_too_many_questions_are_refused_and_hold_no_memory() -> None:
    async def main() -> None:
        said, slow = Said(), Slow()
        channel = Channel(slow, said.send)
        channel.receive([{"n": n, "ask": "item", "given": {}} for n in range(1000)])
        assert channel.waiting == MOST
        refused = [message for message, _ in said.messages]
        assert len(refused) == 1000 - MOST
        assert refused[0]["error"].startswith(f"At most {MOST} questions may wait")
        channel.receive({"n": 3, "ask": "item", "given": {}})  # a number that waits already
        assert said.messages[-1][0]["n"] == 3
        channel.close()
        slow.go.set()

    asyncio.run(main())


def test_a_closed_channel_says_nothing_and_keeps_nothing() -> None:
    async def main() -> None:
        import gc
        import weakref

        said, slow = Said(), Slow()
        channel = Channel(slow, said.send)
        channel.receive({"n": 1, "ask": "item", "given": {}})
        await asyncio.to_thread(slow.begun.acquire, timeout=30)
        channel.close()
        channel.close()
        slow.go.set()
        await asyncio.sleep(0.2)
        channel.receive({"n": 2, "ask": "recording", "given": {}})
        assert said.messages == []
        gone = weakref.ref(slow)
        del slow
        for _ in range(50):
            gc.collect()
            if gone() is None:
                break
            await asyncio.sleep(0.05)
        assert gone() is None

    asyncio.run(main())
