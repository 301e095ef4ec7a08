"""The recording in the package: a real model, whole, small, and of the text that was written for it."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import pozor


@pytest.fixture(scope="module")
def shipped() -> pozor.Recording:
    return pozor.open(Path(str(files("pozor") / "data" / "red-ball.pozor")))


def test_it_is_a_whole_model(shipped: pozor.Recording) -> None:
    assert shipped.model == "SmolLM2-135M-Instruct (Q4_1)"
    assert shipped.dtype == "bfloat16"
    assert [layer.layer for layer in shipped.layers] == list(range(30))
    assert {layer.heads for layer in shipped.layers} == {tuple(range(9))}
    assert {layer.kv_heads for layer in shipped.layers} == {(0, 0, 0, 1, 1, 1, 2, 2, 2)}
    assert {layer.mask_text for layer in shipped.layers} == {"causal"}
    assert all(layer.has_v_norm and not layer.has_w_o for layer in shipped.layers)
    assert shipped.fidelity is not None
    assert shipped.fidelity <= 1e-2
    assert shipped.nbytes < 4_000_000
    assert max(f.stat().st_size for f in shipped.path.rglob("*") if f.is_file()) < 500_000


def test_its_text_is_64_tokens_of_prose(shipped: pozor.Recording) -> None:
    (item,) = shipped.items
    assert len(item) == 64
    assert "".join(item.tokens) == item.text
    assert item.text.count(" the red ball to ") == 3
    assert item.starts[0] == 0
    assert item.stops[-1] == len(item.text.encode())
    assert not item.special.any()


def test_every_row_of_every_head_sums_to_1(shipped: pozor.Recording) -> None:
    worst = 0.0
    for line in shipped.heads():
        block = shipped[int(line["layer"]), int(line["head"])].block(slice(0, 64), slice(0, 64))
        assert np.isfinite(block).all()
        assert not np.triu(block, 1).any()
        worst = max(worst, float(np.abs(block.sum(1) - 1).max()))
    assert worst < 1e-5


def test_heads_with_a_meaning_are_there(shipped: pozor.Recording) -> None:
    """A head that looks at the token before, and one that finds what followed the phrase last time."""
    heads = shipped.heads()
    before = heads[np.argmax(heads["previous"])]
    assert before["previous"] > 0.7
    words = shipped.items[0].tokens
    again = [i for i in range(40, 56) if words[i] == " ball"]
    earlier = [words.index(" ball") + 1, words.index(" ball", 10) + 1]
    share = max(shipped[int(h["layer"]), int(h["head"])].row(again[0])[earlier].sum() for h in heads)
    assert share > 0.5, share
