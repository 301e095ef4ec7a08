"""A server of a small lesson for one reader, and one for a class; tests that end a server start their own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pozor.viewer.lessons import Lessons

sys.path.insert(0, str(Path(__file__).parent))  # for notebook

from notebook import serving, write


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small lesson."""
    return write(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def alone(small: Path) -> Iterator[Lessons]:
    """Served to one reader."""
    with serving(small, presenter=True) as lessons:
        yield lessons


@pytest.fixture(scope="session")
def school(small: Path) -> Iterator[Lessons]:
    """Served to a class."""
    with serving(small, public=True) as lessons:
        yield lessons
