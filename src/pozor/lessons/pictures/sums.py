"""Sums of products written out, one below the other: name = 1·0,9 + 1·0 = 0,9."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def terms(page: Any, left: Iterable[Any], right: Iterable[Any]) -> str:
    """The products of two vectors with plus signs between: "1·0,9 + 0·(−0,1)"."""
    return " + ".join(f"{page.number(one)}·{_fenced(page.number(other))}" for one, other in zip(left, right))


def lines(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """HTML of equations: (name, its index below the line or "", all up to the result, result)."""
    items = "".join(
        f"<li><i>{escape(name)}</i>{f'<sub>{escape(low)}</sub>' if low else ''} {escape(middle)} "
        f'<b class="pozor-result">{escape(result)}</b></li>'
        for name, low, middle, result in rows
    )
    return f'<ul class="pozor-sums">{items}</ul>'


def _fenced(number: str) -> str:
    return f"({number})" if number.startswith("−") else number
