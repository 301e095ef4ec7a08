"""Time and memory of calls: interleaved repeats, each round in another order; the peak as Linux counts it."""

import ctypes
import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

_SHORTEST = 2e-3  # seconds of one sample; quicker calls are repeated within it
LONG = 0.3  # seconds; a longer call has no more rounds than it must
_QUICK = 0.02  # seconds; a shorter call is made once more before each sample, so that its threads are awake
_RESTLESS = 0.2  # seconds that other threads are waited for
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_TASKS = Path("/proc/self/task")


def interleaved(
    calls: Mapping[str, Callable[[], object]],
    repeats: int,
    budget: float,
    took: Mapping[str, float] | None = None,
) -> dict[str, list[float]]:
    """Seconds of each call in each round, all calls by turns.

    A call has at least `least_rounds` of them; one under 0.3 s goes on to `repeats` while fewer than `budget`
    seconds are used. Longer ones stop earlier, so that the n-th entries of any two calls are of one round.

    Args:
        took: Seconds of one call that is warm, where known; a call that is not there is made once for it.
    """
    took = {name: took[name] if took and name in took else _time(call, 1) for name, call in calls.items()}
    for name, once in took.items():
        if once < _SHORTEST:
            took[name] = _time(calls[name], 10)
    inner = {name: max(1, round(_SHORTEST / max(once, 1e-7))) for name, once in took.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names, began = list(calls), time.perf_counter()
    for round_ in range(repeats):
        time_left = time.perf_counter() - began < budget
        going = {n for n in names if round_ < least_rounds(took[n]) or (time_left and took[n] < LONG)}
        if not going:
            break
        first = round_ % len(names)  # who goes first takes turns
        for name in names[first:] + names[:first]:
            if name in going:
                settle()
                if took[name] < _QUICK:
                    calls[name]()
                seconds[name].append(_time(calls[name], inner[name]))
    return seconds


def settle() -> None:
    """Wait until the threads of this process rest: some peers' spin on for a while, and hold cores."""
    until = time.perf_counter() + _RESTLESS
    while time.perf_counter() < until:
        used = time.process_time()
        time.sleep(1e-3)
        if time.process_time() - used < 2e-4:
            return


def least_rounds(took: float) -> int:
    """Rounds that a call of so many seconds has whatever the budget."""
    return 5 if took < 0.1 else 3 if took < 5 else 2


def _time(call: Callable[[], object], times: int) -> float:
    collecting = gc.isenabled()
    gc.disable()
    try:
        began = time.perf_counter()
        for _ in range(times):
            call()
        return (time.perf_counter() - began) / times
    finally:
        if collecting:
            gc.enable()


class Peak(NamedTuple):
    """What one call took.

    Attributes:
        peak: Bytes that it took at most beyond what was held, its result included; None off Linux.
        given: Bytes of its result.
        seconds: Its time.
    """

    peak: int | None
    given: int
    seconds: float


def peak_bytes(call: Callable[[], object]) -> Peak:
    """Memory and time of one call."""
    gc.collect()
    before = None
    try:
        _trim()
        before = _kilobytes("VmRSS")
        _RESET.write_text("5")  # the high-water mark starts again
    except OSError:
        before = None
    began = time.perf_counter()
    held = call()
    seconds = time.perf_counter() - began
    peak = None if before is None else max(0, _kilobytes("VmHWM") - before) * 1024
    return Peak(peak, result_bytes(held), seconds)


def waited() -> float | None:
    """Seconds that the threads of this process have waited for a core so far; None off Linux."""
    try:
        tasks = list(_TASKS.iterdir())
    except OSError:
        return None
    total = 0
    for task in tasks:
        try:
            total += int((task / "schedstat").read_text().split()[1])
        except (OSError, IndexError):  # the thread has ended, or the kernel keeps no such account
            continue
    return total / 1e9


def result_bytes(result: Any) -> int:
    """Bytes of all arrays of a result: the outputs, which are no extra memory."""
    if hasattr(result, "element_size"):
        return result.element_size() * result.nelement()
    if hasattr(result, "nbytes"):
        return int(result.nbytes)
    if is_dataclass(result):
        return sum(result_bytes(getattr(result, part.name)) for part in fields(result))
    return sum(map(result_bytes, result)) if isinstance(result, (tuple, list)) else 0


def _trim() -> None:
    """Give freed memory back, so that the call cannot hide in it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _kilobytes(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise OSError(f"{_STATUS} has no {field}")


def median(seconds: Sequence[float]) -> float:
    """The middle one."""
    return statistics.median(seconds)


def spread(seconds: Sequence[float]) -> float:
    """Distance of the quartiles over the median; 0 of fewer than two."""
    if len(seconds) < 2:
        return 0.0
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return (high - low) / median(seconds)


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """How many times faster ours is: the median over the rounds (a busy machine slows both of a round)."""
    return statistics.median(a / b for a, b in zip(theirs, ours))
