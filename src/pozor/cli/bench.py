"""`pozor bench`: pozor beside its peers, one JSON line a measurement, a page with table and picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pozor.errors import OptionError

if TYPE_CHECKING:
    from pozor.bench.measurement import Measurement

WORDS = {
    "cs": {
        "threads": "vláken: {threads}",
        "absent": "{peer}: chybí ({why})",
        "time": "{peer}: {time} ms, rozptyl {spread}\u00a0%{ratio}",
        "ratio": ", trvá {ratio}× tolik co pozor",
        "rate": "{peer}: {value} {unit}{how}",
        "bars": "Co musí platit:",
        "yes": "platí",
        "no": "NEPLATÍ",
        "open": "neměřeno",
        "written": "Zapsáno: {path}",
    },
    "en": {
        "threads": "threads: {threads}",
        "absent": "{peer}: absent ({why})",
        "time": "{peer}: {time} ms, spread {spread} %{ratio}",
        "ratio": ", takes {ratio} × pozor's time",
        "rate": "{peer}: {value} {unit}{how}",
        "bars": "What must hold:",
        "yes": "holds",
        "no": "DOES NOT HOLD",
        "open": "not measured",
        "written": "Written: {path}",
    },
}


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Short texts and few rounds: a minute.")] = False,
    cases: Annotated[
        str, typer.Option(help="Groups or parts of case names, comma between. Left out: all.")
    ] = "",
    peers: Annotated[str, typer.Option(help="Parts of peers' names beside pozor. Left out: all.")] = "",
    runs: Annotated[int, typer.Option(help="Whole runs; reports give the median and every one.")] = 1,
    threads: Annotated[str, typer.Option(help="Numbers of threads, such as 1,2. Left out: the cores.")] = "",
    repeats: Annotated[int, typer.Option(help="Rounds of one case, at most.")] = 9,
    budget: Annotated[float, typer.Option(help="Seconds for one case; 3 rounds are run in any case.")] = 20.0,
    json: Annotated[Path | None, typer.Option(help="A file for the JSON lines; - prints them.")] = None,
    report: Annotated[Path | None, typer.Option(help="A folder for benchmarks.md and its picture.")] = None,
    read: Annotated[
        Path | None, typer.Option(help="Measure nothing: report on a file of JSON lines.")
    ] = None,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
) -> None:
    """How fast pozor is beside torch, onnxruntime and OpenVINO.

    Every peer's numbers are checked first, then all are timed side by side.

    \b
    Groups: prefill, decode, window, growth, observe, small, length, memory, model.
    Example:
      pozor bench --quick
      pozor bench --runs 5 --threads 1,2 --json results.jsonl --report docs
    """
    from pozor.bench import report as reports
    from pozor.bench.measurement import read as read_lines
    from pozor.bench.run import Options, measure
    from pozor.language import choose

    words = WORDS[choose(lang)]
    if read is not None:
        found = read_lines(read)
    else:
        options = Options(
            cases=_split(cases),
            peers=_split(peers),
            runs=runs,
            threads=_numbers(threads),
            repeats=3 if quick else repeats,
            budget=min(budget, 3.0) if quick else budget,
            quick=quick,
        )
        found = _measured(measure(options), json, words)
    as_lines = json is not None and str(json) == "-"
    if not as_lines and not quick:  # the bars are about long texts
        _bars(found, words)
    if report is not None:
        for path in reports.write(found, report):
            typer.echo(words["written"].format(path=path), err=as_lines)


def _measured(measurements: Any, json: Path | None, words: dict[str, str]) -> "list[Measurement]":
    """Print and write each as it comes: what was measured before an interruption is kept."""
    found: list[Measurement] = []
    lines = None if json is None or str(json) == "-" else json.open("a", encoding="utf-8")
    heading = ""
    try:
        for one in measurements:
            found.append(one)
            if lines is not None:
                lines.write(one.line() + "\n")
                lines.flush()
            if json is not None and lines is None:
                typer.echo(one.line())
                continue
            title = f"{one.name}, {words['threads'].format(threads=one.threads)}"
            if title != heading:
                typer.echo(title)
                heading = title
            typer.echo("  " + _said(one, found, words))
    finally:
        if lines is not None:
            lines.close()
    return found


def _said(one: "Measurement", found: "list[Measurement]", words: dict[str, str]) -> str:
    from pozor.bench import clock

    if one.absent:
        return words["absent"].format(peer=one.peer, why=one.absent)
    how = f" ({one.path})" if one.path else ""
    if one.value is not None:
        value = f"{one.value / 1e9:.1f} G" if one.group == "ceiling" else f"{one.value:.1f}"
        return words["rate"].format(peer=one.peer, value=value, unit=one.unit, how=how).replace("G ", "G")
    ours = [
        m
        for m in found
        if (m.name, m.threads, m.run, m.peer) == (one.name, one.threads, one.run, "pozor") and m.seconds
    ]
    ratio = ""
    if ours and one.peer != "pozor":
        ratio = words["ratio"].format(ratio=f"{clock.ratio(one.seconds, ours[0].seconds):.2f}")
    return words["time"].format(
        peer=one.peer + how,
        time=f"{(one.median or 0) * 1e3:.3f}",
        spread=f"{100 * (one.spread or 0):.0f}",
        ratio=ratio,
    )


def _bars(found: "list[Measurement]", words: dict[str, str]) -> None:
    from pozor.bench.bars import all_bars, runs_of

    most = max((m.threads for m in found), default=1)
    typer.echo(words["bars"])
    for bar in all_bars():
        judged = bar.judged(runs_of(found, most))
        verdict = words[{True: "yes", False: "no", None: "open"}[judged.met]]
        numbers = ", ".join(f"{x:.3g}" for x in judged.runs) or "–"
        sign = "≤" if bar.most else "≥"
        typer.echo(f"  {bar.title}: {numbers} ({sign} {bar.target:g} {bar.unit}): {verdict}")


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())


def _numbers(threads: str) -> tuple[int, ...]:
    import os

    if not threads:
        return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,)
    parts = _split(threads)
    if not parts or not all(part.isdecimal() for part in parts):
        raise OptionError(f"--threads must be whole numbers such as 1,2; got {threads!r}.")
    return tuple(int(part) for part in parts)
