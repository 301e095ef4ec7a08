"""Comparison that can fail, and the backends every case runs on."""

from typing import Any

import numpy as np

import pozor

BACKENDS = pozor.available_backends()


def as_array(x: Any) -> np.ndarray:
    """A tensor or number as a NumPy array."""
    return np.asarray(x.detach().cpu().float().numpy() if _is_bfloat16(x) else _detached(x))


def assert_close(
    got: Any,
    want: Any,
    *,
    plain: Any = None,
    ulps: float | None = None,
    atol: float = 0.0,
    dtype: str | None = None,
) -> None:
    """got agrees with want in shape and dtype, in where it is not finite, and within the tolerance.

    plain: what a straightforward computation in got's dtype gives; the tolerance is then
    2 · max|plain - want| + one rounding of got's dtype. ulps: that many roundings of it at the largest value.
    Neither: equal to 1e-12 of the largest value in float64, 1e-6 in float32. dtype: the name of got's;
    want's if left out, "" for any.
    """
    got_dtype = str(getattr(got, "dtype", "")).removeprefix("torch.")
    want_dtype = str(getattr(want, "dtype", "")).removeprefix("torch.") if dtype is None else dtype
    got, want = as_array(got), as_array(want)
    assert got.shape == want.shape, f"shape {got.shape}, not {want.shape}"
    assert not want_dtype or got_dtype == want_dtype, f"dtype {got_dtype}, not {want_dtype}"
    if want.dtype.kind in "biu":
        assert np.array_equal(got, want), f"{got} is not {want}"
        return
    exact = want.astype(np.float64)
    value = got.astype(np.float64)
    finite = np.isfinite(exact)
    assert np.array_equal(finite, np.isfinite(value)), (
        f"not finite at {np.argwhere(finite != np.isfinite(value))[:5]}"
    )
    odd = ~finite
    assert np.array_equal(value[odd], exact[odd], equal_nan=True), f"{value[odd][:5]} is not {exact[odd][:5]}"
    largest = float(np.abs(exact[finite]).max(initial=0))
    rounding = _rounding(got_dtype) * max(largest, np.finfo(np.float32).tiny)
    if plain is not None:
        drift = np.abs(as_array(plain).astype(np.float64)[finite] - exact[finite]).max(initial=0)
        tolerance = 2 * drift + rounding
    elif ulps is not None:
        tolerance = ulps * rounding
    else:
        tolerance = max({"float64": 1e-12, "float32": 1e-6}.get(got_dtype, 0) * max(largest, 1e-3), rounding)
    away = np.abs(np.where(finite, value, 0) - np.where(finite, exact, 0))
    difference = away.max(initial=0)
    if not (difference <= tolerance + atol):  # never `>`: NaN would pass
        where = np.argmax(away)
        raise AssertionError(
            f"off by {difference:.3g}, allowed {tolerance + atol:.3g}: "
            f"{value.flat[where]} is not {exact.flat[where]} at {np.unravel_index(where, exact.shape)}"
        )


def _detached(x: Any) -> Any:
    return x.detach().cpu().numpy() if hasattr(x, "detach") else x


def _is_bfloat16(x: Any) -> bool:
    return hasattr(x, "detach") and str(x.dtype) == "torch.bfloat16"


def _rounding(dtype: str) -> float:
    """Half the distance of neighbours at 1."""
    bits = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
    return 2.0 ** -bits.get(dtype, 24)


def pooled_side(backend: str, side: int) -> int:
    """The side of pooled blocks nearest to the one a test means that the backend takes."""
    return 16 if backend == "native" else side
