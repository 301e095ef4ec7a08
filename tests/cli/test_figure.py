"""`pozor figure`: what is typed, what is written, and one sentence where it cannot be."""

from pathlib import Path

import numpy as np
import pytest

import pozor
from pozor import cli

RED_BALL = Path(pozor.__file__).parent / "data" / "red-ball.pozor"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as stop:
        cli.main(["figure", *map(str, words)])
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


@pytest.fixture(autouse=True)
def english(monkeypatch, tmp_path):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)


def test_a_recording_becomes_a_picture(capsys, tmp_path):
    words = (RED_BALL, "--layer", 13, "--head", 8, "-o", "map.svg")
    assert run(capsys, *words) == (0, "", "")
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert "layer\u00a013" in text
    assert "laughed" in text
    code, _, err = run(capsys, *words)
    assert (code, err) == (
        2, "pozor: -o must be a new name, or given with --overwrite; got map.svg, which is there.\n"
    )  # fmt: skip
    options = ("--queries", "40:60", "--keys", ":9", "--scale", "log", "--colour", "paper", "--lang", "cs")
    assert (
        run(capsys, *words, "--overwrite", *options, "--value", "value_norm", "--variant", "unmasked")[0] == 0
    )
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert "Dotazy 40–59" in text
    assert "laughed" not in text


@pytest.mark.parametrize("name", ["paper.pdf", "pub.png", "pub.svg"])
def test_a_worked_example_by_name(capsys, tmp_path, name):
    assert run(capsys, name[:-4], "-o", name, "--size", 12, "--title", "Ř", "--top", "1") == (0, "", "")
    start = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml"}[name[-3:]]
    assert (tmp_path / name).read_bytes().startswith(start)


def test_numbers_of_a_block(capsys, tmp_path):
    words = (RED_BALL, "--layer", 13, "--head", 8, "--queries", "10:20", "--keys", "0:12")
    assert run(capsys, *words, "-o", "block.csv") == (0, "", "")
    assert run(capsys, *words, "-o", "block.npz") == (0, "", "")
    want = pozor.open(RED_BALL)[13, 8].block(slice(10, 20), slice(0, 12))
    with np.load(tmp_path / "block.npz") as held:
        assert np.array_equal(held["prob"], want)
    lines = (tmp_path / "block.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("query,0 Anna,1  gave,")
    assert [float(cell) for cell in lines[1].split(",")[1:]] == want[0].tolist()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("pub",), "-o"),
        (("pub", "-o", "x.jpg"), "-o must end in .svg, .pdf or .png, or for numbers in .csv or .npz; got"),
        (("pub", "-o", "x.csv", "--scale", "log"), "--scale belongs to a picture; x.csv gets the cells"),
        (("pub", "-o", "x.svg", "--layer", "2"), "--layer belongs to a recording, NAME.pozor; pub is"),
        (("pub", "-o", "x.svg", "--layer", "2", "--kind", "self"), "--layer and --kind belong to a record"),
        (("nope", "-o", "x.svg"), "a figure needs a recording, NAME.pozor, or paper or pub; got 'nope'."),
        (("no.pozor", "-o", "x.svg"), "no.pozor is not there."),
        ((RED_BALL, "-o", "x.svg", "--layer", "99"), "--layer must be one of the recorded self layers 0 to"),
        ((RED_BALL, "-o", "x.svg", "--head", "9"), "--head must be one of 0 to 8, recorded of layer 0; got"),
        ((RED_BALL, "-o", "x.svg", "--item", "1"), "--item must be from 0 to 0; got 1."),
        ((RED_BALL, "-o", "x.svg", "--kind", "x"), "layer must be one of the recorded x layers (none)"),
        (("pub", "-o", "x.svg", "--queries", "3:9"), "--queries must be A:B, a range of one token or more"),
        (("pub", "-o", "x.svg", "--keys", "x"), "--keys must be A:B, such as 0:40; got 'x'."),
        (("pub", "-o", "x.svg", "--head", "2"), "--head must be from 0 to 0; got 2."),
        (("pub", "-o", "x.svg", "--size", "3"), "--size must be from 6 to 60, in centimetres; got 3.0."),
        (("pub", "-o", "x.svg", "--reduce", "min"), "--reduce must be max, mean or share; got 'min'."),
        (("pub", "-o", "x.svg", "--lang", "de"), "--lang must be cs or en; got 'de'."),
        (("pub", "-o", "no/x.svg"), "-o must lie in a folder that exists; got no/x.svg: make no first."),
        (("pub", "-o", "x.npz", "--value", "value_norm"), "value 'value_norm' needs v_norm"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_and_exit_code_2(capsys, tmp_path, words, sentence):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_help_has_examples(capsys):
    out = run(capsys, "-h")[1]
    assert "pozor figure novel.pozor --layer 12 --head 5 -o map.svg" in out
    assert "pozor figure pub -o pub.png --lang cs" in out
