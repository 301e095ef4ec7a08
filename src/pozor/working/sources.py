"""From each kind of source to what a working starts from. Examples and files of one's own are here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from pozor.errors import OptionError
from pozor.examples import Example
from pozor.working import exact
from pozor.working.asking import find, head_number
from pozor.working.given import Given, Projections
from pozor.working.records import Label, Scale, Start, frozen

SHORT_TEXT = 12  # words; there one sees at a glance which is meant


@dataclass(frozen=True, eq=False)
class Asked:
    """The row, cell, head and layer that a reader asked for."""

    query: object
    key: object
    head: int = 0
    layer: int = 0
    item: int = 0
    kind: str = "self"


@dataclass(frozen=True, eq=False)
class OwnArrays:
    """Arrays of one's own: x and weights, or q, k and v; decimals (dtype object) or float64, 2-D or 3-D."""

    name: str
    arrays: dict[str, np.ndarray]
    words: tuple[str, ...] | None = None
    query_words: tuple[str, ...] | None = None
    num_heads: int = 1
    num_kv_heads: int | None = None
    causal: bool = False
    q_offset: int = 0
    scale: float | Decimal | None = None
    softcap: float | None = None
    residual: bool = False
    visible: np.ndarray | None = None  # (q_len, kv_len), True = may look


def labels_of(words: Sequence[str] | None, count: int) -> tuple[Label, ...]:
    """The tokens of an axis: without words by their index, in a long text or one that repeats with both."""
    if words is None:
        return tuple(Label(i, str(i)) for i in range(count))
    numbered = len(words) > SHORT_TEXT or len(set(words)) < len(words)
    return tuple(Label(i, words[i], numbered=numbered) for i in range(count))


def scale_of(given: float | Decimal | None, head_dim: int) -> Scale:
    """The scale as given, else 1/√head_dim."""
    if given is None:
        return Scale(head_dim**-0.5, head_dim)
    return Scale(float(given), None, given if isinstance(given, Decimal) else None)


def example(source: Example, asked: Asked) -> Given:
    """A worked example, sums and products in exact decimals."""
    words = source.words
    labels = tuple(Label(i, w.cs, None, w.en) for i, w in enumerate(words))
    arrays = {
        name: exact.decimals(value)
        for name in ("x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v")
        if (value := getattr(source, name)) is not None
    }
    own = OwnArrays(
        "", arrays, num_heads=source.num_heads, causal=source.causal, residual=source.residual,
        scale=None if source.scale is None else Decimal(source.scale),
    )  # fmt: skip
    if source.num_heads not in source.head_counts:
        allowed = ", ".join(map(str, source.head_counts))
        raise OptionError(f"num_heads must be one of {allowed} for {source.name}; got {source.num_heads}.")
    given = own_arrays(own, asked, labels)
    start = replace(
        given.start, source=source.name,
        title_cs=source.title.cs, title_en=source.title.en,
        sentence_cs=source.sentence.cs, sentence_en=source.sentence.en,
        axes=tuple((a.cs, a.en) for a in source.axes or ()),
    )  # fmt: skip
    return replace(given, start=start, experiments=True)


def own_arrays(source: OwnArrays, asked: Asked, labels: tuple[Label, ...] | None = None) -> Given:
    """Arrays of one's own; what they may be is judged where they are read."""
    arrays = source.arrays
    q = k = v = None
    if "x" in arrays:
        heads, kv_heads = source.num_heads, source.num_kv_heads or source.num_heads
        x, w_q, w_v = arrays["x"], arrays["w_q"], arrays["w_v"]
        q_len = kv_len = len(x)
        head_dim, v_head_dim, d_model = w_q.shape[1] // heads, w_v.shape[1] // kv_heads, x.shape[1]
    else:
        q, k, v = (None if a is None else _heads_first(a) for a in map(arrays.get, ("q", "k", "v")))
        assert q is not None
        assert k is not None
        heads, kv_heads, q_len, kv_len = len(q), len(k), q.shape[1], k.shape[1]
        head_dim, v_head_dim, d_model = q.shape[2], None if v is None else v.shape[2], None
    key_labels = labels or labels_of(source.words, kv_len)
    query_labels = (
        key_labels if q_len == kv_len and source.query_words is None else labels_of(source.query_words, q_len)
    )
    head = head_number(asked.head, heads)
    query = find(asked.query, query_labels, "query")
    key = None if asked.key is None else find(asked.key, key_labels, "key")
    visible = np.ones(kv_len, bool) if source.visible is None else source.visible[query.index]
    if source.causal:
        visible = visible & (np.arange(kv_len) <= query.index + source.q_offset)
    start = Start(
        source="file", name=source.name, labels=key_labels, query=query, key=key, head=head,
        num_heads=heads, kv_head=head * kv_heads // heads, num_kv_heads=kv_heads,
        head_dim=head_dim, v_head_dim=v_head_dim, d_model=d_model, scale=scale_of(source.scale, head_dim),
        softcap=source.softcap, mask=_mask_name(source),
        exact=all(exact.is_exact(a) for a in arrays.values()), position=query.index + source.q_offset,
    )  # fmt: skip
    each = range(heads)
    seen = dict.fromkeys(each, frozen(visible))
    bias, sink = arrays.get("bias"), arrays.get("sink")
    row_bias = None
    if bias is not None:
        whole = np.broadcast_to(bias[..., query.index, :], (heads, kv_len))
        row_bias = {h: exact.floats(whole[h]) for h in each}
    sinks = None if sink is None else {h: float(sink[h]) for h in each}
    if "x" not in arrays:
        by_head = [None if a is None else dict(enumerate(a)) for a in (q, k, v)]
        return Given(start, seen, None, *by_head, bias=row_bias, sink=sinks)
    weights = {n: arrays.get(n) for n in ("w_o", "b_q", "b_k", "b_v", "b_o")}
    projections = Projections(
        *(arrays[name] for name in ("x", "w_q", "w_k", "w_v")), **weights, residual=source.residual
    )
    return Given(start, seen, projections, bias=row_bias, sink=sinks)


def _heads_first(array: np.ndarray) -> np.ndarray:
    return array[None] if array.ndim == 2 else array


def _mask_name(source: OwnArrays) -> str:
    if source.visible is None:
        return "causal" if source.causal else "none"
    return "causal & own" if source.causal else "own"
