"""An exercise and one drawing of it: its numbers, what is right, what each usual mistake would give."""

import functools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pozor.errors import DtypeError, OptionError
from pozor.exercises.answers import Answer, Number, Tokens, Vector
from pozor.exercises.pen import Pen
from pozor.exercises.prose import Prose, filled, html, prose_of
from pozor.exercises.sentences import Sentences
from pozor.language import LANGUAGES, choose

TRIES = 400
LARGEST_SEED = 2**53 - 1  # what JSON keeps exactly


@dataclass(frozen=True)
class Built:
    """What the reference computed for one drawing.

    Args:
        answer: What is right.
        fields: The numbers that the prose waits for, written by a `Pen`.
        mistakes: What each usual mistake gives, by key; its sentence is in `texts/mistakes.*.md`, or in the
            exercise's own prose.
    """

    answer: Answer | Sentences
    fields: Callable[[Pen], Mapping[str, object]]
    mistakes: Mapping[str, Answer] = field(default_factory=dict)

    @functools.cached_property
    def listed(self) -> dict[str, Answer]:
        """The mistakes whose result can be told from the right one and from each other."""
        clear: dict[str, Answer] = {}
        for key, mistake in self.mistakes.items():
            if all(mistake.apart(other) for other in (self.answer, *clear.values())):  # type: ignore[arg-type]
                clear[key] = mistake
        return clear


class Reject(Exception):
    """These numbers do not make a good exercise; draw again."""


@dataclass(frozen=True)
class Verdict:
    """What the checker says of an answer.

    Attributes:
        right: All of it is right.
        diagnosis: Key of the mistake that was recognised, or None.
        message: One or two sentences in the language asked for; the result is not in it.
        found, missed: Of an answer in sentences: what its thoughts are about.
        model: The model answer beside it (Markdown); None for other kinds.
    """

    right: bool
    diagnosis: str | None
    message: str
    found: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    model: str | None = None


@dataclass(frozen=True)
class Exercise:
    """An exercise: data that draws its numbers, computes what is right and what mistakes give.

    Attributes:
        id: Its name, the same in both languages.
        lesson: Number of the lesson it belongs to, 0 to 5.
        kind: "number", "vector", "tokens" or "sentence".
    """

    id: str
    lesson: int
    room: str  # its prose is texts/ROOM.*.md
    kind: str
    build: Callable[[random.Random | None], Built]  # None: the numbers of the lesson

    @property
    def title(self) -> dict[str, str]:
        """The title by language."""
        return {lang: prose.title for lang, prose in self._prose.items()}

    @property
    def _prose(self) -> dict[str, Prose]:
        return prose_of(self.room)[self.id]

    def draw(self, seed: int | None = None) -> "Drawn":
        """The exercise with its numbers: those of the lesson, or those of a seed, always the same.

        Args:
            seed: A whole number from 0; None for the numbers of the lesson.

        Raises:
            DtypeError: seed is no whole number.   OptionError: It is below 0 or above 2**53 − 1.
        """
        if seed is None:
            return Drawn(self, None, self.build(None), self._prose)
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise DtypeError(f"seed must be a whole number; got {type(seed).__name__}.")
        if not 0 <= seed <= LARGEST_SEED:
            raise OptionError(f"seed must be from 0 to {LARGEST_SEED}; got {seed}.")
        dice = random.Random(f"{self.id} {seed}")
        fullest: Built | None = None
        for _ in range(TRIES):
            try:
                built = self.build(dice)
            except Reject:
                continue
            if len(built.listed) == len(built.mistakes):
                return Drawn(self, seed, built, self._prose)
            if fullest is None or len(built.listed) > len(fullest.listed):
                fullest = built
        assert fullest is not None, f"{self.id}: no numbers make a good exercise"
        return Drawn(self, seed, fullest, self._prose)


@dataclass(frozen=True)
class Drawn:
    """One drawing of an exercise.

    Attributes:
        exercise: Whose drawing it is.
        seed: What it was drawn from; None for the numbers of the lesson.
    """

    exercise: Exercise
    seed: int | None
    built: Built
    prose: dict[str, Prose]

    @property
    def answer(self) -> Any:
        """What is right: a number (its first form), a tuple of numbers, of words, or of claims."""
        match self.built.answer:
            case Number(forms):
                return forms[0].value
            case Vector(values):
                return values
            case Tokens(chosen, words):
                return tuple(words[i]["cs"] for i in sorted(chosen))
            case Sentences(claims):
                return tuple(claim.key for claim in claims)

    @property
    def mistakes(self) -> dict[str, Answer]:
        """What each mistake that is recognised here would give."""
        return self.built.listed

    def question(self, lang: str) -> str:
        """The question in Markdown, with how to answer."""
        from pozor.exercises.asking import how_to_answer

        return f"{self._fill(lang, 'question')}\n\n*{how_to_answer(self.built.answer, lang)}*"

    def hints(self, lang: str) -> list[str]:
        """Hints, from a nudge to nearly the whole way; the result is in none of them."""
        prose = self.prose[_known(lang)]
        return [filled(hint, self._fields(lang), lang) for hint in prose.hints]

    def solution(self, lang: str) -> str:
        """The solution with its working, in Markdown; of a sentence also the model answer."""
        text = self._fill(lang, "solution")
        model = self.model(lang)
        return text if model is None else f"> {model}\n\n{text}".strip()

    def model(self, lang: str) -> str | None:
        """The model answer of a question that is answered in sentences."""
        return self._fill(lang, "model") if self.exercise.kind == "sentence" else None

    def question_html(self, lang: str) -> str:
        """The question as HTML: escaped, no script, no style."""
        return html(self.question(lang))

    def hints_html(self, lang: str) -> list[str]:
        """The hints as HTML."""
        return [html(hint) for hint in self.hints(lang)]

    def solution_html(self, lang: str) -> str:
        """The solution as HTML."""
        return html(self.solution(lang))

    def choices(self, lang: str) -> list[str] | None:
        """The words to choose from, in the order of the text; None for other kinds."""
        _known(lang)
        answer = self.built.answer
        return [word["cs"] for word in answer.words] if isinstance(answer, Tokens) else None

    def check(self, answer: str, lang: str) -> Verdict:
        """What there is to say of an answer.

        Args:
            answer: As typed. It is read, never evaluated.
            lang: cs or en.

        Raises:
            DtypeError: answer is no str.
        """
        from pozor.exercises.checking import check

        if not isinstance(answer, str):
            raise DtypeError(f"answer must be a str; got {type(answer).__name__}.")
        verdict = check(self, answer, _known(lang))
        return replace(verdict, model=self.model(lang))

    def mistake_text(self, key: str, lang: str) -> str:
        """The sentence that names a mistake."""
        from pozor.exercises.checking import mistake_texts

        own = self.prose[lang].mistakes.get(key)
        return filled(own, self._fields(lang), lang) if own else filled(mistake_texts(lang)[key], {}, lang)

    def claim_text(self, key: str, lang: str) -> str:
        """What a claim is about."""
        return filled(self.prose[lang].claims[key], self._fields(lang), lang)

    def document(self, lang: str) -> dict[str, Any]:
        """All that a page may know before it asks: neither the answer nor the solution."""
        return {
            "id": self.exercise.id,
            "lesson": self.exercise.lesson,
            "kind": self.exercise.kind,
            "title": self.exercise.title[_known(lang)],
            "seed": self.seed,
            "lang": lang,
            "question": self.question(lang),
            "html": self.question_html(lang),
            "choices": self.choices(lang),
            "hints": len(self.prose[lang].hints),
        }

    def _fill(self, lang: str, part: str) -> str:
        return filled(getattr(self.prose[_known(lang)], part), self._fields(lang), lang)

    def _fields(self, lang: str) -> Mapping[str, object]:
        return self.built.fields(Pen(lang))


def _known(lang: str) -> str:
    if lang not in LANGUAGES:
        choose(lang if isinstance(lang, str) else "")
    return lang
