"""`make train-report`, the sizes of what is shipped, and what is not loaded or shipped."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pozor.lm import report
from pozor.lm.weights import DATA

FILES = {
    name: Path(str(DATA)) / name
    for name in ("agreement.json", "agreement.safetensors", "czech.json", "czech.safetensors")
}


def test_it_measures_agreement_and_prints_what_is_recorded(capsys):
    assert report.main([]) == 0
    out = capsys.readouterr().out
    assert "held-out sentences of 21 to" in out
    assert "the model, crossed  " in out
    assert "100.0%" in out
    assert "as recorded at training" in out
    assert "bits per character of the held-out last 5 %" in out
    assert "as recorded; TEXT=novel.txt measures again" in out
    assert json.loads(FILES["czech.json"].read_text())["record"]["text_sha256"] in out


def test_it_measures_the_language_model_on_a_text(capsys, tmp_path):
    text = tmp_path / "small.txt"
    text.write_text("Za kopcem tekla řeka a u ní stál mlýn. " * 60, encoding="utf-8")
    assert report.main([str(text)]) == 0
    out = capsys.readouterr().out
    assert "measured now on small.txt" in out
    assert "another text than the one it was trained on" in out


def test_a_text_that_is_not_there(capsys):
    assert report.main(["nowhere.txt"]) == 2
    assert "text must be a file; got 'nowhere.txt'. Leave it out" in capsys.readouterr().err


def test_bytes_that_are_no_text(capsys, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\xff\xfe\xff")
    assert report.main([str(bad)]) == 2
    assert "text must be UTF-8; got byte 0xff at 0 of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("agreement.safetensors", 500_000),
        ("agreement.json", 20_000),
        ("czech.safetensors", 2_500_000),
        ("czech.json", 30_000),
    ],
)
def test_files_stay_small(name, most):
    assert FILES[name].stat().st_size < most


def test_nothing_else_is_shipped():
    assert {p.name for p in Path(str(DATA)).iterdir()} == set(FILES)


def test_what_is_shipped_holds_no_text():
    """The generator's words and the tokenizer's pairs of numbers: nothing long enough for a sentence."""

    def strings(value):
        if isinstance(value, str):
            yield value
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(part)

    for name in ("agreement.json", "czech.json"):
        for text in strings(json.loads(FILES[name].read_text())):
            assert len(text) <= 14 or set(text) <= set("0123456789abcdef"), text


def test_pozor_does_not_load_it_and_it_does_not_load_torch():
    code = (
        "import sys, pozor; print('pozor.lm' in sys.modules); "
        "from pozor.lm import load; load('czech'); load('agreement'); "
        "print(sorted({'torch', 'tokenizers', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "[]"]
