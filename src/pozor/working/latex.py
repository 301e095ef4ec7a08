r"""A LaTeX document: amsmath and tabular only, every token escaped, the decimal mark of the language."""

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
    Sym,
    Table,
    Times,
    Token,
    Vector,
    Words,
)
from pozor.working.text import QUOTES
from pozor.working.tokens import visible

HEAD = r"""% compile with lualatex or xelatex; pdflatex will do where all words are Latin
\documentclass[11pt]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
\else
  \usepackage{fontspec}
\fi
\usepackage{lmodern}
\usepackage{amsmath,amssymb}
\usepackage[a4paper,margin=25mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt plus 2pt}
\allowdisplaybreaks
\sloppy
\begin{document}
"""
TAIL = "\\end{document}\n"

ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}", "-": r"{-}",
    # marks of our own sentences and of blanks made visible, which pdflatex has no letters for
    "−": r"\ensuremath{-}", "≈": r"\ensuremath{\approx}", "≐": r"\ensuremath{\doteq}",
    "∞": r"\ensuremath{\infty}",
    "→": r"\ensuremath{\rightarrow}", "·": r"\ensuremath{\cdot}", "×": r"\ensuremath{\times}",
    "√": r"\ensuremath{\surd}", "Σ": r"\ensuremath{\Sigma}", "⟨": r"\ensuremath{\langle}",
    "⟩": r"\ensuremath{\rangle}", "…": r"\dots{}", "\u00a0": "~", "␣": r"\textvisiblespace{}",
    "↵": r"\ensuremath{\hookleftarrow}", "⇥": r"\ensuremath{\rightarrow\!|}",
    "⍽": r"{\footnotesize NBSP}", "ᵢ": r"\ensuremath{_i}", "≤": r"\ensuremath{\le}",
    **{s: rf"\ensuremath{{^{{{d}}}}}" for s, d in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", [*"0123456789", "-"])},
}  # fmt: skip
LONG_SUM = 5  # terms on one line


def to_latex(document: Document) -> str:
    """The document as a LaTeX file."""
    body = "\n\n".join(_block(block, document.lang) for block in document.blocks)
    return f"{HEAD}\n{body}\n\n{TAIL}"


def escape(text: str) -> str:
    """`text` as it is, whatever LaTeX would make of it."""
    return "".join(ESCAPES.get(ch, ch) for ch in text)


def formula(expr: Expr) -> str:
    """A formula in math mode."""
    match expr:
        case Num(text):
            return number(text)
        case Words(text):
            return rf"\text{{({escape(text)})}}"
        case Sym():
            return _symbol(expr)
        case Times(left, right):
            return rf"{_factor(left)} \cdot {_factor(right)}"
        case Over(top, bottom):
            return rf"\frac{{{formula(top)}}}{{{formula(bottom)}}}"
        case Root(inside):
            return rf"\sqrt{{{formula(inside)}}}"
        case Power(exponent):
            return rf"\mathrm{{e}}^{{{formula(exponent)}}}"
        case Minus(left, right):
            return f"{formula(left)} - {_factor(right)}"
        case Plus(left, right):
            return f"{formula(left)} + {_factor(right)}"
        case Call(name, inside):
            return rf"\operatorname{{{name}}}({formula(inside)})"
        case Vector(numbers, between, more):
            cells = [number(n) for n in numbers] + ([r"\dots"] if more else [])
            gap = between.strip() + r"\;"
            return f"[{gap.join(cells)}]"


def number(text: str) -> str:
    """A written number in math mode: a comma that is a decimal mark gets no space after it."""
    mantissa, times, exponent = text.partition("·10")
    plain = (
        mantissa.replace(",", "{,}").replace("−", "-").replace("∞", r"\infty ").replace("NaN", r"\text{NaN}")
    )
    if not times:
        return plain
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    return rf"{plain} \cdot 10^{{{exponent.translate(digits)}}}"


def _symbol(sym: Sym) -> str:
    name, _, low = sym.name.partition("_")
    base = name if len(name) == 1 else rf"\mathrm{{{name}}}"
    subs = [low] if low else []
    if sym.token is not None:
        before = "" if sym.number is None else escape(sym.number) + "~"
        subs.append(rf"\text{{{before}{escape(visible(sym.token))}}}")
    if sym.sub is not None:
        subs.append(sym.sub)
    return f"{base}_{{{','.join(subs)}}}" if subs else base


def _factor(expr: Expr) -> str:
    text = formula(expr)
    return f"({text})" if text.startswith("-") or isinstance(expr, (Minus, Plus)) else text


def _inlines(parts: Inlines, lang: str, quotes: bool = True) -> str:
    result = []
    for part in parts:
        match part:
            case Plain(text):
                result.append(escape(text))
            case Mono(text):
                result.append(rf"\texttt{{{escape(text)}}}")
            case Token(text, quoted, number):
                left, right = QUOTES[lang] if quoted and quotes else ("", "")
                before = "" if number is None else escape(number) + "~"
                result.append(f"{before}{left}{escape(visible(text))}{right}")
            case _:
                result.append(f"${formula(part)}$")
    return "".join(result)


def _block(block: Block, lang: str) -> str:
    match block:
        case Heading(parts, level):
            return rf"\{'section' if level == 1 else 'subsection'}*{{{_inlines(parts, lang)}}}"
        case Para(parts, role):
            text = _inlines(parts, lang)
            if role == "note":
                return f"\\begin{{quote}}\n{text}\n\\end{{quote}}"
            return rf"\textbf{{{text}}}" if role == "reading" else text
        case Equations(rows):
            lines = " \\\\\n".join(line for row in rows for line in _equation(row))
            return f"\\begin{{align*}}\n{lines}\n\\end{{align*}}"
        case Table():
            return _table(block, lang)
        case Code(lines):
            text = " \\\\\n".join(rf"\texttt{{{escape(line).replace('  ', '~ ')}}}" for line in lines)
            return f"\\begin{{flushleft}}\\footnotesize\n{text}\n\\end{{flushleft}}"


def _equation(row: Equation) -> list[str]:
    """left &= terms …, a long sum over several lines."""
    relations = {"=": "=", "≈": r"\approx", "≐": r"\doteq"}
    lines = [formula(row.left) + " &"]
    count = 0
    for side in row.sides:
        for place, term in enumerate(side.terms):
            sign = relations[side.relation] if place == 0 else "+"
            if count >= LONG_SUM:
                lines.append(r"&\quad")
                count = 0
            lines[-1] += f" {sign} {_factor(term) if place else formula(term)}"
            # a vector is as wide as several terms
            count += len(term.numbers) if isinstance(term, Vector) else 1
    return lines


def _table(table: Table, lang: str) -> str:
    shape = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [
        r"\begin{center}",
        _inlines(table.caption, lang) + r"\\[4pt]",
        rf"\begin{{tabular}}{{{shape}}}",
        " & ".join(_inlines(column.head, lang) for column in table.columns) + r" \\ \hline",
        *(" & ".join(_inlines(cell, lang, quotes=False) for cell in row) + r" \\" for row in table.rows),
    ]
    if table.totals:
        lines[-1] += r" \hline"
        lines += [
            " & ".join(_inlines(cell, lang, quotes=False) for cell in row) + r" \\" for row in table.totals
        ]
    return "\n".join([*lines, r"\end{tabular}", r"\end{center}"])
