"""One head of a real model in pozor, BertViz, Inspectus and CircuitsVis: page, first picture, memory.

    python benchmarks/viewers.py RECORDING.pozor --peers PYTHON --scripts node_modules [--write]
        [--viewers bertviz,app] [--tokens 128,512] [--layer 4] [--head 2]

Every viewer gets the same head of the first tokens: the peers its matrix (float32), pozor its q and k.
PYTHON has bertviz, inspectus and circuitsvis; node_modules has d3 5.7.0, jquery 2.1.0 and requirejs 2.3.6
from npm, which BertViz's page is given where it asks cdnjs. A picture counts when a screenshot shows it.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import playwright.sync_api as playwright
import pozor_pages
from first_picture import SIZE, Memory, TooMuch, chromium, first_picture, watch
from served import serving

import pozor
from pozor.bench.measurement import circumstances
from pozor.recording.tokens import plain

RESULTS = Path(__file__).parent / "viewers.jsonl"
PAGES = Path(__file__).parent / "peer_pages.py"
LIMIT = 2e9  # bytes, of the making and of the browser each
LENGTHS = (128, 512, 2048, 8192)
# when a viewer has drawn: every cell has its node, or the canvas is there and a screenshot shows it filled
DRAWN = {
    "bertviz": "document.getElementsByTagName('line').length >= {cells}",
    "inspectus": "document.getElementsByTagName('rect').length >= {cells}",
    "circuitsvis": "document.querySelector('canvas')?.width > 300",
    "app": pozor_pages.DRAWN,
    "file": pozor_pages.DRAWN,
}
SCRIPTS = {  # what BertViz asks cdnjs for, and where npm's packages have it; jquery 2.0.0 was never on npm
    "require.js/2.3.6/require.min.js": "requirejs/require.js",
    "d3/5.7.0/d3.min.js": "d3/dist/d3.min.js",
    "jquery/2.0.0/jquery.min.js": "jquery/dist/jquery.min.js",
}


class Head:
    """The first tokens of one recorded head, in the forms that the viewers take."""

    def __init__(self, recording: Path, layer: int, head: int, tokens: int, folder: Path) -> None:
        opened = pozor.open(recording)
        arrays = opened.arrays(layer)
        entry = next(one for one in opened.layers if one.layer == layer)
        at = entry.heads.index(head)
        group = arrays["q"].shape[0] // arrays["k"].shape[0]
        own = [arrays["q"][at], arrays["k"][at // group], arrays["v"][at // group]]
        self.q, self.k, self.v = (
            np.array(array[None, :tokens]) for array in own
        )  # causal: the first see no more
        self.labels = opened.items[0].tokens[:tokens]
        self.tokens, self.folder = tokens, folder

    def matrix(self) -> tuple[Path, Path]:
        """Its probabilities and its tokens, as files."""
        places = self.folder / "probs.npy", self.folder / "tokens.json"
        if not places[0].exists():
            held = pozor.AttentionMap(self.q, self.k, causal=True)
            probs = np.lib.format.open_memmap(places[0], "w+", np.float32, (self.tokens, self.tokens))
            for start in range(0, self.tokens, 1024):
                rows = slice(start, min(start + 1024, self.tokens))
                probs[rows] = held.block(rows, slice(0, self.tokens))
            places[1].write_text(json.dumps(self.labels), encoding="utf-8")
        return places

    def recording(self) -> Path:
        """Its q and k as a recording of its own, whose base is not made yet."""
        labels = plain(self.tokens, labels=self.labels)
        place = self.folder / "head.pozor"
        pozor.Recording.from_arrays(place, self.q, self.k, self.v, causal=True, tokens=labels, overwrite=True)
        return place


def measure(viewer: str, head: Head, given: argparse.Namespace) -> dict[str, Any]:
    """The line of one viewer at one length, or why it has no picture."""
    line: dict[str, Any] = {"name": "viewers", "viewer": viewer, "tokens": head.tokens}
    try:
        if viewer == "app":
            return line | measure_app(head, given)
        page = head.folder / f"{viewer}.html"
        line |= make_page(viewer, head, page, given)
        line["page_bytes"] = page.stat().st_size
        times, peak = [], 0
        while len(times) < given.repeats and (not times or times[0] < 8):
            seconds, held, _ = show(viewer, page.as_uri(), head.tokens, given)
            times.append(seconds)
            peak = max(peak, held)
        line |= {"first_picture_s": statistics.median(times), "repeats": times, "browser_peak_bytes": peak}
    except TooMuch as error:
        line["failed"] = str(error)
    return line


def make_page(viewer: str, head: Head, page: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Write the page in a process of its own, as large as it may become."""
    if viewer == "file":
        command = [sys.executable, str(PAGES), "pozor", str(head.recording()), "", str(page)]
    else:
        command = [given.peers, str(PAGES), viewer, *map(str, head.matrix()), str(page)]
    with Memory("python", LIMIT) as memory:
        ran = subprocess.run(command, capture_output=True, text=True)
    if memory.passed:
        raise TooMuch(f"making the page passed 2 GB ({memory.peak / 1e9:.1f} GB when it was ended)")
    if ran.returncode:
        raise TooMuch(f"making the page failed: {ran.stderr.strip().splitlines()[-1]}")
    told = json.loads(ran.stdout.strip().splitlines()[-1])
    return {"version": told["version"], "made_s": told["seconds"], "python_peak_bytes": told["peak_bytes"]}


def measure_app(head: Head, given: argparse.Namespace) -> dict[str, Any]:
    """The app in a fresh server; what it sends until the picture is there stands for the page."""
    times, sent, peak, held_by_server = [], 0, 0, 0
    for _ in range(given.repeats):
        with serving(head.recording()) as server:
            seconds, held, sent = show("app", server.address, head.tokens, given)
            held_by_server = max(held_by_server, server.resident)
        times.append(seconds)
        peak = max(peak, held)
    return {
        "version": pozor.__version__,
        "page_bytes": sent,
        "python_peak_bytes": held_by_server,
        "first_picture_s": statistics.median(times),
        "repeats": times,
        "browser_peak_bytes": peak,
    }


def show(viewer: str, address: str, tokens: int, given: argparse.Namespace) -> tuple[float, int, int]:
    """Seconds to the first picture, the browser's peak memory, bytes received from a server."""
    asked: list[str] = []
    with chromium() as browser, Memory("chrom", LIMIT) as memory:
        page = browser.new_page(viewport=SIZE)
        received = count_received(page)
        if viewer not in {"app", "file"}:
            page.route(re.compile("^https?:"), lambda route: answer(route, asked, given.scripts))
        watch(page, DRAWN[viewer].replace("{cells}", str(tokens * tokens)))
        try:
            within = pozor_pages.MAP if viewer in {"app", "file"} else "body"
            seconds = first_picture(page, address, patience=given.patience, within=within)
        except (playwright.Error, TimeoutError) as error:
            if memory.passed:
                raise TooMuch(
                    f"the browser passed 2 GB ({memory.peak / 1e9:.1f} GB when it was ended)"
                ) from None
            if "crash" in str(error).lower() or "closed" in str(error).lower():
                raise TooMuch(
                    f"the page crashed (the browser then held {memory.peak / 1e9:.1f} GB)"
                ) from None
            held = f"the browser then held {memory.peak / 1e9:.1f} GB"
            raise TooMuch(f"no picture after {given.patience:.0f} s ({held})") from None
    assert not [url for url in asked if not any(url.endswith(end) for end in SCRIPTS)], asked
    return seconds, memory.peak, received[0]


def answer(route: playwright.Route, asked: list[str], scripts: Path) -> None:
    """The scripts that BertViz loads from cdnjs, from npm's packages; nothing else reaches anything."""
    asked.append(route.request.url)
    for end, place in SCRIPTS.items():
        if route.request.url.endswith(end):
            return route.fulfill(path=scripts / place, content_type="text/javascript")
    return route.abort()


def count_received(page: playwright.Page) -> list[int]:
    """A list of one number that grows by what arrives over the network, headers and all."""
    total = [0]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def add(event: dict[str, Any]) -> None:
        total[0] += int(event["encodedDataLength"])

    session.on("Network.loadingFinished", add)
    return total


def main() -> None:
    """Measure what is asked for."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("recording", type=Path)
    asked.add_argument("--peers", default=sys.executable, help="a Python that has the other viewers")
    asked.add_argument("--scripts", type=Path, default=Path("node_modules"))
    asked.add_argument("--viewers", default=",".join(DRAWN))
    asked.add_argument("--tokens", default=",".join(map(str, LENGTHS)))
    asked.add_argument("--layer", type=int, default=4)
    asked.add_argument("--head", type=int, default=2)
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--patience", type=float, default=300.0, help="seconds to wait for a picture")
    asked.add_argument("--write", action="store_true", help=f"append the lines to {RESULTS.name}")
    given = asked.parse_args()
    os.environ["PYTHONUTF8"] = "1"
    around = circumstances()
    for tokens in map(int, given.tokens.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            head = Head(given.recording, given.layer, given.head, tokens, Path(folder))
            for viewer in given.viewers.split(","):
                found = measure(viewer, head, given)
                line = json.dumps({**found, "layer": given.layer, "head": given.head, **around})
                print(line, flush=True)
                if given.write:
                    with RESULTS.open("a", encoding="utf-8") as file:
                        file.write(line + "\n")


if __name__ == "__main__":
    main()
