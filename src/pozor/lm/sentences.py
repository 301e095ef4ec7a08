"""Czech sentences in which the last verb agrees with a subject that stands a clause away.

Genders are drawn apart from everything else, and both genders have the same words around them: whoever does
not look at the subject (or at the pronoun that repeats its gender) can only guess.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from pozor.errors import OptionError
from pozor.lm import lexicon
from pozor.lm.lexicon import ADVERBIALS, CONJUNCTIONS, ENDINGS, FEMININE, KINDS, MASCULINE, PEOPLE, PLACES

START = "<start>"
TRAINING_LENGTH = 20  # tokens; training sentences have at most so many, held-out ones more
RELATIVE_SHARE = 0.4
_FINAL_VERBS = [(kind, stem) for kind, stems in KINDS.items() for stem in stems]


@dataclass(frozen=True)
class Sentence:
    """One sentence and what is known about it; places count its tokens from 0, `<start>` the first.

    Attributes:
        tokens: Words, commas and the full stop; a past tense is stem and ending, two tokens.
        gender: Of the subject, "m" or "f".
        subject: Place of the subject.
        pronoun: Place of který, whose form repeats the subject's gender; None where the sentence has none.
        inner: Places of the subjects of the clauses between, all of one gender.
        inner_gender: Theirs.
        verb: Place of the last verb's stem; its ending follows, then the full stop.
    """

    tokens: tuple[str, ...]
    gender: str
    subject: int
    pronoun: int | None
    inner: tuple[int, ...]
    inner_gender: str
    verb: int

    @property
    def crossed(self) -> bool:
        """Whether the nouns between have the other gender: who follows the nearest noun is wrong."""
        return self.gender != self.inner_gender

    @property
    def ending(self) -> int:
        """Place of the ending that agrees with the subject."""
        return self.verb + 1

    @property
    def text(self) -> str:
        """The sentence as it is written, its first letter large."""
        return written(self.tokens)


def written(tokens: tuple[str, ...] | list[str]) -> str:
    """Tokens as a text: endings joined to their stems, a large first letter, no `<start>`.

    Example:
        >>> written(["<start>", "včera", "sestra", ",", "když", "spa", "l", "otec", ",", "čet", "la", "."])
        'Včera sestra, když spal otec, četla.'
    """
    text = ""
    for token in tokens:
        if token != START:
            text += token if token in {",", ".", *ENDINGS.values()} else f" {token}"
    text = text.strip()
    return text[:1].upper() + text[1:]


def vocabulary() -> list[str]:
    """Every token that a sentence can hold, in a fixed order."""
    found = {",", ".", *ENDINGS.values()}
    for people in PEOPLE.values():
        found |= {word for forms in people for form in forms for word in form.split()}
    found |= {stem for _, stem in _FINAL_VERBS}
    for verbs in lexicon.TRANSITIVES.values():
        found |= {word for stem, preposition, _ in verbs for word in (stem, preposition) if word}
    for forms, stems in lexicon.RELATIVES:
        found |= {word for form in forms.values() for word in form.split()} | set(stems)
    found.add("a")
    lists = (*CONJUNCTIONS.values(), *(part for parts in ADVERBIALS.values() for part in parts))
    for phrases in (*lists, lexicon.OPENINGS, lexicon.ORIGINS):
        found |= {word for phrase in phrases for word in phrase.split()}
    return [START, *sorted(found)]


def generate(seed: int, *, longest: int = TRAINING_LENGTH, held_out: bool = False) -> Iterator[Sentence]:
    """Sentences without end, the same for the same seed.

    Args:
        seed: Of the generator.
        longest: Largest number of tokens, `<start>` among them.
        held_out: Sentences that training never shows: longer than any of it, and with a subject and a last
            verb that never stand together there. Otherwise at most TRAINING_LENGTH tokens, other pairs.

    Raises:
        OptionError: longest leaves no sentence.

    Example:
        >>> next(generate(1)).text == next(generate(1)).text
        True
    """
    if held_out and longest <= TRAINING_LENGTH:
        longest = 2 * TRAINING_LENGTH
    if longest < 12:
        raise OptionError(f"longest must be at least 12 tokens; got {longest}.")
    longest = longest if held_out else min(longest, TRAINING_LENGTH)
    shortest = TRAINING_LENGTH + 1 if held_out else 0
    return _sentences(random.Random(seed), shortest, longest, held_out)


def _sentences(draw: random.Random, shortest: int, longest: int, held_out: bool) -> Iterator[Sentence]:
    while True:
        person, verb = draw.randrange(len(PEOPLE[MASCULINE])), draw.randrange(len(_FINAL_VERBS))
        if is_held_out(person, verb) != held_out:
            continue
        sentence = _sentence(draw, person, *_FINAL_VERBS[verb], chatty=0.75 if held_out else 0.4)
        repeats = sentence.tokens.count(sentence.tokens[sentence.verb]) > 1
        if shortest <= len(sentence.tokens) <= longest and not repeats:
            yield sentence


def is_held_out(person: int, verb: int) -> bool:
    """Whether training never shows this pair of people (man and woman) with this last verb: one in five."""
    return (3 * person + verb) % 5 == 0


def _sentence(draw: random.Random, person: int, kind: str, stem: str, chatty: float) -> Sentence:
    """`chatty`: how likely each adverbial is."""
    gender, inner_gender = draw.choice((MASCULINE, FEMININE)), draw.choice((MASCULINE, FEMININE))
    others = draw.sample([i for i in range(len(PEOPLE[MASCULINE])) if i != person], 4)
    tokens = [START, *_maybe(draw, chatty, lexicon.OPENINGS)]
    subject = len(tokens)
    tokens += [PEOPLE[gender][person][0], *_maybe(draw, chatty / 2, lexicon.ORIGINS)]
    relative = draw.random() < RELATIVE_SHARE
    pronoun, inner = None, []
    if relative:
        forms, stems = draw.choice(lexicon.RELATIVES)
        tokens += [",", *forms[gender].split()]
        pronoun = len(tokens) - 1
        inner.append(len(tokens))
        tokens += [PEOPLE[inner_gender][others.pop()][0], *_maybe(draw, chatty, PLACES)]
        tokens += [draw.choice(stems), ENDINGS[inner_gender]]
    if not relative or draw.random() < chatty / 2:
        tokens.append(",")
        clauses = 1 if relative or draw.random() > chatty / 2 else 2
        for number in range(clauses):
            clause, place = _clause(draw, inner_gender, others, chatty, first=number == 0)
            inner.append(len(tokens) + place)
            tokens += clause
    tokens += [",", *_adverbials(draw, kind, chatty + 0.2)]
    verb = len(tokens)
    tokens += [stem, ENDINGS[gender], "."]
    return Sentence(tuple(tokens), gender, subject, pronoun, tuple(inner), inner_gender, verb)


def _clause(draw: random.Random, gender: str, people: list[int], chatty: float, *, first: bool):
    """Words of one clause about the next of `people`, and the place of its subject among them."""
    kind = draw.choice(list(KINDS))
    words = draw.choice(CONJUNCTIONS[kind]).split() if first else ["a"]
    place = len(words)
    words += [PEOPLE[gender][people.pop()][0], *_adverbials(draw, kind, chatty)]
    if kind in lexicon.TRANSITIVES and draw.random() < chatty:
        stem, preposition, case = draw.choice(lexicon.TRANSITIVES[kind])
        _, accusative, company = PEOPLE[draw.choice((MASCULINE, FEMININE))][draw.choice(people)]
        words += [stem, ENDINGS[gender], *preposition.split()]
        words += (accusative if case == "accusative" else company).split()
    else:
        words += [draw.choice(KINDS[kind]), ENDINGS[gender]]
    return words, place


def _maybe(draw: random.Random, chance: float, phrases: tuple[str, ...]) -> list[str]:
    return draw.choice(phrases).split() if draw.random() < chance else []


def _adverbials(draw: random.Random, kind: str, chance: float) -> list[str]:
    return [word for phrases in ADVERBIALS[kind] for word in _maybe(draw, chance, phrases)]
