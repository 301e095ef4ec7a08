"""A running text lit by one row of attention: the more a word is looked at, the stronger its ground."""

from collections.abc import Sequence
from html import escape

MOST = 70  # per cent of the signal colour behind a fully lit word: the ink stays readable


def lit(
    tokens: Sequence[str],
    shares: Sequence[float],
    query: int,
    written: Sequence[str],
    label: str,
    lang: str = "en",
) -> str:
    """HTML of the text; the word that looks is framed, what it looks at says how much.

    Args:
        tokens: The pieces of the text with their own spaces.
        shares: What the query gives each.
        query: Which token looks.
        written: The shares as text; shown behind the words that get much, "" for none.
        label: The text in words, for a screen reader.
        lang: The language of the text.
    """
    parts = []
    for place, (token, share, said) in enumerate(zip(tokens, shares, written)):
        word = token.strip()
        space = " " if token[:1] == " " else ""
        colour = "var(--pozor-signal, #c2410c)"
        ground = f"background:color-mix(in srgb, {colour} {MOST * share:.0f}%, transparent)"
        if place == query:
            ground += ";outline:2px solid currentColor;outline-offset:1px"
        note = f'<sub style="font-size:0.72em;margin:0 0.3em 0 1px">{escape(said)}</sub>' if said else ""
        parts.append(
            f'{space}<span style="{ground};border-radius:3px;padding:2px 0">{escape(word)}</span>{note}'
        )
    style = "line-height:2;max-width:34em"
    return (
        f'<p class="pozor-lit" role="group" aria-label="{escape(label)}" lang="{lang}" style="{style}">'
        f"{''.join(parts)}</p>"
    )
