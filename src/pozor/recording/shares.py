"""How much of its attention a head gives to key 0, to the query itself and to the key before it."""

import numpy as np

from pozor.matrix.measuring import SHARES_DTYPE
from pozor.recording.document import Layer


def shares(entry: Layer, held: dict[str, np.ndarray], item: int) -> np.ndarray:
    """The lines of one layer, (heads,): means over the queries that see something, by the stored lse."""
    found = np.zeros(len(entry.heads), SHARES_DTYPE)
    found["layer"], found["kind"] = entry.layer, entry.kind
    found["head"], found["kv_head"] = entry.heads, entry.kv_heads
    rows = entry.rows[item]
    first, stop = rows.mask.ranges(rows.q_len, rows.kv_len)
    shown = rows.mask.shown_keys(rows.kv_len)
    position = np.arange(rows.q_len) + rows.mask.q_offset
    columns = {"first": np.zeros_like(position), "own": position, "previous": position - 1}
    for row, kv_head in enumerate(entry.kv_heads):
        q = held["q"][row].astype(np.float64)
        k = held["k"][entry.kept_kv_heads.index(kv_head)]
        lse = held["lse"][row].astype(np.float64)
        seeing = np.isfinite(lse)
        for name, column in columns.items():
            inside = (column >= first) & (column < stop) & seeing
            inside[inside] = shown[column[inside]]
            logits = np.einsum("id,id->i", q[inside], k[column[inside]].astype(np.float64)) * entry.scale
            if entry.softcap is not None:
                logits = entry.softcap * np.tanh(logits / entry.softcap)
            found[name][row] = np.exp(logits - lse[inside]).sum() / max(1, np.count_nonzero(seeing))
    return found
