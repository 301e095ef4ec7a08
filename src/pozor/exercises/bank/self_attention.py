"""Exercises on six words in a pub: who looks where, and what the mask changes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pozor.examples import PUB, Text
from pozor.exercises.answers import Tokens, share
from pozor.exercises.bank.common import Dice, chosen, exact, faulty
from pozor.exercises.drawing import Built, Reject
from pozor.exercises.faults import Rows, floats, rightly, wrongly
from pozor.exercises.pen import Pen
from pozor.exercises.sentences import sentences_of

WORDS = PUB.words
LOOKED_AT = 0.05  # from which part on a word counts as looked at
NOUNS = (("slovo", "slova", "slov"), ("word", "words"))


@dataclass(frozen=True)
class Pub:
    """Queries and keys of the six words, (6, 4), and what they give without and with the mask."""

    q: np.ndarray
    k: np.ndarray

    def rows(self, causal: bool) -> Rows:
        """Attention with V = identity."""
        return rightly(self.q, self.k, np.eye(6), causal=causal)

    def fields(self, pen: Pen, row: int) -> dict[str, object]:
        """The tables, and the word whose row it is about."""
        axes = [pen.pick(axis.cs, axis.en) for axis in PUB.axes or ()]
        labels = pen.labels(WORDS)
        return {
            "q": pen.matrix(self.q, labels, axes, corner="q"),
            "k": pen.matrix(self.k, labels, axes, corner="k"),
            "word": pen.word(WORDS[row]),
            "open": _row(pen, self.rows(False).probs[row]),
            "masked": _row(pen, self.rows(True).probs[row][: row + 1]),
        }


def looks_at(dice: Dice) -> Built:
    """Which words get more than five per cent of a word's attention, without a mask."""
    pub, row = _pub(dice), 2
    if dice:
        row = _asking(pub, dice)
    seen = _looked_at(pub.rows(False).probs[row])
    if len(seen) > 3:
        raise Reject
    return Built(
        _chosen(seen),
        lambda pen: pub.fields(pen, row) | {"seen": _listed(pen, seen), "percent": pen.percent(LOOKED_AT)},
        {
            "transposed": _chosen(_looked_at(pub.rows(False).probs[:, row])),
            "masked": _chosen(_looked_at(pub.rows(True).probs[row])),
            "ignored": _chosen(set(range(6)) - set(seen)),
        },
    )


def mask_hides(dice: Dice) -> Built:
    """Which words a word may not see."""
    row = 3 if dice is None else dice.randrange(1, 5)
    hidden = np.flatnonzero(np.isinf(_pub(None).rows(True).logits[row]))
    return Built(
        _chosen(hidden),
        lambda pen: {
            "word": pen.word(WORDS[row]),
            "sentence": " ".join(word.cs for word in WORDS),
            "gloss": PUB.sentence.en,
            "hidden": _listed(pen, hidden),
            "seen": _listed(pen, range(row + 1)),
        },
        {
            "polarity": _chosen(range(row + 1)),
            "before": _chosen(range(row)),
            "itself_too": _chosen(range(row, 6)),
        },
    )


def masked_looks(dice: Dice) -> Built:
    """What the masked word looks at mainly."""
    pub, row = _pub(dice), 3
    if dice:
        row = _asking(pub, dice)
    masked = pub.rows(True).probs[row]
    seen = _looked_at(masked)
    if len(seen) > 2 or row < 2 or masked.max() < 0.4:
        raise Reject
    return Built(
        _chosen(seen),
        lambda pen: pub.fields(pen, row) | {"seen": _listed(pen, seen), "percent": pen.percent(LOOKED_AT)},
        {
            "polarity": _chosen(
                _looked_at(wrongly("polarity", pub.q, pub.k, np.eye(6), causal=True).probs[row])
            ),
            "no_mask": _chosen(_looked_at(pub.rows(False).probs[row])),
            "itself": _chosen([row]),
        },
    )


def masked_weight(dice: Dice) -> Built:
    """How much the masked word gives to the one it looks at."""
    pub, row = _pub(dice), 3
    if dice:
        row = _asking(pub, dice)
    masked, unmasked = pub.rows(True).probs[row], pub.rows(False).probs[row]
    key = int(np.argmax(masked))
    if masked[key] < 0.3 or masked[key] - unmasked[key] < 0.015:
        raise Reject
    mistakes = faulty(
        ("mask_after_softmax", "no_sqrt", "by_d", "not_divided", "wrong_axis", "polarity"),
        lambda rows: rows.probs[row][key],
        share,
        pub.q,
        pub.k,
        np.eye(6),
        causal=True,
    )
    logits = pub.rows(True).logits[row][: row + 1]
    return Built(
        share(float(masked[key])),
        lambda pen: (
            pub.fields(pen, row)
            | {
                "key": pen.word(WORDS[key]),
                "logits": pen.vector([float(n) for n in logits]),
                "exps": pen.sum(np.exp(logits), 3),
                "top": pen.number(float(np.exp(logits[key])), 3),
                "total": pen.number(float(np.exp(logits).sum()), 3),
                "after": pen.number(float(masked[key]), 3),
                "before": pen.number(float(unmasked[key]), 3),
            }
        ),
        mistakes,
    )


def masked_why(dice: Dice) -> Built:
    """What the mask changed for "pivo", and why."""
    pub, row = _pub(None), 3
    key = 2
    if dice:  # a verb elsewhere: the same sentence, the looking word drawn
        row = dice.choice((3, 4, 5))
        q = pub.q.copy()
        q[row] = q[3]
        pub = Pub(q, pub.k)
    masked, unmasked = pub.rows(True).probs[row], pub.rows(False).probs[row]
    if row == 5:
        raise Reject
    return Built(
        sentences_of("masked-why"),
        lambda pen: (
            pub.fields(pen, row)
            | {
                "key": pen.word(WORDS[key]),
                "before": pen.percent(unmasked[key], 1),
                "after": pen.percent(masked[key], 1),
                "hidden": _listed(pen, range(row + 1, 6)),
                "freed": pen.percent(float(unmasked[row + 1 :].sum()), 1),
            }
        ),
    )


def asks_in_vain(dice: Dice) -> Built:
    """A masked word that finds nothing it looks for shares equally."""
    pub, row = _pub(dice), 1
    masked = pub.rows(True).logits
    if dice:
        row = dice.randrange(1, 5)
        if masked[row][: row + 1].any() or not pub.rows(False).logits[row].any():
            raise Reject
    probs = pub.rows(True).probs[row]
    unmasked = pub.rows(False).probs[row]
    return Built(
        share(float(probs[0])),
        lambda pen: (
            pub.fields(pen, row)
            | {
                "first": pen.word(WORDS[0]),
                "weight": pen.number(float(probs[0]), 3),
                "visible": pen.many(row + 1, *NOUNS),
                "zeros": pen.vector([0] * (row + 1)),
            }
        ),
        {
            "no_mask": share(float(unmasked[0])),
            "all_words": share(1 / 6),
            "without_itself": share(1 / row),
            "zero_weight": share(0),
        },
    )


def bigram_why(dice: Dice) -> Built:
    """What a model loses that sees one word back."""
    subject, inner, masculine = Text("učitelka", "teacher"), Text("bratr", "brother"), False
    if dice:
        subject, inner, masculine = dice.choice(
            (
                (Text("soused", "neighbour"), Text("sestra", "sister"), True),
                (Text("babička", "grandmother"), Text("kocour", "tomcat"), False),
                (Text("hostinský", "innkeeper"), Text("hudba", "music"), True),
            )
        )
    clause, verb = ("mlčela", "usmál") if masculine else ("mlčel", "usmála")
    sentence = f"{subject.cs}, zatímco {inner.cs} {clause}, se {verb}"
    return Built(
        sentences_of("bigram-why"),
        lambda pen: {"sentence": sentence, "subject": pen.word(subject), "inner": pen.word(inner)},
    )


def future_hidden(dice: Dice) -> Built:
    """How the future is hidden."""
    row, length = (3, 6) if dice is None else (dice.randrange(2, 6), dice.randrange(7, 12))
    return Built(
        sentences_of("future-hidden"),
        lambda pen: {
            "place": pen.count(row),
            "words": pen.many(length, *NOUNS),
            "rest": pen.count(length - row),
        },
    )


def _pub(dice: Dice) -> Pub:
    """The words of the lesson, or words that look for and offer other things; each one thing at most."""
    if dice is None:
        return Pub(exact(PUB.q), exact(PUB.k))
    q, k = np.zeros((6, 4), dtype=int), np.zeros((6, 4), dtype=int)
    for row in range(6):
        if dice.random() < 0.75:
            q[row, dice.randrange(4)] = 3
        k[row, dice.randrange(4)] = dice.choice((2, 3))
    return Pub(q, k)


def _asking(pub: Pub, dice: Dice) -> int:
    """A word that looks for something, not the first."""
    asking = [row for row in range(1, 6) if floats(pub.q)[row].any()]
    if not asking or dice is None:
        raise Reject
    return dice.choice(asking)


def _looked_at(row: np.ndarray) -> list[int]:
    return [int(i) for i in np.flatnonzero(row > LOOKED_AT)]


def _chosen(places: Iterable[int]) -> Tokens:
    return chosen(places, WORDS)


def _listed(pen: Pen, places: Iterable[int]) -> str:
    return pen.listed([WORDS[i] for i in places])


def _row(pen: Pen, row: np.ndarray) -> str:
    """Words with their parts."""
    return ", ".join(f"{word.cs} {pen.percent(float(part), 1)}" for word, part in zip(WORDS, row))


EXERCISES = (
    ("looks-at", "tokens", looks_at),
    ("mask-hides", "tokens", mask_hides),
    ("masked-looks", "tokens", masked_looks),
    ("masked-weight", "number", masked_weight),
    ("masked-why", "sentence", masked_why),
    ("asks-in-vain", "number", asks_in_vain),
    ("bigram-why", "sentence", bigram_why),
    ("future-hidden", "sentence", future_hidden),
)
