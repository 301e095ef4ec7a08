"""The figures about agreement, worked out from generated sentences: accuracy, the bigram's, hidden keys."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from pozor.lm.agreement import (
    AgreementModel,
    Bigram,
    accuracy,
    inner_nouns,
    looks,
    right_share,
    subject_and_pronoun,
)
from pozor.lm.sentences import Sentence, generate

SEED = 2026  # of the sentences that are measured; training had another
HEAD_SENTENCES = 200


def held_out(count: int, seed: int = SEED) -> list[Sentence]:
    """Sentences longer than any that training showed, with pairs of subject and verb that it never showed."""
    return list(islice(generate(seed, held_out=True), count))


def trained_bigram(model: AgreementModel) -> Bigram:
    """The bigram counted in the very sentences that the model was trained on."""
    return Bigram(islice(generate(model.record["seed"]), model.record["sentences"]))


def strongest_head(model: AgreementModel, count: int = HEAD_SENTENCES) -> dict[str, Any]:
    """The head in which the last verb gives most to its subject, averaged over held-out sentences.

    Returns:
        layer, head (from 0), share (mean part of the verb's attention on its subject), least (the smallest).
    """
    found = looks(model, held_out(count))
    layer, head = np.unravel_index(found.mean(axis=-1).argmax(), found.shape[:2])
    shares = found[layer, head]
    return {
        "layer": int(layer),
        "head": int(head),
        "share": round(float(shares.mean()), 4),
        "least": round(float(shares.min()), 4),
    }


def figures(model: AgreementModel, *, count: int = 1000, seed: int = SEED) -> dict[str, Any]:
    """Accuracies on `count` held-out sentences: shares from 0 to 1, by name.

    Crossed sentences are those whose inner nouns all have the other gender; free ones have no pronoun that
    repeats the subject's. Hidden means: no later token sees the key, in no head of no layer.
    """
    sentences = held_out(count, seed)
    crossed = [s for s in sentences if s.crossed]
    free = [s for s in crossed if s.pronoun is None]
    related = [s for s in crossed if s.pronoun is not None]
    bigram = trained_bigram(model)
    shut = model.predict_all(crossed, subject_and_pronoun)

    def share(chosen: Sequence[Sentence], hidden: Any = None) -> float:
        return round(accuracy(model.predict_all(chosen, hidden), chosen), 4)

    return {
        "sentences": len(sentences),
        "crossed": len(crossed),
        "free": len([s for s in sentences if s.pronoun is None]),
        "shortest": min(len(s.tokens) for s in sentences),
        "longest": max(len(s.tokens) for s in sentences),
        "attention": share(sentences),
        "attention_crossed": share(crossed),
        "bigram": round(accuracy(bigram.predict_all(sentences), sentences), 4),
        "bigram_crossed": round(accuracy(bigram.predict_all(crossed), crossed), 4),
        "subject_and_pronoun_hidden": round(accuracy(shut, crossed), 4),
        "hidden_probability": round(right_share(shut, crossed), 4),
        "subject_hidden_free": share(free, subject_and_pronoun),
        "subject_hidden_related": share(related, lambda s: [s.subject]),
        "inner_nouns_hidden": share(crossed, inner_nouns),
        "own_sentences_hidden": share(sentences, subject_and_pronoun),
    }
