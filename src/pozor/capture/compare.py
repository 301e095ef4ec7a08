"""lse, fidelity and value norms of one layer, in torch, on the device that holds q and k."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.recording import MaskForm

ROWS_AT_ONCE = 4096  # keys whose v W_O is held at a time


@dataclass(frozen=True)
class Reproduced:
    """What pozor makes of one item: lse (num_heads, q_len), and how far its outputs are from the model's."""

    lse: Any
    error: float


def reproduce(q: Any, k: Any, v: Any, out: Any, form: MaskForm, scale: float) -> Reproduced:
    """Compute the heads' outputs again and compare them with the model's.

    Args:
        q: (num_heads, q_len, head_dim), a torch tensor.
        k: (num_kv_heads, kv_len, head_dim).
        v: (num_kv_heads, kv_len, v_head_dim).
        out: The model's heads' outputs before W_O, (num_heads, q_len, v_head_dim).
        form: Which keys each row sees.
        scale: Multiplies q·k.

    Returns:
        lse in float32, and ‖pozor − model‖ / ‖model‖ over the rows that see something.
    """
    import torch

    from pozor.attend import observe
    from pozor.matrix import AttentionMap

    # float32 keeps every bit of half and bfloat16 and adds no rounding of ours to the error
    wide = [a if a.dtype == torch.float64 else a.float() for a in (q, k, v)]
    options = form.options(q.shape[1], k.shape[1])
    seen = observe(*wide, **options, scale=scale, backend="torch")
    # a map's own lse is summed in float64 where float32 would move probs by more than 1e-5
    exact = AttentionMap(*wide[:2], **options, scale=scale).lse
    assert exact is not None
    lse = torch.from_numpy(np.array(exact[0], np.float32))
    rows = torch.isfinite(seen.lse)
    model = out[rows].to(seen.out.dtype)
    error = torch.linalg.vector_norm(seen.out[rows] - model)
    size = torch.linalg.vector_norm(model)
    if float(size) == 0:
        return Reproduced(lse, 0.0 if float(error) == 0 else float("inf"))
    return Reproduced(lse, float(error / size))


def value_norms(v: Any, w_o: Any, kv_heads: tuple[int, ...]) -> Any:
    """‖v_j W_O‖ of each query head, float32 (heads, kv_len).

    Args:
        v: (kv heads, kv_len, v_head_dim).
        w_o: The rows of W_O of each query head, (heads, v_head_dim, d_model).
        kv_heads: Row of v that each query head reads.
    """
    import torch

    norms = torch.empty(len(kv_heads), v.shape[1], dtype=torch.float32, device=v.device)
    for head, kv_head in enumerate(kv_heads):
        weights = w_o[head].to(v.device).float()
        for at in range(0, v.shape[1], ROWS_AT_ONCE):
            rows = slice(at, at + ROWS_AT_ONCE)
            norms[head, rows] = torch.linalg.vector_norm(v[kv_head, rows].float() @ weights, dim=-1)
    return norms


def to_numpy(tensor: Any) -> np.ndarray:
    """A NumPy array of the tensor's own values and dtype, bfloat16 as ml_dtypes'."""
    import ml_dtypes
    import torch

    tensor = tensor.detach().to("cpu").contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()
