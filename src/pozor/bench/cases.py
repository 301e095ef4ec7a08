"""What is computed: each case is one attention call; a group of cases answers one question."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pozor.errors import OptionError

ITEM = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Case:
    """One attention call on standard normal numbers.

    Attributes:
        group: The question that it belongs to.
        observe: "" (out alone), "seen" (all observables but received) or "received" (all).
        queries_last: Whether the queries are the last positions (decoding), else the first.
    """

    group: str
    dtype: str
    heads: int
    kv_heads: int
    q_len: int
    kv_len: int
    head_dim: int
    causal: bool = False
    window: tuple[int, int] | None = None
    observe: str = ""
    batch: int = 1

    @property
    def name(self) -> str:
        """What a reader sees, unique within a run."""
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        length = f"T {self.kv_len}" if self.q_len == self.kv_len else f"q {self.q_len} kv {self.kv_len}"
        kind = "causal" if self.causal else "full"
        if self.window is not None:
            kind = f"window {self.window[0] + 1}"
        seen = f" observe:{self.observe}" if self.observe else ""
        return f"{self.group} {self.dtype} heads {heads} d {self.head_dim} {length} {kind}{seen}"

    @property
    def q_offset(self) -> int:
        """Position of the first query: the last query is the last key."""
        return self.kv_len - self.q_len

    @cached_property
    def pairs(self) -> int:
        """Visible (query, key) cells of one head: what a kernel that skips the rest must compute."""
        position = np.arange(self.q_len, dtype=np.int64) + self.q_offset
        last = (
            np.minimum(position, self.kv_len - 1) if self.causal else np.full_like(position, self.kv_len - 1)
        )
        first = np.zeros_like(position)
        if self.window is not None:
            first = np.maximum(0, position - self.window[0])
            last = np.minimum(last, position + self.window[1])
        return int((last - first + 1).sum())

    @property
    def flop(self) -> int:
        """Of the two products: 2 · 2 · head_dim for each visible cell."""
        return 4 * self.head_dim * self.pairs * self.heads * self.batch

    @property
    def kv_bytes(self) -> int:
        """Bytes of k and v, which decoding must read once."""
        return 2 * self.batch * self.kv_heads * self.kv_len * self.head_dim * ITEM[self.dtype]

    @property
    def in_and_out_bytes(self) -> int:
        """Bytes of q, k, v and out."""
        return self.kv_bytes + 2 * self.batch * self.heads * self.q_len * self.head_dim * ITEM[self.dtype]

    def arrays(self, seed: int = 0) -> tuple[Any, Any, Any]:
        """q, k, v: standard normal, (batch, heads, tokens, head_dim)."""
        random = np.random.default_rng(seed)
        shapes = (self.heads, self.q_len), (self.kv_heads, self.kv_len), (self.kv_heads, self.kv_len)
        drawn = (
            random.standard_normal((self.batch, heads, tokens, self.head_dim), dtype=np.float32)
            for heads, tokens in shapes
        )
        q, k, v = (array.astype(as_dtype(self.dtype), copy=False) for array in drawn)
        return q, k, v

    def visible(self, rows: np.ndarray) -> np.ndarray:
        """The cells that these query rows may see, bool (rows, kv_len)."""
        position, keys = rows[:, None] + self.q_offset, np.arange(self.kv_len)[None]
        seen = np.ones((len(rows), self.kv_len), bool)
        if self.causal:
            seen &= keys <= position
        if self.window is not None:
            seen &= (keys >= position - self.window[0]) & (keys <= position + self.window[1])
        return seen

    def as_json(self) -> dict[str, Any]:
        """The fields, for a JSON line."""
        return asdict(self)


def as_dtype(name: str) -> Any:
    """The NumPy dtype of that name."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


DTYPES = ("float32", "float16", "bfloat16")
GROUPS = ("prefill", "decode", "window", "growth", "observe", "small", "length", "memory", "model")


def cases(quick: bool = False) -> list[Case]:
    """Every case; quick ones ask the same questions of short texts."""
    return [*_prefill(quick), *_decode(quick), *_window(quick), *_observe(quick), *_rest(quick)]


def _prefill(quick: bool) -> Iterator[Case]:
    for dtype in DTYPES:
        for tokens in (256, 512) if quick else (1024, 4096):
            for head_dim in (64,) if quick else (64, 128):
                for causal in (False, True):
                    yield Case("prefill", dtype, 8, 8, tokens, tokens, head_dim, causal)


def _decode(quick: bool) -> Iterator[Case]:
    for kv_len in (2048,) if quick else (8192, 32768):
        yield Case("decode", "bfloat16", 32, 8, 1, kv_len, 128)
    for kv_len in (2048,) if quick else (8192, 32768):
        yield Case("decode", "float32", 9, 3, 1, kv_len, 64)


def _window(quick: bool) -> Iterator[Case]:
    tokens, width = (1024, 127) if quick else (4096, 511)
    yield Case("window", "float32", 8, 8, tokens, tokens, 64, True, (width, 0))
    for tokens in (1024, 2048, 4096) if quick else (4096, 8192, 16384, 32768, 65536, 131072):
        yield Case("growth", "float32", 1, 1, tokens, tokens, 64, True, (width, 0))


def _observe(quick: bool) -> Iterator[Case]:
    for dtype in ("float32", "bfloat16"):
        for tokens in (512,) if quick else (4096, 8192):
            for causal in (False, True):
                yield Case("observe", dtype, 8, 8, tokens, tokens, 64, causal)


def _rest(quick: bool) -> Iterator[Case]:
    yield Case("small", "float32", 8, 8, 16, 16, 64)
    yield Case("small", "float32", 8, 8, 16, 16, 64, True)
    for tokens in (256, 512, 1024) if quick else (512, 1024, 2048, 4096, 8192, 16384):
        yield Case("length", "float32", 8, 8, tokens, tokens, 64, True)
    tokens = 4096 if quick else 131072
    yield Case("memory", "float32", 1, 1, tokens, tokens, 64, True, observe="received")


def chosen(wanted: list[str], quick: bool) -> list[Case]:
    """The cases that one of the words picks; all of them without a word.

    Raises:
        OptionError: A word that picks neither one of these nor a part of `model`.
    """
    from pozor.bench.models import PARTS

    found = cases(quick)
    names = [(case.group, case.name) for case in found] + [("model", part.name) for part in PARTS]
    for word in wanted:
        if not any(picks(word, *name) for name in names):
            raise OptionError(
                f"--cases must name a group ({', '.join(GROUPS)}) or words of a case's name; got {word!r}."
            )
    return [
        case for case in found if not wanted or any(picks(word, case.group, case.name) for word in wanted)
    ]


def picks(word: str, group: str, name: str) -> bool:
    """Whether these words are of that case; a group comes first, and `model` is never meant unless named."""
    first, *rest = word.split()
    if first in GROUPS:
        return first == group and set(rest) <= set(name.split())
    return group != "model" and {first, *rest} <= set(name.split())


def plain(case: Case) -> Case:
    """The same call without observables."""
    return replace(case, observe="")
