"""SmolLM2 end to end: tokens per second with attention `pozor`, with transformers' sdpa, and in llama.cpp."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pozor.bench import clock
from pozor.bench.measurement import Measurement
from pozor.errors import PozorError

LENGTHS = (512, 2048, 8192)
STEPS = 64  # tokens that are decoded up to the length
OURS, THEIRS, LLAMA = "SmolLM2, attention pozor", "SmolLM2, attention sdpa", "llama.cpp"
_NAMES = {OURS: "pozor", THEIRS: "sdpa"}
# of the largest logit: top two that are nearer than this may change places in bfloat16
_TIE = 2.0**-7


def measure(threads: int, repeats: int, lengths: tuple[int, ...] = LENGTHS) -> Iterator[Measurement]:
    """Prefill and decoding in both dtypes and at each length; the reason where there is no model."""
    blank = Measurement("model", "model", OURS, threads)
    try:
        import torch

        import pozor.torch  # noqa: F401  (registers the attention)

        model = _loaded()
    except (ImportError, PozorError) as reason:
        yield replace(blank, absent=f"SmolLM2 cannot be loaded: {reason}")
        return
    for dtype in ("float32", "bfloat16"):
        model = model.to(getattr(torch, dtype))
        for length in lengths:
            yield from _one_length(model, dtype, length, threads, repeats)
    yield from _llama(threads, lengths)


def _loaded() -> Any:
    from pozor.capture import loading

    with loading.quiet():
        return loading.load(loading.find(loading.SMOLLM2), dtype="float32", device="cpu").model.eval()


def _one_length(model: Any, dtype: str, length: int, threads: int, repeats: int) -> Iterator[Measurement]:
    import torch

    ids = torch.randint(0, 49000, (1, length), generator=torch.Generator().manual_seed(length))
    repeats = max(3, repeats // (1 + length // 2048))
    for kind, work, tokens in (("prefill", _prefill, length), ("decode", _decoding(model, ids), STEPS)):
        blank = Measurement(
            f"model {kind} {dtype} T {length}", "model", "", threads, unit="tokens/s",
            case={"group": "model", "kind": kind, "dtype": dtype, "length": length, "tokens": tokens},
        )  # fmt: skip
        calls: dict[str, Callable[[], Any]] = {
            peer: _with_attention(model, name, lambda work=work: work(model, ids))
            for peer, name in _NAMES.items()
        }
        first = {peer: call() for peer, call in calls.items()}
        same = _same_tokens(first[OURS], first[THEIRS], dtype)
        shares = {
            peer: _share(model, name, lambda work=work: work(model, ids)) for peer, name in _NAMES.items()
        }
        times = clock.interleaved(calls, repeats, budget=120.0, warm_up=0)
        for peer, seconds in times.items():
            median = clock.median(seconds)
            yield replace(
                blank, peer=peer, seconds=seconds, repeats=len(seconds), median=median, value=tokens / median,
                spread=clock.spread(seconds), path=f"{shares[peer]:.0%} of the time in attention, {same}",
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


def _share(model: Any, name: str, work: Callable[[], Any]) -> float:
    """The part of the time that is spent in the attention function itself."""
    spent = 0.0
    with _replaced(name) as told:
        model.set_attn_implementation(name)
        began = time.perf_counter()
        work()
        whole = time.perf_counter() - began
        spent = told[0]
    return spent / whole


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


def _llama(threads: int, lengths: tuple[int, ...]) -> Iterator[Measurement]:
    """llama.cpp with the same model's GGUF file: other weights (quantised), so shown and no bar."""
    blank = Measurement("model", "model", LLAMA, threads, unit="tokens/s")
    try:
        from llama_cpp import Llama  # pyright: ignore[reportMissingImports]
    except (ImportError, OSError, RuntimeError):
        yield replace(blank, absent="llama-cpp-python is not installed")
        return
    from pathlib import Path

    from pozor.capture import loading

    source = loading.find(loading.SMOLLM2)
    path = Path(source.where) / (source.gguf or "")
    llama = Llama(str(path), n_ctx=max(lengths), n_threads=threads, n_threads_batch=threads, flash_attn=True,
                  verbose=False)  # fmt: skip
    for length in lengths:
        tokens = [3 + n % 40000 for n in range(length)]
        seconds = {"prefill": [], "decode": []}
        for _ in range(3):
            llama.reset()
            began = time.perf_counter()
            llama.eval(tokens[:-STEPS])
            seconds["prefill"].append(time.perf_counter() - began)
            began = time.perf_counter()
            for token in tokens[-STEPS:]:
                llama.eval([token])
            seconds["decode"].append(time.perf_counter() - began)
        for kind, count in (("prefill", length - STEPS), ("decode", STEPS)):
            median = clock.median(seconds[kind])
            yield replace(
                blank, name=f"model {kind} gguf T {length}", seconds=seconds[kind], repeats=3, median=median,
                spread=clock.spread(seconds[kind]), value=count / median, path=path.name,
                case={"group": "model", "kind": kind, "dtype": "gguf", "length": length, "tokens": count},
            )  # fmt: skip
