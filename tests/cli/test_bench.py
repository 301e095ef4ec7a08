"""`pozor bench`: lines, bars and the page; one sentence where it cannot go on."""

import json

import pytest

from pozor import cli


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        cli.main(["bench", *words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


SMALL = (
    "--quick",
    "--cases",
    "small",
    "--peers",
    "torch",
    "--threads",
    "1",
    "--budget",
    "0.1",
    "--lang",
    "en",
)


def test_lines_can_be_kept_and_read_again(capsys, tmp_path):
    lines = tmp_path / "lines.jsonl"
    code, out, err = run(capsys, *SMALL, "--json", str(lines))
    assert (code, err) == (0, "")
    assert "small float32 heads 8 d 64 T 16 full, threads: 1" in out
    assert " × faster" in out or " × slower" in out
    assert [json.loads(line)["peer"] for line in lines.read_text().splitlines()].count("pozor") == 2
    code, out, _ = run(capsys, "--read", str(lines), "--report", str(tmp_path / "docs"), "--lang", "en")
    assert code == 0
    assert "small call (1, 8, 16, 64) on NumPy arrays over torch's own: " in out
    assert "What must hold (of what was measured" in out
    assert (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8").startswith("# Benchmarks")


def test_lines_alone_can_be_printed(capsys):
    code, out, _ = run(capsys, *SMALL, "--json", "-")
    assert code == 0
    assert all(json.loads(line)["name"] for line in out.splitlines())


def test_it_speaks_czech(capsys):
    code, out, _ = run(capsys, *SMALL[:-1], "cs")
    assert code == 0
    assert "vláken: 1" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--threads", "two"], "--threads must be whole numbers such as 1,2; got 'two'."),
        (["--threads", "0"], "--threads must be 1 or more; got 0."),
        (["--runs", "0"], "--runs must be 1 or more; got 0."),
        (["--cases", "nothing"], "--cases must name a group"),
        (["--peers", "nobody"], "--peers must name one of pozor"),
        (["--read", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory."),
    ],
)
def test_a_wrong_call_is_one_sentence(capsys, words, sentence):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
