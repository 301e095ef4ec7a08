"""footprint: every count worked out beside it, and the words of each refusal."""

import numpy as np
import pytest

from pozor.costs import binary, bytes_of, footprint
from pozor.errors import OptionError


def test_grouped_heads_and_unequal_lengths():
    cost = footprint(
        3, num_heads=4, num_kv_heads=2, head_dim=8, v_head_dim=5, d_model=32, kv_len=7, layers=2, batch=2,
        dtype="float32",
    )  # fmt: skip
    assert cost.scores == 2 * 4 * 3 * 7
    assert cost.scores_bytes == 168 * 4
    assert cost.lse_bytes == 2 * 4 * 3 * 4
    assert cost.kv_cache == 2 * 2 * 7 * (8 + 5)
    assert cost.qkv_out_bytes == (364 + 2 * 4 * 3 * (8 + 5)) * 4
    assert cost.with_matrix_bytes == cost.qkv_out_bytes + 672
    assert cost.without_matrix_bytes == cost.qkv_out_bytes + 96
    assert cost.score_flops == 2 * 168 * 8
    assert cost.sum_flops == 2 * 168 * 5
    # W_Q 32 × 32, W_K 32 × 16, W_V 32 × 10, W_O 20 × 32
    assert cost.parameters == 1024 + 512 + 320 + 640
    assert cost.projection_flops == 2 * 2 * 3 * 2496
    assert cost.flops == 2688 + 1680 + 29952
    assert (cost.model_flops, cost.model_scores_bytes) == (2 * 34320, 2 * 672)
    assert cost.model_kv_cache_bytes == 2 * 364 * 4


@pytest.mark.parametrize(
    ("q_len", "kv_len"), [(0, 0), (1, 5), (5, 1), (4, 4), (3, 7), (7, 3), (0, 4), (4, 0)]
)
def test_visible_pairs_are_those_of_a_mask(q_len, kv_len):
    mask = np.arange(kv_len) <= np.arange(q_len)[:, None] + kv_len - q_len
    assert footprint(q_len, num_heads=1, kv_len=kv_len, causal=True).visible_pairs == mask.sum()


def test_what_is_not_known_is_none():
    cost = footprint(16, num_heads=2)
    assert cost.scores == 512
    for name in ("head_dim", "kv_cache_bytes", "flops", "model_flops", "model_kv_cache_bytes", "parameters"):
        assert getattr(cost, name) is None
    assert cost.with_matrix_bytes is None
    assert cost.without_matrix_bytes is None
    cost = footprint(16, num_heads=2, head_dim=4)
    assert cost.flops == 2 * 512 * 4 * 2
    assert cost.projection_flops is None


def test_units():
    assert binary(0) == (0.0, "B")
    assert binary(1023) == (1023.0, "B")
    assert binary(1024) == (1.0, "KiB")
    assert binary(3 * 2**60) == (3072.0, "PiB")
    assert bytes_of("bfloat16") == 2


@pytest.mark.parametrize(
    ("tokens", "options", "words"),
    [
        (-1, {"num_heads": 1}, "tokens must be a whole number from 0; got -1."),
        (4, {"num_heads": 0}, "num_heads must be a whole number from 1; got 0."),
        (4, {"num_heads": 2.0}, "num_heads must be a whole number from 1; got 2.0."),
        (
            4,
            {"num_heads": 6, "num_kv_heads": 4},
            "num_heads must be a multiple of num_kv_heads; got 6 and 4.",
        ),
        (4, {"num_heads": 3, "d_model": 16}, "d_model must be a multiple of num_heads where head_dim"),
        (4, {"num_heads": 2, "head_dim": 0}, "head_dim must be a whole number from 1; got 0."),
        (4, {"num_heads": 2, "v_head_dim": 0}, "v_head_dim must be a whole number from 1; got 0."),
        (4, {"num_heads": 2, "causal": "no"}, "causal must be True or False; got 'no'."),
        (4, {"num_heads": 2, "dtype": ["float16"]}, "dtype must be one of float64, float32, float16"),
        (4, {"num_heads": 2, "dtype": "int8"}, "dtype must be one of float64, float32, float16"),
    ],
)
def test_says_what_is_wrong(tokens, options, words):
    with pytest.raises(OptionError) as caught:
        footprint(tokens, **options)
    assert words in str(caught.value)
