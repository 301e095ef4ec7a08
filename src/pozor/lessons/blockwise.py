"""The row of lesson 5, read in blocks: m, the rescaling factor, ℓ and s after each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

BLOCK = 2  # keys a block
VALUES = (10.0, 20.0, 30.0, 40.0)


@dataclass(frozen=True)
class State:
    """What is remembered of the keys read so far."""

    row_max: float  # m
    factor: float | None  # by which the older sums were multiplied last
    row_sum: float  # ℓ
    summed: float  # s, of the values


def states(row: np.ndarray, values: np.ndarray) -> list[State]:
    """Before the first block and after each."""
    found = [State(-np.inf, None, 0.0, 0.0)]
    for first in range(0, len(row), BLOCK):
        before, keys = found[-1], slice(first, first + BLOCK)
        row_max = max(before.row_max, row[keys].max())
        factor, exps = np.exp(before.row_max - row_max), np.exp(row[keys] - row_max)
        row_sum = factor * before.row_sum + exps.sum()
        found.append(State(row_max, factor, row_sum, factor * before.summed + exps @ values[keys]))
    return found


def step_fields(page: Any, row: np.ndarray, values: np.ndarray, step: int) -> dict[str, Any]:
    """What the section `step_block` waits for."""
    found = states(row, values)
    before, now, keys = found[step - 1], found[step], slice((step - 1) * BLOCK, step * BLOCK)
    exps = [page.number(number) for number in np.exp(row[keys] - now.row_max)]
    terms = [f"{number}·{page.number(value)}" for number, value in zip(exps, values[keys])]
    factor = page.number(now.factor)
    return {
        "block": step,
        "logits": page.numbers(row[keys]),
        "values": page.numbers(values[keys]),
        "m": page.number(now.row_max),
        "factor": factor,
        "l_working": " + ".join([f"{factor}·{page.number(before.row_sum)}", *exps]),
        "l": page.number(now.row_sum),
        "s_working": " + ".join([f"{factor}·{page.number(before.summed)}", *terms]),
        "s": page.number(now.summed),
    }


def program(page: Any, row: np.ndarray) -> str:
    """The same in NumPy, to be changed and run."""
    blocks = [row[first : first + BLOCK].tolist() for first in range(0, len(row), BLOCK)]
    return f"""
import numpy as np

# {page.word("comment_blocks")}
blocks = {blocks}
values = {list(VALUES)}

m, l, s = -np.inf, 0.0, 0.0
read = 0
for block in blocks:
    a, v = np.array(block), np.array(values[read : read + len(block)])
    read += len(block)
    new = max(m, a.max())
    # {page.word("comment_rescale")}
    factor = np.exp(m - new)
    p = np.exp(a - new)
    m, l, s = new, factor * l + p.sum(), factor * s + p @ v
    print(f"m = {{m:g}}   l = {{l:.6f}}   s = {{s:.6f}}")
print("out =", s / l, "  lse =", m + np.log(l))

# {page.word("comment_check")}
a = np.concatenate(blocks)
p = np.exp(a - a.max())
print("out =", p @ values / p.sum())
"""
