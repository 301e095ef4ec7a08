"""Notebooks: one Jupyter Lab for the session."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # helpers of this room

from lab_page import Lab, serving


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with serving(tmp_path_factory.mktemp("jupyter")) as running:
        yield running
