"""From an attention map, a recording or a layer to what a working starts from."""

from dataclasses import replace
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError, ShapeError
from pozor.inputs import to_numpy
from pozor.layer import MultiHeadAttention
from pozor.matrix import AttentionMap
from pozor.recording import Recording
from pozor.working.asking import find, head_number
from pozor.working.given import Given, Projections
from pozor.working.records import Scale, Start, frozen
from pozor.working.sources import Asked, labels_of, scale_of

ARRAYS = ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o")


def attention_map(source: AttentionMap, asked: Asked) -> Given:
    """A map from q and k; the working stands beside what it shows."""
    judged = source.problem
    if judged is None:
        raise OptionError("source must hold q and k; this map was made from probs: nothing to work out.")
    if judged.batch != 1:
        raise OptionError(
            f"source must be a map of one sequence; got a batch of {judged.batch}. Map one of them."
        )
    if not judged.kv_len:
        raise OptionError("source must have one key or more; this map has none.")
    head = head_number(asked.head, judged.num_heads)
    kv_head = head // judged.group_size
    labels = labels_of(source.tokens, judged.kv_len)
    query = find(asked.query, labels_of(source.query_tokens, judged.q_len), "query")
    key = None if asked.key is None else find(asked.key, labels, "key")
    row, everything = slice(query.index, query.index + 1), slice(0, judged.kv_len)
    visible = source.visible(row, everything, head=head)[0]
    bias = None
    if judged.bias is not None:
        whole = np.broadcast_to(judged.bias, (1, judged.num_heads, judged.q_len, judged.kv_len))
        bias = {head: _double(whole[0, head, query.index])}
    start = Start(
        source="map",
        labels=labels,
        query=query,
        key=key,
        head=head,
        num_heads=judged.num_heads,
        kv_head=kv_head,
        num_kv_heads=judged.num_kv_heads,
        head_dim=judged.head_dim,
        v_head_dim=judged.v_head_dim or None,
        scale=_scale(judged),
        softcap=judged.softcap,
        mask="map",
        position=query.index + source.q_offset,
    )
    given = Given(
        start,
        {head: frozen(visible)},
        q={head: _double(judged.q[0, head])},
        k={kv_head: _double(judged.k[0, kv_head])},
        v=None if judged.v is None else {kv_head: _double(judged.v[0, kv_head])},
        bias=bias,
        sink=None if judged.sink is None else {head: float(judged.sink[head])},
        attention_map=source,
        map_head=head,
    )
    place = source.source
    return _recorded(given, place) if isinstance(place, dict) and "recording" in place else given


def recording(source: Recording, asked: Asked) -> Given:
    """One head of a recorded layer, up to its out, times its rows of W_O where they were kept."""
    shown = source.map(asked.layer, asked.head, item=asked.item, kind=asked.kind)
    given = attention_map(shown, replace(asked, head=0))
    words = source.layer(asked.layer, asked.kind).mask_text
    return replace(given, start=replace(given.start, mask=words))


def layer(source: MultiHeadAttention, x: Any, asked: Asked) -> Given:
    """A layer and its input, from x to what it gives back; in float64 whatever dtype the weights have."""
    rows = _input(x, source.d_model)
    numbers: dict[str, Any] = {
        name: None if (array := getattr(source, name)) is None else _double(to_numpy(array))
        for name in ARRAYS
    }
    head = head_number(asked.head, source.num_heads)
    labels = labels_of(None, len(rows))
    query = find(asked.query, labels, "query")
    key = None if asked.key is None else find(asked.key, labels, "key")
    visible = np.ones(len(rows), bool)
    if source.causal:
        visible = np.arange(len(rows)) <= query.index
    start = Start(
        source="layer",
        labels=labels,
        query=query,
        key=key,
        head=head,
        num_heads=source.num_heads,
        kv_head=head * source.num_kv_heads // source.num_heads,
        num_kv_heads=source.num_kv_heads,
        head_dim=source.head_dim,
        v_head_dim=source.v_head_dim,
        d_model=source.d_model,
        scale=scale_of(source.scale, source.head_dim),
        mask="causal" if source.causal else "none",
        position=query.index,
    )
    projections = Projections(rows, **numbers, residual=source.residual)
    if source.rope is not None:
        options = {n: getattr(source, n) for n in ("num_heads", "num_kv_heads", "rope", "causal", "scale")}
        turned = MultiHeadAttention(**numbers, **options).steps(rows)
        projections = replace(projections, turned_q=turned.q, turned_k=turned.k)
    return Given(start, dict.fromkeys(range(source.num_heads), frozen(visible)), projections)


def _recorded(given: Given, place: dict[str, Any]) -> Given:
    """The same, said to be a recording's head, with its rows of W_O where they were kept."""
    source, number, head = place["recording"], place["layer"], place["head"]
    entry = source.layer(number, place["kind"])
    at = entry.heads.index(head)
    start = replace(
        given.start,
        source="recording",
        name=source.name,
        model=source.model,
        item=place["item"],
        kind=place["kind"],
        layer=number,
        head=head,
        kv_head=entry.kv_heads[at],
        # this head alone is at hand; build counts no others
        num_heads=1,
        num_kv_heads=1,
    )
    part = None
    if entry.has_w_o:
        width = entry.v_head_dim
        rows = source.arrays(number, place["item"], place["kind"])["w_o"][at * width : (at + 1) * width]
        part = _double(rows)
    each = {n: _renamed(getattr(given, n), head) for n in ("visible", "q", "bias", "sink")}
    each |= {n: _renamed(getattr(given, n), entry.kv_heads[at]) for n in ("k", "v")}
    return replace(given, start=start, w_o_part=part, **each)


def _renamed(by_head: Any, head: int) -> Any:
    return None if by_head is None else {head: next(iter(by_head.values()))}


def _input(x: Any, d_model: int) -> np.ndarray:
    if x is None:
        raise DtypeError("x must be given for a MultiHeadAttention, (tokens, d_model); got None.")
    if not hasattr(x, "shape"):
        raise DtypeError(f"x must be a NumPy array or a torch tensor; got {type(x).__name__}.")
    array = to_numpy(x)
    rows = array[0] if array.ndim == 3 and array.shape[0] == 1 else array
    if rows.ndim != 2 or rows.shape[1] != d_model:
        raise ShapeError(
            f"x must be (tokens, d_model) with d_model={d_model}, one sequence; got {tuple(array.shape)}."
        )
    if not len(rows):
        raise ShapeError(f"x must hold one token or more; got {tuple(array.shape)}.")
    return _double(rows)


def _scale(judged: Any) -> Scale:
    default = judged.head_dim**-0.5
    same = bool(np.isclose(judged.scale, default, rtol=1e-15, atol=0))
    return Scale(float(judged.scale), judged.head_dim if same else None)


def _double(array: Any) -> np.ndarray:
    return frozen(np.asarray(array).astype(np.float64))
