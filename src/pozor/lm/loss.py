"""What the language model loses on a text, in bits per character, beside two models that only count."""

import hashlib
from typing import Any

import numpy as np

from pozor.lm.bpe import Bpe
from pozor.lm.czech import NEWLINE, CzechModel

HELD_OUT = 0.05  # the last so much of the text's characters is never trained on
STRIDE = (
    64  # tokens scored in one window; each has at least context − STRIDE tokens before it, once there are any
)


def as_read(raw: bytes) -> str:
    """The text of a file: UTF-8, every line break one character, however the file writes it."""
    return raw.decode().replace("\r\n", "\n")


def split(text: str) -> tuple[str, str]:
    """The part for training and the held-out end."""
    cut = len(text) - round(len(text) * HELD_OUT)
    return text[:cut], text[cut:]


def model_bits(model: CzechModel, text: str) -> float:
    """Bits per character of `text`, all its characters, read after one line break in windows of `context`."""
    ids = np.array([NEWLINE, *model.encode(text)])
    total, last = 0.0, len(ids) - 1
    for group in _windows(last, model.context):
        rows = np.stack([ids[first : stop + 1] for first, _, stop in group])
        logits = model.forward(rows[:, :-1]).logits
        losses = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
        losses = losses - np.take_along_axis(logits, rows[:, 1:, None], -1)[..., 0]
        total += sum(
            losses[i, start - first :].sum(dtype=np.float64) for i, (first, start, _) in enumerate(group)
        )
    return float(total / np.log(2) / len(text))


def _windows(last: int, context: int):
    """Groups of (first token read, first token scored after, end), windows of one length together."""
    spans = [
        (max(0, min(s + STRIDE, last) - context), s, min(s + STRIDE, last)) for s in range(0, last, STRIDE)
    ]
    full = [span for span in spans if span[2] - span[0] == context]
    yield from ([span] for span in spans if span[2] - span[0] < context)
    yield from (full[i : i + 16] for i in range(0, len(full), 16))


def counted_bits(bpe: Bpe, training: str, text: str) -> dict[str, float]:
    """Bits per character of a unigram and of a bigram model, counted in the training part.

    One is added to each count of a token; a bigram leans on the unigram with the weight of `lean`
    observations, the best for `text` itself: the baseline is not made weaker than it can be.
    """
    size = len(bpe)
    seen, ids = np.array([NEWLINE, *bpe.encode(training)]), np.array([NEWLINE, *bpe.encode(text)])
    unigram = np.bincount(seen[1:], minlength=size) + 1.0
    unigram /= unigram.sum()
    pairs = np.zeros((size, size))
    np.add.at(pairs, (seen[:-1], seen[1:]), 1)
    before, after = ids[:-1], ids[1:]
    hits, of = pairs[before, after], pairs.sum(axis=1)[before]
    found = [
        -np.log2((hits + lean * unigram[after]) / (of + lean)).sum() / len(text)
        for lean in (5, 10, 20, 40, 80, 160)
    ]
    return {"unigram": float(-np.log2(unigram[after]).sum() / len(text)), "bigram": float(min(found))}


def recorded(model: CzechModel, raw: bytes) -> dict[str, Any]:
    """Everything that is recorded about a text and the shipped model: hash, sizes, bits per character."""
    text = as_read(raw)
    training, held = split(text)
    return {
        "text_sha256": hashlib.sha256(raw).hexdigest(),
        "characters": len(text),
        "held_out_characters": len(held),
        "held_out_tokens": len(model.encode(held)),
        "stride": STRIDE,
        "model": round(model_bits(model, held), 4),
        **{name: round(bits, 4) for name, bits in counted_bits(model.bpe, training, held).items()},
    }
