"""The one `pip install` of the README: into an empty environment, no compiler, no Node; the app opens."""

import os
import re
import subprocess
import sys
import urllib.request
import venv
import zipfile
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """sdist first, then the wheel out of the sdist: proves that the sdist is whole."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
    )
    (found,) = out.glob("*.whl")
    return found


def test_wheel_holds_the_page_the_recording_and_the_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "pozor/py.typed",
        "pozor/viewer/static/index.html",
        "pozor/viewer/static/examples.html",
        "pozor/viewer/documents.py",
    ):
        assert wanted in names, wanted
    assert any(re.fullmatch(r"pozor/data/[^/]+\.pozor/recording\.json", name) for name in names)
    assert not [n for n in names if "node_modules" in n or n.startswith(("tests/", "web/"))]
    assert wheel.stat().st_size < 10_000_000


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """An environment with nothing but the wheel; PATH is its own folder alone, so no compiler and no Node."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run(
        [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)],
        check=True,
        env={**os.environ, "PATH": str(scripts)},
    )
    return scripts


def test_base_install_is_small_and_has_no_torch(empty: Path) -> None:
    listed = subprocess.check_output([empty / "python", "-m", "pip", "list", "--format=freeze"], text=True)
    names = {line.split("==")[0].lower().replace("-", "_") for line in listed.split()}
    assert "torch" not in names
    assert {"pozor", "numpy", "ml_dtypes", "safetensors", "rich", "typer", "starlette", "uvicorn"} <= names


def test_golden_number_out_of_the_wheel(empty: Path) -> None:
    shown = subprocess.check_output(
        [empty / "pozor", "byhand", "paper", "--lang", "cs", "--digits", "6"], text=True, encoding="utf-8"
    )
    assert "0,308793" in shown


def test_app_opens_out_of_the_wheel(empty: Path, tmp_path: Path) -> None:
    app = subprocess.Popen(
        [empty / "pozor", "--no-open", "--port", "0", "--lang", "en"],
        cwd=tmp_path,
        env={**os.environ, "PATH": str(empty), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    try:
        assert app.stdout is not None
        address = None
        for line in app.stdout:
            if found := re.search(r"http://\S+\?token=\S+", line):
                address = found[0]
                break
        assert address, "the app printed no address"
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        page = browser.open(address, timeout=20).read().decode()
        assert "<script" in page
        base = address.split("?")[0]
        start = browser.open(base.rstrip("/") + "/api/start", timeout=20).read().decode()
        assert '"shipped":true' in start.replace(" ", "")
    finally:
        app.terminate()
        app.wait(timeout=20)
        if app.stdout:
            app.stdout.close()
