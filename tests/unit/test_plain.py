"""The short way takes only what needs no judging, and gives every bit that the judged way gives."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import pozor
from pozor.backends import native
from pozor.plain import plain

rng = np.random.default_rng(5)


def draw(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "shape",
    [(1, 8, 16, 64), (2, 4, 16, 64), (3, 5, 24), (7, 3), (1, 2, 1, 1), (2, 2, 70, 17), (1, 1, 16, 576)],
)
def test_the_short_way_gives_the_bits_of_the_judged_way(shape: Any, causal: bool, dtype: Any) -> None:
    q, k, v = draw(*shape, dtype=dtype), draw(*shape, dtype=dtype), draw(*shape, dtype=dtype)
    found = plain(q, k, v, causal, None)
    judged = pozor.attention(q, k, v, causal=causal, backend="native")
    assert found is not None
    assert found.dtype == judged.dtype
    assert found.shape == judged.shape
    assert found.tobytes() == judged.tobytes()
    assert pozor.attention(q, k, v, causal=causal).tobytes() == judged.tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_tensors_too(dtype: torch.dtype) -> None:
    q = torch.from_numpy(draw(2, 16, 6, 64)).to(dtype).transpose(1, 2)  # as models hold them: not contiguous
    k, v = (torch.from_numpy(draw(2, 2, 16, 64)).to(dtype) for _ in range(2))
    found = plain(q, k, v, True, 0.25)
    judged = pozor.attention(q, k, v, causal=True, scale=0.25, backend="native")
    assert found is not None
    assert found.dtype == dtype
    assert found.is_contiguous()
    assert torch.equal(found, judged)


def test_strides_of_every_kind_are_read_where_they_lie() -> None:
    q = draw(1, 16, 4, 64).transpose(0, 2, 1, 3)
    k, v = draw(1, 4, 32, 64)[:, :, ::-2], draw(1, 4, 16, 128)[..., ::-2]
    v.flags.writeable = False
    found = plain(q, k, v, True, None)
    assert found is not None
    assert found.tobytes() == pozor.attention(q, k, v, causal=True, backend="native").tobytes()


@pytest.mark.parametrize("q_offset", [0, 3, -1, 2**40])
def test_an_offset_that_is_a_whole_number(q_offset: int) -> None:
    q, k, v = draw(2, 4, 3, 16), draw(2, 2, 9, 16), draw(2, 2, 9, 16)
    found = plain(q, k, v, True, None, q_offset)
    judged = pozor.attention(q, k, v, causal=True, q_offset=q_offset, backend="native")
    assert found is not None
    assert found.tobytes() == judged.tobytes()
    assert plain(q, k, v, True, None, np.int64(q_offset)) is None
    assert plain(q, k, v, True, None, 2**61) is None


def test_v_may_be_of_another_width_and_heads_in_groups() -> None:
    q, k, v = draw(1, 6, 5, 16), draw(1, 2, 9, 16), draw(1, 2, 9, 40)
    found = plain(q, k, v, False, None)
    assert found is not None
    assert found.shape == (1, 6, 5, 40)
    assert found.tobytes() == pozor.attention(q, k, v, backend="native").tobytes()


BASE = draw(1, 2, 4, 8)
LEFT_TO_THE_JUDGE = {
    "causal of different lengths": (BASE, draw(1, 2, 5, 8), draw(1, 2, 5, 8), True, None),
    "causal that is no bool": (BASE, BASE, BASE, 1, None),
    "other head_dim": (BASE, draw(1, 2, 4, 7), BASE, False, None),
    "other kv_len": (BASE, BASE, draw(1, 2, 5, 8), False, None),
    "heads in no groups": (draw(1, 3, 4, 8), BASE, BASE, False, None),
    "a batch to broadcast": (draw(2, 2, 4, 8), BASE, BASE, False, None),
    "axes to fill up": (BASE, BASE[0], BASE[0], False, None),
    "one axis": (BASE[0, 0, 0], BASE[0, 0, 0], BASE[0, 0, 0], False, None),
    "five axes": (BASE[None], BASE[None], BASE[None], False, None),
    "no keys": (BASE, BASE[:, :, :0], BASE[:, :, :0], False, None),
    "no queries": (BASE[:, :, :0], BASE, BASE, False, None),
    "no width": (BASE[..., :0], BASE[..., :0], BASE, False, None),
    "too wide": (draw(1, 1, 2, 577), draw(1, 1, 2, 577), draw(1, 1, 2, 577), False, None),
    "other dtypes": (BASE, BASE.astype(np.float64), BASE, False, None),
    "integers": (*(np.ones((1, 2, 4, 8), np.int32) for _ in range(3)), False, None),
    "bits that are no bfloat16": (*(np.ones((1, 2, 4, 8), np.uint16) for _ in range(3)), False, None),
    "bfloat16 in NumPy": (*(BASE.astype(ml_dtypes.bfloat16) for _ in range(3)), False, None),
    "the other byte order": (*(BASE.astype(">f4") for _ in range(3)), False, None),
    "a scale that is no float": (BASE, BASE, BASE, False, 1),
    "a scale that is not finite": (BASE, BASE, BASE, False, float("inf")),
    "lists": (BASE.tolist(), BASE.tolist(), BASE.tolist(), False, None),
    "kinds mixed": (torch.from_numpy(BASE), BASE, BASE, False, None),
    "no values": (BASE, BASE, None, False, None),
    "a masked array": (*(np.ma.masked_array(BASE) for _ in range(3)), False, None),
    "a gradient": (*(torch.from_numpy(BASE).requires_grad_() for _ in range(3)), False, None),
    "sparse tensors": (*(torch.from_numpy(BASE).to_sparse() for _ in range(3)), False, None),
    "tensors without numbers": (*(torch.empty(1, 2, 4, 8, device="meta") for _ in range(3)), False, None),
    "complex tensors": (*(torch.ones(1, 2, 4, 8, dtype=torch.complex64) for _ in range(3)), False, None),
}


@pytest.mark.parametrize("case", LEFT_TO_THE_JUDGE)
def test_what_needs_a_judge_is_left_to_it(case: str) -> None:
    assert plain(*LEFT_TO_THE_JUDGE[case]) is None


def test_without_gradient_mode_a_parameter_goes_the_short_way() -> None:
    q = torch.from_numpy(BASE).requires_grad_()
    with torch.no_grad():
        found = plain(q, q, q, False, None)
    assert found is not None
    assert not found.requires_grad


def test_a_sub_class_keeps_the_long_way() -> None:
    class Named(torch.Tensor):
        pass

    q = torch.from_numpy(BASE).as_subclass(Named)
    assert plain(q, q, q, False, None) is None


@pytest.mark.parametrize("isa", native._runnable())
@pytest.mark.parametrize("q_len", [1, 2, 3, 6, 7, 16])
@pytest.mark.parametrize("kv_len", [1, 2, 15, 16, 17, 63, 64, 65])
def test_a_few_queries_over_a_few_keys(q_len: int, kv_len: int, isa: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("POZOR_NATIVE_ISA", isa)
    q, k, v = draw(2, 4, q_len, 20), draw(2, 2, kv_len, 20), draw(2, 2, kv_len, 48)
    for options in ({}, {"causal": True, "q_offset": kv_len - q_len}, {"window": (3, 2), "q_offset": -1}):
        found = pozor.attention(q, k, v, backend="native", **options)
        meant = pozor.attention(*(x.astype(np.float64) for x in (q, k, v)), backend="reference", **options)
        assert np.abs(found - meant).max() <= 2e-6


def test_what_few_queries_may_not_see_cannot_reach_them() -> None:
    q, k, v = draw(1, 1, 5, 16), draw(1, 1, 5, 16), draw(1, 1, 5, 16)
    clean = pozor.attention(q, k, v, causal=True)
    k[0, 0, 3:], v[0, 0, 3:] = np.nan, np.inf
    assert pozor.attention(q, k, v, causal=True)[0, 0, :3].tobytes() == clean[0, 0, :3].tobytes()
