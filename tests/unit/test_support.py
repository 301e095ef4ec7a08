"""The comparison helper must be able to fail."""

import numpy as np
import pytest

from support import assert_close

RIGHT = np.array([1.0, 2.0, -np.inf])


def test_it_accepts_what_is_equal_and_what_is_a_rounding_away():
    assert_close(RIGHT.copy(), RIGHT)
    assert_close(np.array([1.0, 2.0 + 1e-15, -np.inf]), RIGHT)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (np.array([1.0, 2.001, -np.inf]), "off by"),
        (np.array([1.0, np.nan, -np.inf]), "not finite"),
        (np.array([np.nan] * 3), "not finite"),
        (np.array([1.0, 2.0, np.inf]), "is not"),
        (np.array([1.0, 2.0, np.nan]), "is not"),
        (np.array([[1.0, 2.0, -np.inf]]), "shape"),
        (np.array([1.0]), "shape"),
        (np.array([1.0, 2.0, -np.inf], dtype=np.float32), "dtype"),
    ],
)
def test_it_fails_on_value_nan_shape_and_dtype(wrong, word):
    with pytest.raises(AssertionError, match=word):
        assert_close(wrong, RIGHT)


def test_a_tolerance_from_data_is_no_wider_than_the_data_says():
    exact = np.array([1.0, 1.0])
    plain = np.array([1.0, 1.001], dtype=np.float32)
    assert_close(np.array([1.0, 1.0019], np.float32), exact, plain=plain, dtype="float32")
    with pytest.raises(AssertionError, match="off by"):
        assert_close(np.array([1.0, 1.0021], np.float32), exact, plain=plain, dtype="float32")
    with pytest.raises(AssertionError, match="off by"):
        assert_close(np.array([0.75, 0.75], np.float32), exact, plain=exact, dtype="float32")


def test_integers_and_booleans_are_equal_or_not():
    assert_close(np.array([1, 2]), np.array([1, 2]))
    with pytest.raises(AssertionError):
        assert_close(np.array([1, 3]), np.array([1, 2]))


def test_tensors_compare_by_their_own_dtype():
    import torch

    assert_close(torch.tensor([0.5]), np.array([0.5]), dtype="float32")
    with pytest.raises(AssertionError, match="dtype"):
        assert_close(torch.tensor([0.5], dtype=torch.bfloat16), np.array([0.5]))
