"""Worksheets as one self-contained page: no script, no request, system fonts; prints like the PDF."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from pozor.worksheets.records import Cell, Grid, Records, Step

STYLE = Path(__file__).with_name("sheet.css").read_text(encoding="utf-8")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NAMED = {"x", "q", "k", "v", "W_Q", "W_K", "W_V", "W_O"}


def html(sheets: Sequence[Records]) -> str:
    """All sheets in one page, each followed by its key, which prints on a page of its own."""
    first = sheets[0]
    body = "\n".join(f"<section>{_questions(sheet)}{_key(sheet)}</section>" for sheet in sheets)
    return (
        f'<!doctype html>\n<html lang="{first.lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(first.words['title'])}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _written(text: str) -> str:
    """Escaped, with W_Q and e^x as they are written by hand."""
    text = re.sub(r"W_([QKVO])", r"W<sub>\1</sub>", escape(text))
    return re.sub(r"e\^(\(−∞\)|x)", lambda found: f"e<sup>{found[1].strip('()')}</sup>", text)


def _questions(sheet: Records) -> str:
    words = sheet.words
    pairs = "".join(f"<td>{escape(x)}</td>" for x, _ in sheet.table)
    powers = "".join(f"<td>{escape(power)}</td>" for _, power in sheet.table)
    steps = "".join(_step(step) for step in sheet.steps)
    return (
        f"<header><h1>{escape(words['title'])}</h1><p>{escape(words['sheet'])}</p></header>"
        f'<p class="who"><span>{escape(words["name"])}:</span><i></i>'
        f"<span>{escape(words['class'])}:</span><i></i></p>"
        f"<p>{_written(sheet.intro)}</p>{_tables(sheet.given)}"
        f'<div class="tables"><table><tbody><tr><th>x</th>{pairs}</tr>'
        f"<tr><th>{_written(words['table'])}</th>{powers}</tr></tbody></table></div>{steps}"
    )


def _step(step: Step) -> str:
    question = f'<p class="line">{escape(step.question)}</p>' if step.question else ""
    return (
        f'<div class="step"><h3>{step.number}. {escape(step.title)} <small>{_written(step.text)}</small></h3>'
        f"{_tables(step.grids)}{question}</div>"
    )


def _key(sheet: Records) -> str:
    parts = []
    for step in sheet.answers:
        lines = "".join(f"<li>{escape(line)}</li>" for line in step.lines)
        title = f"<h3>{step.number}. {escape(step.title)}</h3>"
        parts.append(f'{title}{_tables(step.grids)}<ul class="working">{lines}</ul>')
    words = sheet.words
    return (
        f'<div class="key"><header><h2>{escape(words["key_title"])}</h2>'
        f"<p>{escape(words['sheet'])}</p></header>"
        f'<p class="quiet">{escape(words["key_note"])}</p>{"".join(parts)}'
        f'<p class="quiet">{escape(sheet.made)}</p></div>'
    )


def _tables(grids: Sequence[Grid]) -> str:
    return f'<div class="tables">{"".join(_table(grid) for grid in grids)}</div>'


def _table(grid: Grid) -> str:
    name = grid.caption or (grid.name if grid.name in NAMED else "")
    caption = f"<caption>{_written(name)}</caption>" if name else ""
    bare = not any(grid.rows)
    head = ""
    if any(grid.columns):
        corner = "" if bare else "<th></th>"
        names = "".join(f'<th scope="col">{escape(column)}</th>' for column in grid.columns)
        head = f"<thead><tr>{corner}{names}</tr></thead>"
    rows = "".join(
        "<tr>"
        + ("" if bare else f'<th scope="row">{escape(label)}</th>')
        + "".join(_cell(cell, j in grid.bars) for j, cell in enumerate(row))
        + "</tr>"
        for label, row in zip(grid.rows, grid.cells)
    )
    return f"<table>{caption}{head}<tbody>{rows}</tbody></table>"


def _cell(cell: Cell, bar: bool) -> str:
    return f'<td class="{cell.kind}{" bar" if bar else ""}">{escape(cell.text)}</td>'
