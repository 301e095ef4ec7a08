"""Numbers, vectors and tables as a language writes them, in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pozor.examples import Text
from pozor.working.numbers import Numbers

Row = Sequence[object] | np.ndarray


@dataclass(frozen=True)
class Pen:
    """Writes what an exercise computed into its prose, in `lang`."""

    lang: str

    def number(self, value: object, digits: int | None = None) -> str:
        """A number exactly, or with `digits` decimals, zeros included."""
        if isinstance(value, Fraction):
            value = float(value)
        if isinstance(value, int | np.integer):
            return self.count(int(value))
        numbers = Numbers(digits, self.lang)
        return numbers.write(value, digits).text  # type: ignore[arg-type]

    def vector(self, values: Row, digits: int | None = None) -> str:
        """Numbers in brackets, apart by semicolons where the comma is the decimal mark."""
        between = Numbers(3, self.lang).between
        return f"[{between.join(self.number(value, digits) for value in values)}]"

    def terms(self, left: Row, right: Row, digits: int | None = None) -> str:
        """The products of a dot product, written out: 1·2 + 0·3."""
        return " + ".join(f"{self._factor(a, digits)}·{self._factor(b, None)}" for a, b in zip(left, right))

    def sum(self, values: Row, digits: int | None = None) -> str:
        """Numbers with a plus between them."""
        return " + ".join(self._factor(value, digits) for value in values)

    def percent(self, value: float, digits: int = 0) -> str:
        """A share in per cent."""
        return f"{self.number(round(100 * value, 9), digits) if digits else round(100 * value)}\u00a0%"

    def count(self, value: int) -> str:
        """A whole number with its thousands grouped."""
        return Numbers(3, self.lang).count(value)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A Markdown table, numbers to the right."""
        marks = [":---"] + ["---:"] * (len(head) - 1)
        return "\n".join("| " + " | ".join(line) + " |" for line in (head, marks, *rows))

    def matrix(
        self,
        rows: Sequence[Sequence[object]] | np.ndarray,
        words: Sequence[str],
        columns: Sequence[str] | None = None,
        digits: int | None = None,
        corner: str = "",
    ) -> str:
        """A table of numbers with a word before each row."""
        width = len(rows[0])
        head = [corner or "\u00a0", *(columns or [str(i + 1) for i in range(width)])]
        return self.table(
            head, [[word, *(self.number(n, digits) for n in row)] for word, row in zip(words, rows)]
        )

    def word(self, text: Text) -> str:
        """A word of an example in quotes: always Czech, with its gloss where the reader may need it."""
        if self.lang == "cs":
            return f"„{text.cs}“"
        return f"“{text.cs}”" if _same(text) else f"“{text.cs}” ({text.en})"

    def label(self, text: Text) -> str:
        """The same as the head of a row or column, without quotes."""
        return text.cs if self.lang == "cs" or _same(text) else f"{text.cs} ({text.en})"

    def labels(self, texts: Sequence[Text]) -> list[str]:
        """Heads of rows or columns."""
        return [self.label(text) for text in texts]

    def listed(self, texts: Sequence[Text]) -> str:
        """Words in quotes, apart by commas."""
        return ", ".join(self.word(text) for text in texts)

    def many(self, count: int, cs: tuple[str, str, str], en: tuple[str, str]) -> str:
        """A count with its noun: 1 hlava, 4 hlavy, 32 hlav."""
        if self.lang == "en":
            return f"{self.count(count)} {en[count != 1]}"
        return f"{self.count(count)} {cs[0 if count == 1 else 1 if 2 <= count <= 4 else 2]}"

    def pick(self, cs: str, en: str) -> str:
        """One of two."""
        return cs if self.lang == "cs" else en

    def _factor(self, value: object, digits: int | None) -> str:
        text = self.number(value, digits)
        return f"({text})" if text.startswith("−") else text


def _same(text: Text) -> bool:
    """A name needs no gloss."""
    return text.cs.casefold() == text.en.casefold()
