"""The table and the picture: Markdown and SVG made of measurements alone, so that they can be made again."""

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from pozor.bench import clock, words
from pozor.bench.bars import Judged, Run, all_bars, runs_of
from pozor.bench.measurement import Measurement
from pozor.errors import BackendUnavailable, OptionError

PAGE, PICTURE, NOTES = "benchmarks.md", "benchmarks.svg", "benchmarks-notes.md"
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
    """benchmarks.md and benchmarks.svg in that folder; a benchmarks-notes.md there goes into the page.

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
    kept = folder / NOTES
    notes = kept.read_text(encoding="utf-8").strip() if kept.is_file() else ""
    made[0].write_text(page(found, len(made) > 1, notes), encoding="utf-8")
    return made


def page(found: Sequence[Measurement], with_picture: bool, notes: str = "") -> str:
    """The Markdown page; notes are written by hand and stand before the tables."""
    counts = sorted({m.threads for m in found})
    most, first = counts[-1], found[0]
    versions = ", ".join(f"{name} {version}" for name, version in _versions(found).items())
    commits = ", ".join(dict.fromkeys(m.commit for m in found))
    cpu, cores = first.machine.get("cpu", ""), first.machine.get("cores", "")
    lines = [
        "# Benchmarks",
        "",
        "Made by `pozor bench --report docs`: every number stands in a JSON line of the run. Each peer is",
        "checked against the formula in float64 first, then timed side by side in one process, in rounds. A",
        "time is the median over the runs of the medians of their rounds; how many times pozor is faster is",
        "the median over the runs of the medians of the ratios within a round. Who is not installed or has",
        f"no such kernel is listed as absent. What stands under Notes is kept in {NOTES}.",
        "",
        f"- Machine: {cpu}, {cores} cores, {first.machine.get('system', '')}",
        f"- Versions: {versions}; Python {first.machine.get('python', '')}; commit {commits}",
        f"- Whole runs: {_runs(found)}; threads: {' and '.join(map(str, counts))}; tables: {most}",
        *_waited(found),
        "",
    ]
    if notes:
        lines += ["## Notes", "", notes, ""]
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


def _versions(found: Sequence[Measurement]) -> dict[str, str]:
    """Of every package that any run had."""
    return {name: version for m in found for name, version in m.versions.items()}


def _runs(found: Sequence[Measurement]) -> str:
    """How many each group had."""
    groups = dict.fromkeys(m.group for m in found if m.seconds)
    counts = {group: len({m.run for m in found if m.group == group and m.seconds}) for group in groups}
    if len(set(counts.values())) == 1:
        return str(next(iter(counts.values())))
    return ", ".join(f"{group} {count}" for group, count in counts.items())


def _waited(found: Sequence[Measurement]) -> list[str]:
    """How much other programs were in the way: our threads ready to run, and no core free."""
    shares = [m.waited for m in found if m.waited is not None and m.seconds]
    if not shares:
        load = found[0].machine.get("load", 0)
        return [f"- Load of the machine as the first run began: {load:.1f}"] if load > 0.5 else []
    return [
        f"- Threads waited for a core {_share(median(shares))} of the time of a case (median), at most "
        f"{_share(max(shares))}: more than a few percent, and the times are those of a busy machine"
    ]


def _share(part: float) -> str:
    return f"{100 * part:.1f} %"


def bars_table(found: Sequence[Measurement], threads: int) -> list[str]:
    """What must hold, with the worst number of every run."""
    judged = [bar.judged(runs_of(found, threads)) for bar in all_bars()]
    rows = [
        [
            j.bar.title,
            f"{'≤' if j.bar.most else '≥'} {words.number(j.bar.target)} {j.bar.unit}",
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
    each = ", ".join(words.number(x) for x in judged.runs)
    return words.number(judged.value) + (f" ({each})" if len(judged.runs) > 1 else "")


def _verdict(judged: Judged) -> str:
    return {True: "yes", False: "**no**", None: "not measured"}[judged.met]


def _ceilings(found: Sequence[Measurement], counts: Sequence[int]) -> list[str]:
    lines = ["## Ceilings", ""]
    rows = []
    for name in dict.fromkeys(m.name for m in found if m.group == "ceiling"):
        for threads in counts:
            mine = [m for m in found if m.name == name and m.threads == threads and m.value]
            if mine:
                middle = median(m.value or 0 for m in mine)
                rows.append(
                    [
                        name.removeprefix("ceiling "),
                        str(threads),
                        words.ceiling(middle, mine[0].unit),
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
        return f"{median(m.value or 0 for m in found):.1f} ({found[0].path})"
    return words.number(median(m.median or 0 for m in found) * 1e3)


def _fastest(mine: Sequence[Measurement], name: str) -> str:
    """Ratios of one case to every peer that is not pozor itself."""
    run: Run = [m for m in mine if m.name == name]
    ours = [m for m in run if m.peer.startswith(("pozor", "SmolLM2, attention pozor")) and m.seconds]
    if not ours:
        return ""
    said = []
    for peer in dict.fromkeys(m.peer for m in run if m.seconds and "pozor" not in m.peer):
        pairs = [
            clock.ratio(t.seconds, o.seconds)
            for o in ours
            if o.peer == ours[0].peer
            for t in run
            if t.peer == peer and t.run == o.run and t.seconds
        ]
        if pairs:
            said.append(f"{peer} {words.number(median(pairs))} ×")
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
                middle = [median(t) for t in times]
                rows.append(
                    [name, peer, *(words.number(t * 1e3) for t in middle), f"{middle[0] / middle[-1]:.2f} ×"]
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
            points = _points([m for m in mine if m.peer == peer])
            style = {"marker": "o", "linewidth": 2.5 if peer == "pozor" else 1.2, "label": peer}
            speed.plot([t for t, _ in points], [median(map(_gflops, ms)) for _, ms in points], **style)
            held = [(t, [m.peak_bytes / 2**20 for m in ms if m.peak_bytes]) for t, ms in points]
            memory.plot([t for t, x in held if x], [median(x) for _, x in held if x], **style)
        speed.set(title=f"Speed, float32, causal, {most} thread(s)", ylabel="GFLOP/s (visible cells)")
        memory.set(title="Memory beyond the inputs", ylabel="MiB", yscale="log")
        for axes in (speed, memory):
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens:g}")
            axes.set_xlabel("tokens")
            axes.grid(alpha=0.3)
        figure.legend(*speed.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _points(mine: Sequence[Measurement]) -> list[tuple[int, list[Measurement]]]:
    """Each length with its measurements of all runs."""
    lengths = sorted({m.case["kv_len"] for m in mine})
    return [(n, [m for m in mine if m.case["kv_len"] == n]) for n in lengths]


def _gflops(m: Measurement) -> float:
    from pozor.bench.cases import Case

    return Case(**{**m.case, "window": None}).flop / (m.median or math.inf) / 1e9


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
