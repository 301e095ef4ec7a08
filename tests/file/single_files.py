"""Maps for the single file, and what is inside one that was written."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import pozor

DATA = re.compile(r'<script type="text/plain" data-array="([^"]+)">([^<]*)</script>')
BYTES = {"f64": 8, "f32": 4, "f24": 3, "f16": 2, "i32": 4, "u8": 1}


def noise(
    length: int, *, heads: int = 1, dim: int = 8, seed: int = 0, keys: int | None = None
) -> dict[str, Any]:
    """q and k of some heads, and a v_norm."""
    rng = np.random.default_rng(seed)
    kv_len = keys or length
    return {
        "q": rng.standard_normal((heads, length, dim)).astype(np.float32),
        "k": rng.standard_normal((heads, kv_len, dim)).astype(np.float32),
        "v_norm": rng.gamma(2.0, size=(heads, kv_len)).astype(np.float32),
    }


def many_masks() -> dict[str, pozor.AttentionMap]:
    """A map of each kind of mask and option that a file can hold."""
    ids = np.repeat([0, 1, 2], [40, 90, 70])
    shown = np.random.default_rng(4).random((1, 200)) < 0.8  # more than 8 runs
    square = np.random.default_rng(5).random((200, 200)) < 0.5
    square[3] = False
    return {
        "causal": pozor.AttentionMap(**noise(300), causal=True),
        "none": pozor.AttentionMap(**noise(270), scale=0.9),
        "later queries": pozor.AttentionMap(**noise(40, keys=200), causal=True, q_offset=160),
        "first rows see nothing": pozor.AttentionMap(**noise(60), causal=True, q_offset=-20),
        "window": pozor.AttentionMap(**noise(200), window=(30, 5)),
        "window and sinks": pozor.AttentionMap(
            **noise(200), mask=pozor.Causal() & (pozor.Window(16, 0) | pozor.Sinks(4))
        ),
        "prefix": pozor.AttentionMap(**noise(200), mask=pozor.Causal() | pozor.Prefix(50)),
        "documents": pozor.AttentionMap(**noise(200), causal=True, mask=pozor.Documents(ids)),
        "padding": pozor.AttentionMap(**noise(200), causal=True, mask=pozor.Padding(shown)),
        "any mask": pozor.AttentionMap(**noise(200), mask=square),
        "mask of a function": pozor.AttentionMap(**noise(200), mask=lambda b, h, q, k: (q + k) % 3 != 0),
        "loud": pozor.AttentionMap(**noise(200, dim=64), causal=True, scale=8.0),
        "softcap and sink": pozor.AttentionMap(
            **noise(200, dim=16), causal=True, softcap=2.0, sink=np.array([0.5])
        ),
    }


class Inside:
    """What a file holds."""

    def __init__(self, path: Path) -> None:
        self.html = path.read_text(encoding="utf-8")
        found = re.search(r'<script type="application/json" id="pozor-file">(.*?)</script>', self.html, re.S)
        assert found is not None
        self.document: dict[str, Any] = json.loads(found[1])
        self.texts = dict(DATA.findall(self.html))

    def array(self, name: str) -> np.ndarray:
        """An array, unpacked by the words of its document."""
        about = self.document["arrays"][name]
        raw = base64.b64decode(self.texts[name])
        raw = zlib.decompress(raw) if about["packed"] else raw
        size = BYTES[about["dtype"]]
        planes = np.frombuffer(raw, np.uint8).reshape(size, -1).T
        if about["dtype"] == "u8":
            return planes[:, 0].reshape(about["shape"])
        wide = np.zeros((len(planes), {2: 2, 8: 8}.get(size, 4)), np.uint8)
        wide[:, :size] = planes
        numbers = np.ascontiguousarray(wide).view(
            {"f64": "<f8", "f16": "<f2", "i32": "<i4"}.get(about["dtype"], "<u4")
        )[:, 0]
        if about["dtype"] == "f24":
            numbers = numbers << np.uint32(7)
        if about["dtype"] in ("f32", "f24"):
            numbers = numbers.view("<f4")
        shaped = numbers.reshape(about["shape"])
        return np.cumsum(shaped, axis=-1) if about["dtype"] == "i32" else shaped

    def of(self, name: str, head: int = 0) -> np.ndarray:
        """An array of a head."""
        return self.array(self.document["heads"][head]["arrays"][name])
