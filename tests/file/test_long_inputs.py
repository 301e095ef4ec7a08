"""CASE-68 of the public faults (jessevig/bertviz#82): pages of long inputs stay of a size that opens."""

from pathlib import Path

import numpy as np
import pytest

from pozor.errors import PozorError
from pozor.matrix import AttentionMap

MOST = 20_000_000  # bytes; as text the twelve heads alone would be over 18 MB, twelve such layers over 220 MB


def softmax(heads: int, tokens: int) -> np.ndarray:
    scores = np.random.default_rng(0).standard_normal((heads, tokens, tokens), dtype=np.float32)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def test_a_layer_of_512_tokens_fits(tmp_path: Path) -> None:
    shown = AttentionMap.from_probs(softmax(12, 512), tokens=[f"w{i}" for i in range(512)])
    path = shown.to_html(tmp_path / "layer.html", dtype="float16")
    assert path.stat().st_size < MOST


@pytest.mark.parametrize("tokens", [1, 2000])
def test_one_token_and_two_thousand(tmp_path: Path, tokens: int) -> None:
    shown = AttentionMap.from_probs(softmax(1, tokens), tokens=["a"] * tokens)
    assert shown.to_html(tmp_path / "one.html", dtype="float16").stat().st_size < MOST


def test_a_model_of_twelve_layers_from_q_and_k(tmp_path: Path) -> None:
    from pozor.recording import Recording

    rng = np.random.default_rng(0)
    layers = [rng.standard_normal((3, 12, 512, 16), dtype=np.float32) for _ in range(12)]
    q, k, v = ([layer[part] for layer in layers] for part in range(3))
    recording = Recording.from_arrays(tmp_path / "model.pozor", q, k, v, causal=True)
    path = recording.to_html(tmp_path / "model.html", dtype="float16")
    assert path.stat().st_size < MOST


def test_what_is_too_long_gets_advice(tmp_path: Path) -> None:
    probs = np.zeros((2049, 2049), np.float32)
    np.fill_diagonal(probs, 1)
    with pytest.raises(PozorError, match=r"2,?048"):
        AttentionMap.from_probs(probs).to_html(tmp_path / "long.html")
