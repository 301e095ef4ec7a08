"""The view in a real marimo page: drawn, read by Python, set from Python, two on one page."""

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_page import PATIENCE, fine
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a running `marimo run`, its settings below tmp_path."""
    environment = {
        **os.environ,
        **{name: str(tmp_path) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")},
        "OMP_NUM_THREADS": "1",
    }
    notebook = Path(__file__).parent / "marimo_page.py"
    command = [
        *(sys.executable, "-m", "marimo", "run", "--headless", "--no-token", "--no-skew-protection"),
        *("--host", "127.0.0.1", "--port", str(port := _free_port()), str(notebook)),
    ]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                urllib.request.urlopen(address, timeout=10).close()
                break
            except OSError:
                assert process.poll() is None, "marimo ended"
                assert time.monotonic() < until, "marimo does not answer"
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_marimo_page_shows_reads_and_sets(chromium: Browser, url: str) -> None:
    context = chromium.new_context(viewport={"width": 1200, "height": 1000}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(url)
    views = page.locator(".pozor-view")
    expect(views).to_have_count(2)
    one, other = views.nth(0), views.nth(1)
    fine(one)
    expect(page.get_by_text("Python says None, None.")).to_be_visible()
    one.locator("[role=application]").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text(re.compile(r"Python says \d, \d\."))).to_be_visible()
    page.get_by_role("button", name="look at d").click()
    expect(one.locator(".inspector")).to_contain_text("d")
    expect(one.locator(".axis.y [data-token='3']")).to_have_attribute("aria-pressed", "true")
    expect(other.locator(".axis.y [aria-pressed=true]")).to_have_count(0)
    fine(other)
    assert wrong == []
    context.close()
