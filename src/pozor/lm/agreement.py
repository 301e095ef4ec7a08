"""The model that found its subject: what it predicts, the bigram beside it, and what hidden keys do to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor import AttentionMap, OptionError
from pozor.lm.decoder import Decoder, Forward, attention_maps, softmax
from pozor.lm.lexicon import ENDINGS, FEMININE, MASCULINE
from pozor.lm.sentences import START, Sentence, vocabulary

Hidden = Callable[[Sentence], Sequence[int]]


@dataclass(frozen=True)
class Prediction:
    """What a model expects after a verb's stem: the probabilities of the two endings among all tokens."""

    l: float  # noqa: E741 the ending itself
    la: float

    @property
    def feminine(self) -> float:
        """la / (l + la)."""
        return self.la / (self.l + self.la)

    @property
    def gender(self) -> str:
        """The likelier one, "m" or "f"."""
        return FEMININE if self.la > self.l else MASCULINE


class AgreementModel(Decoder):
    """A decoder without positions, trained on generated sentences; `pozor.lm.load("agreement")` makes it.

    Attributes:
        words: The vocabulary, a list; token numbers are places in it.
        record: How it was trained.
        head: {"layer", "head", …}: where the verb looks at its subject most, found by measurement.
    """

    def __init__(self, card: Mapping[str, Any], arrays: Mapping[str, np.ndarray], dtype: Any = np.float32):
        super().__init__(card["config"], arrays, dtype)
        self.words = list(card["words"])
        self._number = {word: number for number, word in enumerate(self.words)}
        self.record, self.head = card["record"], card["record"]["head"]

    def untrained(self, seed: int = 0) -> "AgreementModel":
        """The same words and shapes with weights drawn at random: what a training starts from."""
        draw = np.random.default_rng(seed)
        arrays = {}
        for name, array in self.arrays.items():
            spread = 0.02 if name == "embed" else array.shape[0] ** -0.5
            drawn = draw.normal(0, spread, array.shape) if array.ndim == 2 else np.ones(array.shape)
            arrays[name] = drawn.astype(array.dtype)
        card = {"config": self.config, "words": self.words, "record": self.record}
        return AgreementModel(card, arrays, self.embed.dtype)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Token numbers of words.

        Raises:
            OptionError: A word that the model has never seen.
        """
        tokens = list(tokens)
        unknown = [token for token in tokens if token not in self._number]
        if unknown:
            raise OptionError(
                f"every word must be one of the {len(self.words)} that the model has learnt; got "
                f"{', '.join(map(repr, unknown))}. pozor.lm.sentences.vocabulary() lists them."
            )
        return [self._number[token] for token in tokens]

    def cut(self, text: str) -> list[str]:
        """The tokens of a typed sentence or its beginning: `<start>`, words, signs; past tenses in two.

        Raises:
            OptionError: A word that the model has never seen.

        Example:
            >>> from pozor.lm import load
            >>> load("agreement").cut("Sestra, když otec spal, čet")
            ['<start>', 'sestra', ',', 'když', 'otec', 'spa', 'l', ',', 'čet']
        """
        tokens = [START]
        for word in text.replace(",", " , ").replace(".", " . ").split():
            word = word if word in self._number else word.lower()
            ending = next((e for e in (ENDINGS[FEMININE], ENDINGS[MASCULINE]) if self._is_past(word, e)), "")
            tokens += [word.removesuffix(ending), ending] if ending else [word]
        self.encode(tokens)
        return tokens

    def _is_past(self, word: str, ending: str) -> bool:
        return (
            word not in self._number and word.endswith(ending) and word.removesuffix(ending) in self._number
        )

    def predict(self, tokens: Sequence[str], *, hidden: Sequence[int] = ()) -> Prediction:
        """What ending the model expects after these tokens.

        Args:
            tokens: Up to a verb's stem, such as `sentence.tokens[: sentence.verb + 1]`.
            hidden: Places whose keys no later token may see, in any head of any layer.
        """
        mask = None if not hidden else hiding(len(tokens), hidden)
        probs = softmax(self.forward(self.encode(tokens), mask=mask).logits[-1].astype(np.float64))
        return self._prediction(probs)

    def predict_all(self, sentences: Sequence[Sentence], hidden: Hidden | None = None) -> list[Prediction]:
        """`predict` for the last verb of many sentences at once; `hidden` gives the places for each."""
        found = []
        for first in range(0, len(sentences), 64):
            group = sentences[first : first + 64]
            logits = self.forward_all(group, hidden).logits
            rows = logits[np.arange(len(group)), [sentence.verb for sentence in group]]
            found += [self._prediction(row) for row in softmax(rows.astype(np.float64))]
        return found

    def forward_all(self, sentences: Sequence[Sentence], hidden: Hidden | None = None) -> Forward:
        """One pass over sentences up to the last stem; `<start>` fills up the shorter ones."""
        width = max(sentence.verb for sentence in sentences) + 1
        ids = np.zeros((len(sentences), width), int)  # number 0 is <start>; nothing looks at what comes later
        for row, sentence in enumerate(sentences):
            ids[row, : sentence.verb + 1] = self.encode(sentence.tokens[: sentence.verb + 1])
        mask = None
        if hidden is not None:
            mask = np.stack([hiding(width, hidden(sentence)) for sentence in sentences])[:, None]
        return self.forward(ids, mask=mask)

    def maps(self, tokens: Sequence[str], *, hidden: Sequence[int] = ()) -> list[AttentionMap]:
        """The attention of every head over these tokens: one map a layer, `.row(query, head=h)` and so on."""
        mask = None if not hidden else hiding(len(tokens), hidden)
        return attention_maps(self.forward(self.encode(tokens), mask=mask).layers, tokens, mask=mask)

    def _prediction(self, probs: np.ndarray) -> Prediction:
        return Prediction(*(float(probs[self._number[ENDINGS[gender]]]) for gender in (MASCULINE, FEMININE)))


class Bigram:
    """What follows a word, counted; the model that sees nothing but one word back.

    Args:
        sentences: What to count in.
    """

    def __init__(self, sentences: Iterable[Sentence]):
        self.words = vocabulary()
        self._number = {word: number for number, word in enumerate(self.words)}
        self.counts = np.zeros((len(self.words), len(self.words)), np.int64)
        for sentence in sentences:
            ids = [self._number[token] for token in sentence.tokens]
            np.add.at(self.counts, (ids[:-1], ids[1:]), 1)

    def predict(self, tokens: Sequence[str]) -> Prediction:
        """What ending is expected after the last of these tokens; 1 is added to each count."""
        row = self.counts[self._number[tokens[-1]]] + 1
        return Prediction(*(float(row[self._number[ENDINGS[g]]] / row.sum()) for g in (MASCULINE, FEMININE)))

    def predict_all(self, sentences: Sequence[Sentence]) -> list[Prediction]:
        """`predict` for the last verb of each sentence."""
        return [self.predict(sentence.tokens[: sentence.verb + 1]) for sentence in sentences]


def hiding(length: int, places: Sequence[int]) -> np.ndarray:
    """A mask, bool (length, length), under which tokens after each of `places` cannot see it; it sees itself.

    Example:
        >>> hiding(3, [0]).astype(int).tolist()
        [[1, 1, 1], [0, 1, 1], [0, 1, 1]]
    """
    mask = np.ones((length, length), bool)
    for place in places:
        mask[place + 1 :, place] = False
    return mask


def subject_and_pronoun(sentence: Sentence) -> list[int]:
    """The places that carry the subject's gender: the subject, and který where the sentence has one."""
    return [sentence.subject] if sentence.pronoun is None else [sentence.subject, sentence.pronoun]


def inner_nouns(sentence: Sentence) -> list[int]:
    """The places of the nouns that are subjects of the clauses between."""
    return list(sentence.inner)


def accuracy(predictions: Sequence[Prediction], sentences: Sequence[Sentence]) -> float:
    """Share of the sentences whose right ending is the likelier one."""
    return sum(p.gender == s.gender for p, s in zip(predictions, sentences)) / len(sentences)


def right_share(predictions: Sequence[Prediction], sentences: Sequence[Sentence]) -> float:
    """What the right ending gets of the probability of both, on average: ½ for who knows nothing."""
    shares = [p.feminine if s.gender == FEMININE else 1 - p.feminine for p, s in zip(predictions, sentences)]
    return sum(shares) / len(shares)


def looks(model: AgreementModel, sentences: Sequence[Sentence]) -> np.ndarray:
    """How much of its attention the last verb gives to its subject, (layers, heads, sentences)."""
    found = np.empty((len(model.layers), model.config["num_heads"], len(sentences)))
    for column, sentence in enumerate(sentences):
        for layer, held in enumerate(model.maps(sentence.tokens[: sentence.verb + 1])):
            for head in range(held.num_heads):
                found[layer, head, column] = held.row(sentence.verb, head=head)[sentence.subject]
    return found
