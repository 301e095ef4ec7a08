"""A decoder-only transformer in NumPy: pozor's own attention layers, and what stands between them.

RMSNorm before each part, rotary positions or none, SwiGLU, embeddings tied to the output; see `training/`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor import AttentionMap, KVCache, MultiHeadAttention, OptionError
from pozor.layer import LayerSteps

EPSILON = 1e-6  # keeps the norm of a vector of zeros finite


@dataclass(frozen=True)
class Forward:
    """What one pass gives: logits of the next token after each token, and each layer's attention.

    Attributes:
        logits: (…, tokens, vocabulary).
        layers: One `LayerSteps` a layer; `.q`, `.k`, `.v` are split into heads and rotated, (…, heads,
            tokens, head_dim), k and v with those of earlier tokens where a cache holds them; `.q_offset` is
            the place of the first query among the keys.
    """

    logits: np.ndarray
    layers: list[LayerSteps]


@dataclass(frozen=True)
class _Layer:
    attention: MultiHeadAttention
    attend_norm: np.ndarray
    feed_norm: np.ndarray
    w_gate: np.ndarray
    w_up: np.ndarray
    w_down: np.ndarray


class Decoder:
    """Next-token logits from token ids: embedding, layers of attention and SwiGLU, norm, embedding again.

    Args:
        config: vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_feed, context (tokens), and rope:
            None, or base and rotary_dim of the layout "halves".
        arrays: The weights by name, (in, out) for x @ w.
        dtype: What it computes in; float64 gives the reference.

    Attributes:
        config: As given.   layers: The `MultiHeadAttention` of each layer is `layers[i].attention`.
        arrays: The weights by name, in `dtype`.   embed: (vocabulary, d_model), one of them.
        context: The longest text, in tokens, that training has shown.
    """

    def __init__(self, config: Mapping[str, Any], arrays: Mapping[str, np.ndarray], dtype: Any = np.float32):
        self.config = dict(config)
        self.arrays = {name: np.ascontiguousarray(array, dtype=dtype) for name, array in arrays.items()}
        self.embed, self.norm = self.arrays["embed"], self.arrays["norm"]
        self.context = int(config["context"])
        rope = None if config["rope"] is None else {"layout": "halves", **config["rope"]}
        self.layers = []
        for index in range(config["num_layers"]):
            own = {
                name.partition(".")[2]: a for name, a in self.arrays.items() if name.startswith(f"{index}.")
            }
            attention = MultiHeadAttention(
                *(own.pop(f"w_{letter}") for letter in "qkvo"),
                num_heads=config["num_heads"],
                num_kv_heads=config["num_kv_heads"],
                causal=True,
                rope=rope,
            )
            self.layers.append(_Layer(attention, **own))

    def new_cache(self) -> list[KVCache]:
        """An empty cache for each layer; tokens further back than `context` are let go."""
        return [KVCache(window=(self.context - 1, 0)) for _ in self.layers]

    def forward(
        self, ids: Sequence[int] | np.ndarray, cache: list[KVCache] | None = None, *, mask: Any = None
    ) -> Forward:
        """Logits after each of the tokens, and q, k, v of each layer.

        Args:
            ids: Token numbers, (tokens,) or (batch, tokens).
            cache: From `new_cache`: the tokens before these. Token by token gives what one pass gives.
            mask: True = may attend, over (tokens, kv_len) or four axes, besides causality; for every layer,
                or a list of one (or None) a layer.

        Raises:
            OptionError: No token, one that the vocabulary lacks, or more than `context` at once.
        """
        numbers = np.asarray(ids)
        if numbers.dtype.kind not in "iu" or numbers.ndim not in (1, 2) or not numbers.size:
            raise OptionError(f"ids must be whole numbers, at least one; got shape {numbers.shape}.")
        if numbers.min() < 0 or numbers.max() >= len(self.embed):
            raise OptionError(
                f"ids must be from 0 to {len(self.embed) - 1}; got {numbers.min()} to {numbers.max()}."
            )
        if numbers.shape[-1] > self.context:
            raise OptionError(
                f"ids must be at most {self.context} tokens, the model's context; got {numbers.shape[-1]}. "
                "Shorten the text."
            )
        x = self.embed[numbers] * self.embed.dtype.type(self.config["d_model"] ** 0.5)
        steps = []
        for index, layer in enumerate(self.layers):
            own_cache = None if cache is None else cache[index]
            own_mask = mask[index] if isinstance(mask, list) else mask
            steps.append(
                layer.attention.steps(rms_norm(x, layer.attend_norm), mask=own_mask, cache=own_cache)
            )
            x = x + steps[-1].y
            normed = rms_norm(x, layer.feed_norm)
            x = x + (_silu(normed @ layer.w_gate) * (normed @ layer.w_up)) @ layer.w_down
        return Forward(rms_norm(x, self.norm) @ self.embed.T, steps)


def attention_maps(
    layers: Sequence[LayerSteps], tokens: Sequence[str], *, mask: Any = None
) -> list[AttentionMap]:
    """One map a layer, of all its heads, with `tokens` the labels of its keys.

    Args:
        layers: `Forward.layers`, or `Generated.layers` for the newest row alone.
        tokens: Labels of all keys, those that a cache held first.
        mask: As it was given to `forward`.
    """
    masks = mask if isinstance(mask, list) else [mask] * len(layers)
    return [
        AttentionMap(
            step.q, step.k, step.v, causal=True, q_offset=step.q_offset, mask=own, tokens=list(tokens)
        )
        for step, own in zip(layers, masks)
    ]


def rms_norm(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """x divided by its root mean square, channel by channel times gain.

    Example:
        >>> rms_norm(np.array([3.0, -3.0]), np.array([1.0, 2.0])).round(6).tolist()
        [1.0, -2.0]
    """
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + x.dtype.type(EPSILON)) * gain


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def _silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-np.clip(x, -80, None)))  # exp(88) is float32's end
