"""Recordings of noise whose layers differ in kind, heads and masks."""

from pathlib import Path
from typing import Any

import numpy as np

import pozor
from pozor.recording.document import Layer, Rows
from pozor.recording.tokens import plain
from pozor.recording.writer import write


def write_layers(
    path: Path, entries: list[tuple[str, tuple[int, ...], tuple[int, ...], Rows]], tokens: int = 6
) -> Any:
    """A recording of layers given as (kind, heads, kv_heads, Rows), arrays of noise."""
    rng = np.random.default_rng(5)
    with write(path, overwrite=True) as writer:
        writer.items([plain(tokens)])
        for number, (kind, heads, kv_heads, rows) in enumerate(entries):
            entry = Layer(
                number, kind, heads, kv_heads, 4, 4, 0.5, None, None, False, False, 0, (rows,)
            )  # fmt: skip
            q = rng.normal(size=(len(heads), rows.q_len, 4)).astype(np.float32)
            k = rng.normal(size=(len(set(kv_heads)), rows.kv_len, 4)).astype(np.float32)
            one = [sorted(set(kv_heads)).index(kv_head) for kv_head in kv_heads]
            logits = np.einsum("hqd,hkd->hqk", q, k[one]) * 0.5
            first, stop = rows.mask.ranges(rows.q_len, rows.kv_len)
            keys = np.arange(rows.kv_len)
            seen = (keys >= first[:, None]) & (keys < stop[:, None]) & rows.mask.shown_keys(rows.kv_len)
            lse = np.log(np.where(seen, np.exp(logits), 0).sum(axis=2)).astype(np.float32)
            writer.layer(entry, [{"q": q, "k": k, "v": k, "lse": lse}], {})
        made = writer.finish(model="noise", dtype="float32")
    return pozor.open(made)
