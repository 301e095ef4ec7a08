"""Every kind of attention that a recording can hold: what it shows is what the model computed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import ids, padded, tiny

import pozor
from pozor.errors import CaptureError

MASKS = {
    "llama": ["causal"] * 2,
    "mistral": ["causal & window (3, 0)"] * 2,  # HF's window counts the token itself: left = W − 1
    "qwen3": ["causal"] * 2,
    "gemma3": ["causal & window (2, 0)"] * 5 + ["causal"],
    "gpt2": ["causal"] * 2,
    "gpt_neox": ["causal"] * 2,
    "llama4": ["causal & 3 documents"] * 3 + ["causal"],  # chunks of 4 tokens
    "deepseek": ["causal"] * 2,
    "bert": ["none"] * 2,
    "albert": ["none"] * 3,  # one module, three layers
    "modernbert": ["none", "window (3, 3)"],
}


def recorded(model: Any, path: Path, **inputs: Any) -> tuple[pozor.Recording, Any]:
    with torch.no_grad(), pozor.record(model, path) as session:
        result = model(**inputs)
    return session.recording, result


def whole(rec: pozor.Recording, layer: int, head: int, item: int = 0) -> np.ndarray:
    found = rec.map(layer, head, item)
    return found.block(slice(0, found.q_len), slice(0, found.kv_len))


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", MASKS)
def test_probs_equal_the_models_own(tmp_path: Path, kind: str, implementation: str) -> None:
    inputs = {"input_ids": ids(10)}
    with torch.no_grad():
        truth = tiny(kind, "eager")(**inputs, output_attentions=True).attentions
        before = tiny(kind, implementation)(**inputs)[0]
    model = tiny(kind, implementation)
    rec, result = recorded(model, tmp_path / "a.pozor", **inputs)
    assert torch.equal(result[0], before)  # CASE-52: recording changes no number of the model
    assert [layer.mask_text for layer in rec.layers] == MASKS[kind]
    assert rec.fidelity is not None
    assert rec.fidelity < 1e-6
    assert rec.implementation == implementation
    for layer, probs in zip(rec.layers, truth, strict=True):
        assert probs.shape[1] == len(layer.heads)  # CASE-54: one map a head, no mean
        for head in layer.heads:
            np.testing.assert_allclose(whole(rec, layer.layer, head), probs[0, head].numpy(), atol=2e-6)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", [k for k in MASKS if k != "llama4"])
def test_a_padded_batch_is_one_item_a_sequence(
    tmp_path: Path, kind: str, implementation: str, left: bool
) -> None:
    """CASE-11, CASE-50: padding is cut off, valid rows are the sequence's own, empty rows harm none."""
    inputs = padded(10, 6, left=left)
    model = tiny(kind, implementation)
    rec, _ = recorded(model, tmp_path / "a.pozor", **inputs)
    assert [len(item) for item in rec.items] == [10, 6]
    real = inputs["attention_mask"][1].bool()
    assert rec.items[1].token_ids.tolist() == inputs["input_ids"][1][real].tolist()
    with torch.no_grad():
        truth = tiny(kind, "eager")(**inputs, output_attentions=True).attentions
    for layer, probs in zip(rec.layers, truth, strict=True):
        assert layer.shapes(1)["k"][1] == 6
        for head in layer.heads:
            mine = whole(rec, layer.layer, head, item=1)
            np.testing.assert_allclose(mine, probs[1, head][real][:, real].numpy(), atol=2e-6)


def test_a_causal_map_is_zero_above_the_diagonal(tmp_path: Path) -> None:
    rec, _ = recorded(tiny("llama"), tmp_path / "a.pozor", input_ids=ids(5))
    for layer in (0, 1):
        for head in range(4):
            probs = whole(rec, layer, head)
            assert not np.triu(probs, 1).any()
            np.testing.assert_allclose(probs[0], [1, 0, 0, 0, 0], rtol=1e-6)
            np.testing.assert_allclose(probs.sum(1), 1, rtol=1e-6)  # CASE-51


@pytest.mark.parametrize("window", [1, 2, 9, 10, 11])
def test_a_window_counts_the_token_itself(tmp_path: Path, window: int) -> None:
    """CASE-33: W keys including itself; a window as long as the text hides nothing."""
    model = tiny("mistral", sliding_window=window)
    rec, _ = recorded(model, tmp_path / "a.pozor", input_ids=ids(10))
    counts = rec[0, 0].visible(slice(0, 10), slice(0, 10)).sum(1)
    assert counts.tolist() == [min(i + 1, window) for i in range(10)]
    assert rec.layers[0].mask_text == ("causal" if window >= 10 else f"causal & window ({window - 1}, 0)")


def test_packed_documents_are_what_the_model_saw(tmp_path: Path) -> None:
    """CASE-49: positions that begin anew are a second document; an all-ones mask lets it leak."""
    positions = torch.tensor([[0, 1, 2, 0, 1]])
    model = tiny("llama")
    inputs = {"input_ids": ids(5), "position_ids": positions, "use_cache": False}
    rec, _ = recorded(model, tmp_path / "a.pozor", **inputs)
    assert rec.layers[0].mask_text == "causal & 2 documents"
    assert not whole(rec, 0, 0)[3:, :3].any()
    leaking, _ = recorded(
        model, tmp_path / "b.pozor", **inputs, attention_mask=torch.ones(1, 5, dtype=torch.long)
    )
    assert leaking.layers[0].mask_text == "causal"


def test_grouped_keys_are_not_repeated_and_rotated_already(tmp_path: Path) -> None:
    """CASE-38, CASE-39: q and k are those after RoPE, so that they depend on positions."""
    model = tiny("llama")
    rec, _ = recorded(model, tmp_path / "a.pozor", input_ids=ids(6))
    held = rec.arrays(0)
    assert held["q"].shape == (4, 6, 8)
    assert held["k"].shape == (2, 6, 8)
    assert rec.layers[0].kv_heads == (0, 0, 1, 1)
    plain = model.model.layers[0]
    with torch.no_grad():
        x = plain.input_layernorm(model.model.embed_tokens(ids(6)))
        k = plain.self_attn.k_proj(x).view(6, 2, 8).transpose(0, 1).numpy()
    angle = np.arange(6)[:, None] * 10_000.0 ** (-np.arange(4) / 4)
    a, b = k[..., :4], k[..., 4:]  # halves, as Llama pairs its channels
    turned = np.concatenate(
        [a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1
    )
    np.testing.assert_allclose(held["k"], turned, atol=1e-6)
    later, _ = recorded(model, tmp_path / "b.pozor", input_ids=ids(6), position_ids=torch.arange(6)[None] + 7)
    assert not np.allclose(later.arrays(0)["k"], held["k"], atol=1e-3)
    np.testing.assert_allclose(whole(later, 0, 1), whole(rec, 0, 1), atol=1e-6)  # distances are the same


def test_v_norm_is_the_length_of_v_through_w_o(tmp_path: Path) -> None:
    for kind in ("llama", "bert", "gpt2", "deepseek"):
        model = tiny(kind)
        with torch.no_grad(), pozor.record(model, tmp_path / f"{kind}.pozor", w_o=True) as session:
            model(input_ids=ids(6))
        assert session.recording is not None
        held, layer = session.recording.arrays(1), session.recording.layers[1]
        last = {
            "llama": lambda m: m.model.layers[1].self_attn.o_proj.weight.T,
            "deepseek": lambda m: m.model.layers[1].self_attn.o_proj.weight.T,
            "bert": lambda m: m.encoder.layer[1].attention.output.dense.weight.T,
            "gpt2": lambda m: m.transformer.h[1].attn.c_proj.weight,
        }[kind](model)
        assert np.array_equal(held["w_o"], last.detach().numpy())
        for head, kv_head in enumerate(layer.kv_heads):
            rows = held["w_o"].reshape(4, layer.v_head_dim, -1)[head]
            want = np.linalg.norm(held["v"][kv_head].astype(np.float64) @ rows, axis=1)
            np.testing.assert_allclose(held["v_norm"][head], want, rtol=1e-5)


def test_where_outputs_are_gated_there_is_no_v_norm(tmp_path: Path) -> None:
    """What reaches W_O is not the heads' output there, so ‖v W_O‖ would say nothing."""
    model = tiny("llama")
    project = model.model.layers[0].self_attn.o_proj
    project.register_forward_pre_hook(lambda module, args: (args[0] * 0.5,), prepend=True)
    rec, _ = recorded(model, tmp_path / "a.pozor", input_ids=ids(6))
    assert [layer.has_v_norm for layer in rec.layers] == [False, True]


def test_choices_keep_a_part_that_equals_the_whole(tmp_path: Path) -> None:
    model = tiny("mistral")
    rec, _ = recorded(model, tmp_path / "a.pozor", input_ids=ids(10))
    with (
        torch.no_grad(),
        pozor.record(model, tmp_path / "b.pozor", layers=[1], heads=[3, 1], queries="4:9") as session,
    ):
        model(input_ids=ids(10))
    part = session.recording
    assert part is not None
    assert [layer.layer for layer in part.layers] == [1]
    assert (part.layers[0].heads, part.layers[0].kv_heads) == ((1, 3), (0, 1))
    assert part.arrays(1)["q"].shape == (2, 5, 8)
    assert len(part.items[0]) == 10
    assert (part[1, 3].q_offset, part[1, 3].query_tokens) == (4, part.items[0].tokens[4:9])
    np.testing.assert_allclose(whole(part, 1, 3), whole(rec, 1, 3)[4:9], rtol=1e-6, atol=1e-9)
    with torch.no_grad(), pozor.record(model, tmp_path / "c.pozor", heads=[3]) as session:
        model(input_ids=ids(10))
    assert session.recording is not None
    assert session.recording.arrays(0)["k"].shape == (1, 10, 8)
    np.testing.assert_allclose(whole(session.recording, 1, 3), whole(rec, 1, 3), rtol=1e-6, atol=1e-9)


def test_a_model_of_pictures_has_numbered_tokens(tmp_path: Path) -> None:
    model = tiny("vit")
    torch.manual_seed(1)
    rec, _ = recorded(model, tmp_path / "a.pozor", pixel_values=torch.randn(2, 3, 32, 32))
    assert [len(item) for item in rec.items] == [17, 17]
    assert rec.items[0].tokens[:2] == ["⟨0⟩", "⟨1⟩"]


def test_an_encoder_of_a_pair_alone(tmp_path: Path) -> None:
    rec, _ = recorded(tiny("bart").get_encoder(), tmp_path / "a.pozor", input_ids=ids(6))
    assert rec.architecture == "BartEncoder"
    assert [layer.mask_text for layer in rec.layers] == ["none", "none"]


def test_notes_say_what_the_model_itself_builds(tmp_path: Path) -> None:
    model = tiny("mistral")
    with torch.no_grad(), pozor.record(model, tmp_path / "a.pozor") as session:
        model(input_ids=ids(10))
    assert [(n.what, n.q_len, n.kv_len, n.nbytes) for n in session.notes] == [("mask", 10, 10, 100)]
    model = tiny("bert", "eager")
    with torch.no_grad(), pozor.record(model, tmp_path / "b.pozor") as session:
        model(input_ids=ids(10))
    assert [(n.what, n.nbytes) for n in session.notes] == [("scores", 4 * 10 * 10 * 4)]
    model = tiny("llama")
    with torch.no_grad(), pozor.record(model, tmp_path / "c.pozor") as session:
        model(input_ids=ids(10))
    assert session.notes == []


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes(tmp_path: Path, dtype: torch.dtype) -> None:
    model = tiny("llama").to(dtype)
    rec, _ = recorded(model, tmp_path / "a.pozor", input_ids=ids(10))
    assert rec.dtype == str(dtype).removeprefix("torch.")
    assert rec.arrays(0)["q"].dtype.name == rec.dtype


def test_autocast_records_the_dtype_that_ran(tmp_path: Path) -> None:
    model = tiny("llama")
    with torch.autocast("cpu", torch.bfloat16):
        rec, _ = recorded(model, tmp_path / "a.pozor", input_ids=ids(10))
    assert rec.dtype == "bfloat16"


def test_an_output_that_is_not_reproduced_is_never_written(tmp_path: Path) -> None:
    """The model's kernel is replaced by one that is wrong: the fidelity check must see it."""
    from transformers import AttentionInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    def wrong(module: Any, query: Any, *rest: Any, **keywords: Any) -> Any:
        out, _ = sdpa_attention_forward(module, query, *rest, **keywords)
        return out * (1.01 if module.layer_idx == 1 else 1.0), None

    AttentionInterface.register("wrong", wrong)
    AttentionMaskInterface.register("wrong", sdpa_mask)
    model = tiny("llama")
    model.set_attn_implementation("wrong")
    sentence = (
        r"layer 1: pozor's outputs differ from the model's by 9\.9e-03 \(relative\), and float32 allows 1e-04"
    )
    with pytest.raises(CaptureError, match=sentence):
        recorded(model, tmp_path / "a.pozor", input_ids=ids(10))
    assert list(tmp_path.iterdir()) == []
