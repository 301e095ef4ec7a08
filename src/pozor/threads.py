"""How many threads the native kernel may use; not how it uses them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pozor.errors import DtypeError, OptionError

VARIABLE = "POZOR_NUM_THREADS"

_chosen: int | None = None


def set_num_threads(n: int) -> None:
    """Use n threads in the native kernel from now on, in this process; results do not depend on n.

    Without a call it is the environment's POZOR_NUM_THREADS, else the usable cores; a call on torch tensors
    never takes more than torch.get_num_threads().

    Args:
        n: The number of threads, 1 or more.
    Raises:
        DtypeError: Not a whole number.   OptionError: Below 1.
    Example:
        >>> with using(2):  # the same, for a block
        ...     num_threads()
        2
    """
    global _chosen
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise DtypeError(f"n must be a whole number of threads; got {n!r}.")
    if n < 1:
        raise OptionError(f"n must be 1 thread or more; got {n}.")
    _chosen = int(n)


@contextmanager
def using(n: int) -> Iterator[None]:
    """n threads inside the block; afterwards as many as before."""
    global _chosen
    before = _chosen
    set_num_threads(n)
    try:
        yield
    finally:
        _chosen = before


def num_threads() -> int:
    """The number of threads in force."""
    if _chosen is not None:
        return _chosen
    given = os.environ.get(VARIABLE, "")
    if not given:
        return usable_cores()
    if not given.isdecimal() or int(given) < 1:
        raise OptionError(f"{VARIABLE} must be 1 thread or more; got {given!r}.")
    return int(given)


def usable_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
