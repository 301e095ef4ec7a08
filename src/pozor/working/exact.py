"""Sums and products: exact in decimals where every number is a decimal, else in float64."""

import contextlib
import math
from collections.abc import Iterator
from decimal import Decimal, Inexact, localcontext

import numpy as np

from pozor.working.records import EXACT, LIMIT, Number, Scale, frozen


@contextlib.contextmanager
def exactly() -> Iterator[None]:
    """Decimal arithmetic that raises `Inexact` rather than round."""
    with localcontext(EXACT):
        yield


def is_exact(array: np.ndarray) -> bool:
    """The array holds decimals."""
    return array.dtype == object


def decimals(rows: object) -> np.ndarray:
    """An array of decimals from nested sequences of strings or decimals."""
    array = np.array(rows, dtype=object)
    flat = [Decimal(number) for number in array.ravel()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(array.shape)


def floats(array: np.ndarray) -> np.ndarray:
    """The same numbers as float64."""
    return np.asarray(array, dtype=np.float64)


def small_enough(array: np.ndarray) -> bool:
    """Each decimal is finite and short enough that what is built from it stays exact."""
    for number in array.ravel():
        parts = number.as_tuple()
        if not isinstance(parts.exponent, int):
            return False
        if abs(parts.exponent) > LIMIT or len(parts.digits) > LIMIT:
            return False
    return True


def dots(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """q · k of every key, (keys,)."""
    if is_exact(q) and is_exact(k):
        with exactly():
            return frozen(k @ q)
    return frozen(floats(k) @ floats(q))


def scaled(values: np.ndarray, scale: Scale) -> np.ndarray:
    """scale · values; a division by a whole √head_dim stays exact where its decimals end."""
    if is_exact(values):
        with contextlib.suppress(Inexact), exactly():
            if scale.decimal is not None:
                return frozen(values * scale.decimal)
            if scale.root is not None and math.isqrt(scale.root) ** 2 == scale.root:
                return frozen(values / Decimal(math.isqrt(scale.root)))
    return frozen(floats(values) * scale.value)


def less(values: np.ndarray, number: Number, where: np.ndarray) -> np.ndarray:
    """values − number, −inf where not `where`; exact where both are decimals."""
    if not is_exact(values) or not isinstance(number, Decimal):
        return frozen(np.where(where, np.where(where, floats(values), 0.0) - float(number), -math.inf))
    result = np.full(len(values), -math.inf, dtype=object)
    with exactly():
        for i in np.flatnonzero(where):
            result[i] = values[i] - number
    return frozen(result)


def matmul(x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """x · w (+ b), (rows, columns)."""
    if is_exact(x) and is_exact(w) and (b is None or is_exact(b)):
        with exactly():
            product = x @ w
            return frozen(product if b is None else product + b)
    product = floats(x) @ floats(w)
    return frozen(product if b is None else product + floats(b))
