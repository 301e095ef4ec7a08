"""pozor: as auto chooses, each backend and instruction set by name, with observables, and as torch's SDPA."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pozor
from pozor.bench.cases import Case
from pozor.bench.peers import Absent, Call, Peer, need

_LONGEST_RECEIVED = 4096  # tokens: the bar is about that length
ISA = "POZOR_NATIVE_ISA"
_DETAIL = ("prefill", "decode")
_LONGEST = 1024  # tokens: other backends and instruction sets are shown where they take no minutes


def peers() -> list[Peer]:
    """`pozor` is what a user gets; the others are for the curious."""
    found = [
        Peer("pozor", _call_of("auto")),
        Peer("pozor observe", _observing(received=False), ("observe",)),
        Peer("pozor observe + received", _observing(received=True), ("observe",)),
        Peer("pozor.torch sdpa", _as_sdpa, ("small",)),
    ]
    found += [Peer(f"pozor {name}", _call_of(name), _DETAIL, detail=True) for name in ("blocked", "torch")]
    return found + [
        Peer(f"pozor native {isa}", _call_of("native", isa), _DETAIL, detail=True) for isa in isas()[1:]
    ]


def isas() -> list[str]:
    """The instruction sets that the native kernel can run here, the default first; none without it."""
    try:
        from pozor import _native  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        return []
    return list(_native.runnable())


def options_of(case: Case) -> dict[str, Any]:
    """The case as options of pozor.attention."""
    options: dict[str, Any] = {"causal": case.causal, "window": case.window}
    return options | ({"q_offset": case.q_offset} if case.causal or case.window else {})


def everything(received: bool) -> pozor.Want:
    """All observables, `received` only if asked for: it takes a second pass."""
    return pozor.Want(row_max=True, entropy=True, top_k=8, distance=True, pooled=64, received=received)


@contextmanager
def _forcing(isa: str) -> Iterator[None]:
    """The kernel on that instruction set inside the block; "" leaves it as it is."""
    before = os.environ.get(ISA)
    if isa:
        os.environ[ISA] = isa
    try:
        yield
    finally:
        if isa and before is None:
            del os.environ[ISA]
        elif isa and before is not None:
            os.environ[ISA] = before


def _call_of(backend: str, isa: str = "") -> Any:
    def prepare(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
        if backend != "auto" and case.kv_len > _LONGEST and case.q_len > 1:
            raise Absent(f"shown up to T = {_LONGEST}")
        if backend not in ("auto", *pozor.available_backends()):
            raise Absent(f"backend='{backend}' is not in this install")
        options: dict[str, Any] = options_of(case) | {"backend": backend}
        want = everything(case.observe == "received") if case.observe else None

        def run() -> Any:
            if want is not None:
                return pozor.observe(*qkv, want=want, **options)
            return pozor.attention(*qkv, **options)

        def forced() -> Any:
            with _forcing(isa):
                return run()

        with _forcing(isa):
            path = _path(qkv, options)
        return Call(forced if isa else run, lambda found: getattr(found, "out", found), path)

    return prepare


_FEW = 32  # tokens: more than the kernel takes for a short call, so that long ones are named rightly


def _path(qkv: tuple[Any, Any, Any], options: dict[str, Any]) -> str:
    """Which backend and kernel `attention` takes, asked of a few queries."""
    q, k, v = qkv
    few: dict[str, Any] = options | ({"q_offset": 0} if options["causal"] or options["window"] else {})
    seen = pozor.observe(*(x[:, :, :_FEW] for x in (q, k, v)), **few)
    return f"{seen.backend} {seen.path}".strip()


def _observing(received: bool) -> Any:
    def prepare(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
        if received and case.kv_len > _LONGEST_RECEIVED:
            raise Absent(f"shown up to T = {_LONGEST_RECEIVED}")
        options, want = options_of(case), everything(received)
        return Call(lambda: pozor.observe(*qkv, want=want, **options), lambda seen: seen.out)

    return prepare


def _as_sdpa(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    torch = need("torch")
    if case.causal and case.q_len != case.kv_len:
        raise Absent("is_causal is aligned at the top left")
    from pozor.bench.peers.torchs import to_numpy, to_torch
    from pozor.torch import scaled_dot_product_attention

    q, k, v = (to_torch(torch, x) for x in qkv)
    return Call(lambda: scaled_dot_product_attention(q, k, v, is_causal=case.causal), to_numpy)
