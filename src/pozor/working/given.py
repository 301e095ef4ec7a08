"""What a working starts from: one sequence, one query row, numbers as they were given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.working.records import Start


@dataclass(frozen=True, eq=False)
class Projections:
    """The weights of a layer, (in, out) each, and what they are applied to."""

    x: np.ndarray  # (tokens, d_model)
    w_q: np.ndarray
    w_k: np.ndarray
    w_v: np.ndarray
    w_o: np.ndarray | None
    b_q: np.ndarray | None = None
    b_k: np.ndarray | None = None
    b_v: np.ndarray | None = None
    b_o: np.ndarray | None = None
    # q and k after rotary positions, (heads, tokens, head_dim); None without
    turned_q: np.ndarray | None = None
    turned_k: np.ndarray | None = None
    residual: bool = False


@dataclass(frozen=True, eq=False)
class Given:
    """Either `projections`, or q, k and (where there is one) v of each head needed, (tokens, dim) each."""

    start: Start
    visible: Mapping[int, np.ndarray]  # query head -> (kv_len,) bool: what the query may see
    projections: Projections | None = None
    q: Mapping[int, np.ndarray] | None = None  # by query head
    k: Mapping[int, np.ndarray] | None = None  # by kv head
    v: Mapping[int, np.ndarray] | None = None  # by kv head
    bias: Mapping[int, np.ndarray] | None = None  # query head -> (kv_len,)
    sink: Mapping[int, float] | None = None  # query head -> a logit without a value
    w_o_part: np.ndarray | None = None  # rows of W_O that belong to this head
    attention_map: Any = None  # what the map shows, to stand beside the working
    map_head: int = 0  # its head
    experiments: bool = False
