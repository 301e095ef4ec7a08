"""The page of docs about what the viewer takes, from the JSON lines: python benchmarks/viewer_report.py

Reads viewer.jsonl and viewers.jsonl beside it, the last line of each part and of each viewer at each length
counting, and docs/viewer_benchmarks-notes.md, which is written by hand; writes docs/viewer_benchmarks.md.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
VIEWERS = {
    "bertviz": "BertViz",
    "inspectus": "Inspectus",
    "circuitsvis": "CircuitsVis",
    "app": "pozor, app",
    "file": "pozor, file",
}
LIMIT = 2e9
Line = dict[str, Any]


def last(path: Path, *keys: str) -> dict[tuple[Any, ...], Line]:
    """The last line of each combination of the keys."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {tuple(line[key] for key in keys): line for line in lines}


# ---- what must hold ---------------------------------------------------------------------------------------


def bars(found: dict[tuple[Any, ...], Line]) -> list[str]:
    """One row for each bar."""
    rows = ["| | bar | measured | holds |", "|---|---|---|---|"]

    def bar(part: str, name: str, key: str, most: float, unit: str, least: bool = False) -> None:
        line = found.get((part,), {})
        value = line.get(key)
        sign = "≥" if least else "≤"
        if value is None:
            rows.append(f"| {name} | {sign} {most:g} {unit} | – | not measured |")
            return
        value = value / {"MB": 1e6, "kB": 1e3}.get(unit, 1)
        holds = value >= most if least else value <= most
        rows.append(
            f"| {name} | {sign} {most:g} {unit} | {digits(value)} {unit} | {'yes' if holds else '**no**'} |"
        )

    bar("tiles", "any tile at 131,072 tokens, zooms drawn uniformly: median", "median_ms", 60, "ms")
    bar("tiles", "the same: 95 %", "p95_ms", 200, "ms")
    bar("base", "base of one causal head of 131,072 tokens, d 64", "base_s", 12, "s")
    bar("base", "its preview", "preview_s", 2, "s")
    bar("open", "opening 8,192 tokens to the first picture", "first_picture_s", 1.5, "s")
    bar("open_slow", "the same through 20 Mbit/s with 50 ms", "first_picture_s", 2, "s")
    bar("pan", "panning in software, 1280 × 800, tiles there", "frames_per_s", 30, "frames/s", least=True)
    for kind in ("cell", "row", "column"):
        bar("which", f"which of 270 heads look here, 8,192 tokens: a {kind}", f"{kind}_s", 0.5, "s")
    bar("memory", "server memory above the mapped files, the most of all parts", "bytes", 500, "MB")
    bar("file", "single file, 8,192 tokens, d 64, float16", "float16_bytes", 5, "MB")
    bar(
        "file_tiles",
        "any tile in the single file, 16,384 tokens: the slowest",
        "worst_ms",
        300,
        "ms",
    )
    bar("widget", "widget bundle, minified", "bytes", 400, "kB")
    return rows


def digits(value: float) -> str:
    """Three that say something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def zooms(tiles: Line) -> list[str]:
    """Tiles of each zoom."""
    rows = ["| zoom | one pixel stands for | tiles | median | 95 % | slowest |", "|---|---|---|---|---|---|"]
    for zoom, at in tiles["zooms"].items():
        side = 1 << int(zoom)
        shown = " | ".join(f"{at[key]:.1f} ms" for key in ("median_ms", "p95_ms", "worst_ms"))
        rows.append(f"| {zoom} | {side} × {side} | {at['tiles']} | {shown} |")
    return rows


def more(found: dict[tuple[Any, ...], Line]) -> list[str]:
    """What else the parts tell."""
    said = []
    for part, name in (("open", "Opening"), ("open_slow", "Opening over 20 Mbit/s with 50 ms")):
        if line := found.get((part,)):
            said.append(
                f"- {name}: first picture {line['first_picture_s']:.2f} s, every tile of the screen "
                f"{line['exact_picture_s']:.2f} s; with the base map made before "
                f"{line['again_first_picture_s']:.2f} and {line['again_exact_picture_s']:.2f} s."
            )
    if line := found.get(("pan",)):
        depths = ", ".join(
            f"{at['frames_per_s']} ({at['first_time']['frames_per_s']} the first time, while tiles come)"
            for at in line["depths"]
        )
        said.append(f"- Panning, frames/s from far to so near that numbers stand in the cells: {depths}.")
    if line := found.get(("which",)):
        first = ", ".join(f"{line[f'{kind}_first_s']:.2f} s ({kind})" for kind in ("cell", "row", "column"))
        said.append(f"- Which heads look here: the very first question of each kind {first}.")
    if line := found.get(("long",)):
        said.append(
            f"- 131,072 tokens in the page, nothing made before: preview {line['first_picture_s']:.1f} s, "
            f"exact picture {line['exact_picture_s']:.0f} s."
        )
    if (line := found.get(("grid",))) and (measured := found.get(("measures",))):
        said.append(
            f"- All heads at once, 8,192 tokens, nothing made before: small pictures of one layer "
            f"{line['first_layer_s']:.2f} s, of all 270 heads {line['thumbs_s']:.0f} s; every measure of all "
            f"heads {measured['measures_s']:.0f} s."
        )
    if line := found.get(("file",)):
        said.append(
            f"- Single file, 8,192 tokens: float16 {line['float16_bytes'] / 1e6:.2f} MB, written in "
            f"{line['float16_s']:.1f} s; float32 {line['float32_bytes'] / 1e6:.2f} MB in "
            f"{line['float32_s']:.1f} s."
        )
    if line := found.get(("file_tiles",)):
        said.append(
            f"- Single file, 16,384 tokens, float32: {line['file_bytes'] / 1e6:.1f} MB, first picture "
            f"{line['first_picture_s']:.2f} s; its own engine makes a tile in {line['median_ms']:.0f} ms "
            f"(median), {line['p95_ms']:.0f} ms (95 %)."
        )
    return said


# ---- side by side -----------------------------------------------------------------------------------------


def side_by_side(found: dict[tuple[Any, ...], Line]) -> list[str]:
    """A table for each thing measured, lengths across."""
    lengths = sorted({tokens for _, tokens in found})
    rows = []
    for title, key, show in (
        ("Page", "page_bytes", size),
        ("First picture", "first_picture_s", seconds),
        ("Memory of the browser, peak", "browser_peak_bytes", size),
        ("Memory of Python, peak", "python_peak_bytes", size),
    ):
        rows += ["", f"| {title} | " + " | ".join(f"{n:,} tokens" for n in lengths) + " |"]
        rows.append("|---" * (len(lengths) + 1) + "|")
        for viewer, name in VIEWERS.items():
            cells = [cell(found, viewer, tokens, key, show) for tokens in lengths]
            rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return rows


def cell(found: dict[tuple[Any, ...], Line], viewer: str, tokens: int, key: str, show: Any) -> str:
    """What was measured; where it was not, what the two longest that were lead to expect."""
    line = found.get((viewer, tokens))
    if line is None:
        return "not measured"
    if key in line:
        return show(line[key])
    known = sorted(n for v, n in found if v == viewer and key in found[v, n])
    if len(known) < 2:
        return "–"
    (n0, a), (n1, b) = ((n, found[viewer, n][key]) for n in known[-2:])
    slope = (b - a) / (n1**2 - n0**2)  # a page that ships every cell grows with their number
    return f"({show(b + slope * (tokens**2 - n1**2))})"


def size(nbytes: float) -> str:
    """Bytes for reading."""
    if nbytes >= 1e9:
        return f"{digits(nbytes / 1e9)} GB"
    return f"{digits(nbytes / 1e6)} MB"


def seconds(value: float) -> str:
    """A time for reading."""
    return f"{value / 60:.0f} min" if value >= 300 else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def failures(found: dict[tuple[Any, ...], Line]) -> list[str]:
    """Who showed no picture, and why."""
    return [
        f"- {VIEWERS[viewer]}, {tokens:,} tokens: {line['failed']}."
        for (viewer, tokens), line in sorted(found.items(), key=lambda pair: (pair[0][1], pair[0][0]))
        if "failed" in line
    ]


# ---- the page ---------------------------------------------------------------------------------------------


HEADING = """# What the viewer takes

Made by `python benchmarks/viewer_report.py`: every number stands in a JSON line of `benchmarks/viewer.jsonl`
or `benchmarks/viewers.jsonl`. What stands under Notes is kept in viewer_benchmarks-notes.md."""

SIDE_BY_SIDE = """## Side by side

One head (layer {layer}, head {head}) of SmolLM2-135M on the first tokens of a Czech novel. The other viewers
are given its matrix in float32 and ship every cell; pozor is given its q and k. App: a server, and all that
it sends until the picture is there. File: one file that needs nothing else. A time runs from the opening of
the page to a picture that a screenshot shows; memory is that of all processes of the browser, and of the
Python that makes the page or serves it, each limited to 2 GB. In brackets: not measured but extrapolated,
with the square of the tokens, from the two longest that were."""


def page() -> str:
    """The whole page."""
    own, peers = last(HERE / "viewer.jsonl", "part"), last(HERE / "viewers.jsonl", "viewer", "tokens")
    held = [line["server_anonymous_bytes"] for line in own.values() if "server_anonymous_bytes" in line]
    if held:
        own[("memory",)] = {"bytes": max(held)}
    tiles, one = own.get(("tiles",)), next(iter(peers.values()))
    parts = [
        HEADING,
        circumstances(peers),
        "## Notes\n\n" + (DOCS / "viewer_benchmarks-notes.md").read_text(encoding="utf-8").strip(),
        "## What must hold\n\n" + "\n".join(bars(own)),
        "\n".join(more(own)),
        "## Tiles at 131,072 tokens, by zoom\n\n" + "\n".join(zooms(tiles)) if tiles else "",
        SIDE_BY_SIDE.format(**one),
        "\n".join(side_by_side(peers)),
        "No picture:\n\n" + "\n".join(failures(peers)),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def circumstances(peers: dict[tuple[Any, ...], Line]) -> str:
    """Machine and versions."""
    machine = next(iter(peers.values()))["machine"]
    known = {
        VIEWERS[viewer].split(",")[0]: line["version"]
        for (viewer, _), line in peers.items()
        if "version" in line
    }
    named = ", ".join(f"{name} {version}" for name, version in known.items())
    return (
        f"- Machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}; the browser is "
        "Debian's Chromium, headless, drawing in software at 1280 × 800\n"
        f"- Versions: {named}; Python {machine['python']}"
    )


if __name__ == "__main__":
    (DOCS / "viewer_benchmarks.md").write_text(page(), encoding="utf-8")
