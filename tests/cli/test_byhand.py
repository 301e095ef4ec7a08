"""`pozor byhand`: what a learner types, what comes out, and one sentence where it cannot."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pozor import cli
from pozor.recording import Recording


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as stop:
        cli.main(["byhand", *map(str, words)])
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("COLUMNS", raising=False)


def test_without_options_the_last_row_of_the_paper_example(capsys):
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert out.startswith("By hand: where “venku” looks\n")
    assert "[0.309, 0.356, 0.444, 0.189]" in out
    assert run(capsys, "paper", "--query", "venku")[1] == out
    assert run(capsys, "paper", "--query", "2")[1] == out
    assert run(capsys, "paper", "--query", "-1")[1] == out


def test_language_comes_from_the_option_or_the_locale(capsys, monkeypatch):
    czech = run(capsys, "--lang", "cs")[1]
    assert "[0,309; 0,356; 0,444; 0,189]" in czech
    monkeypatch.setenv("LC_ALL", "cs_CZ.UTF-8")
    assert run(capsys)[1] == czech


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("paper", "--heads", "2", "--digits", "6"), "[1.147109, 1.544653, 0.196379, 0.310109]"),
        (("paper", "--query", "kočka", "--no-mask", "--digits", "6"), "0.406596"),
        (("pub", "--query", "vypil", "--causal", "--digits", "6"), "0.497238"),
        (("paper", "--scale", "1", "--digits", "6"), "0.281260"),
        (("paper", "--scale", "0,5", "--digits", "6"), "0.308793"),
        (("paper", "--exact"), "1.4600000000000002"),
        (("pub", "--query", "pivo", "--key", "vypil"), "90.017 / 95.017 ≈ 0.947"),
        (("paper", "--heads", "2", "--head", "1", "--digits", "6"), "0.339598"),
    ],
)
def test_options_change_the_example(capsys, words, number):
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert number in out


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_width_of_the_terminal_is_kept(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    out = run(capsys, "paper", "--lang", "cs")[1]
    assert max(map(len, out.splitlines())) <= int(columns)
    assert max(map(len, out.splitlines())) > int(columns) - 12


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("row.txt", "By hand"),
        ("row.md", "# By hand"),
        ("row.tex", "% compile"),
        ("row.html", "<!doctype html>"),
    ],
)
def test_the_name_of_the_output_decides_the_format(capsys, tmp_path, name, start):
    code, out, err = run(capsys, "pub", "-o", tmp_path / name)
    assert (code, out, err) == (0, "", "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_a_file_is_never_replaced_unasked(capsys, tmp_path):
    path = tmp_path / "row.txt"
    path.write_text("mine")
    code, out, err = run(capsys, "pub", "-o", path)
    assert (code, out) == (2, "")
    assert err == f"pozor: -o {path} is there already. Give another name, or --overwrite.\n"
    assert path.read_text() == "mine"
    assert run(capsys, "pub", "-o", path, "--overwrite")[0] == 0
    assert path.read_text(encoding="utf-8").startswith("By hand")
    assert [p.name for p in tmp_path.iterdir()] == ["row.txt"]


def test_a_full_disk_leaves_the_old_file(capsys, tmp_path, monkeypatch):
    path = tmp_path / "row.txt"
    path.write_text("mine")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, _, err = run(capsys, "pub", "-o", path, "--overwrite")
    assert (code, err) == (2, f"pozor: -o {path} cannot be written: No space left on device.\n")
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["row.txt"]


def test_a_file_gets_the_permissions_it_would_have_had(capsys, tmp_path):
    (tmp_path / "plain.txt").touch()
    run(capsys, "pub", "-o", tmp_path / "row.txt")
    assert (tmp_path / "row.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode
    (tmp_path / "row.txt").chmod(0o600)
    run(capsys, "pub", "-o", tmp_path / "row.txt", "--overwrite")
    assert (tmp_path / "row.txt").stat().st_mode & 0o777 == 0o600


def test_format_on_the_terminal(capsys):
    assert run(capsys, "--format", "html")[1].startswith('<section class="w-working"')
    assert run(capsys, "--format", "latex")[1].startswith("% compile")
    assert run(capsys, "--format", "markdown")[1].startswith("# By hand")


def test_a_recording(capsys, tmp_path):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 6, 4)).astype(np.float32) for _ in range(3))
    path = tmp_path / "own.pozor"
    Recording.from_arrays(path, q, k, v, causal=True, tokens=list("abcdef"))
    code, out, err = run(capsys, path, "--head", 1, "--query", "d", "--key", "b")
    assert (code, err) == (0, "")
    assert "Recording own" in out
    assert "hides “e” and “f”" in out
    assert (
        "“e”"
        not in run(capsys, path, "--head", 1, "--query", "d", "--no-mask")[1].split("Mask:")[1].split("2.")[0]
    )
    code, _, err = run(capsys, path, "--heads", "2")
    assert (code, err) == (
        2, "pozor: --heads and --scale belong to examples and files of your own, not to a recording.\n"
    )  # fmt: skip


def test_a_file_of_ones_own(capsys, tmp_path):
    path = tmp_path / "own.json"
    path.write_text(
        json.dumps({"q": [[1, 0]], "k": [[1, 0], [0, 1]], "words": ["a", "b"], "query_words": ["q"]})
    )
    code, out, err = run(capsys, path, "--scale", "0.5", "--digits", "6")
    assert (code, err) == (0, "")
    assert "0.622459" in out  # e^.5 / (e^.5 + 1)
    assert "The file own.json" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("paper", "--query", "pes"), "--query must be an index or a word of the text; got 'pes'."),
        (("paper", "--query", "3"), "--query must be an index from 0 to 2; got 3."),
        (("paper", "--heads", "3"), "--heads must be one of 1, 2, 4 for paper; got 3."),
        (("pub", "--heads", "2"), "--heads must be one of 1 for pub; got 2."),
        (("paper", "--layer", "1"), "--layer and --item belong to a recording, NAME.pozor."),
        (("paper", "--scale", "much"), "--scale must be a number; got 'much'."),
        (("paper", "--scale", "nan"), "--scale must be a finite number; got 'nan'."),
        (("paper", "--format", "pdf"), "--format must be text, markdown, latex or html; got 'pdf'."),
        (("paper", "--digits", "0"), "--digits must be from 1 to 17, or --exact for all; got 0."),
        (("paper", "--lang", "de"), "--lang must be cs or en; got 'de'."),
        (("none.npz",), "none.npz: No such file or directory."),
        (("none.pozor",), "none.pozor"),
        (("a.txt",), "FILE must be paper, pub, NAME.pozor, or a .json, .npz or .safetensors file; got"),
        (("paper", "-o", "no/such/folder.txt"), "folder that exists; no/such does not. Make it"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_and_exit_code_2(capsys, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_pickle_in_a_file_is_never_run(capsys, tmp_path):
    mark = tmp_path / "ran"

    class Bomb:
        def __reduce__(self):
            return Path.touch, (mark,)

    (tmp_path / "own.npz").write_bytes(pickle.dumps(Bomb()))
    code, _, err = run(capsys, tmp_path / "own.npz")
    assert code == 2
    assert "Nothing was run" in err
    assert not mark.exists()


def test_help_has_an_example_and_the_keys_of_a_file(capsys):
    out = run(capsys, "-h")[1]
    assert "pozor byhand paper --query venku --key kočka" in out
    for name in ("w_q", "num_heads", "residual", "q_offset", "softcap", "words"):
        assert name in out


def test_a_pipe_gets_plain_utf_8_text_of_80_columns():
    # a process of its own: stdout is a pipe, and NO_COLOR or TERM change nothing
    texts = []
    for extra in ({"TERM": "xterm-256color"}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}):
        environment = {**os.environ, "LC_ALL": "cs_CZ.UTF-8", **extra}
        environment.pop("COLUMNS", None)
        run = subprocess.run(
            [sys.executable, "-m", "pozor", "byhand"], capture_output=True, timeout=60, env=environment
        )
        assert run.stderr == b""
        texts.append(run.stdout.decode("utf-8"))
    assert texts[0] == texts[1] == texts[2]
    assert "\x1b" not in texts[0]
    assert max(map(len, texts[0].splitlines())) <= 80
