"""The order of a benchmark: each case is checked for every peer, then timed side by side."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pozor.bench import ceilings, checked, clock
from pozor.bench.cases import Case, chosen
from pozor.bench.measurement import Measurement, circumstances
from pozor.bench.peers import Absent, Call, Peer, all_peers
from pozor.bench.threads import same_threads
from pozor.errors import OptionError, PozorError


@dataclass(frozen=True)
class Options:
    """What is asked for.

    Attributes:
        cases: Words of groups or cases; empty for all.
        peers: Names of peers, or parts of them; empty for all. pozor itself is always there.
        runs: Whole runs, one after the other.
        threads: Numbers of threads, each measured.
        repeats: Rounds of one case, at most.
        budget: Seconds for the rounds of one case; three rounds are run in any case.
    """

    cases: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    runs: int = 1
    threads: tuple[int, ...] = (1,)
    repeats: int = 9
    budget: float = 20.0
    quick: bool = False

    def __post_init__(self) -> None:
        """Judge the numbers."""
        for name, value in (
            ("--runs", self.runs),
            ("--repeats", self.repeats),
            *(("--threads", n) for n in self.threads),
        ):
            if value < 1:
                raise OptionError(f"{name} must be 1 or more; got {value}.")


def measure(options: Options) -> Iterator[Measurement]:
    """Every measurement, as soon as it is there."""
    found = chosen(list(options.cases), options.quick)
    everybody = _picked(options.peers)
    around = circumstances()
    with_model = not options.quick and (not options.cases or "model" in options.cases)
    for run in range(options.runs):
        for threads in options.threads:
            with same_threads(threads):
                for one in _one_run(found, everybody, threads, options, with_model):
                    yield replace(one, run=run, **around)


def _picked(words: tuple[str, ...]) -> list[Peer]:
    everybody = all_peers()
    for word in words:
        if not any(word.lower() in peer.name.lower() for peer in everybody):
            names = ", ".join(peer.name for peer in everybody)
            raise OptionError(f"--peers must name one of {names}; got {word!r}.")
    names = {peer.name.lower() for peer in everybody}

    def picks(word: str, name: str) -> bool:
        """A whole name picks that peer alone."""
        return word == name if word in names else word in name

    return [
        peer
        for peer in everybody
        if not words or peer.name == "pozor" or any(picks(word.lower(), peer.name.lower()) for word in words)
    ]


def _one_run(
    found: list[Case], everybody: list[Peer], threads: int, options: Options, with_model: bool
) -> Iterator[Measurement]:
    for name, unit in ceilings.NAMES.items():
        value, how = ceilings.ceiling(name, threads, options.quick)
        yield Measurement(
            f"ceiling {name}", "ceiling", "ceiling", threads, value=value, unit=unit, path=how,
            absent="" if value else how,
        )  # fmt: skip
    for case in found:
        yield from one_case(
            case, [p for p in everybody if not p.groups or case.group in p.groups], threads, options
        )
    if with_model:
        from pozor.bench import models

        yield from models.measure(threads, options.repeats)


def one_case(case: Case, peers: list[Peer], threads: int, options: Options) -> Iterator[Measurement]:
    """Every peer of one case: those that are absent or wrong with the reason, the others with their times."""
    qkv = case.arrays()
    want = checked.expected(case, *qkv)
    blank = Measurement(case.name, case.group, "", threads, case=case.as_json())
    ready: dict[str, tuple[Call, float]] = {}
    for peer in peers:
        try:
            call = peer.prepare(case, qkv, threads)
            wrong = checked.error(case, call.read(call.run()), want) if call.read else 0.0
        except (Absent, PozorError) as reason:
            yield replace(blank, peer=peer.name, absent=str(reason))
            continue
        if checked.is_right(case, wrong):
            ready[peer.name] = call, wrong
        else:
            yield replace(
                blank, peer=peer.name, error=wrong, absent=f"wrong: off by {wrong:.1e} of the largest value"
            )
    calls: dict[str, Callable[[], Any]] = {name: call.run for name, (call, _) in ready.items()}
    if not calls:
        return
    times = clock.interleaved(calls, options.repeats, options.budget)
    for name, (call, wrong) in ready.items():
        seconds = times[name]
        peak, given = clock.peak_bytes(call.run)
        yield replace(
            blank, peer=name, path=call.path, error=wrong, seconds=seconds, repeats=len(seconds),
            median=clock.median(seconds), spread=clock.spread(seconds), peak_bytes=peak, result_bytes=given,
        )  # fmt: skip
