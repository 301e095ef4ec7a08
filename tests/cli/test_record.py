"""`pozor record`: the whole command on a small text, and one sentence where it cannot go on."""

import re
import shutil
from pathlib import Path

import pytest

import pozor
from pozor import cli

STORY = "Švejk ordered a beer. The landlord brought the beer, and Švejk drank the beer he had ordered.\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    Path("story.txt").write_text(STORY, encoding="utf-8")
    Path("short.txt").write_text("Anna laughed.", encoding="utf-8")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(["record", *words])
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


@pytest.mark.model
def test_a_text_is_recorded(smollm2_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, str(smollm2_folder), "--text-file", "story.txt", "-o", "a.pozor")
    assert (code, err) == (0, "")
    assert "smollm2-float32 (LlamaForCausalLM), float32, cpu, sdpa attention" in out
    assert re.search(r"The recording will take about \d+\.\d MiB and about \d+ s\.", out)
    assert re.search(
        r"Largest difference from the model: \d\.\de-07 \(layer \d+\); float32 allows 1e-04\.", out
    )
    assert "What you will see is what the model computed: the difference is rounding in float32." in out
    assert "Look at it: pozor view a.pozor" in out
    rec = pozor.open("a.pozor")
    assert rec.items[0].name == "story.txt"
    assert rec.items[0].text == STORY
    assert len(rec.layers) == 30
    planned = float(out.split("will take about ")[1].split()[0])
    assert abs(planned - rec.nbytes / 2**20) < 0.1 * planned + 0.1


@pytest.mark.model
def test_two_texts_are_one_padded_batch_in_czech(
    smollm2_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--text-file", "story.txt", "--text-file", "short.txt", "-o", "a.pozor", "--lang", "cs"]
    words += ["--layers", "3,28-29", "--heads", "0-2", "--queries", "1:4", "--dtype", "bfloat16", "--w-o"]
    code, out, err = run(capsys, str(smollm2_folder), *words)
    assert (code, err) == (0, "")
    assert re.search(r"  short\.txt: \d tokenů", out)
    assert "Model si sám postavil masku" in out
    assert re.search(
        r"Největší odchylka od modelu: \d,\de-\d\d \(vrstva \d+\); mez pro bfloat16 je 3e-02\.", out
    )
    assert "na úrovni zaokrouhlení bfloat16" in out
    rec = pozor.open("a.pozor")
    assert [item.name for item in rec.items] == ["story.txt", "short.txt"]
    assert [layer.layer for layer in rec.layers] == [3, 28, 29]
    assert {layer.heads for layer in rec.layers} == {(0, 1, 2)}
    assert rec.arrays(3, item=0)["q"].shape == (3, 3, 64)
    assert rec.arrays(3)["w_o"].shape == (3 * 64, 576)
    assert rec.map(28, 1, item=1).q_offset == 1


@pytest.mark.model
def test_a_long_text_needs_max_tokens(smollm2_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.txt").write_text("one two " * 4200, encoding="utf-8")
    code, _, err = run(capsys, str(smollm2_folder), "--text-file", "long.txt", "-o", "a.pozor")
    assert code == 2
    assert re.fullmatch(
        r"pozor: long\.txt has \d{4} tokens, and the model takes 8192 at most; shorten it, or record its "
        r"beginning with --max-tokens 8192\.\n",
        err,
    )
    words = ["--text-file", "long.txt", "-o", "a.pozor", "--max-tokens", "20", "--layers", "0"]
    code, _, err = run(capsys, str(smollm2_folder), *words)
    assert (code, err) == (0, "")
    assert len(pozor.open("a.pozor").items[0]) == 20


@pytest.mark.model
def test_a_disk_that_is_too_small(
    smollm2_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=70 << 20))
    code, _, err = run(capsys, str(smollm2_folder), "--text-file", "story.txt", "-o", "a.pozor")
    assert code == 0, err
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    code, _, err = run(capsys, str(smollm2_folder), "--text-file", "story.txt", "-o", "b.pozor")
    assert code == 2
    assert re.match(
        r"pozor: the recording needs \d+\.\d MiB, and the disk of .* has 1\.0 MiB free\. Keep fewer", err
    )
    assert not Path("b.pozor").exists()
    assert not Path("b.pozor.part").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["m", "--text-file", "story.txt", "-o", "a.txt"],
            "path must end in .pozor; got 'a.txt'. Name it like",
        ),
        (["m", "--text-file", "story.txt", "-o", "no/a.pozor"], "path must lie in a folder that is there"),
        (["m", "--text-file", "no.txt", "-o", "a.pozor"], "no.txt: No such file or directory."),
        (
            ["./m", "--text-file", "story.txt", "-o", "a.pozor"],
            "MODEL must be a folder, a hub id, a .gguf file",
        ),
        (
            ["m", "--text-file", "empty.txt", "-o", "a.pozor"],
            "--text-file empty.txt must hold a text; it is empty.",
        ),
        (
            ["m", "--text-file", "latin.txt", "-o", "a.pozor"],
            "--text-file latin.txt must be UTF-8; byte 1 is not.",
        ),
        (
            ["m", "--text-file", "story.txt", "-o", "a.pozor", "--layers", "x"],
            "--layers must look like 0,5,7-9",
        ),
        (
            ["m", "--text-file", "story.txt", "-o", "a.pozor", "--queries", "5"],
            "queries must be one range A:B",
        ),
        (
            ["m", "--text-file", "story.txt", "-o", "a.pozor", "--max-tokens", "0"],
            "--max-tokens must be at least 1",
        ),
        (
            ["m", "--text-file", "story.txt", "-o", "old.pozor"],
            "old.pozor is already there. Take another name, or",
        ),
        (
            ["m", "--text-file", "story.txt", "-o", "a.pozor", "--lang", "de"],
            "lang must be cs or en; got 'de'.",
        ),
        (["m", "-o", "a.pozor"], "Missing option '--text-file'"),
        (["m", "--text-file", "story.txt"], "Missing option '--output' / '-o'"),
        (
            ["no/model", "--text-file", "story.txt", "-o", "a.pozor"],
            "no/model is neither a folder here nor in the",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    Path("empty.txt").write_text(" \n", encoding="utf-8")
    Path("latin.txt").write_bytes(b"a\xffb")
    Path("old.pozor").mkdir()
    code, _, err = run(capsys, *words)
    assert code == 2
    assert err.startswith(f"pozor: {sentence}"), err
    assert err.count("\n") == 1
    assert not Path("a.pozor").exists()
    assert not Path("a.pozor.part").exists()
