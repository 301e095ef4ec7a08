"""The table and the picture: Markdown and SVG made of measurements alone, so that they can be made again."""

import math
from collections.abc import Sequence
from pathlib import Path

from pozor.bench import clock
from pozor.bench.bars import Judged, Run, all_bars, of, runs_of
from pozor.bench.measurement import Measurement
from pozor.errors import BackendUnavailable, OptionError

PAGE, PICTURE = "benchmarks.md", "benchmarks.svg"
_HEADINGS = {
    "prefill": "Prefill: a whole text at once",
    "decode": "Decoding: one query over a long cache",
    "window": "A window of keys",
    "growth": "A window, longer and longer",
    "observe": "Observables in the same pass",
    "small": "Small calls",
    "length": "Speed and memory against length",
    "memory": "One long text with every observable",
    "model": "SmolLM2 end to end",
}


def write(found: Sequence[Measurement], folder: Path) -> list[Path]:
    """benchmarks.md and benchmarks.svg in that folder.

    Raises:
        OptionError: Nothing was measured.   BackendUnavailable: matplotlib is not installed.
    """
    if not any(m.seconds for m in found):
        raise OptionError("a report needs measurements; got none.")
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / PAGE]
    if any(m.group == "length" and m.seconds for m in found):
        made.append(folder / PICTURE)
        picture(found, made[-1])
    made[0].write_text(page(found, len(made) > 1), encoding="utf-8")
    return made


def page(found: Sequence[Measurement], with_picture: bool) -> str:
    """The Markdown page."""
    counts = sorted({m.threads for m in found})
    most, first = counts[-1], found[0]
    versions = ", ".join(f"{name} {version}" for name, version in first.versions.items())
    runs = len({m.run for m in found})
    cpu, cores = first.machine.get("cpu", ""), first.machine.get("cores", "")
    lines = [
        "# Benchmarks",
        "",
        "Made by `pozor bench --report docs`: every number stands in a JSON line of the run. Each peer is",
        "checked against the formula in float64 first, then timed side by side in one process, in rounds;",
        "ratios are medians over the rounds. Who is not installed or has no such kernel is listed as absent.",
        "",
        f"- Machine: {cpu}, {cores} cores, {first.machine.get('system', '')}",
        f"- Versions: {versions}; Python {first.machine.get('python', '')}; commit {first.commit}",
        f"- {runs} whole run(s); {' and '.join(map(str, counts))} thread(s); tables below: {most}",
        "",
    ]
    if first.machine.get("load", 0) > 0.5:
        load = f"{first.machine['load']:.1f} of {cores} cores"
        lines += [
            f"**Other programs took {load} as this run began: its times are no measure of anything.**",
            "",
        ]
    if with_picture:
        lines += [f"![Speed and memory against length]({PICTURE})", ""]
    lines += bars_table(found, most)
    lines += _ceilings(found, counts)
    for group, heading in _HEADINGS.items():
        mine = [m for m in found if m.group == group and m.threads == most]
        if mine:
            lines += [f"## {heading}", "", *_table(mine), ""]
    lines += _threads(found, counts)
    return "\n".join(lines).rstrip() + "\n"


def bars_table(found: Sequence[Measurement], threads: int) -> list[str]:
    """What must hold, with the worst number of every run."""
    judged = [bar.judged(runs_of(found, threads)) for bar in all_bars()]
    rows = [
        [
            j.bar.title,
            f"{'≤' if j.bar.most else '≥'} {_short(j.bar.target)} {j.bar.unit}",
            _values(j),
            _verdict(j),
        ]
        for j in judged
    ]
    lines = [
        "## What must hold",
        "",
        "The number is the worst cell of a run: the median of the runs (each run).",
        "",
    ]
    return [*lines, *_markdown(["", "bar", "measured", "holds"], rows), ""]


def _values(judged: Judged) -> str:
    if not judged.runs:
        return "–"
    each = ", ".join(_short(x) for x in judged.runs)
    return _short(judged.value) + (f" ({each})" if len(judged.runs) > 1 else "")


def _verdict(judged: Judged) -> str:
    return {True: "yes", False: "**no**", None: "not measured"}[judged.met]


def _ceilings(found: Sequence[Measurement], counts: Sequence[int]) -> list[str]:
    lines = ["## Ceilings", ""]
    rows = []
    for name in dict.fromkeys(m.name for m in found if m.group == "ceiling"):
        for threads in counts:
            mine = [m for m in found if m.name == name and m.threads == threads and m.value]
            if mine:
                middle = sorted(m.value or 0 for m in mine)[len(mine) // 2]
                rows.append(
                    [
                        name.removeprefix("ceiling "),
                        str(threads),
                        f"{middle / 1e9:.0f} G{mine[0].unit}",
                        mine[0].path,
                    ]
                )
    return [*lines, *_markdown(["", "threads", "at most", "measured by"], rows), ""] if rows else []


def _table(mine: Sequence[Measurement]) -> list[str]:
    """Case by peer: median ms (or tokens/s), and how many times faster pozor is."""
    peers = list(dict.fromkeys(m.peer for m in mine if m.seconds))
    rows, absent = [], {}
    for m in mine:
        if not m.seconds:
            absent.setdefault((m.peer, m.absent), []).append(m.name)
    for name in dict.fromkeys(m.name for m in mine):
        cells = [
            _cell([m for m in mine if m.name == name and m.peer == peer and m.seconds]) for peer in peers
        ]
        if any(cells):
            rows.append([name.split(" ", 1)[-1], *(cell or "–" for cell in cells), _fastest(mine, name)])
    unit = "tokens/s" if any(m.unit for m in mine) else "ms"
    lines = _markdown([unit, *peers, "pozor faster than"], rows) if rows else []
    said = [f"- absent: {peer}: {why} ({len(set(names))} case(s))" for (peer, why), names in absent.items()]
    return lines + (["", *said] if said else [])


def _cell(found: Sequence[Measurement]) -> str:
    """The median over the runs."""
    if not found:
        return ""
    if found[0].unit:
        return f"{sorted(m.value or 0 for m in found)[len(found) // 2]:.1f} ({found[0].path})"
    return _short(sorted(m.median or 0 for m in found)[len(found) // 2] * 1e3)


def _fastest(mine: Sequence[Measurement], name: str) -> str:
    """Ratios of one case to every peer that is not pozor itself."""
    run: Run = [m for m in mine if m.name == name]
    ours = [m for m in run if m.peer.startswith(("pozor", "SmolLM2, attention pozor")) and m.seconds]
    if not ours:
        return ""
    said = []
    for peer in dict.fromkeys(m.peer for m in run if m.seconds and "pozor" not in m.peer):
        pairs = [
            clock.ratio(of([t], peer)[name].seconds, o.seconds)
            for o in ours
            if o.peer == ours[0].peer
            for t in run
            if t.peer == peer and t.run == o.run and t.seconds
        ]
        if pairs:
            said.append(f"{peer} {_short(sorted(pairs)[len(pairs) // 2])} ×")
    return ", ".join(said)


def _threads(found: Sequence[Measurement], counts: Sequence[int]) -> list[str]:
    if len(counts) < 2:
        return []
    rows = []
    for name in dict.fromkeys(m.name for m in found if m.group == "prefill" and m.seconds):
        for peer in dict.fromkeys(m.peer for m in found if m.name == name and m.seconds):
            times = [
                [m.median for m in found if (m.name, m.peer, m.threads) == (name, peer, n) and m.median]
                for n in counts
            ]
            if all(times):
                middle = [sorted(t)[len(t) // 2] for t in times]
                rows.append(
                    [name, peer, *(_short(t * 1e3) for t in middle), f"{middle[0] / middle[-1]:.2f} ×"]
                )
    heads = [f"{n} thread(s), ms" for n in counts]
    return ["## Threads", "", *_markdown(["", "peer", *heads, "gain"], rows), ""] if rows else []


def picture(found: Sequence[Measurement], path: Path) -> None:
    """Speed against length and memory against length, side by side."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise BackendUnavailable(
            "the picture needs matplotlib, which is not installed; run: pip install 'pozor[figures]'"
        ) from None
    most = max(m.threads for m in found)
    mine = [m for m in found if m.group == "length" and m.threads == most and m.seconds]
    with rc_context({"svg.hashsalt": "pozor", "font.size": 10}):  # the same picture from the same numbers
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        speed, memory = figure.subplots(1, 2)
        for peer in dict.fromkeys(m.peer for m in mine):
            points = sorted((m.case["kv_len"], m) for m in mine if m.peer == peer and m.run == 0)
            style = {"marker": "o", "linewidth": 2.5 if peer == "pozor" else 1.2, "label": peer}
            speed.plot([t for t, _ in points], [_gflops(m) for _, m in points], **style)
            held = [(t, m.peak_bytes / 2**20) for t, m in points if m.peak_bytes]
            memory.plot([t for t, _ in held], [x for _, x in held], **style)
        speed.set(title=f"Speed, float32, causal, {most} thread(s)", ylabel="GFLOP/s (visible cells)")
        memory.set(title="Memory beyond the inputs", ylabel="MiB", yscale="log")
        for axes in (speed, memory):
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens:g}")
            axes.set_xlabel("tokens")
            axes.grid(alpha=0.3)
        figure.legend(*speed.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _gflops(m: Measurement) -> float:
    from pozor.bench.cases import Case

    return Case(**{**m.case, "window": None}).flop / (m.median or math.inf) / 1e9


def _short(number: float) -> str:
    """Three digits."""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
