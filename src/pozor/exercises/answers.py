"""What counts as an answer: one number, several, a choice of words. A usual mistake is an answer too."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pozor.exercises.reading import Quantity, Unread, read_number, read_vector
from pozor.exercises.units import BYTES, fold

Value = int | float | Decimal | Fraction
RIGHT, CLOSE, ROUGH, OTHER = "right", "close", "rough", "other"
# last digits by which rounding on the way may miss
SLACK = 3
BINARY = Fraction(1, 10**12)  # what float64 adds to 0.9: no digits that a learner could have written
COARSEST = Fraction(1, 20)  # a size is written well enough if its last digit leaves at most so much open


@dataclass(frozen=True)
class Form:
    """One way to give a number.

    Args:
        value: What is right, in the base unit (bytes; 1 for 100 %).
        digits: Decimals that are asked for; None: it comes out exactly.
        units: Units it may be written in; "" is none.
        lead: "by" or "to", where the other word would make it something else.
        relative: Rounding is judged by the size of the number: for sizes in bytes and for ratios.
        led: It counts only with its `lead` written.
    """

    value: Value
    digits: int | None = 3
    units: tuple[str, ...] = ("",)
    lead: str = ""
    relative: bool = False
    led: bool = False

    def judge(self, got: Quantity) -> str:
        """How a number as written compares: right, close, rough (rounded too far) or other."""
        if got.unit not in self.units or (got.lead and self.lead and got.lead != self.lead):
            return OTHER
        if self.led and got.lead != self.lead:
            return OTHER
        if endless(self.value) or endless(got.value):
            return RIGHT if self.value == got.value else OTHER
        want, off = exact(self.value), abs(Fraction(got.value) - exact(self.value))
        if off <= BINARY * max(1, abs(want)):
            return RIGHT
        half = None if got.step is None else got.step / 2
        if self.relative:
            return self._judge_relative(want, off, half)
        if self.digits is None:
            return ROUGH if half is not None and off <= half and half < abs(want) else OTHER
        unit = Fraction(1, 10**self.digits)
        if off <= unit / 2:  # 0.26 for 0.260: zeros at the end need not be written
            return RIGHT
        if got.unit == "%" and got.step == Fraction(1, 100):  # whole per cent are what one says
            unit = max(unit, Fraction(1, 100))
        if half is not None and half > unit / 2:
            return ROUGH if off <= half and half < abs(want) else OTHER
        if off <= unit / 2:
            return RIGHT
        return CLOSE if off <= SLACK * Fraction(1, 10**self.digits) else OTHER

    def _judge_relative(self, want: Fraction, off: Fraction, half: Fraction | None) -> str:
        size = abs(want)
        if half is None or half <= size / 5000:
            return RIGHT if off <= size / 2000 else OTHER
        if off <= half:
            return RIGHT if half <= size * COARSEST else ROUGH if half < size / 2 else OTHER
        return CLOSE if off <= size / 100 and off <= 3 * half else OTHER

    def apart(self, other: "Form") -> bool:
        """No writing of one could be taken for the other."""
        if not set(self.units) & set(other.units):
            return True
        if self.led != other.led and "" in (self.lead, other.lead):
            return True
        if endless(self.value) or endless(other.value):
            return self.value != other.value
        off = abs(exact(self.value) - exact(other.value))
        if self.relative or other.relative:
            # whole units of a number below ten may be all that is written
            return off > abs(exact(self.value)) * COARSEST * 2
        if self.digits is None or other.digits is None:
            return off > 0 if self.digits == other.digits else off > Fraction(1, 100)
        percent = "%" in self.units and "%" in other.units
        return off > (
            Fraction(1, 80)
            if percent
            else (2 * SLACK + 1) * Fraction(1, 10 ** min(self.digits, other.digits))
        )


@dataclass(frozen=True)
class Number:
    """One number, in any of its forms."""

    forms: tuple[Form, ...]

    kind = "number"

    def read(self, text: str, lang: str) -> list[Quantity]:
        """The readings of what was typed."""
        return read_number(text, lang)

    def judge(self, got: Quantity) -> str:
        """The best that any form says."""
        return best([form.judge(got) for form in self.forms])

    def apart(self, other: "Number") -> bool:
        """No writing of one could be taken for the other."""
        return all(a.apart(b) for a in self.forms for b in other.forms)

    def unit_slip(self, got: Quantity) -> bool:
        """The number would be right with another unit of size."""
        if got.unit not in BYTES or isinstance(got.value, float):
            return False
        for name, size in BYTES.items():
            factor = Fraction(size, BYTES[got.unit])
            step = None if got.step is None else got.step * factor
            if name != got.unit and self.judge(Quantity(got.value * factor, step, name)) == RIGHT:
                return True
        return False

    def percent_slip(self, got: Quantity) -> str | None:
        """The number would be right in per cent, or in points of it; the key of what to say."""
        if isinstance(got.value, float):
            return None
        if got.unit == "%" and self.judge(Quantity(got.value, got.step, "points", got.lead)) == RIGHT:
            return "points_for_percent"
        step = None if got.step is None else got.step / 100
        if got.unit == "" and self.judge(Quantity(got.value / 100, step, "%", got.lead)) == RIGHT:
            return "percent_missing"
        return None

    @property
    def sized(self) -> bool:
        """The answer needs a unit of size."""
        return all("" not in form.units for form in self.forms)


@dataclass(frozen=True)
class Vector:
    """Several numbers in their order; −∞ is one."""

    values: tuple[Value, ...]
    digits: int | None = 3
    shares: bool = False  # per cent may be written

    kind = "vector"

    def read(self, text: str, lang: str) -> list[list[Quantity]]:
        """The readings of what was typed."""
        return read_vector(text, lang, len(self.values))

    def judge(self, got: Sequence[Quantity]) -> str:
        """The worst of its numbers."""
        units = ("", "%") if self.shares else ("",)
        verdicts = [Form(value, self.digits, units).judge(q) for value, q in zip(self.values, got)]
        return max(verdicts, key=(RIGHT, CLOSE, ROUGH, OTHER).index)

    def apart(self, other: "Vector") -> bool:
        """Some number tells one from the other."""
        if len(self.values) != len(other.values):
            return True
        units = ("", "%") if self.shares else ("",)
        return any(
            Form(a, self.digits, units).apart(Form(b, other.digits, units))
            for a, b in zip(self.values, other.values)
        )

    def shuffled(self, got: Sequence[Quantity]) -> bool:
        """The right numbers in another order."""
        left = list(got)
        for value in self.values:
            form = Form(value, self.digits, ("", "%") if self.shares else ("",))
            same = next((q for q in left if form.judge(q) == RIGHT), None)
            if same is None:
                return False
            left.remove(same)
        return len({q.value for q in got}) > 1


@dataclass(frozen=True)
class Tokens:
    """Some of the words of a text, in any order."""

    chosen: frozenset[int]
    words: tuple[dict[str, str], ...]  # the text, each word in both languages

    kind = "tokens"

    def read(self, text: str, lang: str) -> list[frozenset[int]]:
        """The places of the words that were typed, apart by anything but letters.

        Raises:
            Unread: A word is not one of the text's.
        """
        if len(text) > 1000:
            raise Unread("too_long")
        places: dict[str, int] = {}
        folded = " ".join(_letters(fold(text)))
        for place, word in enumerate(self.words):
            for name in (fold(word["en"]), fold(word["cs"])):
                # a gloss may be two words: one token of what is typed
                folded = re.sub(rf"(?<!\S){name}(?!\S)", name.replace(" ", "_"), folded)
                places[name.replace(" ", "_")] = place
        typed = [word for word in folded.split() if word not in ("a", "and", "i")]
        if not typed:
            raise Unread("no_words")
        for word in typed:
            if word not in places:
                raise Unread("other_word", words=word if len(word) <= 24 else word[:23] + "…")
        return [frozenset(places[word] for word in typed)]

    def judge(self, got: frozenset[int]) -> str:
        """Right or other."""
        return RIGHT if got == self.chosen else OTHER

    def apart(self, other: "Tokens") -> bool:
        """They are different words."""
        return self.chosen != other.chosen


def _letters(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


Answer = Number | Vector | Tokens


def endless(value: Value) -> bool:
    """The number is infinite."""
    return not isinstance(value, Fraction) and math.isinf(value)


def exact(value: Value) -> Fraction:
    """The number itself, as a fraction."""
    return Fraction(value)


def best(verdicts: Sequence[str]) -> str:
    """The most favourable of several."""
    return min(verdicts, key=(RIGHT, CLOSE, ROUGH, OTHER).index)


def whole(value: Value) -> Number:
    """A number that comes out exactly."""
    return Number((Form(value, None),))


def whole_share(value: Value) -> Number:
    """A part of one that comes out exactly; in per cent too."""
    return Number((Form(value, None, ("", "%")),))


def rounded(value: Value, digits: int = 3) -> Number:
    """A number to `digits` decimals."""
    return Number((Form(value, digits),))


def share(value: Value, digits: int = 3) -> Number:
    """A part of one: to `digits` decimals, or in per cent."""
    return Number((Form(value, digits, ("", "%")),))


def ratio(value: Value) -> Number:
    """How many times."""
    return Number((Form(value, 1, ("", "times"), relative=True),))


def size(in_bytes: int) -> Number:
    """A size in bytes; whichever unit is written decides."""
    return Number((Form(in_bytes, None, tuple(BYTES), relative=True),))


def fall(before: float, after: float) -> Number:
    """A fall: as a difference, in per cent (by or to), or as a ratio either way."""
    return Number(
        (
            Form(before - after, 3, ("", "points"), "by"),
            Form(before / after, 1, ("", "times"), relative=True),
            Form(after / before, 2, ("", "%"), "to"),
            Form(1 - after / before, 2, ("%",), "by"),
            Form(after, 3, lead="to", led=True),
        )
    )
