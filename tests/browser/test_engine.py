"""The page's own engine answers to Python: its cases and its data are those of this package.

`web/tests/engine_cases.test.ts` compares the engine with the cases; here the cases answer to the reference.
"""

import json
import subprocess
import sys

import numpy as np
from engine_cases import TARGET, cases

from support import assert_close


def test_the_cases_the_engine_is_tested_with_are_what_the_reference_gives() -> None:
    stored = json.loads(TARGET.read_text(encoding="utf-8"))
    fresh = cases()
    assert [c["state"] for c in stored] == [c["state"] for c in fresh]
    for old, new in zip(stored, fresh):
        assert old.keys() == new.keys()
        for name in old.keys() - {"state"}:
            assert_close(np.array(old[name]), np.array(new[name]))


def test_the_data_of_the_examples_is_generated_from_python() -> None:
    subprocess.run([sys.executable, "-m", "pozor.viewer.example_data", "--check"], check=True)
