"""The computing threads: results and errors come back, what nobody waits for is not begun, processes end."""

import asyncio
import subprocess
import sys
import threading

import pytest
from loops import in_a_loop

from pozor.viewer.workers import Workers


def test_results_and_errors_come_back() -> None:
    workers = Workers(2)

    async def ask() -> list[object]:
        return await asyncio.gather(
            *(workers.run(lambda n=n: 6 // n) for n in (3, 0, 2)), return_exceptions=True
        )

    three, error, two = in_a_loop(ask)
    assert (three, two) == (2, 3)
    assert isinstance(error, ZeroDivisionError)
    assert not workers.busy


def test_no_more_threads_than_were_asked_for() -> None:
    workers, at_once, lock = Workers(3), [0, 0], threading.Lock()

    def work() -> None:
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
        threading.Event().wait(0.01)
        with lock:
            at_once[0] -= 1

    async def ask() -> None:
        await asyncio.gather(*(workers.run(work) for _ in range(30)))

    in_a_loop(ask)
    assert at_once == [0, 3]


def test_what_is_cancelled_while_it_waits_is_never_begun() -> None:
    workers, free, begun = Workers(1), threading.Event(), []

    def first() -> None:
        begun.append("first")
        free.wait(30)

    async def ask() -> None:
        busy = asyncio.create_task(workers.run(first))
        waiting = asyncio.create_task(workers.run(lambda: begun.append("second")))
        while not begun:
            await asyncio.sleep(0.01)
        assert workers.busy
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        free.set()
        await busy
        await workers.run(lambda: begun.append("third"))

    in_a_loop(ask)
    assert begun == ["first", "third"]


def test_a_process_ends_while_they_compute() -> None:
    code = (
        "import asyncio, time\n"
        "from pozor.viewer.workers import WORKERS\n"
        "async def ask():\n"
        "    task = asyncio.create_task(WORKERS.run(lambda: time.sleep(60)))\n"
        "    while not WORKERS.busy: await asyncio.sleep(0.01)\n"
        "    task.cancel()\n"
        "asyncio.run(ask())\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=20, check=False).returncode == 0


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_ctrl_c_in_the_middle_of_a_product_of_matrices(number: str) -> None:
    # BLAS with threads of its own, so that ending the ordinary way would wait for them
    code = f"""
import asyncio, os, signal, threading
import numpy as np
from pozor import cli
from pozor.viewer import serve
from pozor.viewer.workers import WORKERS

def multiply():
    a = np.ones((2000, 2000))
    for _ in range(1000):
        a @ a

class Busy(serve.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.work = asyncio.create_task(WORKERS.run(multiply))
        threading.Timer(0.5, os.kill, (os.getpid(), signal.{number})).start()

serve.Server = Busy
cli.main(["view", "--port", "0", "--no-open", "--lang", "en"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stderr == ""
    assert done.returncode == (0 if number == "SIGINT" else -15)
    assert ("pozor has stopped." in done.stdout) is (number == "SIGINT")
