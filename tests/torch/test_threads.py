"""Whose threads a call on torch tensors runs on: torch's own, never in a forked child."""

import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(
    "ATen parallel backend: OpenMP" not in torch.__config__.parallel_info()
    or not os.path.isdir("/proc/self/task"),
    reason="torch has no OpenMP threads here",
)

BEGINNING = """
import os, signal, threading, time
import numpy as np, torch
torch.set_num_threads(2)
square = torch.ones(900, 900)
square @ square  # torch's threads wait from here on
x = torch.randn(1, 4, 700, 32, generator=torch.Generator().manual_seed(0))

def threads_here():
    return len(os.listdir("/proc/self/task"))

def same_in_a_child(work):
    child = os.fork()
    if child == 0:
        os._exit(0 if work() else 1)  # no operator of torch in work: it would wait, whatever pozor does
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + textwrap.dedent(code)],
        capture_output=True, text=True, timeout=120, check=True, env=os.environ | {"POZOR_NUM_THREADS": "2"},
    )  # fmt: skip
    return done.stdout.strip()


def test_a_call_on_tensors_starts_no_threads_and_gives_the_same_bits():
    code = """
    import pozor
    before = threads_here()
    out = pozor.attention(x, x, x, causal=True, backend="native")
    started = threads_here() - before
    with_own = pozor.attention(x.numpy(), x.numpy(), x.numpy(), causal=True, backend="native")
    print(started, threads_here() - before, bool((out.numpy() == with_own).all()))
    """
    assert run_python(code) == "0 1 True"


def test_a_forked_child_does_not_wait_for_threads_it_has_not_got():
    code = """
    import pozor
    out = pozor.attention(x, x, x, backend="native").numpy()
    print(same_in_a_child(lambda: bool((pozor.attention(x, x, x, backend="native").numpy() == out).all())))
    """
    assert run_python(code) == "True"


def test_nor_does_a_child_forked_before_pozor_was_loaded():
    code = """
    def work():
        import pozor
        outs = [pozor.attention(x, x, x, backend="native").numpy() for _ in range(3)]
        return bool((outs[0] == outs[2]).all())

    print(same_in_a_child(work))
    """
    assert run_python(code) == "True"


def test_more_threads_than_torch_has_are_not_taken_and_fewer_leave_torch_its_own():
    code = """
    import pozor
    torch.set_num_threads(3)
    square @ square
    before = threads_here()
    pozor.set_num_threads(2)
    out = pozor.attention(x, x, x, backend="native")
    square @ square
    print(threads_here() - before, bool(torch.isfinite(out).all()))
    """
    assert run_python(code) == "0 True"


def test_an_interrupt_is_heard_on_torchs_threads():
    code = """
    import pozor
    long = torch.zeros(1, 1, 32768, 64).expand(1, 64, 32768, 64)  # a minute of work
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        pozor.attention(long, long, long, backend="native")
    except KeyboardInterrupt:
        print(time.perf_counter() - start < 30)
    print(bool(torch.isfinite(pozor.attention(x, x, x, backend="native")).all()))
    """
    assert run_python(code) == "True\nTrue"
