"""What is shown as a file to take away: a picture, or the cells of a block in full."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pozor.errors import OptionError
from pozor.matrix import AttentionMap
from pozor.viewer.answers import Shown
from pozor.viewer.one_head import OneHead

NUMBERS, PICTURES = ("csv", "npz"), ("svg", "pdf", "png")
FORMS = (*NUMBERS, *PICTURES)
COLOURS = ("viridis", "cividis", "magma", "paper")


@dataclass(frozen=True)
class Wanted:
    """What is asked for, as `AttentionMap.figure` and `.export` take it.

    Attributes:
        form: csv, npz, svg, pdf or png.
        queries, keys: The part shown.
        value, reduce, scale, colour: Of a picture; numbers take value alone.
    """

    form: str
    queries: slice
    keys: slice
    value: str = "prob"
    reduce: str = "max"
    scale: str = "linear"
    colour: str = "viridis"
    variant: str = "recorded"
    lang: str | None = None


def download(shown: Shown, wanted: Wanted) -> bytes:
    """The bytes of the file.

    Raises:
        OptionError: There are too many cells, the part lies outside, or it is no map of one head.
        BackendUnavailable: matplotlib is not installed.
    """
    whole, place = _one_head(shown.map)
    with tempfile.TemporaryDirectory(prefix="pozor-") as folder:
        path = Path(folder) / f"map.{wanted.form}"
        part: dict[str, Any] = {"queries": wanted.queries, "keys": wanted.keys, "value": wanted.value}
        part["variant"] = wanted.variant  # of a map that is under it already: the caption says so
        if wanted.form in NUMBERS:
            whole.export(path, **part, **place)
        else:
            whole.figure(
                path,
                **part,
                **place,
                reduce=cast(Any, wanted.reduce),
                scale=cast(Any, wanted.scale),
                colour=cast(Any, wanted.colour),
                lang=wanted.lang,
            )
        return path.read_bytes()


def _one_head(shown: object) -> tuple[AttentionMap, dict[str, Any]]:
    if isinstance(shown, OneHead):
        return shown.whole, {"head": shown.head, "batch": shown.batch}
    if isinstance(shown, AttentionMap):
        return shown, {}
    raise OptionError("A file is made of one head; go back from the combination of heads to one of them.")
