"""The order of a benchmark: each case is checked for every peer, then timed side by side."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pozor.bench import ceilings, checked, clock, models
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
        peers: Names of peers, or parts of them; "all" for every one; empty for those that a bar is about.
            pozor itself is always there.
        runs: Whole runs, one after the other.
        threads: Numbers of threads, each measured.
        repeats: Rounds of one case, at most.
        budget: Seconds for the rounds of one case; `clock.least_rounds` are run in any case.
    """

    cases: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    runs: int = 1
    threads: tuple[int, ...] = (1,)
    repeats: int = 9
    budget: float = 1.0
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


def measure(options: Options, earlier: Sequence[Measurement] = ()) -> Iterator[Measurement]:
    """Every measurement, as soon as it is there; runs are counted on from earlier ones of the same case."""
    found = chosen(list(options.cases), options.quick)
    everybody = _picked(options.peers)
    around = circumstances()
    before = Counter[tuple[str, int]]()
    for m in earlier:
        before[m.name, m.threads] = max(before[m.name, m.threads], m.run + 1)
    for run in range(options.runs):
        for threads in options.threads:
            with same_threads(threads):
                for one in _one_run(found, everybody, threads, options):
                    yield replace(one, run=before[one.name, threads] + run, **around)


def _picked(words: tuple[str, ...]) -> list[Peer]:
    everybody = all_peers()
    for word in words:
        if word != "all" and not any(word.lower() in peer.name.lower() for peer in everybody):
            names = ", ".join(peer.name for peer in everybody)
            raise OptionError(f"--peers must name one of {names}, or all; got {word!r}.")
    names = {peer.name.lower() for peer in everybody}

    def picks(word: str, name: str) -> bool:
        """A whole name picks that peer alone."""
        if word == "all":
            return True
        return word == name if word in names else word in name

    return [
        peer
        for peer in everybody
        if (not words and not peer.detail)
        or peer.name == "pozor"
        or any(picks(word.lower(), peer.name.lower()) for word in words)
    ]


# which ceilings a group is compared with
_CEILINGS = {"prefill": ("fma_peak", "bf16_peak"), "decode": ("read_bandwidth",)}


def _one_run(
    found: list[Case], everybody: list[Peer], threads: int, options: Options
) -> Iterator[Measurement]:
    groups = {case.group for case in found}
    for name in (name for group, names in _CEILINGS.items() if group in groups for name in names):
        value, how = ceilings.ceiling(name, threads, options.quick)
        yield Measurement(
            f"ceiling {name}", "ceiling", "ceiling", threads, value=value,
            unit=ceilings.NAMES[name], path=how, absent="" if value else how,
        )  # fmt: skip
    for case in found:
        yield from one_case(
            case, [p for p in everybody if not p.groups or case.group in p.groups], threads, options
        )
    parts = [] if options.quick and not options.cases else models.wanted(options.cases)
    if parts:
        yield from models.measure(parts, threads, options.repeats, options.budget)


# groups whose memory is shown; elsewhere a long call is not made once more for it
_MEMORY = ("length", "memory", "growth")


def one_case(case: Case, peers: list[Peer], threads: int, options: Options) -> Iterator[Measurement]:
    """Every peer of one case: those that are absent or wrong with the reason, the others with their times."""
    qkv = case.arrays()
    want = checked.expected(case, *qkv)
    blank = Measurement(case.name, case.group, "", threads, case=case.as_json())
    ready: dict[str, tuple[Call, float, clock.Peak]] = {}
    for peer in peers:
        try:
            call = peer.prepare(case, qkv, threads)
            began = time.perf_counter()
            first = call.run()
            once = time.perf_counter() - began
        except (Absent, PozorError) as reason:
            yield replace(blank, peer=peer.name, absent=str(reason))
            continue
        wrong = checked.error(case, call.read(first), want) if call.read else 0.0
        given = clock.result_bytes(first)
        del first
        if checked.is_right(case, wrong):
            again = once < clock.LONG or case.group in _MEMORY
            ready[peer.name] = (
                call,
                wrong,
                clock.peak_bytes(call.run) if again else clock.Peak(None, given, once),
            )
        else:
            yield replace(
                blank, peer=peer.name, error=wrong, absent=f"wrong: off by {wrong:.1e} of the largest value"
            )
    calls: dict[str, Callable[[], Any]] = {name: call.run for name, (call, *_) in ready.items()}
    if not calls:
        return
    waited, began = clock.waited(), time.perf_counter()
    took = {name: peak.seconds for name, (*_, peak) in ready.items()}
    times = clock.interleaved(calls, options.repeats, options.budget, took)
    if waited is not None:
        waited = max(0.0, (clock.waited() or 0.0) - waited) / (time.perf_counter() - began) / threads
    for name, (call, wrong, peak) in ready.items():
        seconds = times[name]
        yield replace(
            blank, peer=name, path=call.path, error=wrong, seconds=seconds, repeats=len(seconds),
            waited=waited, median=clock.median(seconds), spread=clock.spread(seconds), peak_bytes=peak.peak,
            result_bytes=peak.given,
            warm_up=1 if peak.peak is None else 2,
        )  # fmt: skip
