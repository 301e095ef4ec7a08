"""Notebooks: one Jupyter Lab for the session; what needs no browser runs in a thread of its own."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # helpers of this room

from lab_page import Lab, serving


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with serving(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """The main thread may hold the loop of Playwright, and a channel answers on the loop that it finds."""
    if "chromium" in pyfuncitem.fixturenames:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in names}).result()
    return True
