"""The native kernel: each instruction set against the reference, bits, strides, threads, forks, signals."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor import Causal, Documents, Padding, Prefix, Want, inputs
from pozor.backends import native, reference
from support import assert_close

ISAS = tuple(native._native.runnable()) if native.available() else ()
DTYPES = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)
FULL = Want(row_max=True, entropy=True, top_k=5, received=True, distance=True, pooled=16)
NAMES = ("out", "lse", "row_max", "entropy", "top_probs", "top_keys", "received", "distance")


def test_the_kernel_is_in_this_install():
    assert native.available()
    assert "native" in pozor.available_backends()
    assert ISAS[-1] == "portable"


def test_auto_is_native_and_says_the_instruction_set(monkeypatch):
    x = np.ones((1, 2, 3, 4), np.float32)
    seen = pozor.observe(x, x, x)
    assert (seen.backend, seen.path) == ("native", f"{ISAS[0]} split")
    monkeypatch.setenv(native.ISA, "portable")
    assert pozor.observe(x, x, x).path == "portable split"
    monkeypatch.setenv(native.ISA, "z80")
    with pytest.raises(
        pozor.OptionError, match=f"{native.ISA} must be one of .*portable on this machine; got 'z80'"
    ):
        pozor.observe(x, x, x)


def test_auto_takes_another_where_native_does_not_cover():
    wide = np.ones((1, 1, 2, 577), np.float32)
    assert pozor.observe(wide, wide, wide).backend == "blocked"
    with pytest.raises(
        pozor.BackendUnavailable, match=r"takes head_dim up to 576; got 577. Use backend='blocked'"
    ):
        pozor.attention(wide, wide, wide, backend="native")
    with pytest.raises(pozor.BackendUnavailable, match="takes v_head_dim up to 576; got 577"):
        pozor.attention(wide[..., :8], wide[..., :8], wide, backend="native")
    x = wide[..., :8]
    assert pozor.observe(x, x, x, want=Want(pooled=24)).backend == "blocked"


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    batch, kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    q_len = draw(st.sampled_from([1, 2, 3, 16, 17, 63, 100, 400]))
    kv_len = draw(st.sampled_from([1, 7, 63, 64, 65, 130, 511, 513, 1100]))
    dim, v_dim = (draw(st.sampled_from([1, 3, 16, 31, 64, 80, 128, 576])) for _ in range(2))
    heads = kv_heads * group
    dtype = draw(st.sampled_from(DTYPES))
    options = {"q_offset": rng.integers(-20, 60, batch) if draw(st.booleans()) else kv_len - q_len}
    if draw(st.booleans()):
        options["causal"] = True
    if draw(st.booleans()):
        options["window"] = (draw(st.sampled_from([None, 0, 5, 200])), draw(st.sampled_from([None, 0, 90])))
    match draw(st.sampled_from(["none", "array", "keys", "padding", "prefix", "documents", "callable"])):
        case "array":
            options["mask"] = rng.random((batch, 1, q_len, kv_len)) < 0.6
        case "keys":
            options["mask"] = rng.random((1, heads, 1, kv_len)) < 0.6
        case "padding":
            options["mask"] = Padding(rng.integers(0, kv_len + 1, batch))
        case "prefix":
            options["mask"] = Causal() | Prefix(int(rng.integers(0, kv_len + 1)))
        case "documents":
            options["mask"] = Documents(np.arange(q_len) // 40, np.arange(kv_len) // 40)
        case "callable":
            options["mask"] = lambda b, h, i, j: (i * 3 + j * 7 + h + b) % 4 != 0
    if draw(st.booleans()):
        bias = rng.normal(size=(1, heads, draw(st.sampled_from([1, q_len])), kv_len))
        options["bias"] = np.where(rng.random(bias.shape) < 0.1, -np.inf, bias).astype(dtype)
    if draw(st.booleans()):
        options["softcap"] = draw(st.sampled_from([0.5, 30.0]))
    if draw(st.booleans()):
        options["sink"] = rng.normal(size=heads).astype(dtype)
    if draw(st.booleans()):
        options["scale"] = draw(st.sampled_from([-0.5, 0.0, 0.3, 1e-25]))
    q = rng.normal(size=(batch, heads, q_len, dim)).astype(dtype)
    k = rng.normal(size=(batch, kv_heads, kv_len, dim)).astype(dtype)
    v = rng.normal(size=(batch, kv_heads, kv_len, v_dim)).astype(dtype)
    return q, k, v, options


def plainly(q, k, v, options):
    """The formula in torch operations in the dtype of the inputs, probs and all."""
    import torch

    problem = inputs.problem(q, k, v, **options)
    q, k, v = (inputs.to_torch(np.ascontiguousarray(x)) for x in (problem.q, problem.k, problem.v))
    k, v = (x.repeat_interleave(problem.group_size, dim=1) for x in (k, v))
    visible = torch.from_numpy(np.stack([reference.logits_of(problem, b)[1] for b in range(len(q))]))
    scores = q @ k.transpose(-1, -2) * problem.scale
    if problem.softcap:
        scores = problem.softcap * torch.tanh(scores / problem.softcap)
    if problem.bias is not None:
        scores = scores + inputs.to_torch(problem.bias)
    scores = scores.masked_fill(~visible, -torch.inf)
    if problem.sink is not None:
        sink = inputs.to_torch(problem.sink)[None, :, None, None].expand(*scores.shape[:3], 1)
        scores = torch.cat((scores, sink), dim=-1)
    probs = torch.softmax(scores, dim=-1).nan_to_num(0)[..., : k.shape[2]]
    return inputs.to_numpy(probs @ v)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_out_is_as_exact_as_the_formula_in_that_dtype(isa, problem):
    q, k, v, options = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(native.ISA, isa)
        got = pozor.observe(q, k, v, **options, backend="native")
    wide = {
        name: value.astype(np.float64) if name in ("bias", "sink") else value
        for name, value in options.items()
    }
    exact = pozor.observe(*(x.astype(np.float64) for x in (q, k, v)), **wide, backend="reference")
    # one rounding of what is summed: a sum that cancels, of a single column, may come out exact by luck
    half = 0.5 * float(ml_dtypes.finfo(q.dtype).eps) * float(np.abs(v.astype(np.float64)).max())
    if q.dtype == np.float64:  # the reference is no wider
        assert_close(got.out, exact.out, atol=1e-12)
    else:
        assert_close(got.out, exact.out, plain=plainly(q, k, v, options), dtype=q.dtype.name, atol=half)
    assert_close(got.lse, exact.lse, dtype="", atol=1e-12 if q.dtype == np.float64 else 4e-6)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=25, deadline=None)
@given(problem=problems(), side=st.sampled_from([16, 32, 64, 128, 1024]))
def test_observables(isa, problem, side):
    q, k, v, options = problem
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    options = {n: x.astype(np.float64) if n in ("bias", "sink") else x for n, x in options.items()}
    want = Want(row_max=True, entropy=True, top_k=5, received=True, distance=True, pooled=side)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(native.ISA, isa)
        got = pozor.observe(q, k, v, **options, want=want, backend="native")
    exact = pozor.observe(q, k, v, **options, want=want, backend="reference")
    for name in NAMES:
        if name == "top_keys" and (options.get("scale") in (0.0, 1e-25) or options.get("softcap") == 0.5):
            continue  # logits closer than rounding: any order is right
        assert_close(getattr(got, name), getattr(exact, name), atol=1e-11)
    for name in ("max", "mean", "share"):
        assert_close(getattr(got.pooled, name), getattr(exact.pooled, name), atol=1e-11)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("q_len", [1, 3, 16])
def test_few_queries_split_over_keys_keep_the_rules_of_nan(isa, q_len, monkeypatch):
    monkeypatch.setenv(native.ISA, isa)
    rng = np.random.default_rng(8)
    q, k = rng.normal(size=(2, 6, q_len, 40)), rng.normal(size=(2, 2, 1900, 40))
    k[0, 1, 1200] = np.nan  # in the middle of three parts, for half of the heads of one sequence
    mask = rng.random((1, 1, 1, 1900)) < 0.9
    mask[..., 1200] = True
    options = {"q_offset": 1899 - q_len, "causal": True, "mask": mask}
    got = pozor.observe(q, k, k, **options, want=FULL, backend="native")
    exact = pozor.observe(q, k, k, **options, want=FULL, backend="reference")
    for name in NAMES:
        assert_close(getattr(got, name), getattr(exact, name), atol=1e-11)
    for name in ("max", "mean", "share"):
        assert_close(getattr(got.pooled, name), getattr(exact.pooled, name), atol=1e-11)


@pytest.mark.parametrize("isa", ISAS)
def test_float32_error_by_norm(isa, monkeypatch):
    monkeypatch.setenv(native.ISA, isa)
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 1, 2, 1024, 64)).astype(np.float32)
    exact = pozor.attention(*(x.astype(np.float64) for x in (q, k, v)), backend="reference")
    error = pozor.attention(q, k, v, backend="native") - exact
    assert np.linalg.norm(error) <= 2e-6 * np.linalg.norm(exact)


def bits(seen):
    """Every number of an observation as bytes."""
    arrays = [getattr(seen, name) for name in NAMES if getattr(seen, name) is not None]
    if seen.pooled is not None:
        arrays += [seen.pooled.max, seen.pooled.mean, seen.pooled.share]
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("q_len", [1, 2, 7, 500])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=["float32", "bfloat16"])
def test_bits_depend_on_nothing_else(isa, q_len, dtype, monkeypatch):
    monkeypatch.setenv(native.ISA, isa)
    rng = np.random.default_rng(3)
    q = rng.normal(size=(3, 4, q_len, 48)).astype(dtype)
    k, v = (rng.normal(size=(3, 2, 1300, 48)).astype(dtype) for _ in range(2))
    problem = inputs.problem(q, k, v, causal=True, q_offset=1300 - q_len)
    for want in (None, FULL):
        once = bits(native.run(problem, want, 1))
        for threads in (1, 2, 3, 8):
            assert bits(native.run(problem, want, threads)) == once, f"{threads} threads"
        for b in range(3):
            alone = inputs.problem(*(x[b : b + 1] for x in (q, k, v)), causal=True, q_offset=1300 - q_len)
            assert [x[: len(y)] for x, y in zip(bits(native.run(alone, want, 2)), once)] == [
                y[b * len(y) // 3 : (b + 1) * len(y) // 3] for y in once
            ]
    # a head does not depend on its group: one query head with its kv head gives the same bits
    head = inputs.problem(q[:, 3:], k[:, 1:], v[:, 1:], causal=True, q_offset=1300 - q_len)
    assert native.run(head, None, 2).out.tobytes() == native.run(problem, None, 1).out[:, 3:].tobytes()


@pytest.mark.parametrize("q_len", [1, 40])
@pytest.mark.parametrize("isa", ISAS)
def test_hidden_values_change_no_bit(isa, q_len, monkeypatch):
    monkeypatch.setenv(native.ISA, isa)
    rng = np.random.default_rng(5)
    q = rng.normal(size=(1, 2, q_len, 24)).astype(np.float32)
    k, v = rng.normal(size=(2, 1, 2, 700, 24)).astype(np.float32)
    mask = rng.random((1, 1, 1, 700)) < 0.5
    clean = bits(pozor.observe(q, k, v, mask=mask, backend="native"))
    for odd in (np.nan, np.inf, -np.inf, 3e38):
        dirty_k, dirty_v = (np.where(mask[0, 0, 0][:, None], x, np.float32(odd)) for x in (k, v))
        assert bits(pozor.observe(q, dirty_k, dirty_v, mask=mask, backend="native")) == clean


@pytest.mark.parametrize("q_len", [1, 20])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_strides(dtype, q_len, tmp_path):
    rng = np.random.default_rng(1)
    shape = (2, 2, 150, 32)
    q, k, v = (rng.normal(size=shape).astype(dtype) for _ in range(3))
    q = q[:, :, :q_len]
    want = pozor.attention(q, k, v, backend="native")

    def mapped(x):
        path = tmp_path / f"{id(x)}.bin"
        x.tofile(path)
        return np.memmap(path, dtype=x.dtype, mode="r", shape=x.shape)

    ways = {
        "swapped axes": lambda x: np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2),
        "negative rows": lambda x: np.ascontiguousarray(x[:, :, ::-1])[:, :, ::-1],
        "negative columns": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
        "every other column": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
        "transposed": lambda x: np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3),
        "off the grid": lambda x: np.concatenate((x[..., :1], x), axis=-1)[..., 1:],
        "read-only map": mapped,
    }
    for name, way in ways.items():
        args = [way(x) for x in (q, k, v)]
        assert_close(pozor.attention(*args, backend="native"), want, ulps=16), name


def test_case_44_an_offset_beyond_32_bits(tmp_path):
    step = 2_200_000_000
    path = tmp_path / "sparse.bin"
    with path.open("wb") as file:
        file.truncate(4 * (step + 1))
    whole = np.memmap(path, dtype=np.float32, mode="r+", shape=(step + 1,))
    whole[0], whole[step] = 1, 3
    v = np.lib.stride_tricks.as_strided(whole, (1, 1, 2, 1), (0, 0, 4 * step, 4))
    k = np.zeros((1, 1, 2, 1), np.float32)
    for q_len in (1, 5, 20):
        out = pozor.attention(np.zeros((1, 1, q_len, 1), np.float32), k, v, backend="native")
        assert (out == 2).all()


def test_case_47_eight_callers_at_once():
    wrong = []

    def work(t):
        rng = np.random.default_rng(t)
        for n in range(200):
            q_len = 1 + (7 * t + n) % 90
            q = rng.normal(size=(1, 2, q_len, 16)).astype(np.float32)
            k = rng.normal(size=(1, 1, 50 + t, 16)).astype(np.float32)
            out = pozor.attention(q, k, np.full((1, 1, 50 + t, 16), t + 1, np.float32), backend="native")
            if not np.abs(out - (t + 1)).max() <= 1e-5:
                wrong.append((t, n))

    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def run_python(code, **env):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=120, check=True, env=os.environ | env,
    )  # fmt: skip
    return done.stdout.strip()


def test_a_forked_child_has_threads_of_its_own():
    code = """
    import os, numpy as np, pozor
    x = np.random.default_rng(0).normal(size=(1, 4, 600, 32)).astype(np.float32)
    before = pozor.attention(x, x, x, backend="native")
    child = os.fork()
    same = bool((pozor.attention(x, x, x, backend="native") == before).all())
    if child == 0:
        os._exit(0 if same else 1)
    print(same, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run_python(code, POZOR_NUM_THREADS="3") == "True 0"


def test_an_interrupt_is_heard_within_a_second():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 64, 8192, 64)).astype(np.float32)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        pozor.attention(x, x, x, backend="native")
    assert time.perf_counter() - start < 3
    y = x[:, :1, :50]
    assert np.isfinite(pozor.attention(y, y, y, backend="native")).all()


def test_number_of_threads():
    assert run_python("from pozor import threads; print(threads.num_threads())", POZOR_NUM_THREADS="5") == "5"
    code = "import pozor; from pozor import threads; pozor.set_num_threads(3); print(threads.num_threads())"
    assert run_python(code, POZOR_NUM_THREADS="5") == "3"
    with pytest.raises(pozor.OptionError, match="n must be 1 thread or more; got 0"):
        pozor.set_num_threads(0)
    with pytest.raises(pozor.DtypeError, match=r"n must be a whole number of threads; got 1.5"):
        pozor.set_num_threads(1.5)


def test_a_block_with_its_own_number_of_threads_leaves_it_as_it_was():
    from pozor import threads

    before = threads.num_threads()
    with contextlib.suppress(ZeroDivisionError), threads.using(before + 1):
        assert threads.num_threads() == before + 1
        raise ZeroDivisionError
    assert threads.num_threads() == before


@pytest.mark.parametrize("given", ["0", "two"])
def test_number_of_threads_of_the_environment(given, monkeypatch):
    monkeypatch.setenv("POZOR_NUM_THREADS", given)
    with pytest.raises(pozor.OptionError, match=f"POZOR_NUM_THREADS must be 1 thread or more; got '{given}'"):
        pozor.attention(*[np.ones((2, 2))] * 3, backend="native")


def test_gradients_are_refused_in_the_backward():
    import torch

    q = torch.randn(1, 2, 5, 8, requires_grad=True)
    out = pozor.attention(q, q, q, backend="native")
    assert_close(out, pozor.attention(q.detach(), q.detach(), q.detach(), backend="reference"), ulps=8)
    with pytest.raises(pozor.BackendUnavailable, match="backend='native' gives no gradients; got a backward"):
        out.sum().backward()
    assert pozor.observe(q, q, q).backend == "torch"


@pytest.mark.parametrize("isa", native._runnable())
@pytest.mark.parametrize("q_len", [3, 20])
def test_lse_keeps_its_last_digits_over_many_blocks(
    q_len: int, isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large scores, and a maximum that comes early: an error in each block's correction would add up."""
    monkeypatch.setenv(native.ISA, isa)
    rng, kv_len = np.random.default_rng(11), 65_536
    k = rng.standard_normal((1, 1, kv_len, 64)).astype(np.float32)
    q = 3 * rng.standard_normal((1, 1, q_len, 64)).astype(np.float32)
    logits = (q[0, 0].astype(np.float64) @ k[0, 0].astype(np.float64).T) / 8
    order = np.argsort(-logits.max(axis=0))
    top = logits.max(axis=1)
    meant = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    found = pozor.observe(q, k[:, :, order], None, backend="native").lse[0, 0]
    # scores near 140 in float32: half a unit in the last place of a logit is 1e-6
    assert np.abs(found - meant).max() <= 4e-6
