"""Squares of probs by torch, where tensors lie: what the float64 matrix by the same lse gives."""

import numpy as np
import pytest
import torch

import pozor
from pozor import Causal, Padding, Prefix, Window, attend
from pozor.backends.torch import squares as torch_squares
from pozor.inputs import problem

OPTIONS = {
    "all": {},
    "causal": {"causal": True},
    "prefix": {"mask": Causal() | Prefix(100)},
    "padding": {"mask": Padding(np.array([133])) & Window(60, 90)},
    "array": {"mask": torch.from_numpy(np.random.default_rng(1).random((200, 300)) < 0.5), "causal": True},
    "callable": {"mask": lambda b, h, i, j: (i * 3 + j * 7 + h) % 4 != 0},
    "bias": {"bias": torch.from_numpy(np.random.default_rng(3).normal(size=(200, 300)).astype(np.float32))},
    "softcap": {"softcap": 3.0, "scale": -0.4},
}


def call(options, dtype=torch.float32, size=1.0):
    rng = np.random.default_rng(5)
    q = torch.from_numpy(size * rng.normal(size=(1, 2, 200, 20))).to(dtype)
    k = torch.from_numpy(rng.normal(size=(1, 1, 300, 20))).to(dtype)
    judged = problem(q, k, None, q_offset=100, **{"causal": False, **options})
    lse = pozor.observe(q.double(), k.double(), None, q_offset=100, **_wide(options)).lse
    return judged, lse[0, 1].numpy()


def _wide(options):
    return options | ({"bias": options["bias"].double()} if "bias" in options else {})


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("loud", [1.0, 20.0])
def test_squares_of_the_float64_matrix(name, dtype, loud, monkeypatch):
    monkeypatch.setattr(torch_squares, "cells_of", lambda _: 64 * 96)  # several blocks
    judged, lse = call(OPTIONS[name], dtype, loud)
    weight = np.random.default_rng(2).random(300)
    for size, rows, keys in ((1, slice(3, 90), slice(7, 300)), (16, slice(64, 200), slice(0, 290))):
        for own in (None, weight):
            found = attend.squares(judged, 0, 1, rows, keys, size, lse[rows], own, backend="torch")
            logits, visible = attend.block_logits(judged, 0, 1, rows, keys)
            base = np.where(lse[rows] == -np.inf, 0, lse[rows])[:, None]
            probs = np.where(visible, np.exp(logits - base), 0) * (1 if own is None else own[keys])
            lines, columns = (np.arange(0, n, size) for n in probs.shape)
            wanted = [
                reduce.reduceat(reduce.reduceat(array, lines, axis=0), columns, axis=1)
                for reduce, array in ((np.maximum, probs), (np.add, probs), (np.add, visible.astype(int)))
            ]
            np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=1e-5)
            np.testing.assert_allclose(found[1] / size, wanted[1] / size, rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(found[2], wanted[2])


def test_counts_alone_need_no_lse():
    judged, lse = call(OPTIONS["causal"])
    rows, keys = slice(0, 200), slice(0, 300)
    alone = attend.squares(judged, 0, 1, rows, keys, 8, backend="torch")
    np.testing.assert_array_equal(alone[2], attend.squares(judged, 0, 1, rows, keys, 8, lse)[2])


def test_a_row_that_sees_nothing_and_a_hidden_nan():
    mask = torch.ones((200, 300), dtype=torch.bool)
    mask[7] = False
    mask[:, 50] = False
    q, k = torch.randn(200, 20), torch.randn(300, 20)
    k[50] = float("nan")
    shown = pozor.AttentionMap(q, k, mask=mask)
    shown._cells.backend = "torch"
    tile = shown.tile(0, 0, 0)
    assert np.isfinite(tile.values).all()
    assert (tile.states[7, :256] == 1).all()
    assert (tile.states[:200, 50] == 1).all()
    np.testing.assert_allclose(tile.values[:200, :].sum() + shown.tile(0, 0, 1).values.sum(), 199, rtol=1e-5)


def test_tensors_elsewhere_stay_there():
    class Elsewhere:
        type = "cuda"

    class Q:
        device = Elsewhere()

    class Judged:
        kind, q = "torch", Q()

    with pytest.raises(AttributeError, match="Judged"):  # it went the way of torch, and missed a tensor there
        attend.squares(Judged(), 0, 0, slice(0, 1), slice(0, 1), 1)
