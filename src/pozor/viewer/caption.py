"""What stands beside a still picture of a map: what it is, what a pixel is, which end is more."""

from typing import Literal

from pozor.language import decimal, tied
from pozor.viewer.picture import DECADES

WORDS = {
    "en": {
        "what": "{name}, layer {layer}, head {head}: {queries} queries (down) × {keys} keys (across).",
        "layerless": "{name}, head {head}: {queries} queries (down) × {keys} keys (across).",
        "map": "Attention map",
        "cell": "A square is one cell",
        "pixel": "A pixel is the largest of {side} × {side} cells",
        "preview": "A preview: every 16th row. A pixel is the largest of {side} × {side} cells",
        "scale": "darker is more, by powers of ten from {low} or less to 1; striped: hidden by the mask.",
        "still": "This is a picture; run the cell in a notebook to zoom, point and read.",
        "file": "This is a picture; open the file in a browser that runs scripts to zoom, point and read.",
    },
    "cs": {
        "what": "{name}, vrstva {layer}, hlava {head}: {queries} dotazů (dolů) × {keys} klíčů (doprava).",
        "layerless": "{name}, hlava {head}: {queries} dotazů (dolů) × {keys} klíčů (doprava).",
        "map": "Mapa pozornosti",
        "cell": "Čtvereček je jedna buňka",
        "pixel": "Bod je největší z {side} × {side} buněk",
        "preview": "Náhled: každý 16. řádek. Bod je největší z {side} × {side} buněk",
        "scale": "tmavší znamená víc, po mocninách deseti od {low} a méně do 1; pruhy: maska nedovolí.",
        "still": "Toto je jen obrázek; spusťte buňku v sešitu a půjde přibližovat, ukazovat a číst.",
        "file": (
            "Toto je jen obrázek; otevřete soubor v prohlížeči, který smí spouštět skripty, a půjde v něm "
            "přibližovat, ukazovat a číst."
        ),
    },
}


def caption(
    lang: str,
    *,
    name: str,
    layer: int | None,
    head: int,
    queries: int,
    keys: int,
    zoom: int,
    preview: bool,
    place: Literal["still", "file"] = "still",
) -> str:
    """Three sentences; place: in a notebook, or in a file of its own.

    Example:
        >>> print(caption("en", name="", layer=2, head=5, queries=9, keys=9, zoom=0, preview=False))
        Attention map, layer 2, head 5: 9 queries (down) × 9 keys (across). A square is one cell; darker is
        more, by powers of ten from 0.001 or less to 1; striped: hidden by the mask. This is a picture; run
        the cell in a notebook to zoom, point and read.
    """
    words = WORDS[lang]
    what = words["what" if layer is not None else "layerless"].format(
        name=name or words["map"], layer=layer, head=head, queries=queries, keys=keys
    )
    pixel = words["preview" if preview else "pixel" if zoom else "cell"].format(side=1 << zoom)
    scale = words["scale"].format(low=decimal(f"{10.0**-DECADES:g}", lang))
    return tied(f"{what} {pixel}; {scale} {words[place]}", lang)
