"""One head of one sequence out of a judged call, all its rows or some: again a judged call."""

from dataclasses import replace
from typing import Any

import numpy as np

from pozor.inputs import Problem


def part(problem: Problem, batch: int, head: int, rows: slice) -> Problem:
    """`rows` (every step-th of them) of one query head, without v; its axes are (1, 1, rows, …)."""
    one, kv = slice(head, head + 1), slice(head // problem.group_size, head // problem.group_size + 1)
    sequence = slice(batch, batch + 1)
    return replace(
        problem,
        q=problem.q[sequence, one, rows],
        k=problem.k[sequence, kv],
        v=None,
        visibility=problem.visibility.part(batch, head, rows),
        bias=_of_bias(problem.bias, (sequence, one, rows)),
        sink=None if problem.sink is None else problem.sink[one],
        q_offset=np.asarray(problem.q_offset[sequence] + rows.start),
        ndim=4,
    )


def _of_bias(bias: Any, where: tuple[slice, slice, slice]) -> Any:
    if bias is None:
        return None
    return bias[tuple(some if length > 1 else slice(None) for some, length in zip(where, bias.shape))]
