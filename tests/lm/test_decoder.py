"""Both models against torch and against the float64 reference, in one pass and token by token."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from pozor import DtypeError, OptionError, attention
from pozor.lm import load
from pozor.lm.czech import CzechModel
from pozor.lm.decoder import Decoder
from pozor.lm.weights import document, read

TRAINING = Path(__file__).parents[2] / "training"
TEXT = "Včera večer jsme seděli u stolu a mluvili o tom, jak bylo v létě na horách."


def in_torch(name: str) -> torch.nn.Module:
    """The training script's own model with the shipped weights."""
    sys.path.insert(0, str(TRAINING))
    try:
        from transformer import Transformer
    finally:
        sys.path.remove(str(TRAINING))
    model = Transformer(document(name)["config"]).eval()
    held = {key: torch.from_numpy(array.astype(np.float32)) for key, array in read(name).items()}
    state = {"embed.weight": held.pop("embed"), "norm.weight": held.pop("norm")}
    for key, array in held.items():
        layer, _, own = key.partition(".")
        is_matrix = own.startswith("w_")
        state[f"blocks.{layer}.{own.removeprefix('w_')}.weight"] = array.T if is_matrix else array
    model.load_state_dict(state)
    return model


def ids_of(name: str) -> list[int]:
    model = load(name)
    if isinstance(model, CzechModel):
        return model.pieces(TEXT).ids
    return model.encode(model.cut("Včera sestra z Brna, když otec v parku spal, u okna dlouho četla."))


@pytest.mark.parametrize("name", ["agreement", "czech"])
def test_logits_are_those_of_torch(name):
    ids = ids_of(name)
    with torch.no_grad():
        want = in_torch(name)(torch.tensor([ids]))[0].numpy()
    got = load(name).forward(ids).logits
    assert got.dtype == np.float32
    assert_allclose(got, want, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize("name", ["agreement", "czech"])
def test_attention_is_that_of_the_float64_reference_to_1e5(name):
    ids = ids_of(name)
    got, want = load(name).forward(ids), load(name, dtype="float64").forward(ids)
    for mine, reference in zip(got.layers, want.layers):
        again = attention(reference.q, reference.k, reference.v, causal=True, backend="reference")
        assert_allclose(mine.out, again, atol=1e-5 * max(1, np.abs(again).max()))
        rows = [_probs(step.q, step.k) for step in (mine, reference)]
        assert_allclose(rows[0], rows[1], atol=1e-5)


def _probs(q, k):
    k = np.repeat(k, q.shape[0] // k.shape[0], axis=0).astype(np.float64)
    logits = np.einsum("hqd,hkd->hqk", q.astype(np.float64), k) / q.shape[-1] ** 0.5
    logits = np.where(np.tri(q.shape[1], dtype=bool), logits, -np.inf)
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


@pytest.mark.parametrize("name", ["agreement", "czech"])
@pytest.mark.parametrize("cuts", [[1] * 12, [5, 1, 6]])
def test_token_by_token_with_a_cache_is_one_pass(name, cuts):
    model, ids = load(name, dtype="float64"), ids_of(name)[:12]
    whole, cache, logits, first = model.forward(ids), model.new_cache(), [], 0
    for count in cuts:
        step = model.forward(ids[first : first + count], cache)
        logits.append(step.logits)
        assert step.layers[0].q_offset == first
        first += count
    assert_allclose(np.concatenate(logits), whole.logits, atol=1e-10)
    assert_allclose(step.layers[-1].k, whole.layers[-1].k, atol=1e-12)


def test_a_cache_lets_go_of_what_is_further_back_than_the_context(agreement):
    cache = agreement.new_cache()
    for _ in range(agreement.context + 3):
        step = agreement.forward([0], cache)
    assert step.layers[0].k.shape[-2] == agreement.context


def test_a_batch_is_its_members(agreement):
    one, other = [0, 5, 9, 7], [0, 6, 3, 2]
    both = agreement.forward([one, other]).logits
    for row, ids in zip(both, (one, other)):
        assert_allclose(row, agreement.forward(ids).logits, atol=1e-4)


def test_one_mask_a_layer(agreement):
    ids = [0, 5, 9, 7]
    shut = np.tri(4, dtype=bool)
    shut[3, 1] = False
    last = agreement.forward(ids, mask=[None, shut])
    assert_allclose(last.layers[0].out, agreement.forward(ids).layers[0].out)
    assert not np.allclose(last.logits[3], agreement.forward(ids).logits[3])


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([], r"ids must be whole numbers, at least one; got shape \(0,\)"),
        ([1.5], "ids must be whole numbers"),
        ([-1, 3], r"ids must be from 0 to \d+; got -1 to 3"),
        ([0] * 100, "ids must be at most 64 tokens, the model's context; got 100. Shorten the text."),
    ],
)
def test_ids_that_cannot_be(agreement, ids, words):
    with pytest.raises(OptionError, match=words):
        agreement.forward(ids)


def test_names_and_dtypes_that_are_not_there():
    with pytest.raises(OptionError, match="name must be one of agreement, czech; got 'german'"):
        load("german")
    with pytest.raises(OptionError, match="dtype must be 'float32' or 'float64'; got 'int8'"):
        load("czech", dtype="int8")


def test_the_layers_are_pozors_own(czech):
    assert type(czech.layers[0].attention).__module__ == "pozor.layer"
    assert isinstance(czech, Decoder)
    with pytest.raises(DtypeError):
        czech.layers[0].attention(np.zeros((2, 128)))  # float64 where the weights are float32
