"""What the viewer takes: tiles and base at 131,072 tokens, opening, panning, which heads look here, sizes.

    python benchmarks/viewer.py FOLDER [--parts tiles,base] [--write]

FOLDER holds synthetic-131072.pozor (synthetic.py) and svejk-8192.pozor (real.py). Each part works on a
copy of them. Prints one JSON line a part; `viewer_report.py` makes the page of docs from them.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import synthetic
from first_picture import SIZE, Memory, chromium, first_picture, slow_network, watch
from pozor_pages import DRAWN, EXACT, MAP, ask_engine, count_draws, keep_engine
from served import Asking, is_preview, serving

import pozor
from pozor.bench.measurement import circumstances

RESULTS = Path(__file__).parent / "viewer.jsonl"
LONG, REAL = "synthetic-131072.pozor", "svejk-8192.pozor"
REDUCES = ("max", "mean", "share")
HEAD = {"layer": 4, "head": 2}  # of the real recording


@contextmanager
def copy(folder: Path, name: str, bases: bool = False) -> Iterator[Path]:
    """The recording in another place, by hard links, without its base maps unless asked for."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        left_out = None if bases else shutil.ignore_patterns("base")
        yield Path(shutil.copytree(folder / name, Path(place) / name, copy_function=os.link, ignore=left_out))


def base(folder: Path) -> dict[str, Any]:
    """Seconds until the base map of one causal head of 131,072 tokens, and until the first preview."""
    with copy(folder, LONG) as recording, serving(recording) as server, server.client() as client:
        ask = Asking(server, client)
        top = ask.document("map")["zooms"] - 1
        started = time.perf_counter()
        ask.document("base", value="prob")
        first = ask.tile(top, 0, 0)
        preview = time.perf_counter() - started
        wait(lambda: ask.document("base", value="prob")["ready"])
        whole = time.perf_counter() - started
        assert not is_preview(ask.tile(top, 0, 0))
        return {
            "base_s": whole,
            "preview_s": preview,
            "first_was_preview": is_preview(first),
            "server_anonymous_bytes": server.anonymous,
        }


def tiles(folder: Path, each: int = 24) -> dict[str, Any]:
    """Milliseconds of tiles that were never asked for before, at each zoom as many, in a random order."""
    rng = random.Random(0)
    with copy(folder, LONG, bases=True) as recording, serving(recording) as server, server.client() as client:
        heads = [Asking(server, client, head=head) for head in range(4)]
        zooms = heads[0].document("map")["zooms"]
        for ask in heads:
            wait(lambda ask=ask: ask.document("base", value="prob")["ready"])
        asked = [place for zoom in range(zooms) for place in places(rng, zoom, zooms, each)]
        rng.shuffle(asked)
        took: dict[int, list[float]] = {zoom: [] for zoom in range(zooms)}
        for zoom, row, column, head, reduce in asked:
            started = time.perf_counter()
            answer = heads[head].tile(zoom, row, column, reduce=reduce)
            took[zoom].append(1000 * (time.perf_counter() - started))
            assert not is_preview(answer), f"head {head}, zoom {zoom}: its base map is gone again"
            assert len(answer.content) == 5 * 65_536
        return {
            **spread([t for all_of in took.values() for t in all_of]),
            "zooms": {zoom: spread(times) for zoom, times in took.items()},
            "server_anonymous_bytes": server.anonymous,
        }


def places(rng: random.Random, zoom: int, zooms: int, each: int) -> list[tuple[int, int, int, int, str]]:
    """Tiles of a zoom that show something (none lies above the diagonal), no two alike."""
    side = 1 << (zooms - 1 - zoom)
    found: set[tuple[int, int, int, int, str]] = set()
    most = side * (side + 1) // 2 * 4 * len(REDUCES)
    while len(found) < min(each, most):
        row, column = sorted((rng.randrange(side), rng.randrange(side)), reverse=True)
        found.add((zoom, row, column, rng.randrange(4), rng.choice(REDUCES)))
    return sorted(found)


def spread(milliseconds: Sequence[float]) -> dict[str, Any]:
    """Median, 95 %, the slowest."""
    ordered = sorted(milliseconds)
    return {
        "tiles": len(ordered),
        "median_ms": round(statistics.median(ordered), 2),
        "p95_ms": round(ordered[int(0.95 * (len(ordered) - 1))], 2),
        "worst_ms": round(ordered[-1], 2),
    }


def open_(folder: Path, slow: bool = False) -> dict[str, Any]:
    """Seconds until the 8,192-token recording shows a picture, and the exact one; a fresh server and browser.

    Three times as it was recorded, and three times with the base map of the head made before.
    """
    found = []
    for made in (False, False, False, True, True, True):
        with copy(folder, REAL) as recording:
            if made:
                make_base(recording)
            found.append(opened(recording, slow))
    picture, exact = zip(*found)
    return {
        "first_picture_s": statistics.median(picture[:3]),
        "exact_picture_s": statistics.median(exact[:3]),
        "again_first_picture_s": statistics.median(picture[3:]),
        "again_exact_picture_s": statistics.median(exact[3:]),
        "repeats": [list(pair) for pair in found],
    }


def make_base(recording: Path) -> None:
    """The base of the first head, kept with the recording."""
    with serving(recording) as server, server.client() as client:
        wait(lambda: Asking(server, client).document("base", value="prob")["ready"])


def opened(recording: Path, slow: bool) -> tuple[float, float]:
    """Seconds to the first picture and to the exact one."""
    with serving(recording) as server, chromium() as browser:
        page = browser.new_page(viewport=SIZE)
        if slow:
            slow_network(page, megabits=20, latency_ms=50)
        watch(page, DRAWN)
        started = time.monotonic()
        picture = first_picture(page, server.address, patience=50, within=MAP)
        page.wait_for_selector(f"{EXACT}:not(:has([role=progressbar]))", timeout=50_000)
        return picture, max(picture, time.monotonic() - started)


def open_slow(folder: Path) -> dict[str, Any]:
    """The same over a line of 20 Mbit/s with 50 ms."""
    return open_(folder, slow=True)


def pan(folder: Path, seconds: float = 3.0) -> dict[str, Any]:
    """Frames that the map draws in a second while it is dragged to and fro, all tiles being there.

    At three depths: cells of a few pixels, of words' height, and so wide that their numbers stand in them.
    """
    with copy(folder, REAL, bases=True) as recording, serving(recording) as server, chromium() as browser:
        page = browser.new_page(viewport=SIZE)
        count_draws(page)
        watch(page, DRAWN)
        first_picture(page, server.address, patience=50, within=MAP)
        box = page.locator(MAP).bounding_box()
        assert box is not None
        side = min(box["width"], box["height"])
        x, y = box["x"] + 0.3 * side, box["y"] + 0.6 * side  # well below the diagonal
        page.mouse.move(x, y)
        depths = []
        for turns in (4, 6, 25):
            for _ in range(turns):
                page.mouse.wheel(0, -200)
                page.wait_for_timeout(150)
            first = dragged(page, x, y, seconds)
            page.wait_for_selector(EXACT, timeout=50_000)
            depths.append(dragged(page, x, y, seconds) | {"first_time": first})
        slowest = min(depths, key=lambda depth: depth["frames_per_s"])
        return {**slowest, "depths": depths}


def dragged(page: Any, x: float, y: float, seconds: float) -> dict[str, Any]:
    """Drag in a slow zigzag by real mouse input; frames in which the map was drawn."""
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("window.drawnFrames = []")
    started = time.monotonic()
    for step in itertools.count():
        if time.monotonic() - started > seconds:
            break
        at = step % 200
        page.mouse.move(x + 2 * (at if at < 100 else 200 - at) - 100, y + (at if at < 100 else 200 - at) - 50)
    frames = page.evaluate("window.drawnFrames")
    page.mouse.up()
    gaps = sorted(b - a for a, b in itertools.pairwise(frames))
    assert len(gaps) > 10, "the map was not dragged"
    return {
        "drawn": page.evaluate("document.querySelector('.host').dataset.drawn").split("|", 1)[1],
        "frames_per_s": round(1000 * len(gaps) / (frames[-1] - frames[0]), 1),
        "gap_median_ms": round(statistics.median(gaps), 1),
        "gap_p95_ms": round(gaps[int(0.95 * (len(gaps) - 1))], 1),
        "moves": step,
    }


def which(folder: Path) -> dict[str, Any]:
    """Seconds of "which heads look here?" over all 270 heads, for a cell, a row and a column."""
    rng = random.Random(0)
    with copy(folder, REAL) as recording, serving(recording) as server, server.client() as client:
        ask = Asking(server, client, **HEAD)
        found: dict[str, Any] = {}
        for kind, names in {"cell": ("query", "key"), "row": ("query",), "column": ("key",)}.items():
            times = []
            for _ in range(6):
                key = rng.randrange(4000)
                given = {"query": rng.randrange(key, 8192), "key": key}
                started = time.perf_counter()
                answer = ask.asked("which", {"item": 0} | {name: given[name] for name in names}).json()
                times.append(time.perf_counter() - started)
            found[f"{kind}_first_s"], found[f"{kind}_s"] = times[0], statistics.median(times[1:])
            found["heads"] = len(answer["heads"])
        return found | {"server_anonymous_bytes": server.anonymous}


def crowd(folder: Path, at_once: int = 1000) -> dict[str, Any]:
    """What a server holds above the mapped files while 1,000 tiles at 131,072 tokens are asked at once."""
    rng = random.Random(1)
    with copy(folder, LONG) as recording, serving(recording) as server, server.client() as client:
        heads = [Asking(server, client, head=head) for head in range(2)]
        zooms, values = heads[0].document("map")["zooms"], ("prob", "value_norm")
        for ask, value in itertools.product(heads, values):
            wait(lambda ask=ask, value=value: ask.document("base", value=value)["ready"])
        asked = [place for zoom in range(zooms) for place in places(rng, zoom, zooms, at_once)]
        asked = rng.sample(asked, at_once)

        def tile(place: tuple[int, int, int, int, str]) -> int:
            zoom, row, column, number, reduce = place
            more = {"reduce": reduce, "value": values[number // 2]}
            return len(heads[number % 2].tile(zoom, row, column, **more).content)

        with ThreadPoolExecutor(at_once) as pool:
            assert set(pool.map(tile, asked)) == {5 * 65_536}
        return {"tiles_at_once": len(asked), "server_anonymous_bytes": server.anonymous}


def grid(folder: Path) -> dict[str, Any]:
    """Seconds until small pictures of all 270 heads are there, layer by layer."""
    with copy(folder, REAL) as recording, serving(recording) as server, server.client() as client:
        ask = Asking(server, client)
        started = time.perf_counter()
        layers = []
        for layer in range(30):
            ask.asked("thumbs", {"item": 0, "layer": layer})
            layers.append(time.perf_counter() - started)
        return {
            "first_layer_s": layers[0],
            "thumbs_s": layers[-1],
            "server_anonymous_bytes": server.anonymous,
        }


def measures(folder: Path) -> dict[str, Any]:
    """Seconds until every measure of all 270 heads is known."""
    with copy(folder, REAL) as recording, serving(recording) as server, server.client() as client:
        ask = Asking(server, client)
        started = time.perf_counter()
        wait(lambda: ask.asked("heads", {"item": 0}).json()["done"] >= 1)
        return {"measures_s": time.perf_counter() - started, "server_anonymous_bytes": server.anonymous}


def wait(ready: Callable[[], bool], patience: float = 60.0) -> None:
    """Ask again and again until it is so."""
    started = time.monotonic()
    while not ready():
        if time.monotonic() - started > patience:
            raise SystemExit(f"not ready after {patience:.0f} s.")
        time.sleep(0.02)


def long(folder: Path) -> dict[str, Any]:
    """Seconds until 131,072 tokens show a preview, and the exact picture, their base not being made yet."""
    with copy(folder, LONG) as recording:
        picture, exact = opened(recording, slow=False)
    return {"first_picture_s": picture, "exact_picture_s": exact}


def file(folder: Path) -> dict[str, Any]:
    """Bytes of the single file of one head of 8,192 tokens, d 64, and seconds to write it."""
    held = pozor.open(folder / REAL)[HEAD["layer"], HEAD["head"]]
    found = {}
    for dtype in ("float16", "float32"):
        with tempfile.TemporaryDirectory() as place:
            path, started = Path(place) / "head.html", time.perf_counter()
            held.to_html(path, dtype=dtype)
            found |= {f"{dtype}_bytes": path.stat().st_size, f"{dtype}_s": time.perf_counter() - started}
    return found


def file_tiles(folder: Path, tokens: int = 16_384, each: int = 16) -> dict[str, Any]:
    """Milliseconds of the tiles that a single file's own engine makes in the browser."""
    del folder
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        synthetic.make(Path(place) / "long.pozor", tokens)
        path = pozor.open(Path(place) / "long.pozor")[0, 0].to_html(Path(place) / "long.html")
        page = browser.new_page(viewport=SIZE)
        keep_engine(page)
        watch(page, DRAWN)
        picture = first_picture(page, path.as_uri(), patience=50, within=MAP)
        zooms = pozor.open(Path(place) / "long.pozor")[0, 0].zooms
        asked = [spot for zoom in range(zooms) for spot in places(rng, zoom, zooms, each)]
        rng.shuffle(asked)
        took: dict[int, list[float]] = {zoom: [] for zoom in range(zooms)}
        for n, (zoom, row, column, _, reduce) in enumerate(asked, 1_000_000):
            given = {"layer": 0, "head": 0, "value": "prob", "reduce": reduce}
            given |= {"zoom": zoom, "row": row, "column": column}
            words = {name: str(value) for name, value in given.items()}
            milliseconds, preview, nbytes = ask_engine(page, n, "tile", words)
            assert (preview, nbytes) == (False, 5 * 65_536)
            took[zoom].append(milliseconds)
        return {
            **spread([t for all_of in took.values() for t in all_of]),
            "first_picture_s": picture,
            "file_bytes": path.stat().st_size,
            "zooms": {zoom: spread(times) for zoom, times in took.items()},
        }


def widget(folder: Path) -> dict[str, Any]:
    """Bytes of the notebook's bundle."""
    del folder
    path = Path(pozor.__file__).parent / "viewer" / "static" / "widgets" / "map.js"
    return {"bytes": path.stat().st_size}


def main() -> None:
    """Measure the parts that are asked for."""
    parts: dict[str, Callable[[Path], dict[str, Any]]] = {
        "base": base, "tiles": tiles, "open": open_, "open_slow": open_slow, "pan": pan, "which": which,
        "grid": grid, "measures": measures, "long": long, "file": file, "file_tiles": file_tiles,
        "crowd": crowd, "widget": widget,
    }  # fmt: skip
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--parts", default=",".join(parts))
    asked.add_argument("--write", action="store_true", help=f"append the lines to {RESULTS.name}")
    given = asked.parse_args()
    for part in given.parts.split(","):
        with Memory("chrom") as memory:
            found = parts[part](given.folder)
        line = json.dumps(
            {"name": "viewer", "part": part, **found, "browser_bytes": memory.peak, **circumstances()}
        )
        print(line, flush=True)
        if given.write:
            with RESULTS.open("a", encoding="utf-8") as results:
                results.write(line + "\n")


if __name__ == "__main__":
    main()
