"""marimo's page of one notebook with its outputs, made in a process of its own (`python -m` this).

Asked by stdin and answered in a file, in JSON. What an export uses of marimo beyond its public interface is
all here.
"""

import asyncio
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pozor.errors import BackendUnavailable, OptionError, PozorError

START = re.compile(r'page\.start\(mo, "(\w+)"\)')
HEADER = """# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "anywidget", "numpy", "pozor @ ../public/wheels/{wheel}"]
# ///
"""
KINDS = {"OptionError": OptionError, "BackendUnavailable": BackendUnavailable}


def render(notebook: Path, lang: str, wheel: Path, offline: bool, pyodide: str | None) -> dict[str, Any]:
    """The page of a notebook.

    Args:
        notebook: The marimo app.
        lang: The page's language.
        wheel: pozor's wheel where the page will find it, in public/wheels of the site.
        offline: Bundle Python and its packages into the site.
        pyodide: A mirror of Pyodide to take them from; None: its own.

    Returns:
        "html"; "models", the state of each widget by its id; "needs", what the page fetches from elsewhere.

    Raises:
        OptionError: A cell of the notebook failed.
        BackendUnavailable: What offline bundles could not be fetched.
    """
    with tempfile.TemporaryDirectory(prefix="pozor-export-") as home:
        answer = Path(home) / "answer.json"
        asked = {"notebook": str(notebook), "lang": lang, "wheel": str(wheel), "home": home}
        asked |= {"offline": offline, "pyodide": pyodide, "answer": str(answer)}
        done = subprocess.run(
            [sys.executable, "-P", "-X", "utf8", "-m", "pozor.lessons.render"],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if not answer.is_file():
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise OptionError(f"{notebook.name} could not be exported ({last}).")
        made = json.loads(answer.read_text(encoding="utf-8"))
    if "error" in made:
        raise KINDS[made["kind"]](made["error"])
    return made


async def _page(asked: dict[str, Any]) -> dict[str, Any]:
    from marimo._export.exporter import Exporter
    from marimo._export.file import run_notebook
    from marimo._export.requests import NotebookExecutionOptions, RunNotebookRequest, WASMExportRequest
    from marimo._export.serialization import serialize_notebook_snapshot
    from marimo._pyodide.pyodide_constraints import PYODIDE_VERSION
    from marimo._schemas.export_options import WASMExportOptions, WASMRuntimeConfig
    from marimo._session.notebook.loader import load_notebook
    from marimo._version import __version__

    notebook, wheel = Path(asked["notebook"]), Path(asked["wheel"])
    manager, said = load_notebook(str(notebook)), io.StringIO()
    execution = NotebookExecutionOptions(cli_args={}, argv=None, persist_session=False, stderr=said)
    view, failed = await run_notebook(RunNotebookRequest(file_manager=manager, options=execution))
    if failed:
        why = next((line for line in said.getvalue().splitlines() if ": " in line), "no reason given")
        raise OptionError(f"A cell of {notebook.name} failed while it was exported ({why}).")
    snapshot = serialize_notebook_snapshot(manager.app, view, drop_virtual_file_outputs=True)
    # in the browser there is no environment that could say the language
    code = START.sub(rf'page.start(mo, "\1", lang="{asked["lang"]}")', manager.app.to_py())
    code, runtime = HEADER.format(wheel=wheel.name) + code, WASMRuntimeConfig()
    if asked["offline"]:
        code, runtime = await _bundled(code, wheel, asked["pyodide"])
    html, _ = Exporter().export_as_wasm(
        WASMExportRequest(
            filename=notebook.name,
            app_config=manager.app.config,
            display_config={"theme": "system"},  # type: ignore[typeddict-item]
            code=code,
            options=WASMExportOptions(mode="run", show_code=False, runtime=runtime),
            session_snapshot=snapshot.session,
            notebook_snapshot=snapshot.notebook,
        )
    )
    pyodide = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full/"
    elsewhere = [
        *(f"{pyodide}{name}" for name in ("pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")),
        f"https://wasm.marimo.app/pyodide-lock.json?v={__version__}&pyodide=v{PYODIDE_VERSION}",
        "https://pypi.org/simple/marimo-base/",
    ]
    return {
        "html": html,
        "models": {str(id): dict(model.state) for id, model in view.model_states.items()},
        "needs": [] if asked["offline"] else elsewhere,
    }


async def _bundled(code: str, wheel: Path, pyodide: str | None) -> tuple[str, Any]:
    """The code and the addresses of Python and its packages, after they were fetched into the site."""
    from marimo._export.offline import OfflineExportError, bundle_wasm_runtime
    from marimo._schemas.export_options import WASMRuntimeConfig

    try:
        return await bundle_wasm_runtime(
            code,
            wheel.parents[2],
            sources=WASMRuntimeConfig(pyodide_index_url=pyodide),
            local_wheel_paths=(wheel,),
        )
    except (OfflineExportError, ImportError) as error:
        raise BackendUnavailable(f"--offline could not fetch what it bundles: {error}") from None


def assets(root: Path) -> None:
    """The files of marimo's own page, into the site."""
    from marimo._export.exporter import Exporter

    Exporter().export_assets(root)
    (root / "CLAUDE.md").unlink(missing_ok=True)  # tells of notebooks, not of these pages


def main() -> None:
    """Answer one question."""
    from pozor.lessons.server import surroundings
    from pozor.lessons.settings import Settings

    asked = json.loads(sys.stdin.read())
    surroundings(Path(asked["home"]), Settings(token="", lang=asked["lang"]))
    os.environ["POZOR_LESSONS_EXPORT"] = "1"
    try:
        made = asyncio.run(_page(asked))
    except PozorError as error:
        made = {"error": str(error), "kind": type(error).__name__}
    Path(asked["answer"]).write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
