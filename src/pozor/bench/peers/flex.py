"""torch's flex_attention, compiled for this machine; it needs a C++ compiler."""

from typing import Any

from pozor.bench.cases import Case
from pozor.bench.peers import Absent, Call, Peer, need
from pozor.bench.peers.torchs import to_numpy, to_torch


def peers() -> list[Peer]:
    """Where its block masks matter: a window."""
    return [Peer("torch flex_attention", _flex, ("window",), detail=True)]


def _flex(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    torch = need("torch")
    import shutil
    import warnings

    if not any(shutil.which(name) for name in ("g++", "clang++", "c++")):
        raise Absent("compiling it needs a C++ compiler")
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    left, right = case.window or (case.kv_len, 0)

    def seen(b: Any, h: Any, row: Any, key: Any) -> Any:
        return (key <= row + right) & (row - key <= left)

    q, k, v = (to_torch(torch, x) for x in qkv)
    blocks = create_block_mask(seen, None, None, case.q_len, case.kv_len, device="cpu")
    compiled = torch.compile(flex_attention, fullgraph=True)

    def run() -> Any:
        with torch.no_grad():
            return compiled(q, k, v, block_mask=blocks)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    except Exception as error:  # the compiler's errors have no common class
        said = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
        raise Absent(f"does not compile here ({said[:120]})") from None
    return Call(run, to_numpy)
