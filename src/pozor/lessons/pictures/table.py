"""A table of a lesson as HTML, in the classes of the working (`w-table`, `w-num`)."""

from collections.abc import Collection, Sequence
from html import escape


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    numeric: int = 1,
    hidden: Collection[tuple[int, int]] = (),
) -> str:
    """A table whose first column names its rows; all cells are text.

    Args:
        head: Headings of the columns, that of the first included.
        rows: Their cells, the name of the row first.
        caption: Says what the table holds.
        numeric: The first column that holds numbers; from there on cells are set flush right.
        hidden: Cells, (row, column) counted without head and names, that a mask hides.
    """
    heads = "".join(f'<th scope="col"{_class(i, numeric)}>{escape(cell)}</th>' for i, cell in enumerate(head))
    body = []
    for number, (name, *cells) in enumerate(rows):
        inner = "".join(
            f"<td{_class(i + 1, numeric, (number, i) in hidden)}>{escape(cell)}</td>"
            for i, cell in enumerate(cells)
        )
        body.append(f'<tr><th scope="row">{escape(name)}</th>{inner}</tr>')
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<table class="w-table">{title}<thead><tr>{heads}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    )


def _class(column: int, numeric: int, hidden: bool = False) -> str:
    names = ["w-num"] * (column >= numeric) + ["w-hidden"] * hidden
    return f' class="{" ".join(names)}"' if names else ""
