"""The record that asks for observables, and the record they come back in."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from pozor.errors import DtypeError, OptionError
from pozor.observables.pooled import Pooled


@dataclass(frozen=True)
class Want:
    """What `observe` shall return beside out and lse.

    Args:
        row_max: The largest logit of each row, the sink left out.
        entropy: -sum p ln p of each row, in nats.
        top_k: The number of largest keys of each row to name; 0 for none.
        received: The mean p each key receives from the queries that may see it.
        distance: The sum of p by distance i + q_offset - j, in bins that double.
        pooled: The side, in tokens, of the square blocks the matrix is reduced by; 0 for none.
    Raises:
        DtypeError: A switch is not a bool, or a number not an integer.   OptionError: A number below 0.
    """

    row_max: bool = False
    entropy: bool = False
    top_k: int = 0
    received: bool = False
    distance: bool = False
    pooled: int = 0

    def __post_init__(self) -> None:
        for name in ("row_max", "entropy", "received", "distance"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise DtypeError(f"Want({name}) must be True or False; got {getattr(self, name)!r}.")
        for name in ("top_k", "pooled"):
            value = getattr(self, name)
            try:
                if isinstance(value, (bool, np.bool_)):
                    raise TypeError
                number = index(value)
            except TypeError:
                raise DtypeError(f"Want({name}) must be a whole number; got {value!r}.") from None
            if number < 0:
                raise OptionError(f"Want({name}) must be 0 (not wanted) or more; got {value}.")
            object.__setattr__(self, name, number)

    @property
    def any_in_pass(self) -> bool:
        """Whether something needs each block's cells beside out and lse."""
        return bool(self.entropy or self.top_k or self.distance or self.pooled)


@dataclass(frozen=True)
class Observation:
    """What attention did: each array with the caller's axes; None where it was not asked for.

    With (batch, num_heads, q_len, …) axes: out (…, v_head_dim) in q's dtype; lse, row_max and entropy
    (batch, num_heads, q_len); top_probs and top_keys (…, q_len, top_k); received (batch, num_heads, kv_len);
    distance (…, q_len, bins) with distance_edges int64 (bins + 1,): bin b holds the distances
    edges[b] <= i + q_offset - j < edges[b + 1]; pooled with .max .mean .share. lse and the rest are float32
    or wider. `backend` is the one used, `path` the way it took.
    """

    out: Any
    lse: Any
    row_max: Any = None
    entropy: Any = None
    top_probs: Any = None
    top_keys: Any = None
    received: Any = None
    distance: Any = None
    distance_edges: Any = None
    pooled: Pooled | None = None
    backend: str = ""
    path: str = ""

    def mapped(self, function: Callable[[Any], Any]) -> "Observation":
        """The same record with function applied to each array that is there."""
        values: dict[str, Any] = dict(vars(self))
        for name, value in values.items():
            if isinstance(value, Pooled):
                parts = (function(part) for part in (value.max, value.mean, value.share))
                values[name] = Pooled(value.block, *parts)
            elif value is not None and not isinstance(value, str):
                values[name] = function(value)
        return Observation(**values)
