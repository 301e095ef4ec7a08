"""What is not reproduced is refused by name, and nothing is left behind."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import ids, padded, tiny

import pozor
from pozor.errors import CaptureError, OptionError, RecordingError


def refused(path: Path, model: Any, **inputs: Any) -> str:
    with pytest.raises(CaptureError) as caught, torch.no_grad(), pozor.record(model, path):
        model(**(inputs or {"input_ids": ids(6)}))
    assert list(path.parent.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "implementation", "sentence"),
    [
        ("gemma2", "eager", "layer 0: Gemma2Attention uses softcap (a cap on the scores), which a recording"),
        ("gpt_oss", "eager", "layer 0: GptOssAttention uses s_aux (attention sinks), which a recording"),
        ("t5_encoder", "sdpa", "layer 0: T5Attention uses position_bias (a bias added to the scores), which"),
        ("falcon", "sdpa", "FalconForCausalLM never called transformers' attention interface"),  # CASE-53
    ],
)
def test_a_term_that_is_not_reproduced(tmp_path: Path, kind: str, implementation: str, sentence: str) -> None:
    assert sentence in refused(tmp_path / "a.pozor", tiny(kind, implementation))


@pytest.mark.parametrize("kind", ["t5", "bart", "whisper"])
def test_an_encoder_decoder(tmp_path: Path, kind: str) -> None:
    with pytest.raises(
        CaptureError, match=r"is an encoder-decoder, and its cross attention is not recorded yet"
    ):
        pozor.record(tiny(kind), tmp_path / "a.pozor")
    assert list(tmp_path.iterdir()) == []


def test_cross_attention_of_a_decoder(tmp_path: Path) -> None:
    """CASE-56: queries and keys are two texts there."""
    words = refused(
        tmp_path / "a.pozor",
        tiny("bert_decoder"),
        input_ids=ids(6),
        encoder_hidden_states=torch.zeros(1, 6, 32),
    )
    assert "BertCrossAttention is cross attention, which is not recorded yet" in words


def test_dropout(tmp_path: Path) -> None:
    """CASE-31, CASE-51: in training the weights are dropped at random; in evaluation nothing is."""
    model = tiny("llama", attention_dropout=0.5)
    words = refused(tmp_path / "a.pozor", model.train())
    assert "runs with dropout=0.5; call model.eval() before recording" in words
    with torch.no_grad(), pozor.record(model.eval(), tmp_path / "a.pozor") as session:
        model(input_ids=ids(6))
    assert session.recording is not None
    assert abs(session.recording[0, 0].row(5).sum() - 1) < 1e-12


def test_a_cache_of_earlier_tokens(tmp_path: Path) -> None:
    """CASE-35: with a cache, rolling or not, the keys' words are not known."""
    model = tiny("mistral")
    with torch.no_grad():
        cache = model(input_ids=ids(5), use_cache=True).past_key_values
    words = refused(tmp_path / "a.pozor", model, input_ids=ids(1), past_key_values=cache)
    assert "past_key_values holds 5 earlier tokens" in words
    assert "record the whole sequence in one forward" in words


def test_two_forwards(tmp_path: Path) -> None:
    model = tiny("llama")
    sentence = "a recording holds one forward, and the model was called a second time"
    with (
        pytest.raises(CaptureError, match=sentence),
        torch.no_grad(),
        pozor.record(model, tmp_path / "a.pozor"),
    ):
        model.generate(ids(4), max_new_tokens=3, do_sample=False, pad_token_id=0)
    assert list(tmp_path.iterdir()) == []


def test_no_forward_and_a_part_of_the_model(tmp_path: Path) -> None:
    model = tiny("llama")
    with (
        pytest.raises(CaptureError, match="no forward ran inside"),
        pozor.record(model, tmp_path / "a.pozor"),
    ):
        pass
    with (
        pytest.raises(CaptureError, match="call the recorded model itself, not a part of it"),
        pozor.record(model, tmp_path / "a.pozor"),
    ):
        model.model(input_ids=ids(4))
    assert list(tmp_path.iterdir()) == []


def _swallowing(model: Any) -> None:
    with contextlib.suppress(CaptureError):
        model(input_ids=ids(4))


def test_a_swallowed_error_still_gives_no_recording(tmp_path: Path) -> None:
    model = tiny("gemma2", "eager")
    sentence = "nothing was written: layer 0: Gemma2Attention uses softcap"
    with pytest.raises(CaptureError, match=sentence), pozor.record(model, tmp_path / "a.pozor"):
        _swallowing(model)
    assert list(tmp_path.iterdir()) == []


def _broken_forward(model: Any) -> None:
    def breaks(*_: Any) -> None:
        raise ZeroDivisionError

    hook = model.model.layers[1].register_forward_pre_hook(breaks)
    with contextlib.suppress(ZeroDivisionError):
        model(input_ids=ids(4))
    hook.remove()


def test_a_forward_that_broke_off_gives_no_recording(tmp_path: Path) -> None:
    """Layer 0 is written by then; without this it would pass for the whole model."""
    model = tiny("llama")
    sentence = "the forward did not come to its end, so that nothing was written"
    with pytest.raises(CaptureError, match=sentence), pozor.record(model, tmp_path / "a.pozor"):
        _broken_forward(model)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pozor.recording import Writer

    real = Writer.layer

    def full(self: Writer, layer: Any, *rest: Any) -> None:
        if layer.layer == 1:
            raise RecordingError("x cannot be written: No space left on device.")
        real(self, layer, *rest)

    monkeypatch.setattr(Writer, "layer", full)
    model = tiny("llama")
    sentence = "nothing was written: x cannot be written: No space left on device"
    with (
        pytest.raises(CaptureError, match=sentence),
        pozor.record(model, tmp_path / "a.pozor"),
        contextlib.suppress(RecordingError),
    ):
        model(input_ids=ids(4))
    assert list(tmp_path.iterdir()) == []


def test_a_tokenizer_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="tokenizer must be a transformers tokenizer; got str"):
        pozor.record(tiny("llama"), tmp_path / "a.pozor", tokenizer="smollm2")


def test_layers_and_heads_that_are_not_there(tmp_path: Path) -> None:
    model = tiny("llama")
    sentence = r"layers must be among the model's 2 attention layers 0 to 1; got 2, 9\."
    with (
        pytest.raises(CaptureError, match=sentence),
        pozor.record(model, tmp_path / "a.pozor", layers=[1, 2, 9]),
    ):
        model(input_ids=ids(4))
    with (
        pytest.raises(CaptureError, match="heads must be from 0 to 3; got 4"),
        pozor.record(model, tmp_path / "a.pozor", heads=[4]),
    ):
        model(input_ids=ids(4))
    sentence = "queries must begin before the text ends, at 4 tokens; got 4:6"
    with (
        pytest.raises(CaptureError, match=sentence),
        pozor.record(model, tmp_path / "a.pozor", queries=(4, 6)),
    ):
        model(input_ids=ids(4))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"layers": []}, r"layers must be a list of whole numbers from 0, at least one; got \[\]"),
        ({"heads": [-1]}, r"heads must be a list of whole numbers from 0, at least one; got \[-1\]"),
        ({"layers": 0}, r"layers must be a list of whole numbers from 0, at least one; got 0\."),
        ({"layers": "0,1"}, r"layers must be a list of whole numbers from 0, at least one; got '0,1'\."),
        ({"layers": [0.5]}, r"layers must be a list of whole numbers .*; got \[0\.5\]\."),
        ({"queries": 5}, r"queries must be one range A:B .*; got 5\."),
        ({"queries": (0.5, 2)}, r"queries must be one range A:B .*; got \(0\.5, 2\)\."),
        ({"queries": (None, 2)}, r"queries must be one range A:B .*; got \(None, 2\)\."),
        ({"queries": "5:5"}, "queries must be one range A:B with A < B, in tokens; got '5:5'"),
        ({"queries": "1:2,3:4"}, "queries must be one range A:B"),
        ({"queries": slice(0, 5, 2)}, "queries must be one range A:B"),
        ({"queries": (1, 2, 3)}, "queries must be one range A:B"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: dict, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        pozor.record(tiny("llama"), tmp_path / "a.pozor", **options)


def test_what_is_no_transformers_model(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="model must be a transformers model; got Linear"):
        pozor.record(torch.nn.Linear(2, 2), tmp_path / "a.pozor")
    model = tiny("llama")
    model._compiled_call_impl = model._call_impl  # what model.compile() sets
    with pytest.raises(CaptureError, match="model is compiled"):
        pozor.record(model, tmp_path / "a.pozor")


def test_a_taken_name_is_refused_before_the_forward(tmp_path: Path) -> None:
    model = tiny("llama")
    with pozor.record(model, tmp_path / "a.pozor"):
        model(input_ids=ids(4))
    with pytest.raises(RecordingError, match="is already there"):
        pozor.record(model, tmp_path / "a.pozor")


def test_a_bias_in_the_mask(tmp_path: Path) -> None:
    model = tiny("llama")
    bias = torch.linspace(-1, 0, 36).reshape(1, 1, 6, 6)
    words = refused(tmp_path / "a.pozor", model, input_ids=ids(6), attention_mask=bias)
    assert "layer 0: the model adds a bias to its scores" in words


def test_a_mask_that_no_recording_can_hold(tmp_path: Path) -> None:
    model = tiny("llama")
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    mask[5, 2] = mask[4, 1] = False
    words = refused(tmp_path / "a.pozor", model, input_ids=ids(6), attention_mask=mask[None, None])
    assert "neither causal, window, prefix, documents nor padding" in words


def test_padding_that_the_attention_sees(tmp_path: Path) -> None:
    """A name registered without its mask function loses padding silently; a recording says so."""
    from transformers import AttentionInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    AttentionInterface.register("maskless", sdpa_attention_forward)
    model = tiny("llama")
    model.set_attn_implementation("maskless")
    words = refused(tmp_path / "a.pozor", model, **padded(10, 6, left=True))
    assert "layer 0: the model looks at padding" in words


def test_a_sequence_of_nothing_but_padding(tmp_path: Path) -> None:
    inputs = padded(6, 6)
    inputs["attention_mask"][1] = 0
    assert "a sequence of the batch is padding from end to end" in refused(
        tmp_path / "a.pozor", tiny("llama"), **inputs
    )
