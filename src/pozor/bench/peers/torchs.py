"""torch: its fused SDPA, and the plain operations that give the weights."""

from typing import Any

import numpy as np

from pozor.bench.cases import Case
from pozor.bench.peers import Absent, Call, Peer, need
from pozor.inputs import to_torch as _to_torch

_CELLS = 1 << 27  # scores that the plain operations may hold: 512 MiB in float32, three times


def peers() -> list[Peer]:
    """Both."""
    return [
        Peer("torch", _sdpa, ("prefill", "decode", "window", "observe", "small", "length")),
        Peer("torch eager", _eager, ("observe", "length")),
    ]


def to_torch(torch: Any, array: Any) -> Any:
    """A tensor on the array's memory."""
    return _to_torch(array)


def to_numpy(tensor: Any) -> np.ndarray:
    """A result as an array; bfloat16 as float32."""
    return tensor.float().numpy() if str(tensor.dtype) == "torch.bfloat16" else tensor.numpy()


def _sdpa(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    torch = need("torch")
    q, k, v = (to_torch(torch, x) for x in qkv)
    options: dict[str, Any] = {"enable_gqa": case.heads != case.kv_heads}
    if case.window is not None:
        options["attn_mask"] = torch.from_numpy(case.visible(np.arange(case.q_len)))
    elif case.causal and case.q_len != case.kv_len:
        raise Absent("is_causal is aligned at the top left")
    else:
        options["is_causal"] = case.causal
    attend = torch.nn.functional.scaled_dot_product_attention
    return Call(lambda: attend(q, k, v, **options), to_numpy)


def _eager(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    """softmax(q kᵀ · scale + mask) v, with the weights as a result: what a model does to return them."""
    torch = need("torch")
    if case.dtype != "float32":
        raise Absent("measured in float32")
    if case.heads * case.q_len * case.kv_len > _CELLS:
        raise Absent("its scores would take gigabytes")
    q, k, v = (to_torch(torch, x) for x in qkv)
    group, scale = case.heads // case.kv_heads, case.head_dim**-0.5
    mask = None
    if case.causal or case.window is not None:
        mask = torch.zeros(case.q_len, case.kv_len, dtype=q.dtype)
        mask.masked_fill_(~torch.from_numpy(case.visible(np.arange(case.q_len))), -torch.inf)

    def run() -> Any:
        keys, values = (x.repeat_interleave(group, 1) if group > 1 else x for x in (k, v))
        scores = q @ keys.transpose(-1, -2) * scale
        weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
        return weights @ values, weights

    return Call(run, lambda found: to_numpy(found[0]))
