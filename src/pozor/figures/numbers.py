"""`export`: the cells of a block in float64, as CSV or npz."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.figures import files
from pozor.figures.files import Place
from pozor.figures.labels import cut
from pozor.figures.picture import part
from pozor.matrix.map import AttentionMap, Value, Variant

SUFFIXES = ("csv", "npz")
MOST_CELLS = 4_194_304  # 2,048 × 2,048: 32 MiB as npz, some 80 MB as CSV
LONGEST_HEAD = 256  # characters of a token as a head; longer ones are cut off with …


def export(
    shown: AttentionMap,
    path: Place,
    *,
    queries: Any = None,
    keys: Any = None,
    value: Value = "prob",
    variant: Variant = "recorded",
    overwrite: bool = False,
    head: int = 0,
    batch: int = 0,
) -> Path:
    """Write the cells of a block; the arguments are those of `AttentionMap.export`."""
    kind = files.suffix_of(path, SUFFIXES, " A picture: .figure to a .svg, .pdf or .png file.")
    place = files.must_be_free(path, overwrite, f"block.{kind}")
    rows, columns = part("queries", queries, shown.q_len), part("keys", keys, shown.kv_len)
    if len(rows) * len(columns) > MOST_CELLS:
        raise OptionError(
            f"queries × keys must be at most {MOST_CELLS:,} cells in one file; got {len(rows):,} × "
            f"{len(columns):,}. Take a part of the queries or of the keys."
        )
    shown = shown.variant(variant)
    values = shown.block(rows, columns, head=head, batch=batch)
    visible = shown.visible(rows, columns, head=head, batch=batch)
    values = _valued(shown, values, visible, columns, value, head, batch)
    names = (_heads(shown.query_tokens, rows), _heads(shown.tokens, columns))
    if kind == "csv":
        return files.write(_csv(values, rows, columns, names), place)
    return files.write(_npz(values, visible, rows, columns, names, value), place)


def _valued(
    shown: AttentionMap,
    probs: np.ndarray,
    visible: np.ndarray,
    keys: range,
    value: str,
    head: int,
    batch: int,
) -> np.ndarray:
    if value == "prob":
        return probs
    if value != "value_norm":
        raise OptionError(f"value must be prob or value_norm; got {value!r}.")
    if shown.v_norm is None:
        raise OptionError("value 'value_norm' needs v_norm, (num_heads, kv_len); this map has none.")
    norms = shown.v_norm[batch, head, keys.start : keys.stop].astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(visible, probs * norms, 0)  # select: the norm of a hidden key may be NaN


def _heads(tokens: Sequence[str] | None, indices: range) -> list[str]:
    if tokens is None:
        return [""] * len(indices)
    return [cut(tokens[index], LONGEST_HEAD) for index in indices]


def _csv(values: np.ndarray, rows: range, columns: range, names: tuple[list[str], list[str]]) -> bytes:
    """Index and token as heads: they are told apart, and no token starts a formula in a spreadsheet."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", *map(_numbered, columns, names[1])])
    for i, name, line in zip(rows, names[0], values):
        writer.writerow([_numbered(i, name), *map(repr, line.tolist())])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _numbered(index: int, name: str) -> str:
    return f"{index} {name}" if name else str(index)


def _npz(
    values: np.ndarray, visible: np.ndarray, rows: range, columns: range, names: tuple[list[str], list[str]],
    value: str,
) -> bytes:  # fmt: skip
    held = io.BytesIO()
    np.savez_compressed(
        held,
        allow_pickle=False,
        **{value: values},
        visible=visible,
        queries=np.arange(rows.start, rows.stop),
        keys=np.arange(columns.start, columns.stop),
        query_tokens=np.array(names[0]),
        key_tokens=np.array(names[1]),
    )
    return held.getvalue()
