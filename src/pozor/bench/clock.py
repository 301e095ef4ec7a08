"""Time and memory of calls: interleaved repeats, each round in another order; the peak as Linux counts it."""

import ctypes
import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

_SHORTEST = 2e-3  # seconds of one sample; quicker calls are repeated within it
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def interleaved(
    calls: Mapping[str, Callable[[], object]], repeats: int, budget: float, warm_up: int = 1
) -> dict[str, list[float]]:
    """Seconds of each call in each round; after 3 rounds it stops when `budget` seconds are used."""
    inner = {}
    for name, call in calls.items():
        for _ in range(warm_up):
            call()
        inner[name] = max(1, round(_SHORTEST / max(_time(call, 1), 1e-7)))
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names, began = list(calls), time.perf_counter()
    for round_ in range(repeats):
        if round_ >= 3 and time.perf_counter() - began > budget:
            break
        first = round_ % len(names)  # who goes first takes turns
        for name in names[first:] + names[:first]:
            seconds[name].append(_time(calls[name], inner[name]))
    return seconds


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


def peak_bytes(call: Callable[[], object]) -> tuple[int | None, int]:
    """(memory that the call takes at most beyond what is held, bytes of its result); None off Linux."""
    gc.collect()
    try:
        _trim()
        before = _kilobytes("VmRSS")
        _RESET.write_text("5")  # the high-water mark starts again
    except OSError:
        return None, result_bytes(call())
    held = call()
    return max(0, _kilobytes("VmHWM") - before) * 1024, result_bytes(held)


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
