"""pooled: the matrix in square blocks from index 0, edge blocks smaller: max, mean and share of each.

max of p; mean over visible cells; share = sum of p / rows of the block that see something. NaN where nothing
is visible. A block row's shares add up to 1, less the sink's part.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pozor.observables.block import Block


@dataclass(frozen=True)
class Pooled:
    """The three reductions, each (batch, num_heads, ceil(q_len / block), ceil(kv_len / block))."""

    block: int
    max: Any
    mean: Any
    share: Any


class Part(NamedTuple):
    """Some rows by some key blocks: largest logit, sum exp(logits - base), number of visible cells."""

    first: int  # key block
    base: np.ndarray
    largest: np.ndarray
    total: np.ndarray
    cells: np.ndarray


class Totals(NamedTuple):
    """The whole pooled matrix of some heads while rows are added."""

    largest: np.ndarray
    total: np.ndarray
    cells: np.ndarray
    rows: np.ndarray  # rows of each block row that see something, (heads, block rows)


def define(probs: np.ndarray, visible: np.ndarray, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(max, mean, share) of float64 probs (heads, q_len, kv_len), 0 where hidden."""
    heads, q_len, kv_len = probs.shape
    out = np.full((3, heads, -(-q_len // block), -(-kv_len // block)), np.nan)
    for head, row, column in np.ndindex(out.shape[1:]):
        rows, keys = (slice(block * n, block * n + block) for n in (row, column))
        seen, p = visible[head, rows, keys], probs[head, rows, keys]
        if seen.any():
            seeing = visible[head, rows].any(axis=-1).sum()
            out[:, head, row, column] = p[seen].max(), p[seen].mean(), p[seen].sum() / seeing
    return out[0], out[1], out[2]


def update(state: list[Part] | None, block: Block, size: int) -> list[Part]:
    """The parts after one more block of keys; they are brought to one base when lse is known."""
    first = block.keys.start // size
    starts = np.maximum(np.arange(first, -(-block.keys.stop // size)) * size - block.keys.start, 0)
    visible = np.broadcast_to(np.asarray(block.visible), block.logits.shape)
    part = Part(
        first,
        block.base,
        np.maximum.reduceat(block.logits, starts, axis=-1),
        np.add.reduceat(block.exps, starts, axis=-1),
        np.add.reduceat(visible, starts, axis=-1, dtype=np.int64),
    )
    return merge(state or [], [part])


def merge(a: list[Part], b: list[Part]) -> list[Part]:
    """Two disjoint sets of keys."""
    return [*a, *b]


def start(heads: int, q_len: int, kv_len: int, size: int, dtype: Any) -> Totals:
    """An empty pooled matrix."""
    shape = (heads, -(-q_len // size), -(-kv_len // size))
    return Totals(
        np.zeros(shape, dtype), np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape[:2], np.int64)
    )


def add_rows(totals: Totals, parts: list[Part], lse: np.ndarray, rows: slice, size: int) -> None:
    """In place: rows whose lse is known."""
    first = rows.start // size
    starts = np.maximum(np.arange(first, -(-rows.stop // size)) * size - rows.start, 0)
    block_rows = slice(first, first + len(starts))
    seeing = np.zeros(lse.shape, dtype=bool)
    for part in parts:
        here = (slice(None), block_rows, slice(part.first, part.first + part.largest.shape[-1]))
        seeing |= part.cells.any(axis=-1)
        known = lse != -np.inf
        offset = np.where(known, lse, 0)[..., None]
        # select: the NaN of a row must not reach a block that it does not see
        largest = np.where(part.cells > 0, np.exp(part.largest - offset), 0)
        base = np.where(part.base == -np.inf, offset[..., 0], part.base)[..., None]
        total = np.where(part.cells > 0, part.total * np.exp(base - offset), 0)
        totals.largest[here] = np.maximum(totals.largest[here], np.maximum.reduceat(largest, starts, axis=1))
        totals.total[here] += np.add.reduceat(total, starts, axis=1)
        totals.cells[here] += np.add.reduceat(part.cells, starts, axis=1)
    totals.rows[:, block_rows] += np.add.reduceat(seeing, starts, axis=1, dtype=np.int64)


def finish(totals: Totals, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(max, mean, share)."""
    seen = totals.cells > 0
    mean = totals.total / np.maximum(totals.cells, 1)
    share = totals.total / np.maximum(totals.rows, 1)[..., None]
    largest, mean, share = (np.where(seen, x, np.nan).astype(dtype) for x in (totals.largest, mean, share))
    return largest, mean, share


def torch_rows(totals: Any, probs: Any, visible: Any, keys: Any, rows: slice, size: int) -> None:
    """In place: whole rows (heads, rows, keys) into (max, sum, cells) by blocks and rows by block row."""
    import torch

    largest, total, cells, seeing = totals
    shape = (*probs.shape[:2], largest.shape[-1])
    columns = (keys // size).expand(probs.shape)
    by_key = [
        probs.new_zeros(shape).scatter_reduce(-1, columns, probs, "amax"),
        total.new_zeros(shape).scatter_add(-1, columns, probs.to(total.dtype)),
        cells.new_zeros(shape).scatter_add(-1, columns, visible.to(cells.dtype)),
    ]
    line = torch.arange(rows.start, rows.stop, device=probs.device) // size
    place = line[None, :, None].expand(shape)
    largest.scatter_reduce_(1, place, by_key[0], "amax")
    total.scatter_add_(1, place, by_key[1])
    cells.scatter_add_(1, place, by_key[2])
    seeing.scatter_add_(1, line.expand(shape[:2]), visible.any(dim=-1).to(seeing.dtype))
