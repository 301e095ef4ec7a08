"""The ceilings are measured: a rate that some machine could have, not that of any one."""

import pytest

from pozor.backends import native


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("fma_peak", 1e8, 1e13), ("bf16_peak", 1e8, 1e14), ("read_bandwidth", 1e7, 1e12)],
)
def test_a_ceiling_is_a_rate_that_a_machine_can_have(name, least, most):
    rate = getattr(native._native, name)(1)
    if name == "bf16_peak" and "avx512bf16" not in native._native.runnable():
        assert rate == 0  # no such unit
    else:
        assert least < rate < most


@pytest.mark.parametrize("name", ["fma_peak", "bf16_peak", "read_bandwidth"])
def test_a_ceiling_needs_a_thread(name):
    with pytest.raises(ValueError, match="threads must be 1 or more"):
        getattr(native._native, name)(0)
