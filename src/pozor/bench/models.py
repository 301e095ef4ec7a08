"""SmolLM2 end to end: tokens per second with attention `pozor`, with transformers' sdpa, and in llama.cpp."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from pozor.bench import clock
from pozor.bench.measurement import Measurement
from pozor.errors import PozorError

LENGTHS = (512, 2048, 8192)
DTYPES, GGUF = ("float32", "bfloat16"), "gguf"
STEPS = 64  # tokens that are decoded up to the length
OURS, THEIRS, LLAMA = "SmolLM2, attention pozor", "SmolLM2, attention sdpa", "llama.cpp"
_SLOW = 2048  # tokens
_NAMES = {OURS: "pozor", THEIRS: "sdpa"}
# of the largest logit: top two that are nearer than this may change places in bfloat16
_TIE = 2.0**-7


@dataclass(frozen=True)
class Part:
    """One measurement of the group `model`."""

    kind: str
    dtype: str
    length: int

    @property
    def name(self) -> str:
        """As the names of the cases."""
        return f"model {self.kind} {self.dtype} T {self.length}"

    @property
    def tokens(self) -> int:
        """Those that are timed."""
        if self.dtype == GGUF and self.kind == "prefill":
            return self.length - STEPS
        return self.length if self.kind == "prefill" else STEPS

    def as_json(self) -> dict[str, Any]:
        """The fields, for a JSON line."""
        return {"group": "model", **asdict(self), "tokens": self.tokens}


# a dtype and length together: decoding fills its cache once
PARTS = [Part(k, d, n) for d in (*DTYPES, GGUF) for n in LENGTHS for k in ("prefill", "decode")]


def wanted(words: Sequence[str]) -> list[Part]:
    """The parts that the words pick; all of them without a word."""
    from pozor.bench.cases import picks

    return [p for p in PARTS if not words or any(picks(word, "model", p.name) for word in words)]


def measure(parts: Sequence[Part], threads: int, repeats: int, budget: float) -> Iterator[Measurement]:
    """Tokens per second of each part; the reason where there is no model."""
    ours = [part for part in parts if part.dtype != GGUF]
    if ours:
        blank = Measurement("model", "model", OURS, threads)
        try:
            import torch

            import pozor.torch  # noqa: F401  (registers the attention)

            model = _loaded()
        except (ImportError, PozorError) as reason:
            yield replace(blank, absent=f"SmolLM2 cannot be loaded: {reason}")
            return
        for part in ours:
            model = model.to(getattr(torch, part.dtype))
            yield from _one_part(model, part, threads, repeats, budget)
    yield from _llama([part for part in parts if part.dtype == GGUF], threads)


def _loaded() -> Any:
    from pozor.capture import loading

    with loading.quiet():
        return loading.load(loading.find(loading.SMOLLM2), dtype="float32", device="cpu").model.eval()


def _one_part(model: Any, part: Part, threads: int, repeats: int, budget: float) -> Iterator[Measurement]:
    import torch

    ids = torch.randint(0, 49000, (1, part.length), generator=torch.Generator().manual_seed(part.length))
    work = _prefill if part.kind == "prefill" else _decoding(model, ids)
    calls: dict[str, Callable[[], Any]] = {
        peer: _with_attention(model, name, lambda: work(model, ids)) for peer, name in _NAMES.items()
    }
    if part.length < _SLOW:  # a longer one needs no warming, and takes many seconds
        for call in calls.values():
            call()
    first, took, shares = {}, {}, {}
    for peer, name in _NAMES.items():
        first[peer], took[peer], shares[peer] = _watched(name, calls[peer])
    same = _same_tokens(first[OURS], first[THEIRS], part.dtype)
    waited, began = clock.waited(), time.perf_counter()
    times = clock.interleaved(calls, repeats, budget, took)
    if waited is not None:
        waited = max(0.0, (clock.waited() or 0.0) - waited) / (time.perf_counter() - began) / threads
    for peer, seconds in times.items():
        median = clock.median(seconds)
        yield Measurement(
            part.name, "model", peer, threads, case=part.as_json(), warm_up=1 + (part.length < _SLOW),
            seconds=seconds, repeats=len(seconds), median=median, spread=clock.spread(seconds),
            value=part.tokens / median, unit="tokens/s", waited=waited,
            path=f"{shares[peer]:.0%} of the time in attention, {same}",
        )  # fmt: skip


def _prefill(model: Any, ids: Any) -> Any:
    """Logits of the last token."""
    import torch

    with torch.inference_mode():
        return model(ids, use_cache=True, logits_to_keep=1).logits[:, -1]


def _decoding(model: Any, ids: Any) -> Callable[[Any, Any], Any]:
    """The last STEPS tokens one by one, over a cache of those before, which is cut back after each time."""
    import torch
    from transformers import DynamicCache

    cache = DynamicCache(config=model.config)
    start = ids.shape[1] - STEPS
    with torch.inference_mode():
        model(ids[:, :start], cache=cache, use_cache=True, logits_to_keep=1)

    def steps(model: Any, ids: Any) -> Any:
        found = []
        with torch.inference_mode():
            for place in range(start, ids.shape[1]):
                found.append(model(ids[:, place : place + 1], cache=cache, use_cache=True).logits[:, -1])
            cache.crop(-STEPS)
        return torch.cat(found)

    return steps


def _with_attention(model: Any, name: str, work: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        model.set_attn_implementation(name)
        return work()

    return run


def _same_tokens(ours: Any, theirs: Any, dtype: str) -> str:
    """How many of the next tokens are the same, where the top two are further apart than the rounding."""
    top = theirs.float().topk(2, dim=-1)
    apart = top.values[:, 0] - top.values[:, 1]
    clear = apart > (0 if dtype == "float32" else _TIE * top.values[:, 0].abs())
    same = (ours.argmax(-1) == theirs.argmax(-1))[clear]
    return f"{int(same.sum())} of {len(same)} next tokens the same"


def _watched(name: str, call: Callable[[], Any]) -> tuple[Any, float, float]:
    """(result, seconds, the part of them in the attention function itself) of one call."""
    with _replaced(name) as told:
        began = time.perf_counter()
        result = call()
        whole = time.perf_counter() - began
    return result, whole, told[0] / whole


@contextmanager
def _replaced(name: str) -> Iterator[list[float]]:
    """The attention of that name with a stop-watch about it."""
    from transformers import AttentionInterface

    function = AttentionInterface()[name]
    told = [0.0]

    def timed(*args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*args, **options)
        finally:
            told[0] += time.perf_counter() - began

    AttentionInterface.register(name, timed)
    try:
        yield told
    finally:
        AttentionInterface.register(name, function)


def _llama(parts: Sequence[Part], threads: int) -> Iterator[Measurement]:
    """llama.cpp with the same model's GGUF file: other weights (quantised), so shown and no bar."""
    if not parts:
        return
    blank = Measurement("model", "model", LLAMA, threads, unit="tokens/s", warm_up=0)
    try:
        from llama_cpp import Llama  # pyright: ignore[reportMissingImports]
    except (ImportError, OSError, RuntimeError):
        yield replace(blank, absent="llama-cpp-python is not installed")
        return
    from pathlib import Path

    from pozor.capture import loading

    source = loading.find(loading.SMOLLM2)
    path = Path(source.where) / (source.gguf or "")
    llama = Llama(str(path), n_ctx=max(LENGTHS), n_threads=threads, n_threads_batch=threads, flash_attn=True,
                  verbose=False)  # fmt: skip
    for part in parts:
        tokens = [3 + n % 40000 for n in range(part.length)]
        seconds = []
        for _ in range(3):
            llama.reset()
            began = time.perf_counter()
            llama.eval(tokens[:-STEPS])
            if part.kind == "decode":
                began = time.perf_counter()
                for token in tokens[-STEPS:]:
                    llama.eval([token])
            seconds.append(time.perf_counter() - began)
        median = clock.median(seconds)
        yield replace(
            blank, name=part.name, case=part.as_json(), seconds=seconds, repeats=3, median=median,
            spread=clock.spread(seconds), value=part.tokens / median, path=path.name,
        )  # fmt: skip
