"""Small recordings of noise, written by the real writer, and a float64 reference of their maps."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from pozor.recording import Recording
from pozor.recording.tokens import Tokens

HEADS, KV_HEADS, HEAD_DIM = 4, 2, 8
HOSTILE = (
    "</script><script>window.__hit=1</script>",
    "<!--",
    "<img src=x onerror=alert(1)>",
    "\u2028",
    '"\\',
    "]]>",
    "\x00\x1b[31m",
    "\u202eobráceně",
    "řeřicha",
    "😀",
    "&amp;",
    "   ",
    "⟨F0 9F⟩",
)


def arrays(length: int, seed: int = 0, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(HEADS, length, HEAD_DIM))
    k, v = rng.normal(size=(2, KV_HEADS, length, HEAD_DIM))
    return q.astype(dtype), k.astype(dtype), v.astype(dtype)


def record(path: Path, length: int = 6, *, seed: int = 0, layers: int = 2, **options: Any) -> Recording:
    """A causal recording of `layers` layers with v_norm, unless the options say otherwise."""
    dtype = options.pop("dtype", ml_dtypes.bfloat16)
    rng = np.random.default_rng(99)
    given = [arrays(length, seed + number, dtype) for number in range(layers)]
    w_o = rng.normal(size=(HEADS * HEAD_DIM, 5)).astype(np.float32)
    q, k, v = ([one[part] for one in given] for part in range(3))
    defaults = {"causal": True, "w_o": [w_o] * layers, "model": "noise", "overwrite": True}
    return Recording.from_arrays(path, q, k, v, **(defaults | options))


def pieces(words: tuple[str, ...]) -> Tokens:
    """Tokens that follow each other in a text without gaps."""
    parts = [word.encode() for word in words]
    stops = np.cumsum([len(part) for part in parts])
    starts = stops - [len(part) for part in parts]
    none = np.zeros(len(words), bool)
    return Tokens("words", "".join(words), np.arange(len(words)), starts, stops, none, words)


def reference(recording: Recording, layer: int, head: int, *, causal: bool = True) -> np.ndarray:
    """probs of one head in float64, straight from the formula."""
    held = recording.arrays(layer)
    q = held["q"][head].astype(np.float64)
    k = held["k"][head // (HEADS // KV_HEADS)].astype(np.float64)
    logits = q @ k.T / np.sqrt(HEAD_DIM)
    if causal:
        logits = np.where(np.tri(*logits.shape, dtype=bool), logits, -np.inf)
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)
