"""The listener: the model is as it was afterwards, and nobody else is listened to."""

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_models import ids, tiny
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface

import pozor
from pozor.errors import CaptureError


def state(model: Any) -> tuple:
    hooks = [
        len(found)
        for module in model.modules()
        for found in (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
    ]
    return (
        model.config._attn_implementation,
        AttentionInterface.get_interface,
        dict(AttentionInterface._global_mapping),
        dict(AttentionMaskInterface._global_mapping),
        hooks,
        model.training,
    )


def test_afterwards_everything_is_as_it_was(tmp_path: Path) -> None:
    model = tiny("llama")
    before = state(model)
    with pozor.record(model, tmp_path / "a.pozor"):
        assert model.config._attn_implementation == "sdpa"
        model(input_ids=ids(5))
    assert state(model) == before


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_also_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    model = tiny("llama")
    before = state(model)

    def fail(*_: Any) -> None:
        raise error

    broken = model.model.layers[1].mlp.register_forward_hook(fail)
    with pytest.raises(error), pozor.record(model, tmp_path / "a.pozor"):
        model(input_ids=ids(5))
    broken.remove()
    assert state(model) == before
    assert list(tmp_path.iterdir()) == []
    with pozor.record(model, tmp_path / "a.pozor"):
        model(input_ids=ids(5))
    assert state(model) == before


def test_other_models_are_not_listened_to(tmp_path: Path) -> None:
    model, other = tiny("llama"), tiny("bert")
    with pozor.record(model, tmp_path / "a.pozor") as session:
        other(input_ids=ids(7))
        model(input_ids=ids(5))
        other(input_ids=ids(7))
    assert session.recording is not None
    assert [len(item) for item in session.recording.items] == [5]


def test_two_recordings_in_two_threads(tmp_path: Path) -> None:
    models = [tiny("llama"), tiny("mistral")]
    met = threading.Barrier(2)
    found: list[Any] = [None, None]

    def run(n: int) -> None:
        with torch.no_grad(), pozor.record(models[n], tmp_path / f"{n}.pozor") as session:
            met.wait()
            models[n](input_ids=ids(5 + n))
            met.wait()
        found[n] = session.recording

    before = AttentionInterface.get_interface
    threads = [threading.Thread(target=run, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(rec.items[0]) for rec in found] == [5, 6]
    assert [rec.layers[0].mask_text for rec in found] == ["causal", "causal & window (3, 0)"]
    assert AttentionInterface.get_interface is before


def test_a_model_is_recorded_once_at_a_time(tmp_path: Path) -> None:
    model = tiny("llama")
    with pozor.record(model, tmp_path / "a.pozor"):
        with (
            pytest.raises(CaptureError, match="model is being recorded already"),
            pozor.record(model, tmp_path / "b.pozor"),
        ):
            pass
        model(input_ids=ids(5))
    assert [p.name for p in tmp_path.iterdir()] == ["a.pozor"]


def test_training_goes_on_untouched(tmp_path: Path) -> None:
    """CASE-55: what is stored has no graph, and gradients are those without a recording."""
    gradients = []
    for path in (None, tmp_path / "a.pozor"):
        model = tiny("llama")
        if path is None:
            model(input_ids=ids(6), labels=ids(6)).loss.backward()
        else:
            with pozor.record(model, path) as session:
                model(input_ids=ids(6), labels=ids(6)).loss.backward()
            assert session._pending is None
        gradients.append({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert torch.equal(gradient, gradients[1][name]), name


def test_nothing_of_earlier_layers_is_kept(tmp_path: Path) -> None:
    """CASE-55: when a layer is written, the arrays of those before it are gone."""
    import weakref

    from pozor.capture import layers

    made: list[Any] = []
    real = layers.reproduced

    def watched(*args: Any) -> Any:
        alive = [ref for ref in made if ref() is not None]
        assert not alive, "a layer outlived the next one"
        pending = real(*args)
        made.append(weakref.ref(pending.arrays[0]["q"]))
        return pending

    layers.reproduced = watched
    try:
        model = tiny("gemma3")
        with torch.no_grad(), pozor.record(model, tmp_path / "a.pozor"):
            model(input_ids=ids(6))
    finally:
        layers.reproduced = real
    assert len(made) == 6


def test_a_model_with_a_function_of_its_own_for_a_name(tmp_path: Path) -> None:
    """The function that runs is the one transformers would have called, local overrides included."""
    import sys

    model = tiny("llama")
    functions = sys.modules[type(model).__module__].ALL_ATTENTION_FUNCTIONS
    calls = []
    real = AttentionInterface._global_mapping["sdpa"]

    def own(*args: Any, **keywords: Any) -> Any:
        calls.append(1)
        return real(*args, **keywords)

    functions["sdpa"] = own
    try:
        with torch.no_grad(), pozor.record(model, tmp_path / "a.pozor"):
            model(input_ids=ids(5))
    finally:
        del functions["sdpa"]
    assert len(calls) == 2


def test_attentions_asked_for_still_arrive(tmp_path: Path) -> None:
    model = tiny("bert", "eager")
    with torch.no_grad(), pozor.record(model, tmp_path / "a.pozor") as session:
        asked = model(input_ids=ids(6), output_attentions=True).attentions
    rec = session.recording
    assert rec is not None
    for row in range(6):
        np.testing.assert_allclose(rec[1, 2].row(row), asked[1][0, 2, row].numpy(), atol=1e-6)


def test_inference_mode(tmp_path: Path) -> None:
    model = tiny("llama")
    with torch.inference_mode(), pozor.record(model, tmp_path / "a.pozor") as session:
        model(input_ids=ids(6))
    assert session.recording is not None
    assert session.recording.layers[0].has_v_norm


def test_a_session_says_how_far_it_is(tmp_path: Path) -> None:
    model, path = tiny("llama"), tmp_path / "a.pozor"
    with pozor.record(model, path) as session:
        assert repr(session) == f"<Session {path}: nothing recorded yet>"
        model(input_ids=ids(5))
        assert re.fullmatch(rf"<Session {re.escape(str(path))}: \d layers so far>", repr(session))
    assert session.recording is not None
    layers, error = len(session.recording.layers), session.recording.fidelity
    assert repr(session) == f"<Session {path}: {layers} layers, fidelity {error:.1e}>"
