"""Which heads of a map look here: each by what it gives to one cell, one row or one column."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pozor.errors import OptionError

if TYPE_CHECKING:
    from pozor.matrix.map import AttentionMap

WHICH_DTYPE = np.dtype(
    [("layer", np.int64), ("kind", "U5"), ("head", np.int64), ("prob", np.float64), ("at", np.int64)]
)
VARIANTS = ("recorded", "unmasked", "causal")


def which(
    shown: "AttentionMap", *, query: int | None = None, key: int | None = None, batch: int = 0
) -> np.ndarray:
    """The heads of one map as layer 0, the largest prob first; the fields are those of `Recording.which`.

    Rows and cells are worked out in float64 from q and k, a column by the lse of the map.
    """
    query, key = asked(query, key)
    lines = np.zeros(shown.num_heads, WHICH_DTYPE)
    lines["kind"], lines["head"], lines["at"] = "self", np.arange(shown.num_heads), -1
    for head in range(shown.num_heads):
        place: dict[str, Any] = {"head": head, "batch": batch}
        if key is None:
            probs = shown.row(query or 0, **place)
            at = int(np.argmax(probs)) if len(probs) else -1  # the first NaN, where there is one
            lines["prob"][head] = probs[at] if at >= 0 else 0
            lines["at"][head] = at if at >= 0 and probs[at] > 0 else -1
        elif query is None:
            lines["prob"][head], lines["at"][head] = _received(shown, key, place)
        else:
            shown._check(head, batch, key=key)
            lines["prob"][head] = shown.row(query, **place)[key]
    return in_order(lines)


def asked(query: Any, key: Any) -> tuple[int | None, int | None]:
    """The query and key asked about: whole numbers, one of them or both.

    Raises:
        OptionError: They are not.
    """
    found: list[int | None] = []
    for name, value in (("query", query), ("key", key)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0
        if value is not None and not whole:
            raise OptionError(f"{name} must be a whole number from 0; got {value!r:.50}.")
        found.append(None if value is None else int(value))
    if found == [None, None]:
        raise OptionError("which needs a query, a key, or both; got neither.")
    return found[0], found[1]


def in_order(lines: np.ndarray) -> np.ndarray:
    """The largest prob first; what is no number comes last, and equals keep their order."""
    return lines[np.argsort(np.where(np.isnan(lines["prob"]), np.inf, -lines["prob"]), kind="stable")]


def _received(shown: "AttentionMap", key: int, place: dict[str, Any]) -> tuple[float, int]:
    """What a key receives on average from the queries that may see it, and from which it receives most."""
    probs = shown.column(key, **place)
    seen = shown.visible(slice(0, shown.q_len), slice(key, key + 1), **place)[:, 0]
    if not seen.any():
        return np.nan, -1
    at = int(np.argmax(probs))
    return float(probs[seen].mean()), at if probs[at] > 0 else -1
