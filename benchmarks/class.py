"""A class opens one lesson at once and moves its sliders: seconds until answers come, memory of the process.

    python benchmarks/class.py [--readers 40] [--lesson self_attention] [--steps 5] [--write]

Loopback alone; each reader is a socket and posts as a browser sends them. Prints one JSON line.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

from pozor.bench.measurement import circumstances
from pozor.viewer.lessons import Lessons

RESULTS = Path(__file__).parent / "class.jsonl"
PATIENCE = 120.0  # seconds for a page or an answer
SLIDER = re.compile(
    r"object-id='([^']+)'[^>]*><marimo-slider[^>]*data-start='(-?[\d.]+)'[^>]*data-stop='(-?[\d.]+)'"
)


class Reader:
    """One browser: its socket, the sliders of its page, how long each answer took."""

    def __init__(self, number: int, lessons: Lessons, lesson: str, client: httpx.AsyncClient) -> None:
        self.number, self.client = number, client
        self.path = f"/lessons/{lesson}"
        self.address = f"ws://127.0.0.1:{lessons.port}{self.path}/ws?session_id=s_reader{number}"
        self.origin = f"http://127.0.0.1:{lessons.port}"
        self.sliders: list[tuple[str, float, float]] = []
        self.opened = 0.0
        self.answers: list[float] = []

    async def read(self, steps: int, pause: float, ready: asyncio.Barrier) -> None:
        """Open the page, wait for the others, then move a slider every `pause` seconds."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        started = time.monotonic()
        await self.client.get(f"{self.path}/?lang=cs")
        socket = connect(
            self.address, origin=self.origin, additional_headers={"cookie": cookie}, max_size=None
        )
        async with socket as said:
            page = await self._until_done(said)
            self.opened = time.monotonic() - started
            self.sliders = [(id, float(a), float(b)) for id, a, b in SLIDER.findall(page)]
            assert self.sliders, "the lesson has no slider"
            await ready.wait()
            await asyncio.sleep(pause * self.number / 40)  # a class does not move as one
            for step in range(steps):
                id, low, high = self.sliders[(self.number + step) % len(self.sliders)]
                value = low + (high - low) * ((self.number * 7 + step * 3) % 10) / 10
                started = time.monotonic()
                await self.client.post(
                    f"{self.path}/api/kernel/set_ui_element_value",
                    json={"objectIds": [id], "values": [value]},
                    headers={"Marimo-Session-Id": f"s_reader{self.number}"},
                )
                await self._until_done(said)
                took = time.monotonic() - started
                self.answers.append(took)
                await asyncio.sleep(max(0.0, pause - took))

    async def _until_done(self, said: Any) -> str:
        heard = []
        async with asyncio.timeout(PATIENCE):
            while True:
                text = await said.recv()
                heard.append(text)
                if '"op":"completed-run"' in text.replace('": "', '":"'):
                    # outputs are HTML in JSON
                    return "".join(str(json.loads(one)) for one in heard).replace("\\'", "'")


async def measure(readers: int, lesson: str, steps: int, pause: float) -> dict[str, Any]:
    """Serve the lesson to so many readers; what was measured."""
    lessons = Lessons({"port": 0, "public": True, "lang": "cs"})
    lessons.start()
    try:
        base = f"http://127.0.0.1:{lessons.port}"
        limits = httpx.Limits(max_connections=readers)
        async with httpx.AsyncClient(
            base_url=base, headers={"origin": base}, timeout=PATIENCE, limits=limits
        ) as client:
            await client.get("/", params={"token": lessons.token})
            before = resident(lessons.pid)
            ready = asyncio.Barrier(readers)
            all_readers = [Reader(number, lessons, lesson, client) for number in range(readers)]
            await asyncio.gather(*(reader.read(steps, pause, ready) for reader in all_readers))
            after = resident(lessons.pid)
            assert lessons.state == "running"
    finally:
        lessons.stop()
    answers = sorted(took for reader in all_readers for took in reader.answers)
    opened = sorted(reader.opened for reader in all_readers)
    return {
        "name": "class",
        "case": {"readers": readers, "lesson": lesson, "steps": steps, "pause_s": pause},
        "opened_median_s": round(statistics.median(opened), 3),
        "opened_last_s": round(opened[-1], 3),
        "answer_median_s": round(statistics.median(answers), 3),
        "answer_95_s": round(answers[int(0.95 * (len(answers) - 1))], 3),
        "answer_worst_s": round(answers[-1], 3),
        "memory_empty_bytes": before,
        "memory_bytes": after,
        "memory_per_reader_bytes": (after - before) // readers,
        **circumstances(),
    }


def resident(pid: int | None) -> int:
    """Bytes that the process holds."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("VmRSS is not told")


def main() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--readers", type=int, default=40)
    asked.add_argument("--lesson", default="self_attention")
    asked.add_argument("--steps", type=int, default=5)
    asked.add_argument("--pause", type=float, default=4.0, help="seconds between two moves of a reader")
    asked.add_argument("--write", action="store_true", help=f"append the line to {RESULTS.name}")
    given = asked.parse_args()
    if not 1 <= given.readers <= 200:
        sys.exit("--readers must be from 1 to 200.")
    line = json.dumps(asyncio.run(measure(given.readers, given.lesson, given.steps, given.pause)))
    print(line)
    if given.write:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
