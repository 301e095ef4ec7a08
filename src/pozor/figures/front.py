"""`figure`: one head of a map on one page, written as SVG, PDF or PNG."""

import io
import warnings
from pathlib import Path
from typing import Any, Literal

from pozor.errors import BackendUnavailable
from pozor.figures import files
from pozor.figures.captions import said
from pozor.figures.colours import scale_for
from pozor.figures.files import Place
from pozor.figures.layout import layout, width_of
from pozor.figures.picture import part, picture
from pozor.language import choose
from pozor.matrix.map import AttentionMap, Reduce, Value, Variant

SUFFIXES = ("svg", "pdf", "png")
MISSING = "figure needs matplotlib, which is not in this install. Run: pip install 'pozor[figures]'"
# text stays text; ids come from what is drawn; fonts are embedded as they are
STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "pozor", "pdf.fonttype": 42, "path.simplify": False}


def figure(
    shown: AttentionMap,
    path: Place,
    *,
    queries: Any = None,
    keys: Any = None,
    reduce: Reduce = "max",
    value: Value = "prob",
    variant: Variant = "recorded",
    scale: Literal["linear", "log"] = "linear",
    top: float | None = None,
    colour: Literal["viridis", "cividis", "magma", "paper"] = "viridis",
    title: str | None = None,
    size: float | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    head: int = 0,
    batch: int = 0,
) -> Path:
    """Write the map of one head as a picture; the arguments are those of `AttentionMap.figure`."""
    lang = choose(lang)
    kind = files.suffix_of(path, SUFFIXES, " The cells themselves: .export to a .csv or .npz file.")
    place = files.must_be_free(path, overwrite, f"map.{kind}")
    width = width_of(size)
    for name, asked, length in (("queries", queries, shown.q_len), ("keys", keys, shown.kv_len)):
        part(name, asked, length)  # judged before anything is worked out
    try:
        import matplotlib
    except ImportError:
        raise BackendUnavailable(MISSING) from None
    shown = shown.variant(variant)
    seen = picture(shown, queries, keys, reduce=reduce, value=value, head=head, batch=batch)
    with matplotlib.rc_context(), warnings.catch_warnings():
        # a page looks the same whatever styles its user has set
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        # in an SVG the reader's fonts draw a letter that none here has
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        colours = scale_for(seen, scale, colour, top)
        texts = said(
            shown, seen, lang, head=head, reduce=reduce, value=value, variant=variant, title=title
        )  # fmt: skip
        return files.write(_drawn(shown, seen, colours, texts, width, lang, kind), place)


def _drawn(shown: AttentionMap, seen: Any, scale: Any, texts: Any, width: Any, lang: str, kind: str) -> bytes:
    from pozor.figures.drawing import draw
    from pozor.figures.fonts import families
    from pozor.figures.labels import label
    from pozor.figures.page import Ruler

    tokens = {
        *(shown.query_tokens or [])[seen.queries.start : seen.queries.stop],
        *(shown.tokens or [])[seen.keys.start : seen.keys.stop],
    }
    names = families([*(label(token) for token in tokens), texts.heading, texts.caption])
    ruler = Ruler(names, exact=kind != "svg")
    place = layout(seen, shown.query_tokens, shown.tokens, ruler, width)
    page = draw(seen, scale, texts, place, ruler, lang)
    return _saved(page.figure, kind, texts, place.dots)


def _saved(figure: Any, kind: str, texts: Any, dots: float) -> bytes:
    """The file's bytes; the same for the same picture, so without a date."""
    metadata = {
        "svg": {"Title": texts.heading, "Description": texts.caption, "Date": None, "Creator": "pozor"},
        "pdf": {
            "Title": texts.heading, "Subject": texts.caption, "Creator": "pozor",
            "CreationDate": None, "Producer": None,
        },
        "png": {"Title": texts.heading, "Description": texts.caption, "Software": "pozor"},
    }[kind]  # fmt: skip
    held = io.BytesIO()
    figure.savefig(held, format=kind, dpi=dots, metadata=metadata, facecolor=figure.get_facecolor())
    return held.getvalue()
