"""`by_hand`: one row or cell of any source, worked out by hand, and the `Working` it comes back in."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pozor.errors import DtypeError, OptionError
from pozor.examples import EXAMPLES, Example
from pozor.language import choose
from pozor.working import sources
from pozor.working.build import build
from pozor.working.compose import compose
from pozor.working.document import Document
from pozor.working.records import Step


@dataclass(frozen=True)
class Working:
    """A row or cell of attention worked out by hand; printed, it is plain text of 80 columns.

    Attributes:
        steps: The records, exact values, in the order of the working (`pozor.working.records`).
        lang: "cs" or "en".
        digits: Decimals shown; None: all.
    """

    steps: tuple[Step, ...]
    lang: str
    digits: int | None = 3

    @cached_property
    def document(self) -> Document:
        """Headings, sentences, equations and tables, before a renderer."""
        return compose(self.steps, self.lang, self.digits)

    @property
    def text(self) -> str:
        """Plain text, 80 columns wide."""
        return self.to_text()

    def to_text(self, width: int = 80) -> str:
        """Plain text for a terminal of `width` columns."""
        from pozor.working.text import to_text

        return to_text(self.document, width)

    @property
    def markdown(self) -> str:
        """Markdown with tables; formulas as text."""
        from pozor.working.markdown import to_markdown

        return to_markdown(self.document)

    @property
    def latex(self) -> str:
        """A whole LaTeX document that compiles; LuaLaTeX or XeLaTeX where words are not Latin."""
        from pozor.working.latex import to_latex

        return to_latex(self.document)

    @property
    def html(self) -> str:
        """An HTML fragment: escaped, formulas in MathML, no script and no style attribute."""
        from pozor.working.html import to_html

        return to_html(self.document)

    @property
    def page(self) -> str:
        """The fragment in an HTML page of its own."""
        from pozor.working.html import to_page

        return to_page(self.document)

    def __str__(self) -> str:
        return self.text


def by_hand(
    source: Any,
    x: Any = None,
    *,
    item: int = 0,
    kind: str = "self",
    layer: int = 0,
    head: int = 0,
    query: int | str,
    key: int | str | None = None,
    lang: str | None = None,
    digits: int | None = 3,
) -> Working:
    """Work out one row of attention by hand: q · k, scale, mask, exp, sum, probs, and what follows.

    Args:
        source: "paper" or "pub", the worked examples; a Recording, an AttentionMap, or a MultiHeadAttention.
        x: The layer's input, (tokens, d_model) or (1, tokens, d_model); for a MultiHeadAttention only.
        item: The sequence of a recording.
        kind: "self" or "cross", of a recording.
        layer: The layer of a recording.
        head: The query head, counted from 0.
        query: The row: an index counted from 0 (negative: from the end), or a word of the text.
        key: The cell of that row: index or word. None: the whole row.
        lang: "cs" or "en"; None: the locale's, else English.
        digits: Decimals shown, 1 to 17; None: all there are. The records keep the exact values.
    Returns:
        A Working: .text, .markdown, .latex, .html, and .steps, the records.
    Raises:
        OptionError: No such word, index, head, layer, language or number of digits.
        DtypeError: The source is none of these.   ShapeError: x does not fit the layer.
    Example:
        >>> print(by_hand("pub", query="pivo", key="vypil", lang="en").text.splitlines()[0])
        By hand: how much attention “pivo” pays to “vypil”
    """
    lang = choose(lang)
    asked = sources.Asked(query, key, head, layer, item, kind)
    working = Working(build(_given(source, x, asked)), lang, digits)
    working.document  # wrong digits are refused here, not at the first look  # noqa: B018
    return working


def _given(source: Any, x: Any, asked: sources.Asked) -> Any:
    if x is not None and type(source).__name__ != "MultiHeadAttention":
        raise OptionError("x belongs to a MultiHeadAttention; leave it out for any other source.")
    if isinstance(source, str):
        if source not in EXAMPLES:
            names = " or ".join(repr(name) for name in sorted(EXAMPLES))
            raise OptionError(f"source must be {names}, or an object of pozor; got {source!r}.")
        source = EXAMPLES[source]
    if isinstance(source, Example):
        return sources.example(source, asked)
    if isinstance(source, sources.OwnArrays):
        return sources.own_arrays(source, asked)
    from pozor.working import maps  # the examples need neither maps nor recordings nor layers

    if isinstance(source, maps.AttentionMap):
        return maps.attention_map(source, asked)
    if isinstance(source, maps.Recording):
        return maps.recording(source, asked)
    if isinstance(source, maps.MultiHeadAttention):
        return maps.layer(source, x, asked)
    raise DtypeError(
        "source must be 'paper', 'pub', a Recording, an AttentionMap or a MultiHeadAttention; "
        f"got {type(source).__name__}."
    )
