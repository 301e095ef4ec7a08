"""What browser tests open in the one Chromium of the session: the mailed file, the app."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from pozor.cli import main

sys.path.insert(0, str(Path(__file__).parent))  # helpers of this room

from examples_page import opened
from heads_page import matrices, record_several
from map_page import App, record_all, serving
from map_page import opened as opened_app


@pytest.fixture(scope="session")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file that a teacher mails."""
    path = tmp_path_factory.mktemp("lesson") / "hodina.html"
    with pytest.raises(SystemExit) as stop:
        main(["examples", "-o", str(path)])
    assert stop.value.code == 0
    return str(path)


@pytest.fixture
def on_paper(chromium: Browser, lesson: str) -> Iterator[Page]:
    with opened(chromium, lesson, "#/paper") as page:
        yield page


@pytest.fixture
def in_pub(chromium: Browser, lesson: str) -> Iterator[Page]:
    with opened(chromium, lesson, "#/pub") as page:
        yield page


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server started in a folder that holds the recordings of `record_all`."""
    folder = tmp_path_factory.mktemp("recordings")
    record_all(folder)
    with serving(folder) as running:
        yield running


@pytest.fixture
def on_map(chromium: Browser, app: App) -> Iterator[Page]:
    """The app in English, at its home page."""
    with opened_app(chromium, app) as page:
        yield page


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server started in a folder that holds the recordings of `record_several`."""
    folder = tmp_path_factory.mktemp("many")
    record_several(folder)
    with serving(folder) as running:
        yield running


@pytest.fixture
def on_many(chromium: Browser, many: App) -> Iterator[Page]:
    """That app in English, wide."""
    with opened_app(chromium, many, viewport={"width": 1440, "height": 900}) as page:
        yield page


@pytest.fixture(scope="session")
def probs(many: App) -> np.ndarray:
    """Of its recording "made": (layers, heads, queries, keys)."""
    return matrices(many.folder / "made.pozor")
