"""The small Czech language model: reads a text, shows all of its attention, goes on in near-nonsense."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor import AttentionMap, KVCache, OptionError, Recording
from pozor.layer import LayerSteps
from pozor.lm.bpe import Bpe, Pieces
from pozor.lm.decoder import Decoder, Forward, attention_maps, softmax
from pozor.lm.manners import rude
from pozor.recording.tokens import Tokens

NEWLINE = ord("\n")  # every text starts after a line break, as paragraphs of the training text did


@dataclass(frozen=True)
class Generated:
    """One token that was sampled, and the pass in which it then was read.

    Attributes:
        id: Its number.   token: Its characters.
        text: Everything so far, the given text first.
        probability: What the model gave it, before temperature, top_k and filter.
        layers: `LayerSteps` of each layer for this token alone: q is its one row, k and v all keys so far.
        tokens: Labels of those keys, its own the last: `attention_maps(layers, tokens)` is the newest row.
    """

    id: int
    token: str
    text: str
    probability: float
    layers: list[LayerSteps]
    tokens: list[str]


class CzechModel(Decoder):
    """A language model of about a million weights that runs in NumPy; `pozor.lm.load("czech")` makes it.

    Attributes:
        bpe: Its tokenizer.   record: How it was trained: seed, hash of the text, loss curve, held-out loss.
    """

    def __init__(self, card: Mapping[str, Any], arrays: Mapping[str, np.ndarray], dtype: Any = np.float32):
        super().__init__(card["config"], arrays, dtype)
        self.bpe = Bpe(card["merges"])
        self.record = card["record"]

    def encode(self, text: str) -> list[int]:
        """Token numbers of a text, any text."""
        return self.bpe.encode(text)

    def decode(self, ids: Any) -> str:
        """The text of token numbers."""
        return self.bpe.decode(ids)

    def pieces(self, text: str) -> Pieces:
        """The tokens that `read` gives the model: a line break outside of the text, then the text's own."""
        own = self.bpe.pieces(text)
        return Pieces([NEWLINE, *own.ids], [-1, *own.starts], [-1, *own.stops], ["⏎", *own.tokens])

    def read(self, text: str, cache: list[KVCache] | None = None) -> Forward:
        """One pass over `pieces(text)`.

        Raises:
            OptionError: The text is longer than the model's context.
        """
        return self.forward(self.pieces(text).ids, cache)

    def maps(self, text: str) -> list[AttentionMap]:
        """The attention of every head for a text: one map a layer, `.row(query, head=h)` and so on."""
        return attention_maps(self.read(text).layers, self.pieces(text).tokens)

    def recording(self, text: str, path: str | os.PathLike[str], *, overwrite: bool = False) -> Recording:
        """Write the pass over a text as NAME.pozor, for the app and for `pozor view`."""
        pieces = self.pieces(text)
        parts = pieces.ids, pieces.starts, pieces.stops
        numbers, starts, stops = (np.array(part, np.int64) for part in parts)
        tokens = Tokens("", text, numbers, starts, stops, starts < 0, tuple(pieces.tokens))
        steps = self.forward(pieces.ids).layers
        return Recording.from_arrays(
            path,
            *([getattr(step, name) for step in steps] for name in "qkv"),
            causal=True,
            w_o=[layer.attention.w_o for layer in self.layers],
            tokens=tokens,
            model="pozor czech",
            overwrite=overwrite,
        )

    def generate(
        self,
        text: str,
        *,
        tokens: int = 40,
        temperature: float = 0.8,
        top_k: int | None = 40,
        seed: int = 0,
        filter: bool = True,
    ) -> Iterator[Generated]:
        """Go on with a text, token by token; the same seed gives the same tokens.

        Args:
            text: What to go on with.
            tokens: How many tokens at most.
            temperature: Divides the logits; 0 always takes the likeliest.
            top_k: Only so many likeliest tokens are drawn from; None for all.
            seed: Of the draw.
            filter: Leave out tokens that would complete a rude word.

        Raises:
            OptionError: A number cannot be; the text is longer than the context.
        """
        check_sampling(tokens, temperature, top_k)
        cache = self.new_cache()
        logits = self.read(text, cache).logits[-1]
        return self._continue(text, logits, cache, tokens, temperature, top_k, seed, filter)

    def _continue(self, text, logits, cache, tokens, temperature, top_k, seed, filter) -> Iterator[Generated]:
        draw, labels = np.random.default_rng(seed), self.pieces(text).tokens
        raw = text.encode("utf-8", errors="replace")
        for _ in range(tokens):
            banned: set[int] = set()
            while True:
                number = sampled(logits, draw, temperature, top_k, banned)
                longer = raw + self.bpe.bytes_of[number]
                written = longer.decode("utf-8", errors="ignore")
                if not (filter and rude(written, len(raw.decode("utf-8", errors="ignore")))):
                    break
                banned.add(number)
            raw = longer
            probability = float(softmax(logits.astype(np.float64))[number])
            step = self.forward([number], cache)
            logits = step.logits[-1]
            labels = [*labels, self.bpe.label(number)][-self.context :]
            yield Generated(number, labels[-1], written, probability, step.layers, labels)


def check_sampling(tokens: Any, temperature: Any, top_k: Any) -> None:
    """Refuse numbers that no draw can use."""
    if not _whole(tokens):
        raise OptionError(f"tokens must be a whole number from 1; got {tokens!r}.")
    if (
        not isinstance(temperature, int | float)
        or isinstance(temperature, bool)
        or not 0 <= temperature <= 100
    ):
        raise OptionError(f"temperature must be a number from 0 to 100; got {temperature!r}.")
    if top_k is not None and not _whole(top_k):
        raise OptionError(f"top_k must be a whole number from 1, or None for all; got {top_k!r}.")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def sampled(
    logits: np.ndarray, draw: np.random.Generator, temperature: float, top_k: int | None, banned: set[int]
) -> int:
    """Draw one token number from the softmax of logits / temperature."""
    held = logits.astype(np.float64)
    held[list(banned)] = -np.inf
    if temperature == 0:
        return int(held.argmax())
    order = np.argsort(-held, kind="stable")[: top_k or len(held)]
    bounds = np.cumsum(softmax(held[order] / temperature))
    place = np.searchsorted(bounds, draw.random() * bounds[-1], side="right")
    return int(order[min(place, len(order) - 1)])
