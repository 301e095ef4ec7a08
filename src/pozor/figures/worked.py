"""Maps of the worked examples, from their decimals by the layer's own arithmetic, in float64."""

from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.examples import EXAMPLES, floats
from pozor.layer import MultiHeadAttention
from pozor.matrix import AttentionMap


def example_map(name: str, lang: str) -> AttentionMap:
    """The map of "paper" or "pub"; words are Czech, in English with their gloss.

    Raises:
        OptionError: No such example.
    """
    if name not in EXAMPLES:
        raise OptionError(f"name must be one of {', '.join(EXAMPLES)}; got {name!r}.")
    example = EXAMPLES[name]
    arrays: dict[str, Any] = {
        key: np.array(floats(value))
        for key in ("x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v")
        if (value := getattr(example, key)) is not None
    }
    if "x" in arrays:
        weights = [arrays[key] for key in ("w_q", "w_k", "w_v", "w_o")]
        steps = MultiHeadAttention(*weights, num_heads=example.num_heads).steps(arrays["x"])
        q, k, v = steps.q, steps.k, steps.v
    else:
        q, k, v = (arrays[key] for key in "qkv")
    words = [
        word.cs if lang == "cs" or word.cs == word.en else f"{word.cs} ({word.en})" for word in example.words
    ]
    scale = None if example.scale is None else float(example.scale)
    made = AttentionMap(q, k, v, causal=example.causal, scale=scale, tokens=words)
    made.source = {"example": example}
    return made
