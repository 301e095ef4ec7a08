"""How long the page of `to_html` takes for its tiles, in Chromium from disk: one JSON line a zoom and engine.

    python benchmarks/single_file.py [TOKENS …]

A causal head of d 64 (seeded noise), float16. Each zoom below the base: the tile on the diagonal, half of it
hidden, and the one below it, where nothing is; from the base on: the last zoom. Asked of the page's own
worker, five times each, one after the other; then twice with WASM barred.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

import pozor

TIMES = """async ([place, times]) => {
  const key = { item: 0, layer: 0, kind: "self", head: 0, variant: "recorded", derived: "" };
  const found = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await pozor.tile(key, "prob", "max", place);
    found.push(performance.now() - start);
  }
  return found;
}"""
BASE = """async () => {
  const key = { item: 0, layer: 0, kind: "self", head: 0, variant: "unmasked", derived: "" };
  const start = performance.now();
  await pozor.tracks(key);
  return performance.now() - start;
}"""


def main(lengths: list[int]) -> None:
    """Each length, each engine."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(args=["--no-sandbox"], executable_path="/usr/bin/chromium")
        for length in lengths:
            path = Path(folder) / f"{length}.html"
            rng = np.random.default_rng(0)
            q, k = rng.standard_normal((2, 1, length, 64)).astype(np.float32)
            start = time.perf_counter()
            pozor.AttentionMap(q, k, causal=True).to_html(path, dtype="float16")
            print(
                json.dumps(
                    {
                        "tokens": length,
                        "bytes": path.stat().st_size,
                        "written_s": round(time.perf_counter() - start, 2),
                    }
                )
            )
            for engine in ("wasm", "js"):
                if engine == "js":
                    path.write_text(
                        path.read_text(encoding="utf-8").replace(" 'wasm-unsafe-eval'", ""), encoding="utf-8"
                    )
                page = browser.new_page()
                start = time.perf_counter()
                page.goto(path.as_uri())
                page.wait_for_selector("[data-drawn*='|fine|']")
                opened = time.perf_counter() - start
                assert page.locator(f"[data-engine='{engine} worker']").count() == 1
                print(
                    json.dumps({"tokens": length, "engine": engine, "first_picture_s": round(opened, 2)}),
                    flush=True,
                )
                _tiles(page, length, engine)
                page.close()
        browser.close()


def _tiles(page: Page, length: int, engine: str) -> None:
    base = max(4, int(np.ceil(np.log2(length / 1024))))
    times = 5 if engine == "wasm" else 2
    for zoom in range(base):
        for row in (0, 1):
            if (256 << zoom) * row >= length:
                continue
            place = {"zoom": zoom, "row": row, "column": 0}
            print(
                json.dumps({"tokens": length, "engine": engine, **place, **_ms(page, place, times)}),
                flush=True,
            )
    zooms = int(np.ceil(np.log2(length / 256)))
    place = {"zoom": zooms, "row": 0, "column": 0}
    print(json.dumps({"tokens": length, "engine": engine, **place, **_ms(page, place, times)}), flush=True)
    if engine == "wasm" and length <= 16_384:
        print(
            json.dumps({"tokens": length, "unmasked_base_and_tracks_s": round(page.evaluate(BASE) / 1e3, 2)})
        )


def _ms(page: Page, place: dict[str, int], times: int) -> dict[str, float]:
    found = page.evaluate(TIMES, [place, times])
    return {"median_ms": round(float(np.median(found)), 1), "most_ms": round(max(found), 1)}


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [8192, 16_384])
