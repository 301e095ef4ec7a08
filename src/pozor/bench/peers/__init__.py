"""Who computes a case: pozor and its peers."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pozor.bench.cases import Case


class Absent(Exception):
    """Why a peer has no number for a case; printed, never an error."""


@dataclass(frozen=True)
class Call:
    """A call that can be timed.

    Attributes:
        run: The call; its result is kept until the next.
        read: Takes run's result to a NumPy array (batch, heads, q_len, head_dim); None: nothing to compare.
        path: Which kernel ran, where the peer says so.
    """

    run: Callable[[], Any]
    read: Callable[[Any], Any] | None
    path: str = ""


@dataclass(frozen=True)
class Peer:
    """A way to compute attention.

    Attributes:
        name: As printed.
        prepare: (case, (q, k, v) as NumPy arrays, threads) -> Call; raises Absent.
        groups: The groups it is asked for; empty for all.
        detail: Whether it is asked only by name: no bar is about it.
    """

    name: str
    prepare: Callable[[Case, tuple[Any, Any, Any], int], Call]
    groups: tuple[str, ...] = ()
    detail: bool = False


# one file each, in the order of the tables
FILES = ("ours", "torchs", "flex", "onnx", "openvino")


def all_peers() -> list[Peer]:
    """Every peer; nothing of theirs is imported before it is asked for a call."""
    return [peer for name in FILES for peer in import_module(f"pozor.bench.peers.{name}").peers()]


def need(package: str) -> Any:
    """Import a package, or say that it is absent."""
    try:
        return import_module(package)
    except ImportError:
        raise Absent(f"{package} is not installed") from None
