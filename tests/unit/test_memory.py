"""Memory grows with the tokens and never with their square: peaks in fresh processes."""

import subprocess
import sys

import pytest

START = """
import resource, numpy as np, pozor
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rng = np.random.default_rng(0)
"""


def extra_mb(code: str) -> float:
    """Peak resident memory, in MiB, beyond what the inputs and a small call took."""
    script = START + code
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def test_blocked_of_32768_tokens_stays_under_200_mb():
    # probs alone would be 4 GiB in float32
    extra = extra_mb("""
q, k, v = (rng.standard_normal((32768, 64), dtype=np.float32) for _ in range(3))
pozor.attention(q[:512], k[:512], v[:512], backend="blocked")
before = peak()
out = pozor.attention(q, k, v, backend="blocked")
assert np.isfinite(out).all()
print(peak() - before)
""")
    assert extra < 200


def test_blocked_observables_of_16384_tokens_stay_under_200_mb():
    extra = extra_mb("""
q, k, v = (rng.standard_normal((16384, 16), dtype=np.float32) for _ in range(3))
want = pozor.Want(row_max=True, entropy=True, top_k=8, received=True, distance=True, pooled=64)
small = pozor.observe(q[:512], k[:512], v[:512], causal=True, window=(4000, 0), want=want, backend="blocked")
before = peak()
seen = pozor.observe(q, k, v, causal=True, window=(4000, 0), want=want, backend="blocked")
print(peak() - before)
""")
    assert extra < 200


@pytest.mark.parametrize("backend", ["blocked", "torch"])
def test_case_45_grouped_heads_under_a_mask_do_not_build_all_scores(backend):
    # 8 heads of 8192 x 8192 float32 would be 2 GiB
    extra = extra_mb(f"""
q = rng.standard_normal((8, 8192, 16), dtype=np.float32)
k = rng.standard_normal((2, 8192, 16), dtype=np.float32)
v = np.ones((2, 8192, 16), np.float32)
mask = np.tril(np.ones((1, 1, 8192, 8192), bool))
pozor.attention(q[:, :64], k[:, :64], v[:, :64], mask=mask[..., :64, :64], backend={backend!r})
before = peak()
out = pozor.attention(q, k, v, mask=mask, backend={backend!r})
assert np.abs(out - 1).max() < 1e-5
print(peak() - before)
""")
    assert extra < 256


def test_gradients_do_not_keep_all_scores():
    # one 8192 x 8192 float32 array is 256 MiB
    extra = extra_mb("""
import torch
def step(tokens):
    q = torch.randn(1, 1, tokens, 16, requires_grad=True)
    pozor.attention(q, q, q, causal=True, softcap=5.0, backend="torch").sum().backward()
step(64)
before = peak()
step(8192)
print(peak() - before)
""")
    assert extra < 200
