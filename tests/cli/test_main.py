"""Every wrong call is one sentence on stderr and exit code 2; every command explains itself under -h."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pozor import __version__, cli
from pozor.cli.app import COMMANDS
from pozor.cli.naming import in_options
from pozor.errors import RecordingError

ENVIRONMENT = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "100"}


def pozor(*words: str) -> subprocess.CompletedProcess[str]:
    """A whole run in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pozor", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env=ENVIRONMENT,
    )


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The same in this process: exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as stop:
        cli.main(list(words))
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nonsense"], "No such command 'nonsense'; see pozor -h."),
        (["--bad"], "No such option: --bad; see pozor -h."),
        (["view", "--bad"], "No such option: --bad; see pozor view -h."),
        (["--port"], "Option '--port' requires an argument; see pozor -h."),
        (["view", "a.pozor", "b.pozor"], "Got unexpected extra argument(s) (b.pozor); see pozor view -h."),
        (["view", "--port", "65536"], "--port must be from 0 to 65535; got 65536."),
        (["view", "--port", "-1"], "--port must be from 0 to 65535; got -1."),
        (["--lang", "de"], "--lang must be cs or en; got 'de'."),
        (["size", "--tokens", "0", "--heads", "32"], "--tokens must be at least 1; got 0."),
        (["size", "--tokens", "9", "--heads", "2", "--kv-len", "0"], "--kv-len must be at least 1; got 0."),
        (["size", "--tokens", "9", "--heads", "2", "--batch", "-1"], "--batch must be at least 1; got -1."),
        (["size", "--tokens", "9", "--heads", "0"], "--heads must be a whole number from 1; got 0."),
        (
            ["size", "--tokens", "9", "--heads", "3", "--kv-heads", "2"],
            "--heads must be a multiple of --kv-heads; got 3 and 2.",
        ),
        (
            ["size", "--tokens", "9", "--heads", "3", "--d-model", "4"],
            "--d-model must be a multiple of --heads where --head-dim is not given; got 4 and 3.",
        ),
        (
            ["view", "--base-url", "x"],
            "--base-url must be the address under which the proxy shows the app, such as",
        ),
        (["--lang", "cs", "size"], "Invalid value: --lang belongs after the command: pozor size --lang …"),
        (["--no-open", "view"], "Invalid value: --no-open belongs after the command: pozor view --no-open …"),
    ],
)
def test_a_wrong_call_is_one_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"pozor: {sentence}")
    assert err.count("\n") == 1
    assert err.endswith(".\n")


def test_a_word_for_a_number_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "view", "--port", "abc")
    assert code == 2
    assert "'--port'" in err
    assert err.count("\n") == 1


def test_a_whole_process_says_it_the_same_way() -> None:
    done = pozor("nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pozor: No such command 'nonsense'; see pozor -h.\n"


@pytest.mark.parametrize("word", ["\x1b[31mred\x07", "řádek\nnavíc", "\u202eobrácené", "<b>"])
def test_a_strangers_word_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str], word: str) -> None:
    code, _, err = run(capsys, word)
    assert code == 2
    assert err.count("\n") == 1
    assert err.strip().isprintable()


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize(
    "words", [[], *([name] for name in COMMANDS)], ids=lambda words: " ".join(words) or "pozor"
)
def test_help_everywhere(capsys: pytest.CaptureFixture[str], words: list[str], flag: str) -> None:
    code, out, err = run(capsys, *words, flag)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: pozor")
    assert "Example" in out
    assert not set("╭╮╰╯│─") & set(out)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"pozor {__version__}\n", "")


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `pozor view` fail with `error`."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("pozor.viewer.serve.serve", fail)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RecordingError("x.pozor is not whole."), 2, "pozor: x.pozor is not whole.\n"),
        (PermissionError(13, "Permission denied", "dir/x"), 2, "pozor: dir/x: Permission denied.\n"),
        (OSError("odd"), 2, "pozor: odd.\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_of_a_command(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    said: str,
) -> None:
    failing(monkeypatch, error)
    assert run(capsys, "view") == (code, "", said)


def test_a_bug_keeps_its_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        cli.main(["view"])


@pytest.mark.skipif(os.name == "nt", reason="no pipes of a POSIX shell")
def test_a_closed_pipe_is_no_traceback() -> None:
    code = "import sys; from pozor import cli; sys.stdout.write('x' * 200000); cli.main(['-h'])"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert b"Traceback" not in err


def test_the_list_of_commands_loads_nothing_heavy() -> None:
    code = (
        "import sys, pozor.cli.app; "
        "print(sorted({'torch', 'transformers', 'starlette', 'uvicorn', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_command_has_its_file() -> None:
    folder = Path(cli.__file__).parent
    assert all((folder / f"{name}.py").is_file() for name in COMMANDS)


def test_the_list_of_commands_cuts_no_line_short(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(capsys, "-h")
    lines = out[out.index("Commands:") :].splitlines()[1 : 1 + len(COMMANDS)]
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


def test_every_option_says_the_same_way_what_holds_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        _, out, _ = run(capsys, name, "-h")
        assert "left out," not in " ".join(out.split())


def test_what_a_parameter_is_called_stays_where_no_option_filled_it() -> None:
    options = {"output", "heads", "digits"}
    say = "num_heads must be one of 1 for pub; got 2."
    assert in_options(say, {"digits"}, options) == say  # it came from a file
    assert in_options(say, {"heads"}, options) == "--heads must be one of 1 for pub; got 2."
    said = in_options("path must end in .pozor; got 'path must'.", {"output"}, options)
    assert said == "-o must end in .pozor; got 'path must'."
