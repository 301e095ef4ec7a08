"""`pozor html`: what is typed reaches the file, and mistakes are answered in a sentence."""

import re
import sys
from pathlib import Path

import pytest

from pozor.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "file"))
sys.path.insert(0, str(Path(__file__).parents[1] / "viewer"))

from single_files import Inside
from viewer_recordings import record


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["html", *words])
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_the_heads_that_were_typed_are_inside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "noise.pozor", 20)
    output = tmp_path / "heads.html"
    words = (str(tmp_path / "noise.pozor"), "--layers", "1", "--heads", "0,2", "-o", str(output))
    assert run(*words, "--dtype", "float16", "--title", "Noise", "--lang", "cs") == 0
    said = rf"{re.escape(str(output))}: 0,\d\u00a0MB, otevře se v každém prohlížeči i bez internetu\.\n"
    assert re.fullmatch(said, capsys.readouterr().out)
    inside = Inside(output)
    assert [(one["layer"], one["head"]) for one in inside.document["heads"]] == [(1, 0), (1, 2)]
    assert inside.document["dtype"] == "float16"
    assert "<title>Noise</title>" in inside.html
    assert 'data-lang="cs"' in inside.html
    assert run(*words) == 2
    assert "-o must be a new name, or given with --overwrite" in capsys.readouterr().err
    assert run(*words, "--overwrite") == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--layers", "one"), "--layers must be numbers with commas between, such as 0,3; got 'one'."),
        (("--layers", "9"), "--layers must be among 0-1, one number or several; got [9]."),
        (("--heads", "0,9"), "--heads must be among 0-3, one number or several; got [0, 9]."),
        (("--item", "4"), "--item must be from 0 to 0; got 4."),
        (("--dtype", "int8"), "--dtype must be float32 or float16; got 'int8'."),
        (("--lang", "de"), "--lang must be cs or en; got 'de'."),
    ],
)
def test_mistakes_are_answered_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    record(tmp_path / "noise.pozor", 6)
    assert run(str(tmp_path / "noise.pozor"), "-o", str(tmp_path / "map.html"), *words) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "map.html").exists()
