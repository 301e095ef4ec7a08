"""The mask of a recording says the same as the mask objects it becomes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pozor
from pozor.recording import MaskForm
from pozor.recording.mask_form import from_json, sound


@st.composite
def forms(draw: st.DrawFn) -> tuple[MaskForm, int, int]:
    kv_len = draw(st.integers(1, 12))
    start = draw(st.integers(0, kv_len - 1))
    q_len = draw(st.integers(1, kv_len - start))
    causal = draw(st.booleans())
    side = st.none() | st.integers(0, 13)
    window = draw(st.none() | st.tuples(side, side))
    prefix = draw(st.none() | st.integers(0, kv_len)) if causal and window is None else None
    documents = None
    if prefix is None and draw(st.booleans()):
        cuts = sorted(draw(st.sets(st.integers(1, kv_len - 1)))) if kv_len > 1 else []
        documents = tuple(int(n) for n in np.diff([0, *cuts, kv_len]))
    padding = draw(st.none() | st.tuples(st.integers(0, kv_len), st.integers(0, kv_len)))
    ranges = None if padding is None else ((min(padding), max(padding)),)
    return MaskForm(causal, start, window, prefix, documents, ranges), q_len, kv_len


@given(forms())
@settings(max_examples=150, deadline=None)
def test_ranges_agree_with_the_options(case: tuple[MaskForm, int, int]) -> None:
    form, q_len, kv_len = case
    assert sound(form, q_len, kv_len)
    q, k = np.zeros((q_len, 1)), np.zeros((kv_len, 1))
    seen = pozor.AttentionMap(q, k, **form.options(q_len, kv_len)).visible(slice(0, q_len), slice(0, kv_len))
    first, stop = form.ranges(q_len, kv_len)
    j = np.arange(kv_len)
    mine = (first[:, None] <= j) & (j < stop[:, None]) & form.shown_keys(kv_len)
    assert np.array_equal(seen, mine)


@given(forms())
@settings(max_examples=50, deadline=None)
def test_json_and_back(case: tuple[MaskForm, int, int]) -> None:
    import json

    form, q_len, kv_len = case
    assert from_json(json.loads(json.dumps(form.to_json())), "here", q_len, kv_len) == form


def test_words() -> None:
    assert MaskForm().words() == "none"
    assert MaskForm(causal=True, window=(511, 0)).words() == "causal & window (511, 0)"
    assert MaskForm(causal=True, prefix=3).words() == "causal | prefix 3"
    assert MaskForm(window=(2, None), documents=(2, 3), key_padding=((0, 4),)).words() == (
        "window (2, open) & 2 documents & key padding"
    )
