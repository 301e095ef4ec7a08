"""`to_html`: everything together, judged before anything is worked out."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pozor.errors import OptionError
from pozor.figures.files import must_be_free, suffix_of, write
from pozor.language import choose
from pozor.viewer.caption import caption
from pozor.viewer.desk import Payload
from pozor.viewer.picture import png
from pozor.viewer.single import chosen as choosing
from pozor.viewer.single.arrays import Packed
from pozor.viewer.single.chosen import Chosen
from pozor.viewer.single.heads import pack, picture
from pozor.viewer.single.page import page, template

if TYPE_CHECKING:
    from pozor.matrix import AttentionMap
    from pozor.recording import Recording

FORMAT = 1  # of what is inside; web/src/file/held.ts reads it
DTYPES = ("float32", "float16")
MOST = 400 << 20  # bytes of q, k and base: more than a browser opens

Place = str | os.PathLike[str]


def map_to_html(
    shown: "AttentionMap",
    path: Place,
    *,
    heads: Any,
    batch: int,
    dtype: str,
    lang: str | None,
    title: str | None,
    overwrite: bool,
) -> Path:
    """Heads of a map; `AttentionMap.to_html` says the options."""
    place = _judged(path, dtype, lang, title, overwrite)
    return _written(place, choosing.of_map(shown, heads, batch), dtype, lang, title)


def recording_to_html(
    recording: "Recording",
    path: Place,
    *,
    layers: Any,
    heads: Any,
    item: int,
    kind: str,
    dtype: str,
    lang: str | None,
    title: str | None,
    overwrite: bool,
) -> Path:
    """Heads of a recording; `Recording.to_html` says the options."""
    place = _judged(path, dtype, lang, title, overwrite)
    return _written(place, choosing.of_recording(recording, layers, heads, item, kind), dtype, lang, title)


def _judged(path: Place, dtype: str, lang: str | None, title: str | None, overwrite: bool) -> Path:
    suffix_of(path, ("html", "htm"))
    if dtype not in DTYPES:
        raise OptionError(f"dtype must be float32 or float16; got {dtype!r}.")
    if lang is not None:
        choose(lang)
    if title is not None and not isinstance(title, str):
        raise OptionError(f"title must be a string; got {type(title).__name__}.")
    template()
    return must_be_free(path, overwrite, "map.html")


def _written(place: Path, chosen: Chosen, dtype: str, lang: str | None, title: str | None) -> Path:
    _small_enough(chosen, dtype)
    packed = Packed()
    entries, changes = zip(*(pack(one, dtype, packed) for one in chosen.heads), strict=True)
    document = {
        "format": FORMAT,
        "dtype": dtype,
        "change": max((change for change in changes if change is not None), default=None),
        "recording": chosen.recording,
        "item": chosen.item,
        "heads": entries,
        "measures": chosen.measures(),
        "arrays": packed.documents,
    }
    first = chosen.heads[0]
    tile, zoom = picture(first.shown, first.place)
    recorded = isinstance(first.shown.source, dict) and "recording" in first.shown.source
    about = {
        "name": chosen.recording["card"]["name"], "layer": first.layer if recorded else None,
        "head": first.head, "queries": first.shown.q_len, "keys": first.shown.kv_len, "zoom": zoom,
        "preview": False,
    }  # fmt: skip
    languages = ("en", "cs") if lang is None else (lang,)
    captions = {code: caption(code, **about, place="file") for code in languages}
    name = title if title is not None else chosen.recording["card"]["name"] or "pozor"
    made = page(
        document,
        packed.texts,
        title=name,
        picture=png(Payload(tile.to_bytes())),
        captions=captions,
        lang=lang,
    )
    return write(made, place)


def _small_enough(chosen: Chosen, dtype: str) -> None:
    """Refuse what no browser would open, before hours are spent on it."""
    size = 2 if dtype == "float16" else 4
    total = 0
    for one in chosen.heads:
        shown, problem = one.shown, one.shown.problem
        dim = 0 if problem is None else problem.head_dim
        total += (shown.q_len + shown.kv_len) * dim * size
    if total > MOST:
        raise OptionError(
            f"to_html makes files of up to about {MOST >> 20} MiB; {len(chosen.heads)} heads of "
            f"{chosen.heads[0].shown.kv_len} tokens have {total >> 20} MiB in {dtype}. "
            "Choose fewer heads, or dtype='float16'."
        )
