"""What a reader types runs in a process of its own, is limited, can be stopped, and says what went wrong."""

import os
import sys
import time

import pytest

from pozor.lessons import program
from pozor.lessons.runner import LONGEST_OUTPUT, Run

WRONG = """import pozor, numpy as np

def f(x):
    return pozor.attention(x, x[:, :2], x)

f(np.ones((2, 3)))"""


def test_it_prints_and_shows_the_value_of_its_last_line() -> None:
    outcome = Run("print('ahoj')\n1 + 1").wait()
    assert (outcome.end, outcome.printed, outcome.value, outcome.error) == ("done", "ahoj\n", "2", None)


def test_a_whole_program_runs_twice_with_nothing_left_of_the_first() -> None:
    source = "print('x' in globals())\nx = 1"
    for _ in range(2):
        assert Run(source).wait().printed == "False\n"


def test_an_error_is_the_programs_own_lines() -> None:
    outcome = Run(WRONG).wait()
    assert outcome.error is not None
    lines = outcome.error.splitlines()
    assert lines[0] == "line 6, in <module>"
    assert "line 4, in f" in lines
    assert lines[-1].startswith("ShapeError: k must share head_dim with q; got 3")
    assert "site-packages" not in outcome.error
    assert "program.py" not in outcome.error


def test_a_slip_of_the_pen_is_shown_where_it_is() -> None:
    error = Run("x = (1\nprint(x)").wait().error
    assert error is not None
    assert error.startswith("line 1\n")
    assert "SyntaxError: '(' was never closed" in error


def test_a_loop_without_an_end_is_stopped_in_time() -> None:
    started = time.monotonic()
    outcome = Run("print('so far')\nwhile True: pass", seconds=2).wait()
    assert (outcome.end, outcome.printed) == ("time", "so far\n")
    assert time.monotonic() - started < 10


def test_it_can_be_stopped_with_what_it_started() -> None:
    run = Run(
        "import subprocess, sys\nprint('here')\nsubprocess.run([sys.executable, '-c', 'while True: pass'])"
    )
    time.sleep(0.5)
    run.stop()
    assert run.wait().end == "stopped"


def test_endless_output_is_cut() -> None:
    outcome = Run("while True: print('x' * 1000)").wait()
    assert outcome.end == "output"
    assert len(outcome.printed) <= LONGEST_OUTPUT


@pytest.mark.skipif(os.name != "posix", reason="there memory has no limit")
def test_memory_is_limited() -> None:
    error = Run("x = [0] * 10 ** 11").wait().error
    assert error is not None
    assert error.endswith("MemoryError")
    assert Run("import numpy as np; np.ones(10 ** 11)").wait().error is not None


def test_a_crash_is_told() -> None:
    assert Run("import os; os.abort()").wait().end == "died"


def test_it_knows_nothing_of_the_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POZOR_SOLUTION_CODE", "sedm")
    assert "sedm" not in Run("import os; print(os.environ)").wait().printed


def test_a_figure_comes_as_a_picture() -> None:
    outcome = Run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone", seconds=30).wait()
    assert outcome.error is None
    assert outcome.images
    assert outcome.images[0].startswith("iVBOR")  # PNG


def test_what_is_no_utf8_and_what_exits_is_no_error() -> None:
    outcome = Run("import sys; sys.stdout.buffer.write(b'\\xff'); sys.exit(3)").wait()
    assert (outcome.end, outcome.printed, outcome.error) == ("done", "\ufffd", None)
    outcome = Run("import sys; print('dobrý den'); sys.exit('ahoj')").wait()
    assert (outcome.printed, outcome.error) == ("dobrý den\nahoj\n", None)
    assert program.run_here("raise SystemExit('ahoj')")[0] == "ahoj\n"


def test_where_there_is_no_other_process_it_runs_in_a_dict_of_its_own() -> None:
    printed, result = program.run_here("x = 5\nprint(x)\nx * 2")
    assert (printed, result["value"]) == ("5\n", "10")
    assert program.run_here("x")[1]["error"] is not None
    assert "x" not in sys.modules["__main__"].__dict__
