"""Plain text for terminals and pipes: no colour, no control codes, tables aligned at the decimal mark."""

import io

from pozor.working.document import (
    Block,
    Call,
    Code,
    Document,
    Equation,
    Equations,
    Expr,
    Heading,
    Inline,
    Inlines,
    Minus,
    Mono,
    Num,
    Over,
    Para,
    Plain,
    Plus,
    Power,
    Root,
    Sym,
    Table,
    Times,
    Token,
    Vector,
    Words,
)
from pozor.working.tokens import ISOLATE, RELEASE, right_to_left, visible

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
QUOTES = {"cs": ("„", "“"), "en": ("“", "”")}
NARROWEST = 40
TIED = "\ue000"  # a blank where no line may end; none is left in what is given out


def to_text(document: Document, width: int = 80) -> str:
    """The document as lines of at most `width` columns, where words and numbers allow."""
    width = max(width, NARROWEST)
    parts = [_block(block, document.lang, width) for block in document.blocks]
    lines = "\n\n".join(part for part in parts if part).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def plain(parts: Inlines, lang: str) -> str:
    """Pieces of a sentence as text."""
    return _tied(parts, lang).replace(TIED, " ")


def _tied(parts: Inlines, lang: str) -> str:
    return "".join(_inline(part, lang) for part in parts)


def formula(expr: Expr) -> str:
    """A formula on one line."""
    match expr:
        case Num(text):
            return text
        case Words(text):
            return f"({text})"
        case Sym(name, token, sub, number):
            index = "" if sub is None else sub.translate(SUBSCRIPTS)
            return f"{name}{'' if token is None else f'({numbered(token, number)})'}{index}"
        case Times(Num(left), Num(right)) if "·" not in left + right:
            return f"{_guard(left)}·{_guard(right)}"
        case Times(left, right):
            return f"{_factor(left)} · {_factor(right)}"
        case Over(top, bottom):
            return f"{_factor(top)} / {_factor(bottom)}"
        case Root(inside):
            return f"√{_factor(inside)}"
        case Power(Minus() as exponent):
            return f"e^({formula(exponent)})"
        case Power(exponent):
            return f"e^{formula(exponent)}"
        case Minus(left, right):
            return f"{formula(left)} − {_guard(formula(right))}"
        case Plus(left, right):
            return f"{formula(left)} + {formula(right)}"
        case Call(name, inside):
            return f"{name}({formula(inside)})"
        case Vector(numbers, between, more):
            return f"[{between.join(numbers)}{between + '…' if more else ''}]"


def numbered(token: str, number: str | None) -> str:
    """A token after its index, where it has one."""
    return shown(token) if number is None else f"{number} {shown(token)}"


def shown(token: str) -> str:
    """A token as a terminal can show it; a right-to-left one is isolated from its neighbours."""
    text = visible(token)
    return f"{ISOLATE}{text}{RELEASE}" if right_to_left(text) else text


def _factor(expr: Expr) -> str:
    text = formula(expr)
    return f"({text})" if isinstance(expr, (Minus, Plus, Over)) else _guard(text)


def _guard(text: str) -> str:
    return f"({text})" if text.startswith("−") else text


def _inline(part: Inline, lang: str) -> str:
    match part:
        case Plain(text) | Mono(text):
            return text
        case Token(text, quoted, number):
            left, right = QUOTES[lang] if quoted else ("", "")
            return f"{'' if number is None else number + TIED}{left}{shown(text)}{right}"
        case _:
            return formula(part).replace(" ", TIED)


def _block(block: Block, lang: str, width: int) -> str:
    match block:
        case Heading(parts, level):
            text = plain(parts, lang)
            lines = wrap(text, width)
            line = ("=" if level == 1 else "-") * max(map(_cells, lines))
            return "\n".join([*lines, line])
        case Para(parts, role):
            indent = "  " if role == "note" else ""
            lines = wrap(_tied(parts, lang), width - len(indent))
            return "\n".join(f"{'| ' if role == 'note' else ''}{line}" for line in lines)
        case Equations(rows):
            return _equations(rows, width)
        case Table():
            return _table(block, lang, width)
        case Code(lines):
            return "\n".join(f"    {line}" for line in lines)


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width` cells, broken at spaces; a longer word stays whole."""
    lines: list[str] = []
    line = ""
    for piece in text.split(" "):
        longer = f"{line} {piece}" if line else piece
        if line and _cells(longer) > width:
            lines.append(line)
            line = indent + piece
        else:
            line = longer
    return [text.replace(TIED, " ") for text in [*lines, line]]


def _equations(rows: tuple[Equation, ...], width: int) -> str:
    lefts = [formula(row.left) for row in rows]
    room = max(map(_cells, lefts))
    if room > width // 2:
        room = 0
    lines: list[str] = []
    for left, row in zip(lefts, rows):
        start = f"  {left}{' ' * max(0, room - _cells(left))}"
        pieces: list[str] = []
        for side in row.sides:
            signs = [side.relation, *("+" for _ in side.terms[1:])]
            for sign, term in zip(signs, side.terms):
                text = formula(term)
                pieces += _pieces(f"{sign} {_guard(text) if sign == '+' else text}", term)
        line, hang = start, " " * (min(room, width // 3) + 5)
        for piece in pieces:
            if _cells(line) + 1 + _cells(piece) > width and line.strip() != left:
                lines.append(line)
                line = hang + piece
            else:
                line = f"{line} {piece}"
        lines.append(line)
    return "\n".join(lines)


def _pieces(text: str, term: Expr) -> list[str]:
    """Where a line may end: nowhere, but between the numbers of a vector."""
    if not isinstance(term, Vector) or len(text) < NARROWEST:
        return [text]
    gap = term.between.strip() + " "
    return [part + gap.strip() for part in text.split(gap)[:-1]] + [text.split(gap)[-1]]


def _table(table: Table, lang: str, width: int) -> str:
    rows = [[_cell(cell, lang) for cell in row] for row in (*table.rows, *table.totals)]
    heads = [plain(column.head, lang) for column in table.columns]
    widths = [max(map(_cells, column)) for column in zip(heads, *rows)]
    if sum(widths) + 3 * (len(widths) - 1) > width:
        return _stacked(heads, rows)
    return _grid(table, lang, width)


def _stacked(heads: list[str], rows: list[list[str]]) -> str:
    """A table too wide for the terminal: each row as lines of its own."""
    room = max(map(_cells, heads[1:]))
    lines: list[str] = []
    for name, *cells in rows:
        lines.append(name)
        lines += [f"  {h}{' ' * (room - _cells(h))}  {cell}" for h, cell in zip(heads[1:], cells) if cell]
    return "\n".join(lines)


def _grid(table: Table, lang: str, width: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for column in table.columns:
        head = Text(plain(column.head, lang))
        grid.add_column(head, justify="right" if column.numeric else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(_cell(cell, lang)) for cell in row))
    if table.totals:
        grid.add_section()
        for row in table.totals:
            grid.add_row(*(Text(_cell(cell, lang)) for cell in row))
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False, highlight=False)
    console.print(grid)
    return out.getvalue().strip("\n")


def _cell(parts: Inlines, lang: str) -> str:
    text = "".join(numbered(p.text, p.number) if isinstance(p, Token) else _inline(p, lang) for p in parts)
    return text.replace(TIED, " ")


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
