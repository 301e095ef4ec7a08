"""What pozor must show, as ratios within one run, and whether the measurements show it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any

from pozor.bench import clock
from pozor.bench.cases import Case
from pozor.bench.measurement import Measurement
from pozor.bench.models import OURS, THEIRS

Run = list[Measurement]  # the measurements of one run, all with the same number of threads

# shortest kv_len of a case that counts: quick runs ask the same of short texts, and prove nothing
_LENGTHS = {
    "prefill": 1024,
    "decode": 8192,
    "window": 4096,
    "growth": 4096,
    "observe": 4096,
    "memory": 131072,
}


@dataclass(frozen=True)
class Bar:
    """A number that must be reached (or, with `most`, not passed).

    Attributes:
        title: What is compared.
        numbers: One run to the numbers that must all hold; empty where the run did not measure it.
    """

    title: str
    target: float
    numbers: Callable[[Run], Sequence[float]]
    most: bool = False
    unit: str = "×"

    def judged(self, runs: Sequence[Run]) -> "Judged":
        """The worst number of each run, and of all runs the median of those."""
        numbers = [self.numbers(_counting(run)) for run in runs]
        worst = [(max if self.most else min)(found) for found in numbers if found]
        return Judged(self, worst)


@dataclass(frozen=True)
class Judged:
    """A bar and the worst number of each run."""

    bar: Bar
    runs: list[float]

    @property
    def value(self) -> float:
        """The median over the runs; NaN if none measured it."""
        return median(self.runs) if self.runs else math.nan

    @property
    def met(self) -> bool | None:
        """Whether it holds; None if nobody measured it."""
        if not self.runs:
            return None
        return self.value <= self.bar.target if self.bar.most else self.value >= self.bar.target


def of(run: Run, peer: str, **wanted: Any) -> dict[str, Measurement]:
    """The timed measurements of a peer by case name; wanted: fields of the case."""
    return {
        m.name: m
        for m in run
        if m.peer == peer and m.seconds and all(m.case.get(key) == value for key, value in wanted.items())
    }


def _counting(run: Run) -> Run:
    """Without the cases that are too short for a bar."""
    return [m for m in run if m.case.get("kv_len", math.inf) >= _LENGTHS.get(m.group, 0)]


def speedups(run: Run, theirs: str, ours: str = "pozor", **wanted: Any) -> list[float]:
    """How many times faster `ours` is, for each case that both did."""
    mine, other = of(run, ours, **wanted), of(run, theirs, **wanted)
    return [clock.ratio(other[name].seconds, mine[name].seconds) for name in mine if name in other]


def _case(m: Measurement) -> Case:
    window = m.case.get("window")
    return Case(**{**m.case, "window": None if window is None else tuple(window)})


def _of_peak(run: Run, ceiling: str, work: str = "flop", **wanted: Any) -> list[float]:
    top = [m.value for m in run if m.name == f"ceiling {ceiling}" and m.value]
    done = of(run, "pozor", **wanted).values()
    return [getattr(_case(m), work) / m.median / top[0] for m in done if top and m.median]


def _geomean(numbers: Sequence[float]) -> list[float]:
    return [geometric_mean(numbers)] if numbers else []


def _prefill(dtype: str, each: float, mean: float | None) -> list[Bar]:
    wanted: dict[str, Any] = {"group": "prefill", "dtype": dtype}
    found = [
        Bar(f"{dtype} prefill against torch, every cell", each, lambda run: speedups(run, "torch", **wanted))
    ]
    if mean is not None:
        title = f"{dtype} prefill against torch, geometric mean"
        found.append(Bar(title, mean, lambda run: _geomean(speedups(run, "torch", **wanted))))
    return found


def _against(peer: str, dtype: str, only_causal: bool = False) -> list[Bar]:
    wanted: dict[str, Any] = {"group": "prefill", "dtype": dtype}
    long: dict[str, Any] = wanted | {"kv_len": 4096}
    found = [
        Bar(f"{dtype} prefill against {peer}, every cell", 1.0, lambda run: speedups(run, peer, **wanted)),
        Bar(
            f"{dtype} prefill against {peer}, T = 4096 full",
            1.05,
            lambda run: speedups(run, peer, causal=False, **long),
        ),
        Bar(
            f"{dtype} prefill against {peer}, T = 4096 causal",
            1.5,
            lambda run: speedups(run, peer, causal=True, **long),
        ),
    ]
    return [found[0], found[2]] if only_causal else found


def _peaks() -> list[Bar]:
    long: dict[str, Any] = {"group": "prefill", "kv_len": 4096, "causal": False}
    decode: dict[str, Any] = {"group": "decode", "dtype": "bfloat16"}
    share = [
        ("float32, T = 4096 full: of the FMA peak", 0.85, "fma_peak", "flop", long | {"dtype": "float32"}),
        ("float16, T = 4096 full: of the FMA peak", 0.80, "fma_peak", "flop", long | {"dtype": "float16"}),
        (
            "bfloat16, T = 4096 full, d 128: of the dot-product peak",
            0.80,
            "bf16_peak",
            "flop",
            long | {"dtype": "bfloat16", "head_dim": 128},
        ),
        ("bfloat16 decode 32/8: of the read bandwidth", 0.65, "read_bandwidth", "kv_bytes", decode),
    ]
    return [
        Bar(title, target, lambda run, c=c, w=w, s=s: _of_peak(run, c, w, **s), unit="of the ceiling")
        for title, target, c, w, s in share
    ]


def _observed(peer: str, ours: str, **wanted: Any) -> Callable[[Run], list[float]]:
    return lambda run: speedups(run, peer, ours, group="observe", **wanted)


def _costs(peer: str, **wanted: Any) -> Callable[[Run], list[float]]:
    """Time of the observed call over the plain one."""
    return lambda run: [1 / x for x in speedups(run, "pozor", peer, group="observe", kv_len=4096, **wanted)]


def _observe() -> list[Bar]:
    seen, more = "pozor observe", "pozor observe + received"
    f32, bf16 = {"dtype": "float32"}, {"dtype": "bfloat16"}
    return [
        Bar("observe over the plain call, float32 full", 1.2, _costs(seen, causal=False, **f32), most=True),
        Bar("observe over the plain call, float32 causal", 1.3, _costs(seen, causal=True, **f32), most=True),
        Bar("observe over the plain call, bfloat16", 1.4, _costs(seen, **bf16), most=True),
        Bar("observe with received over the plain call", 1.8, _costs(more), most=True),
        Bar("observe against torch's plain SDPA", 1.0, _observed("torch", seen)),
        Bar("observe against torch's weights, T = 4096 causal", 7.0,
            _observed("torch eager", seen, kv_len=4096, causal=True, **f32)),
        Bar("observe against torch's weights, T = 4096 full", 4.0,
            _observed("torch eager", seen, kv_len=4096, causal=False, **f32)),
    ]  # fmt: skip


def _growth(run: Run) -> list[float]:
    """Time per token of the longest windowed call over that of the shortest."""
    found = sorted(of(run, "pozor", group="growth").values(), key=lambda m: m.case["kv_len"])
    per = [m.median / m.case["kv_len"] for m in found if m.median]
    return [per[-1] / per[0]] if len(per) > 1 and found[-1].case["kv_len"] == 131072 else []


def _memory(run: Run) -> list[float]:
    """Megabytes beyond inputs and outputs."""
    found = of(run, "pozor", group="memory").values()
    return [(m.peak_bytes - (m.result_bytes or 0)) / 1e6 for m in found if m.peak_bytes is not None]


def _model(lengths: tuple[int, ...]) -> Callable[[Run], list[float]]:
    return lambda run: [x for n in lengths for x in speedups(run, THEIRS, OURS, group="model", length=n)]


def all_bars() -> list[Bar]:
    """Every bar, in the order of the issue."""
    decode: dict[str, Any] = {"group": "decode"}
    small: dict[str, Any] = {"group": "small"}
    return [
        *_prefill("float32", 1.15, 1.4),
        *_prefill("float16", 1.7, None),
        *_prefill("bfloat16", 2.0, 2.4),
        *_peaks(),
        *_against("onnxruntime MHA", "float32"),
        *_against("onnxruntime GQA", "float32", only_causal=True),
        *_against("OpenVINO", "float32"),
        *_against("OpenVINO", "bfloat16"),
        Bar("bfloat16 decode 32/8 against torch", 20.0,
            lambda run: speedups(run, "torch", dtype="bfloat16", **decode)),
        Bar("float32 decode 9/3 against torch", 2.0,
            lambda run: speedups(run, "torch", dtype="float32", **decode)),
        Bar("window of 512 at T = 4096 against torch", 5.0,
            lambda run: speedups(run, "torch", group="window")),
        Bar("window of 512: time per token, longest over shortest", 1.3, _growth, most=True),
        *_observe(),
        Bar("SmolLM2 against sdpa from 2048 tokens on", 1.0, _model((2048, 8192))),
        Bar("SmolLM2 against sdpa at 512 tokens", 0.97, _model((512,))),
        Bar("memory at T = 131072 with every observable", 64.0, _memory, most=True, unit="MB"),
        Bar("small call (1, 8, 16, 64) on NumPy arrays over torch's own", 1.5,
            lambda run: [1 / x for x in speedups(run, "torch", **small)], most=True),
        Bar("small call (1, 8, 16, 64) on torch tensors over torch's own", 1.5,
            lambda run: [1 / x for x in speedups(run, "torch", "pozor.torch sdpa", **small)], most=True),
    ]  # fmt: skip


def runs_of(found: Sequence[Measurement], threads: int) -> list[Run]:
    """The measurements apart by run."""
    mine = [m for m in found if m.threads == threads]
    return [[m for m in mine if m.run == run] for run in sorted({m.run for m in mine})]
