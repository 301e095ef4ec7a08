"""`pozor bench`: pozor beside its peers, one JSON line a measurement, a page with table and picture."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pozor.errors import OptionError

if TYPE_CHECKING:
    from pozor.bench.measurement import Measurement

OMP = "OMP_NUM_THREADS"


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Short texts and few rounds: a minute.")] = False,
    cases: Annotated[
        str, typer.Option(help="Groups, or words of case names, comma between. Left out: all.")
    ] = "",
    peers: Annotated[
        str, typer.Option(help="Parts of peers' names, or all. Left out: those that a bar is about.")
    ] = "",
    runs: Annotated[int, typer.Option(help="Whole runs; reports give the median and every one.")] = 1,
    threads: Annotated[
        str, typer.Option(help=f"Numbers of threads, such as 1,2. Left out: {OMP}, else the cores.")
    ] = "",
    repeats: Annotated[int, typer.Option(help="Rounds of one case, at most.")] = 9,
    budget: Annotated[
        float, typer.Option(help="Seconds for the rounds of one case; 5 short or 3 long ones in any case.")
    ] = 1.0,
    json: Annotated[Path | None, typer.Option(help="A file to add JSON lines to; - prints them.")] = None,
    report: Annotated[Path | None, typer.Option(help="A folder for benchmarks.md and its picture.")] = None,
    read: Annotated[
        Path | None, typer.Option(help="Measure nothing: report on a file of JSON lines.")
    ] = None,
    lang: Annotated[str | None, typer.Option(help="cs or en. Left out: the locale's, else English.")] = None,
) -> None:
    """How fast pozor is beside torch, onnxruntime and OpenVINO.

    Every peer's numbers are checked first, then all are timed side by side. Lines that --json adds to a file
    count on from its runs, and bars and report are about the whole file.

    \b
    Groups: prefill, decode, window, growth, observe, small, length, memory, model.
    Examples:
      pozor bench --quick
      pozor bench --cases "prefill float32, small" --json results.jsonl
      pozor bench --cases "model prefill bfloat16 T 2048"
      pozor bench --read results.jsonl --report docs
    """
    from pozor.bench import report as reports
    from pozor.bench.measurement import read as read_lines
    from pozor.bench.run import Options, measure
    from pozor.bench.words import WORDS
    from pozor.language import choose

    lang = choose(lang)
    words = WORDS[lang]
    as_lines = json is not None and str(json) == "-"
    earlier = read_lines(json) if json is not None and json.is_file() and read is None else []
    if read is not None:
        found = read_lines(read)
    else:
        options = Options(
            cases=_split(cases),
            peers=_split(peers),
            runs=runs,
            threads=_threads(threads, words, quiet=as_lines),
            repeats=3 if quick else repeats,
            budget=min(budget, 1.0) if quick else budget,
            quick=quick,
        )
        found = _measured(measure(options, earlier), json, lang)
    if not as_lines:
        _end(found, [*earlier, *found], lang, quick)
        if read is None:
            typer.echo(_kept(found, json, words))
    if report is not None:
        for path in reports.write([*earlier, *found], report):
            typer.echo(words["written"].format(path=path), err=as_lines)


def _measured(measurements: "Iterable[Measurement]", json: Path | None, lang: str) -> "list[Measurement]":
    """Print and write each as it comes: what was measured before an interruption is kept."""
    from pozor.bench.words import WORDS

    words = WORDS[lang]
    found: list[Measurement] = []
    as_lines = json is not None and str(json) == "-"
    lines = None if json is None or as_lines else json.open("a", encoding="utf-8")
    heading = ""
    try:
        for one in measurements:
            if lines is not None:
                lines.write(one.line() + "\n")
                lines.flush()
            if as_lines:
                typer.echo(one.line())
            elif not found:
                typer.echo(words["legend"])
            found.append(one)
            title = f"{one.name}, {words['threads'].format(threads=one.threads)}"
            said = "" if as_lines else _said(one, found, lang)
            if said and title != heading:
                typer.echo(title)
                heading = title
            if said:
                typer.echo("  " + said)
    finally:
        if lines is not None:
            lines.close()
    return found


def _said(one: "Measurement", found: "list[Measurement]", lang: str) -> str:
    """One measurement; nothing of who is absent: that is said once, at the end."""
    from pozor.bench.words import WORDS, ceiling, number, said

    words = WORDS[lang]
    if one.absent:
        wrong = words["wrong"].format(peer=one.peer, why=said(one.absent, lang))
        return wrong if one.error is not None else ""
    if one.group == "ceiling":
        return words["rate"].format(value=ceiling(one.value or 0, one.unit, lang), how=one.path)
    given = {
        "ratio": _ratio(one, found, lang),
        "spread": f"{100 * (one.spread or 0):.0f}",
        "how": said(one.path, lang),
    }
    if one.value is not None:
        return words["tokens"].format(peer=one.peer, value=number(one.value, lang), **given)
    how = f" ({one.path})" if one.path else ""
    return words["time"].format(peer=one.peer + how, time=number((one.median or 0) * 1e3, lang), **given)


def _ratio(one: "Measurement", found: "list[Measurement]", lang: str) -> str:
    from pozor.bench import clock
    from pozor.bench.models import OURS
    from pozor.bench.words import WORDS, number

    ours = [
        m
        for m in found
        if (m.name, m.threads, m.run) == (one.name, one.threads, one.run)
        and m.peer in ("pozor", OURS)
        and m.seconds
    ]
    if not ours or one.peer == ours[0].peer:
        return ""
    ratio = clock.ratio(one.seconds, ours[0].seconds)
    if one.peer.startswith("pozor"):
        return WORDS[lang]["costs"].format(ratio=number(ratio, lang))
    kind = "faster" if ratio >= 1 else "slower"
    return WORDS[lang][kind].format(ratio=number(max(ratio, 1 / ratio), lang))


def _end(found: "Sequence[Measurement]", everything: "Sequence[Measurement]", lang: str, quick: bool) -> None:
    """Who was absent, each reason once; then the bars."""
    from pozor.bench.bars import all_bars, runs_of
    from pozor.bench.words import WORDS, number, said

    words = WORDS[lang]
    gone: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for m in found:
        if m.absent:
            peers, names = gone.setdefault(m.absent, ({}, {}))
            peers[m.peer] = names[m.name] = None
    if gone:
        typer.echo(words["gone"])
    for why, (peers, names) in gone.items():
        typer.echo(
            "  " + words["gone_case"].format(peers=", ".join(peers), why=said(why, lang), cases=len(names))
        )
    if quick:
        typer.echo(words["quick"])
        return
    most = max((m.threads for m in everything), default=1)
    judged = [bar.judged(runs_of(everything, most)) for bar in all_bars()]
    if any(j.runs for j in judged):
        typer.echo(words["bars"])
    for j in judged:
        if j.runs:
            numbers = "; ".join(number(x, lang) for x in j.runs)
            verdict, sign = words["yes" if j.met else "no"], "≤" if j.bar.most else "≥"
            given = {"sign": sign, "target": number(j.bar.target, lang), "unit": said(j.bar.unit, lang)}
            title = said(j.bar.title, lang)
            typer.echo("  " + words["bar"].format(title=title, numbers=numbers, verdict=verdict, **given))
    counts = {name: sum(j.met is met for j in judged) for name, met in _VERDICTS.items()}
    typer.echo(words["count"].format(**counts))


_VERDICTS = {"yes": True, "no": False, "open": None}


def _kept(found: "Sequence[Measurement]", json: Path | None, words: dict[str, str]) -> str:
    """What was written where."""
    if json is None:
        return words["nowhere"]
    runs = [m.run + 1 for m in found] or [0]
    return words["json"].format(count=len(found), path=json, first=min(runs), last=max(runs))


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())


def _threads(given: str, words: dict[str, str], quiet: bool) -> tuple[int, ...]:
    """The numbers of threads; says what becomes of OMP_NUM_THREADS, which torch would follow by itself."""
    from pozor.threads import usable_cores

    wish = os.environ.get(OMP, "").split(",")[0]
    obeyed = not given and wish.isdecimal() and int(wish) > 0
    counts = (int(wish),) if obeyed else _numbers(given) if given else (usable_cores(),)
    if wish and not quiet and (obeyed or counts != (int(wish) if wish.isdecimal() else 0,)):
        text = words["obeyed" if obeyed else "set_aside"]
        typer.echo(text.format(value=wish, threads=", ".join(map(str, counts))))
    return counts


def _numbers(threads: str) -> tuple[int, ...]:
    parts = _split(threads)
    if not parts or not all(part.isdecimal() for part in parts):
        raise OptionError(f"--threads must be whole numbers such as 1,2; got {threads!r}.")
    return tuple(int(part) for part in parts)
