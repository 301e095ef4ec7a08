"""From an attention map, a recording or a layer to what a working starts from."""

from dataclasses import replace
from typing import Any

import numpy as np

from pozor.errors import OptionError
from pozor.working.asking import find, head_number
from pozor.working.given import Given
from pozor.working.records import Label, Scale, Start, frozen
from pozor.working.sources import Asked, labels_of


def attention_map(source: Any, asked: Asked) -> Given:
    """A map from q and k; the working stands beside what it shows."""
    judged = source.problem
    if judged is None:
        raise OptionError(
            "source must hold q and k; this map was made from probs, so there is nothing to work out."
        )
    if judged.batch != 1:
        raise OptionError(
            f"source must be a map of one sequence; got a batch of {judged.batch}. Map one of them."
        )
    head = head_number(asked.head, judged.num_heads)
    kv_head = head // judged.group_size
    labels = labels_of(source.tokens, judged.kv_len)
    query = find(asked.query, _query_labels(source, labels), "query")
    key = None if asked.key is None else find(asked.key, labels, "key")
    row = slice(query.index, query.index + 1)
    visible = source.visible(row, slice(0, judged.kv_len), head=head)[0]
    bias = None
    if judged.bias is not None:
        bias = np.broadcast_to(judged.bias, (1, judged.num_heads, judged.q_len, judged.kv_len))[
            0, head, query.index
        ]
    start = Start(
        source="map",
        name="",
        model="",
        title_cs="",
        title_en="",
        sentence_cs="",
        sentence_en="",
        axes=(),
        labels=labels,
        query=query,
        key=key,
        item=0,
        kind="self",
        layer=None,
        head=head,
        num_heads=judged.num_heads,
        kv_head=kv_head,
        num_kv_heads=judged.num_kv_heads,
        head_dim=judged.head_dim,
        v_head_dim=judged.v_head_dim or None,
        d_model=None,
        scale=_scale(judged),
        softcap=judged.softcap,
        mask="none" if visible.all() else "map",
        exact=False,
    )
    return Given(
        start,
        {head: frozen(visible)},
        q={head: _double(judged.q[0, head])},
        k={kv_head: _double(judged.k[0, kv_head])},
        v=None if judged.v is None else {kv_head: _double(judged.v[0, kv_head])},
        bias=None if bias is None else {head: _double(bias)},
        sink=None if judged.sink is None else {head: float(judged.sink[head])},
        attention_map=source,
    )


def recording(source: Any, asked: Asked) -> Given:
    """One head of a recorded layer, up to its out, times its rows of W_O where they were kept."""
    shown = source.map(asked.layer, asked.head, item=asked.item, kind=asked.kind)
    given = attention_map(shown, replace(asked, head=0))
    entry = next(e for e in source.layers if e.layer == asked.layer and e.kind == asked.kind)
    start = replace(
        given.start,
        source="recording",
        name=source.name,
        model=source.model,
        item=asked.item,
        kind=asked.kind,
        layer=asked.layer,
        mask=entry.mask_text,
    )
    return replace(given, start=start)


def _query_labels(source: Any, labels: tuple[Label, ...]) -> tuple[Label, ...]:
    if source.query_tokens is not None:
        return labels_of(source.query_tokens, source.q_len)
    return labels_of(None, source.q_len)


def _scale(judged: Any) -> Scale:
    default = judged.head_dim**-0.5
    same = np.isclose(judged.scale, default, rtol=1e-15, atol=0)
    return Scale(float(judged.scale), judged.head_dim if same else None)


def _double(array: Any) -> np.ndarray:
    return frozen(np.asarray(array).astype(np.float64))
