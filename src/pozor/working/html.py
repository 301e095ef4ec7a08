"""An HTML fragment: escaped, formulas in MathML, tables with headings; no script, no style, classes `w-…`."""

from html import escape

from pozor.working.document import (
    Block,
    Call,
    Code,
    Document,
    Equation,
    Equations,
    Expr,
    Heading,
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
    Side,
    Sym,
    Table,
    Times,
    Token,
    Vector,
    Words,
)
from pozor.working.text import QUOTES, plain
from pozor.working.tokens import visible

HEADINGS = {1: 3, 2: 4}  # the fragment stands inside a page that has its own h1 and h2

STYLE = """
body { margin: 2rem auto; max-width: 46rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif;
  color: #1d1f23; background: #fbfaf7 }
.w-equations { list-style: none; padding-left: 1rem; line-height: 1.8 }
.w-equations li { margin: 0.4rem 0 }
.w-table { border-collapse: collapse; margin: 1rem; font-variant-numeric: tabular-nums }
.w-table th, .w-table td { padding: 0.2rem 0.8rem; text-align: left }
.w-table thead th { border-bottom: 1px solid #6b6f76 }
.w-table tfoot th, .w-table tfoot td { border-top: 1px solid #6b6f76 }
.w-table .w-num { text-align: right }
.w-table caption { text-align: left; color: #6b6f76; padding-left: 0.8rem }
.w-note { border-left: 3px solid #c2410c; padding-left: 0.8rem }
.w-reading { font-weight: 600 }
@media print { body { background: none } .w-table, .w-equations li { break-inside: avoid } }
"""


def to_html(document: Document) -> str:
    """The document as one <section>."""
    body = "\n".join(_block(block, document.lang) for block in document.blocks)
    return f'<section class="w-working" lang="{document.lang}">\n{body}\n</section>\n'


def to_page(document: Document) -> str:
    """The document as a page of its own, to be opened or printed from disk."""
    first = document.blocks[0]
    title = escape(plain(first.parts, document.lang)) if isinstance(first, Heading) else "pozor"
    head = (
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n<title>{title}</title>'
    )
    page = f'<!doctype html>\n<html lang="{document.lang}">\n<head>\n{head}\n<style>{STYLE}</style>\n</head>'
    return f"{page}\n<body>\n{to_html(document)}</body>\n</html>\n"


def mathml(expr: Expr) -> str:
    """A formula as MathML, without the <math> around it."""
    match expr:
        case Num(text):
            return _number(text)
        case Words(text):
            return f"{_fence('(')}<mtext>{escape(text)}</mtext>{_fence(')')}"
        case Sym():
            return _symbol(expr)
        case Times(left, right):
            return f"<mrow>{_factor(left)}<mo>·</mo>{_factor(right)}</mrow>"
        case Over(top, bottom):
            return f"<mfrac><mrow>{mathml(top)}</mrow><mrow>{mathml(bottom)}</mrow></mfrac>"
        case Root(inside):
            return f"<msqrt>{mathml(inside)}</msqrt>"
        case Power(exponent):
            return f"<msup><mi>e</mi><mrow>{mathml(exponent)}</mrow></msup>"
        case Minus(left, right):
            return f"<mrow>{mathml(left)}<mo>−</mo>{_factor(right)}</mrow>"
        case Plus(left, right):
            return f"<mrow>{mathml(left)}<mo>+</mo>{_factor(right)}</mrow>"
        case Call(name, inside):
            inner = f"{_fence('(')}{mathml(inside)}{_fence(')')}"
            return f"<mrow><mi>{escape(name)}</mi>{inner}</mrow>"
        case Vector(numbers, between, more):
            cells = [_number(number) for number in numbers] + (["<mo>…</mo>"] if more else [])
            gap = f'<mo>{between.strip()}</mo><mspace width="0.3em"></mspace>'
            return f"<mrow>{_fence('[')}{gap.join(cells)}{_fence(']')}</mrow>"


def _number(text: str) -> str:
    # a power of ten written as text: 1.2·10⁻⁵
    return f"<mn>{escape(text)}</mn>"


def _fence(mark: str) -> str:
    return f'<mo stretchy="false">{mark}</mo>'


def _symbol(sym: Sym) -> str:
    name, _, low = sym.name.partition("_")
    subs = [f"<mi>{escape(low)}</mi>"] if low else []
    if sym.token is not None:
        # mtext takes no bdi in MathML; its direction follows the token's own letters
        if sym.number is not None:
            subs.append(_number(sym.number))
        subs.append(f'<mtext class="w-token">{escape(visible(sym.token))}</mtext>')
    if sym.sub is not None:
        subs.append(f"<mn>{escape(sym.sub)}</mn>")
    base = f"<mi>{escape(name)}</mi>"
    return f"<msub>{base}<mrow>{'<mo>,</mo>'.join(subs)}</mrow></msub>" if subs else base


def _factor(expr: Expr) -> str:
    negative = isinstance(expr, Num) and expr.text.startswith("−")
    inner = mathml(expr)
    return f"{_fence('(')}{inner}{_fence(')')}" if negative or isinstance(expr, (Minus, Plus)) else inner


def _math(inner: str) -> str:
    return f"<math>{inner}</math>"


def _inlines(parts: Inlines, lang: str, quotes: bool = True) -> str:
    result = []
    for part in parts:
        match part:
            case Plain(text):
                result.append(escape(text))
            case Mono(text):
                result.append(f'<code class="w-code" translate="no">{escape(text)}</code>')
            case Token(text, quoted, number):
                left, right = QUOTES[lang] if quoted and quotes else ("", "")
                token = f'<bdi class="w-token" translate="no">{escape(visible(text))}</bdi>'
                index = "" if number is None else f'<span class="w-index">{escape(number)}</span>\u00a0'
                result.append(f"{index}{left}{token}{right}")
            case Num(text):
                result.append(f'<span class="w-number">{escape(text)}</span>')
            case _:
                result.append(_math(mathml(part)))
    return "".join(result)


def _block(block: Block, lang: str) -> str:
    match block:
        case Heading(parts, level):
            tag = f"h{HEADINGS[level]}"
            return f'<{tag} class="w-heading">{_inlines(parts, lang)}</{tag}>'
        case Para(parts, role):
            name = f"w-{role}" if role else "w-text"
            return f'<p class="{name}">{_inlines(parts, lang)}</p>'
        case Equations(rows):
            items = "\n".join(f"<li>{_equation(row)}</li>" for row in rows)
            return f'<ul class="w-equations">\n{items}\n</ul>'
        case Table():
            return _table(block, lang)
        case Code(lines):
            text = escape("\n".join(lines))
            return f'<pre class="w-lines" translate="no"><code>{text}</code></pre>'


def _equation(row: Equation) -> str:
    # one <math> a term: a long sum can then break between terms
    pieces = [f'<span class="w-left">{_math(mathml(row.left))}</span>']
    for side in row.sides:
        pieces += _side(side)
    return " ".join(pieces)


def _side(side: Side) -> list[str]:
    first, *others = side.terms
    terms = [
        f"<mo>{side.relation}</mo>{mathml(first)}",
        *(f'<mo form="infix">+</mo>{_factor(term)}' for term in others),
    ]
    return [f'<math displaystyle="true">{term}</math>' for term in terms]


def _table(table: Table, lang: str) -> str:
    heads = "".join(
        f'<th scope="col"{_number_class(column.numeric)}>{_inlines(column.head, lang)}</th>'
        for column in table.columns
    )
    lines = [
        '<table class="w-table">',
        f"<caption>{_inlines(table.caption, lang)}</caption>",
        f"<thead><tr>{heads}</tr></thead>",
        f"<tbody>{''.join(_row(table, row, lang) for row in table.rows)}</tbody>",
    ]
    if table.totals:
        lines.append(f"<tfoot>{''.join(_row(table, row, lang) for row in table.totals)}</tfoot>")
    return "\n".join([*lines, "</table>"])


def _row(table: Table, row: tuple[Inlines, ...], lang: str) -> str:
    first = f'<th scope="row">{_inlines(row[0], lang, quotes=False)}</th>'
    cells = [
        f"<td{_number_class(column.numeric)}>{_inlines(cell, lang, quotes=False)}</td>"
        for column, cell in zip(table.columns[1:], row[1:])
    ]
    return f"<tr>{first}{''.join(cells)}</tr>"


def _number_class(numeric: bool) -> str:
    return ' class="w-num"' if numeric else ""
