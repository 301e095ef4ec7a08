"""A real Jupyter Lab on a free port with folders of its own, and a notebook in it opened in Chromium."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

TOKEN = "own-token-of-these-tests"
PATIENCE = 90_000.0  # milliseconds: kernels start slowly on a busy machine


@dataclass(frozen=True)
class Lab:
    """A running server; notebooks lie in `folder`."""

    url: str
    folder: Path

    def ask(self, path: str, method: str = "GET") -> Any:
        """The server's own API."""
        head = {"Authorization": f"token {TOKEN}"}
        with urllib.request.urlopen(
            urllib.request.Request(self.url + path, method=method, headers=head)
        ) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def end_kernels(self) -> None:
        """Shut down every kernel, as the menu does."""
        for kernel in self.ask("/api/kernels"):
            self.ask(f"/api/kernels/{kernel['id']}", "DELETE")


@contextmanager
def serving(folder: Path) -> Iterator[Lab]:
    """Jupyter Lab, its configuration and kernels' folders below `folder`; it ends with the block."""
    home, notebooks = folder / "home", folder / "notebooks"
    notebooks.mkdir(parents=True)
    own = (
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "IPYTHONDIR",
        "JUPYTERLAB_SETTINGS_DIR",
    )
    environment = {
        **os.environ,
        **{name: str(home / name.lower()) for name in (*own, "JUPYTERLAB_WORKSPACES_DIR")},
        "OMP_NUM_THREADS": "1",
        "LC_ALL": "C.UTF-8",
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"),
        *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={notebooks}"),
        "--LabApp.news_url=None",
        "--LabApp.expose_app_in_browser=True",
    ]
    log = folder / "log.txt"  # not a pipe: Lab would stand still once nobody reads on
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + PATIENCE / 1000
        while not (found := re.search(r"(http://127\.0\.0\.1:\d+)/lab", log.read_text(encoding="utf-8"))):
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < until, log.read_text(encoding="utf-8")
            time.sleep(0.2)
        lab = Lab(found.group(1), notebooks)
        yield lab
        lab.end_kernels()
    finally:
        process.terminate()
        process.wait(20)


@dataclass
class Notebook:
    """An open notebook: its cells are run one by one."""

    page: Page
    lab: Lab
    path: Path
    messages: list[int] = field(default_factory=list)  # bytes of every frame between page and kernel

    def run(self, cell: int) -> Locator:
        """Run a cell and wait until it is done; its output."""
        whole = self.page.locator(".jp-CodeCell").nth(cell)
        prompt = whole.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        self.page.evaluate(
            """(cell) => {
                const notebook = jupyterapp.shell.currentWidget.content;
                notebook.activeCellIndex = cell;
                notebook.deselectAll();
                void jupyterapp.commands.execute("notebook:run-cell");
            }""",
            cell,
        )
        done = re.compile(r"\[\d+\]") if before == "[ ]:" else re.compile(rf"\[(?!{before[1:-2]}\])\d+\]")
        expect(prompt).to_have_text(done, timeout=PATIENCE)
        return whole.locator(".jp-OutputArea").first

    def comes_to_say(self, cell: int, said: str) -> None:
        """Run a cell until it prints this (a regular expression): a choice is told a moment later."""
        until = time.monotonic() + PATIENCE / 1000
        while not re.fullmatch(said, found := self.run(cell).inner_text().strip()):
            assert time.monotonic() < until, f"{found!r} is not {said!r}"

    def views(self) -> Locator:
        """The maps on the page."""
        return self.page.locator(".pozor-view")


@contextmanager
def opened(browser: Browser, lab: Lab, name: str, *cells: str, **options: Any) -> Iterator[Notebook]:
    """A new notebook of these cells in a context of its own; an error on the page fails the test."""
    path = lab.folder / f"{name}.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    context = browser.new_context(
        **{"viewport": {"width": 1440, "height": 1000}, "locale": "en-US"} | options
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    notebook = Notebook(page, lab, path)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def listen(socket: WebSocket) -> None:
        if "/channels" in socket.url:
            for event in ("framereceived", "framesent"):
                socket.on(event, lambda frame: notebook.messages.append(len(frame)))

    page.on("websocket", listen)
    page.goto(f"{lab.url}/lab/tree/{path.name}?reset&token={TOKEN}")
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=90_000)
    page.evaluate("async () => await jupyterapp.restored")
    page.evaluate("async () => await jupyterapp.shell.currentWidget.sessionContext.ready")
    try:
        yield notebook
        assert wrong == []
    finally:
        context.close()
        lab.end_kernels()


def fine(view: Locator) -> None:
    """Wait until the finest tiles are drawn."""
    host = view.locator("[data-drawn]")
    expect(host).to_have_attribute("data-drawn", re.compile(r"\|fine\|[1-9]"), timeout=PATIENCE)
    time.sleep(0.1)
