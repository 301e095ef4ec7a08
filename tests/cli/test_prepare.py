"""`pozor prepare`: bases and tracks beforehand, and what it says."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import pozor
from pozor import cli

TOKENS = 4200


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 2, TOKENS, 4)).astype(np.float32)
    path = tmp_path_factory.mktemp("prepare") / "long.pozor"
    pozor.Recording.from_arrays(
        path, q, k, v, causal=True, w_o=rng.standard_normal((8, 6)).astype(np.float32)
    )
    return path


@pytest.fixture
def path(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "long.pozor")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(list(words))
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


def kept(path: Path) -> set[str]:
    """What of which head, such as 0-prob."""
    names = (file.name for file in (path / "base").rglob("head-*.safetensors"))
    return {name.removeprefix("head-00").removesuffix(".safetensors") for name in names}


def test_every_head_is_prepared(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, out, _ = run(capsys, "prepare", str(path), "--lang", "en")
    assert code == 0
    assert out.startswith(f"2 heads of {path} are prepared; base/ holds ")
    assert kept(path) == {"0-prob", "0-tracks", "1-prob", "1-tracks"}


def test_what_is_chosen(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, out, _ = run(capsys, "prepare", str(path), "--no-tracks", "--value-norm", "--lang", "cs")
    assert code == 0
    assert out.startswith(f"Připraveno hlav: 2 ({path}); složka base/ má ")
    assert kept(path) == {"0-prob", "0-value_norm", "1-prob", "1-value_norm"}


def test_a_short_text_needs_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    q, k, v = np.random.default_rng(0).standard_normal((3, 1, 20, 4)).astype(np.float32)
    pozor.Recording.from_arrays(tmp_path / "short.pozor", q, k, v, causal=True)
    code, out, _ = run(capsys, "prepare", str(tmp_path / "short.pozor"), "--lang", "en")
    assert (code, out.endswith("needs no preparing: its texts have at most 4096 tokens.\n")) == (0, True)
    assert not (tmp_path / "short.pozor" / "base").exists()


def test_what_is_not_there(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, _, err = run(capsys, "prepare", str(path / "none.pozor"))
    assert (code, "is not there" in err) == (2, True)
    code, _, err = run(capsys, "prepare", str(path), "--item", "5")
    assert (code, err) == (2, "pozor: --item must be from 0 to 0; got 5.\n")
