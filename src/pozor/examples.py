"""The data of the two worked examples: words and exact decimals. Nothing is computed here."""

from dataclasses import dataclass
from decimal import Decimal

Matrix = tuple[tuple[str, ...], ...]  # exact decimals as strings, row by row


@dataclass(frozen=True)
class Text:
    """One text in both languages of the product."""

    cs: str
    en: str


@dataclass(frozen=True)
class Example:
    """A worked example; the matrices are strings of exact decimals, and None where it has none.

    An example starts either at `x` (then q = x · w_q and so on, split into `num_heads` heads, and the heads
    joined times `w_o`) or at `q`, `k`, `v`, (words, head_dim or v_head_dim) each. Weights are (in, out).
    """

    name: str
    title: Text
    sentence: Text
    words: tuple[Text, ...]  # cs: the word itself; en: its gloss
    axes: tuple[Text, ...] | None  # what each of the head_dim numbers of q and k stands for
    num_heads: int
    head_counts: tuple[int, ...]  # the numbers of heads that its sizes allow
    causal: bool
    scale: str | None  # None: head_dim ** -0.5
    residual: bool  # x is added to what w_o gives
    x: Matrix | None = None
    w_q: Matrix | None = None
    w_k: Matrix | None = None
    w_v: Matrix | None = None
    w_o: Matrix | None = None
    q: Matrix | None = None
    k: Matrix | None = None
    v: Matrix | None = None


def decimals(matrix: Matrix) -> list[list[Decimal]]:
    """The numbers of a matrix as exact decimals."""
    return [[Decimal(number) for number in row] for row in matrix]


def floats(matrix: Matrix) -> list[list[float]]:
    """The numbers of a matrix as the nearest float64."""
    return [[float(number) for number in row] for row in matrix]


def _rows(text: str) -> Matrix:
    """A matrix written as on paper: `|` between rows, spaces between numbers."""
    return tuple(tuple(row.split()) for row in text.split("|"))


PAPER = Example(
    name="paper",
    title=Text("Tři slova na papíře", "Three words on paper"),
    sentence=Text("kočka spí venku", "the cat sleeps outside"),
    words=(Text("kočka", "cat"), Text("spí", "sleeps"), Text("venku", "outside")),
    axes=None,
    num_heads=1,
    head_counts=(1, 2, 4),
    causal=True,
    scale=None,
    residual=True,
    x=_rows("1 0 1 0 | 0 1 0 1 | 1 1 0 0"),
    w_q=_rows("0.9 0 0.2 0 | 0 0.8 0 0.1 | 0.1 0 0.3 0 | 0 0.2 0 0.9"),
    w_k=_rows("0.8 0.1 0.1 0 | 0 0.8 0 0 | 0.1 0 0.3 0 | 0 0.2 0 0.9"),
    w_v=_rows("0.1 0.2 0.1 0.1 | 0 0 0.8 0.3 | 0.1 0.6 -0.1 0 | 0.7 0.1 -0.5 -0.3"),
    w_o=_rows("0.5 0 0 0.5 | 0 1 0 0 | 0 0.5 0.5 0 | 0 0 0 1"),
)

# V is the identity, so that out is the row of probs itself
PUB = Example(
    name="pub",
    title=Text("Šest slov v hospodě", "Six words in a pub"),
    sentence=Text("pan švejk vypil pivo v hospodě", "mister Švejk drank beer in a pub"),
    words=(
        Text("pan", "mister"),
        Text("švejk", "Švejk"),
        Text("vypil", "drank"),
        Text("pivo", "beer"),
        Text("v", "in"),
        Text("hospodě", "pub"),
    ),
    axes=(
        Text("osoba", "person"),
        Text("pití", "drinking"),
        Text("místo", "place"),
        Text("sloveso", "verb"),
    ),
    num_heads=1,
    head_counts=(1,),
    causal=False,
    scale=None,
    residual=False,
    q=_rows("0 0 0 0 | 0 0 0 3 | 3 3 0 0 | 0 0 0 3 | 0 0 3 0 | 0 0 0 0"),
    k=_rows("3 0 0 0 | 3 0 0 0 | 0 0 0 3 | 0 3 0 0 | 0 0 1 0 | 0 0 3 0"),
    v=_rows("1 0 0 0 0 0 | 0 1 0 0 0 0 | 0 0 1 0 0 0 | 0 0 0 1 0 0 | 0 0 0 0 1 0 | 0 0 0 0 0 1"),
)

EXAMPLES = {example.name: example for example in (PAPER, PUB)}
