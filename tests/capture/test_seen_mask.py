"""Reading a model's mask: what comes out says the same as what went in, or it is refused."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pozor.capture import seen_mask
from pozor.errors import CaptureError
from pozor.recording import MaskForm


def visible(form: MaskForm, length: int) -> np.ndarray:
    first, stop = form.ranges(length, length)
    j = np.arange(length)
    return (first[:, None] <= j) & (j < stop[:, None]) & form.shown_keys(length)


def read(mask: np.ndarray | torch.Tensor | None, span: tuple[int, int], length: int, **options) -> MaskForm:
    tensor = None if mask is None else torch.as_tensor(mask)
    if tensor is not None and tensor.ndim == 2 and tensor.shape[0] == tensor.shape[1] and length > 1:
        tensor = tensor[None, None]
    return seen_mask.form_of(tensor, 0, span, length, **({"causal": False, "window": None} | options))


@st.composite
def described(draw: st.DrawFn) -> tuple[MaskForm, int]:
    length = draw(st.integers(1, 14))
    causal = draw(st.booleans())
    kind = draw(st.sampled_from(["plain", "window", "prefix", "documents", "both"]))
    window = None
    if kind in ("window", "both"):
        left = draw(st.integers(0, 14))
        window = (left, 0) if causal else (left, draw(st.integers(0, 14)))
    prefix = draw(st.integers(0, length)) if kind == "prefix" and causal else None
    documents = None
    if kind in ("documents", "both"):
        cuts = sorted(draw(st.sets(st.integers(1, length - 1)))) if length > 1 else []
        documents = tuple(int(n) for n in np.diff([0, *cuts, length]))
    return MaskForm(causal, 0, window, prefix, documents), length


@given(described(), st.integers(0, 3), st.integers(0, 3), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_mask_that_can_be_described_is_described(
    case: tuple[MaskForm, int], before: int, after: int, as_float: bool
) -> None:
    form, length = case
    whole = before + length + after
    mask = np.zeros((whole, whole), bool)
    mask[before : before + length, before : before + length] = visible(form, length)
    tensor = torch.from_numpy(mask)[None, None]
    if as_float:
        tensor = torch.where(tensor, 0.0, torch.finfo(torch.float32).min)
    found = seen_mask.form_of(tensor, 0, (before, before + length), whole, causal=False, window=None)
    assert np.array_equal(visible(found, length), visible(form, length)), found


@given(st.integers(1, 9), st.data())
@settings(max_examples=200, deadline=None)
def test_any_other_mask_is_refused_never_bent(length: int, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.booleans(), min_size=length * length, max_size=length * length))
    mask = np.array(cells).reshape(length, length)
    try:
        found = seen_mask.form_of(
            torch.from_numpy(mask)[None, None], 0, (0, length), length, causal=True, window=None
        )
    except CaptureError:
        return
    assert np.array_equal(visible(found, length), mask)


def test_planes_that_overflow() -> None:
    """CASE-11: finfo.min + finfo.min = −inf; both hide, and no padded query reads a later token."""
    least = torch.finfo(torch.float32).min
    causal = torch.full((3, 3), least).triu(1)
    padding = torch.tensor([[least, least, 0.0]]).expand(3, 3)
    both = (causal + padding)[None, None]
    assert bool(torch.isinf(both).any())
    found = seen_mask.form_of(both, 0, (0, 3), 3, causal=True, window=None)
    assert visible(found, 3).tolist() == [[False] * 3, [False] * 3, [False, False, True]]
    alone = seen_mask.form_of(both, 0, (2, 3), 3, causal=True, window=None)
    assert visible(alone, 1).tolist() == [[True]]


def test_long_masks_are_read_in_blocks() -> None:
    length = 3 * seen_mask.ROWS_AT_ONCE + 5
    j = torch.arange(length)
    mask = (j[None] <= j[:, None]) & (j[:, None] - j[None] < 100)
    assert read(mask, (0, length), length) == MaskForm(causal=True, window=(99, 0))


def test_holes_in_the_padding_are_kept() -> None:
    mask = np.tril(np.ones((5, 5), bool))
    mask[:, 2] = False
    assert read(mask, (0, 5), 5) == MaskForm(causal=True, key_padding=((0, 2), (3, 5)))


def test_no_mask() -> None:
    assert read(None, (0, 5), 5) == MaskForm()
    assert read(None, (0, 5), 5, causal=True) == MaskForm(causal=True)
    assert read(None, (0, 3), 5, causal=True) == MaskForm(causal=True)  # padding on the right is never seen
    assert read(None, (0, 5), 5, causal=True, window=3) == MaskForm(causal=True, window=(2, 0))
    assert read(None, (0, 5), 9, causal=True) == MaskForm(causal=True)  # an empty cache of 9 places


def test_a_list_of_padding_as_flash_attention_takes_it() -> None:
    keys = torch.tensor([[False, False, True, True, True]])
    assert seen_mask.form_of(keys, 0, (2, 5), 5, causal=True, window=None) == MaskForm(causal=True)


@pytest.mark.parametrize("span", [(1, 5), (0, 4)])
def test_padding_that_is_seen(span: tuple[int, int]) -> None:
    with pytest.raises(
        CaptureError, match="the model looks at padding: attention_mask marks tokens as padding"
    ):
        read(None, span, 5)
    with pytest.raises(CaptureError, match="the model looks at padding"):
        read(np.ones((5, 5), bool), span, 5)


def test_masks_of_other_forms() -> None:
    with pytest.raises(CaptureError, match=r"must have 2 or 4 axes; got \(1, 5, 5\)"):
        seen_mask.form_of(torch.ones(1, 5, 5), 0, (0, 5), 5, causal=True, window=None)
    with pytest.raises(CaptureError, match=r"must be bool or float; got torch\.int64"):
        read(torch.ones(5, 5, dtype=torch.int64), (0, 5), 5)
    differing = torch.ones(1, 2, 5, 5, dtype=torch.bool)
    differing[0, 1, 4, 0] = False
    with pytest.raises(CaptureError, match="the model masks its heads differently"):
        seen_mask.form_of(differing, 0, (0, 5), 5, causal=True, window=None)
