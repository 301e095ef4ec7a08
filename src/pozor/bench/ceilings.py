"""What the machine can do at most: multiply-adds in float32 and bfloat16, bytes read from memory.

The native module measures them with loops of its own: `_native.fma_peak(threads)` and `bf16_peak(threads)` in
FLOP/s, `read_bandwidth(threads)` in bytes/s. Without it a large product and a large sum stand in.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

NAMES = {"fma_peak": "FLOP/s", "bf16_peak": "FLOP/s", "read_bandwidth": "bytes/s"}
_SIDE = 2048  # of the square matrices
_READ = 1 << 27  # float32 numbers that are summed: 512 MiB, more than a cache holds


def ceiling(name: str, threads: int, quick: bool = False) -> tuple[float, str]:
    """(value, how it was measured); 0 where there is no such unit or nothing to measure it with."""
    native = _native(name)
    if native is not None:
        return float(native(threads)), f"_native.{name}"
    return {"fma_peak": _product, "bf16_peak": _bf16_product, "read_bandwidth": _sum}[name](quick)


def _native(name: str) -> Callable[[int], float] | None:
    try:
        from pozor import _native as module  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        return None
    return getattr(module, name, None)


def _best(call: Callable[[], Any], times: int) -> float:
    """The shortest of some runs: a ceiling is what is possible."""
    call()
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _product(quick: bool, dtype: str = "float32") -> tuple[float, str]:
    side = _SIDE // 2 if quick else _SIDE
    try:
        import torch
    except ImportError:
        a = np.ones((side, side), np.float32)
        return 2 * side**3 / _best(lambda: a @ a, 5), f"a NumPy product of {side} x {side}"
    a = torch.ones((side, side), dtype=getattr(torch, dtype))
    return 2 * side**3 / _best(lambda: a @ a, 5), f"a torch product of {side} x {side}"


def _bf16_product(quick: bool) -> tuple[float, str]:
    try:
        import torch  # noqa: F401
    except ImportError:
        return 0.0, "not measured: torch is not installed"
    return _product(quick, "bfloat16")


def _sum(quick: bool) -> tuple[float, str]:
    numbers = np.ones(_READ // 4 if quick else _READ, np.float32)
    try:
        import torch
    except ImportError:
        return numbers.nbytes / _best(lambda: numbers.max(), 5), "the maximum of a NumPy array"
    tensor = torch.from_numpy(numbers)
    return numbers.nbytes / _best(lambda: tensor.sum(), 5), "a torch sum of 512 MiB"
