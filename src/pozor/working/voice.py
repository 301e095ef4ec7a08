"""One language and one number of digits: sentences filled in, numbers written, long sums made short."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from pozor.language import tied
from pozor.working.document import (
    Equation,
    Expr,
    Inline,
    Inlines,
    Mono,
    Num,
    Para,
    Plain,
    Side,
    Sym,
    Times,
    Token,
    Vector,
    Words,
)
from pozor.working.numbers import Numbers, Written
from pozor.working.records import Dot, Label, Mask, Number, Output, Start, Step
from pozor.working.words import word

WHOLE_SUM, LARGEST_TERMS = 8, 6  # a sum up to 8 terms is written whole, of a longer one the 6 largest
WHOLE_ROW, LARGEST_KEYS = 12, 8
WHOLE_VECTOR, FIRST_COLUMNS = 8, 4
MEASURED = ("recording", "map", "layer")  # numbers of a model, not chosen for a lesson

_PLACE = re.compile(r"\{(\w+)\}|`([^`]+)`")


class Voice:
    """Says what the records hold, in one language."""

    def __init__(self, steps: Sequence[Step], lang: str, digits: int | None):
        start = steps[0]
        assert isinstance(start, Start)
        self.start, self.steps, self.lang = start, steps, lang
        self.numbers = Numbers(digits, lang, measured=start.source in MEASURED)
        self.about = "≐" if lang == "cs" else "≈"

    @property
    def visible(self) -> np.ndarray:
        """The keys that the query may see."""
        return next(step.visible for step in self.steps if isinstance(step, Mask))

    @property
    def has_output(self) -> bool:
        """The working has a step with W_O."""
        return any(isinstance(step, Output) for step in self.steps)

    def finer(self, digits: int) -> "Voice":
        """The same voice with another number of digits."""
        return Voice(self.steps, self.lang, digits)

    def say(self, sentence: str, /, **parts: object) -> Inlines:
        """The sentence `key` with its places filled."""
        text, result, at = word(sentence, self.lang), [], 0
        for found in _PLACE.finditer(text):
            if found.start() > at:
                result.append(Plain(text[at : found.start()]))
            result += self.inlines(parts[found[1]]) if found[1] else (Mono(found[2]),)
            at = found.end()
        if at < len(text):
            result.append(Plain(text[at:]))
        return tuple(result)

    def para(self, sentence: str, /, role: str = "", **parts: object) -> Para:
        """A paragraph of one sentence."""
        return Para(self.say(sentence, **parts), role)

    def note(self, sentence: str, /, **parts: object) -> Para:
        """What could mislead, marked as such."""
        return Para((Plain(word("note", self.lang) + " "), *self.say(sentence, **parts)), "note")

    def inlines(self, part: object) -> Inlines:
        """A str, a label, a piece or a tuple of pieces, as pieces."""
        if isinstance(part, Label):
            return (Token(part.text, number=self.number(part)),)
        if isinstance(part, (str, int)):
            return (Plain(str(part)),)
        if isinstance(part, tuple):
            return part
        return (part,)  # type: ignore[return-value]

    def joined(self, parts: Iterable[object], between: str = ", ") -> Inlines:
        """Pieces with `between` between them."""
        result: list[Inline] = []
        for number, part in enumerate(parts):
            result += ([Plain(between)] if number else []) + list(self.inlines(part))
        return tuple(result)

    def and_list(self, parts: Sequence[object]) -> Inlines:
        """a, b and c."""
        if len(parts) < 2:
            return self.joined(parts)
        last = (Plain(tied(f" {word('and', self.lang)} ", self.lang)), *self.inlines(parts[-1]))
        return (*self.joined(parts[:-1]), *last)

    # numbers
    def write(self, value: Number) -> Written:
        """A number with the reader's digits."""
        return self.numbers.write(value)

    def num(self, value: Number) -> Num:
        """The same as a piece of a formula."""
        return Num(self.numbers.write(value).text)

    def significant(self, value: Number) -> Written:
        """A number that is divided: where decimals would leave one digit, a power of ten instead."""
        digits = self.numbers.digits
        small = digits is not None and digits > 1 and 0 < abs(value) < 10.0 ** (1 - digits)
        return self.numbers.scientific(value) if small else self.write(value)

    def column(self, values: Iterable[Number]) -> list[Inlines]:
        """A column of a table, decimal marks under each other."""
        values = list(values)
        places = self.numbers.places(values)
        return [(Num(self.numbers.write(value, places).text),) for value in values]

    def vector(self, values: Sequence[Number] | np.ndarray) -> Vector:
        """A vector, of a long one the first numbers."""
        shown = values if len(values) <= WHOLE_VECTOR else values[:FIRST_COLUMNS]
        texts = tuple(self.write(value).text for value in shown)
        return Vector(texts, self.numbers.between, more=len(shown) < len(values))

    def relation(self, *written: Written) -> str:
        """= where every number is shown exactly."""
        return "=" if all(w.exact for w in written) else self.about

    def vector_relation(self, values: Iterable[Number]) -> str:
        """= where every number of the vector is shown exactly."""
        return self.relation(*(self.write(value) for value in values))

    # sums
    def sum_of_products(self, left: Expr, dot: Dot) -> Equation:
        """left = a·b + c·d + … = total; of a long sum the largest terms, the others as one sum."""
        terms = list(dot.terms())
        shown = terms
        if len(terms) > WHOLE_SUM:
            largest = sorted(terms, key=lambda t: -abs(_finite(t.product)))[:LARGEST_TERMS]
            shown = sorted(largest, key=lambda t: t.index)
        parts: list[Expr] = []
        written: list[Written] = []
        for term in shown:
            a, b = self.write(term.left), self.write(term.right)
            parts.append(Times(Num(a.text), Num(b.text)))
            written += (a, b)
        if len(shown) < len(terms):
            kept = {t.index for t in shown}
            rest = self.write(sum(float(t.product) for t in terms if t.index not in kept))
            count = self.numbers.count(len(terms) - len(shown))
            parts.append(Words(self.flat("rest_terms", count=count, sum=rest.text)))
            written.append(rest)
        if dot.plus is not None:
            plus = self.write(dot.plus)
            parts.append(Num(plus.text))
            written.append(plus)
        total = self.write(dot.total)
        return Equation(
            left,
            (
                Side(self.relation(*written), tuple(parts)),
                Side(self.relation(*written, total), (Num(total.text),)),
            ),
        )

    def flat(self, sentence: str, /, **parts: str) -> str:
        """A sentence of plain text only."""
        return word(sentence, self.lang).format(**parts)

    # tokens
    def sym(self, name: str, label: Label | None = None, index: int | None = None) -> Sym:
        """A symbol of a token, its numbers counted from 1 as on paper."""
        low = None if index is None else str(index + 1)
        return Sym(name, None, low) if label is None else Sym(name, label.text, low, self.number(label))

    def number(self, label: Label) -> str | None:
        """The index of a token that is named with it."""
        return self.numbers.count(label.index) if label.numbered else None

    def keys(self, probs: np.ndarray, visible: np.ndarray, focus: int | None) -> list[int]:
        """The keys a table names: all of a short row; of a long one the largest, and the one asked for."""
        if len(probs) <= WHOLE_ROW:
            return list(range(len(probs)))
        count = LARGEST_KEYS if focus is None else LARGEST_KEYS // 2
        order = [int(i) for i in np.argsort(-probs, kind="stable") if visible[i]][:count]
        return order if focus is None or focus in order else [focus, *order]


def _finite(value: Number) -> float:
    number = float(value)
    return number if np.isfinite(number) else np.inf
