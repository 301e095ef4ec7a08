"""A fresh headless Chromium for each measurement: when its first picture is there, what memory it took."""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1280, "height": 800}
PAUSE = 0.1  # seconds between two looks at the memory

# the picture is there when the condition holds and two more frames have been drawn
WATCH = """(() => {
  const there = () => { try { return Boolean(CONDITION) } catch { return false } };
  const look = () => there()
    ? requestAnimationFrame(() => requestAnimationFrame(() => { window.pictureAt = performance.now() }))
    : requestAnimationFrame(look);
  requestAnimationFrame(look);
})()"""


class TooMuch(Exception):
    """The memory passed its limit; the processes were ended."""


@dataclass
class Memory:
    """The largest sum of what the processes hold (PSS: shared pages counted once), in bytes."""

    name: str  # part of the names of the processes: children of this one, at any depth
    limit: float = float("inf")
    peak: int = 0
    passed: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Memory":
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.is_set():
            held = processes(self.name)
            self.peak = max(self.peak, sum(pss(process) for process in held))
            if self.peak > self.limit and not self.passed:
                self.passed = True
                for process in held:
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
            self._stop.wait(PAUSE)


def processes(name: str) -> list[psutil.Process]:
    """Children of this process, at any depth, whose name holds the word."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if name in process.name():
                found.append(process)
    return found


def pss(process: psutil.Process) -> int:
    """Bytes that a process holds, pages shared with others in equal parts; 0 once it has ended."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return process.memory_full_info().pss
    return 0


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser process of its own, drawing in software."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            with suppress(Exception):  # it may have been ended for its memory
                browser.close()


def watch(page: Page, condition: str) -> None:
    """Have every page that this one opens note when the JavaScript condition holds and has been drawn."""
    page.add_init_script(WATCH.replace("CONDITION", condition))


def first_picture(page: Page, address: str, *, patience: float, within: str = "body") -> float:
    """Seconds from the start of the navigation to the first picture, which a screenshot must confirm.

    `watch` tells when. A picture that the screen does not show yet, `within` that element, is waited for.
    """
    started = time.monotonic()
    page.goto(address, wait_until="commit", timeout=patience * 1000)
    left = patience - (time.monotonic() - started)
    page.wait_for_function("() => window.pictureAt !== undefined", timeout=max(1.0, left) * 1000)
    told = page.evaluate("window.pictureAt") / 1000
    first = True
    while not is_picture(page.screenshot(timeout=60_000, clip=part_of_screen(page, within))):
        first = False
        if time.monotonic() - started > patience:
            raise TimeoutError("the page says that its picture is there; the screen does not show it")
    return told if first else time.monotonic() - started


def part_of_screen(page: Page, selector: str) -> Any:
    """Where the element stands in the window."""
    where = (
        "(e) => { const { x, y, width, height } = e.getBoundingClientRect(); return { x, y, width, height } }"
    )
    x, y, width, height = page.locator(selector).first.evaluate(where).values()
    left, top = max(0, x), max(0, y)
    right, bottom = min(SIZE["width"], x + width), min(SIZE["height"], y + height)
    return {"x": left, "y": top, "width": max(1, right - left), "height": max(1, bottom - top)}


def is_picture(png: bytes, colours: int = 8) -> bool:
    """Whether a screenshot shows more than text on one ground: coloured pixels, in several colours."""
    shown = Image.open(io.BytesIO(png)).convert("RGB")
    counted: Any = shown.getcolors(1 << 24)
    coloured = {colour: count for count, colour in counted if max(colour) - min(colour) > 24}
    return len(coloured) >= colours and sum(coloured.values()) >= 400


def slow_network(page: Page, *, megabits: float, latency_ms: float) -> None:
    """Chrome's own emulation of a line of that rate, the same up and down."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    rate = megabits * 1e6 / 8
    session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": latency_ms, "downloadThroughput": rate, "uploadThroughput": rate},
    )
