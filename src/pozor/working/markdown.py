"""Markdown: headings, tables and lists; formulas as text, so that every viewer shows them."""

from pozor.working.document import (
    Block,
    Code,
    Document,
    Equation,
    Equations,
    Heading,
    Inlines,
    Mono,
    Para,
    Plain,
    Table,
    Token,
)
from pozor.working.text import QUOTES, formula, shown

# what Markdown, its tables and formulas, or HTML could take for markup inside a line
SPECIAL = "\\`*_[]<>|&$~"


def to_markdown(document: Document) -> str:
    """The document as Markdown."""
    return "\n\n".join(_block(block, document.lang) for block in document.blocks) + "\n"


def escape(text: str) -> str:
    """`text` as it is, whatever Markdown would make of it."""
    return "".join(f"\\{ch}" if ch in SPECIAL else ch for ch in text)


def _inlines(parts: Inlines, lang: str) -> str:
    result = []
    for part in parts:
        match part:
            case Plain(text):
                result.append(escape(text))
            case Mono(text):
                result.append(f"`{text}`")
            case Token(text, quoted, number):
                left, right = QUOTES[lang] if quoted else ("", "")
                before = "" if number is None else f"{number}\u00a0"
                result.append(f"{before}{left}{escape(shown(text))}{right}")
            case _:
                result.append(escape(formula(part)))
    return "".join(result)


def _block(block: Block, lang: str) -> str:
    match block:
        case Heading(parts, level):
            return f"{'#' * level} {_heading(_inlines(parts, lang))}"
        case Para(parts, role):
            text = _inlines(parts, lang)
            return f"> {text}" if role == "note" else f"**{text}**" if role == "reading" else text
        case Equations(rows):
            return "\n".join(f"- {escape(_equation(row))}" for row in rows)
        case Table():
            return _table(block, lang)
        case Code(lines):
            return "\n".join(["```python", *lines, "```"])


def _heading(text: str) -> str:
    return text.replace("\n", " ")


def _equation(row: Equation) -> str:
    sides = []
    for side in row.sides:
        terms = [formula(term) for term in side.terms]
        terms[1:] = [f"({term})" if term.startswith("−") else term for term in terms[1:]]
        sides.append(f"{side.relation} {' + '.join(terms)}")
    return f"{formula(row.left)} {' '.join(sides)}"


def _table(table: Table, lang: str) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [
        line([_inlines(column.head, lang) for column in table.columns]),
        line(["---:" if column.numeric else ":---" for column in table.columns]),
        *(line([_cell(cell, lang) for cell in row]) for row in table.rows),
        *(
            line([f"**{text}**" if (text := _cell(cell, lang)) else "" for cell in row])
            for row in table.totals
        ),
    ]
    return f"{_inlines(table.caption, lang)}:\n\n" + "\n".join(lines)


def _cell(parts: Inlines, lang: str) -> str:
    return _inlines(tuple(Token(p.text, False, p.number) if isinstance(p, Token) else p for p in parts), lang)
