"""What a working is before a renderer: headings, sentences, equations, tables. Numbers are text here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plain:
    """Prose."""

    text: str


@dataclass(frozen=True)
class Token:
    """A token of the learner's text: foreign, to be escaped, isolated and made visible."""

    text: str
    quoted: bool = True
    number: str | None = None  # its index, where the text alone does not name it


@dataclass(frozen=True)
class Mono:
    """A piece of code in a sentence."""

    text: str


@dataclass(frozen=True)
class Num:
    """A number, already written."""

    text: str


@dataclass(frozen=True)
class Sym:
    """A symbol, such as q or W_Q, with the token it belongs to and a number or name below."""

    name: str
    token: str | None = None
    sub: str | None = None
    number: str | None = None  # the token's index


@dataclass(frozen=True)
class Words:
    """Words inside a formula."""

    text: str


@dataclass(frozen=True)
class Times:
    """left · right."""

    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class Over:
    """A fraction."""

    top: "Expr"
    bottom: "Expr"


@dataclass(frozen=True)
class Root:
    """A square root."""

    inside: "Expr"


@dataclass(frozen=True)
class Power:
    """e to the power of."""

    exponent: "Expr"


@dataclass(frozen=True)
class Minus:
    """left − right."""

    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class Plus:
    """left + right."""

    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class Call:
    """A function of one thing, such as tanh."""

    name: str
    inside: "Expr"


@dataclass(frozen=True)
class Vector:
    """Numbers in brackets; `between` is what the language puts between two of them."""

    numbers: tuple[str, ...]
    between: str
    more: bool = False  # the vector goes on


Expr = Num | Sym | Words | Times | Over | Root | Power | Minus | Plus | Call | Vector
Inline = Plain | Token | Mono | Num | Sym | Times | Over | Root | Power | Minus | Plus | Call | Vector
Inlines = tuple[Inline, ...]


@dataclass(frozen=True)
class Side:
    """A relation and what stands right of it: terms that are added."""

    relation: str  # "=" or "≈"
    terms: tuple[Expr, ...]


@dataclass(frozen=True)
class Equation:
    """left = … = …"""

    left: Expr
    sides: tuple[Side, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 once."""

    parts: Inlines
    level: int


@dataclass(frozen=True)
class Para:
    """A paragraph; role "note" where something could mislead, "reading" for the result in words."""

    parts: Inlines
    role: str = ""


@dataclass(frozen=True)
class Equations:
    """Equations under each other."""

    rows: tuple[Equation, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table and its heading."""

    head: Inlines
    numeric: bool


@dataclass(frozen=True)
class Table:
    """A table; the first column names the row, `totals` closes it."""

    caption: Inlines
    columns: tuple[Column, ...]
    rows: tuple[tuple[Inlines, ...], ...]
    totals: tuple[tuple[Inlines, ...], ...] = ()


@dataclass(frozen=True)
class Code:
    """Lines of Python."""

    lines: tuple[str, ...]


Block = Heading | Para | Equations | Table | Code


@dataclass(frozen=True)
class Document:
    """A whole working in one language."""

    lang: str
    blocks: tuple[Block, ...]
