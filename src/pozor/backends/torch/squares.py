"""Cells of one head reduced to squares, on the device that holds q and k, a block at a time."""

from typing import Any

import numpy as np
import torch

from pozor.backends.torch.rows import Chunk, cells_of
from pozor.inputs import Problem

EXACT = 40.0  # the largest logit and lse together whose probs float32 keeps within 1e-5


def squares(
    problem: Problem,
    batch: int,
    head: int,
    rows: slice,
    keys: slice,
    size: int,
    lse: np.ndarray | None,
    weight: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(largest float32, total float64, count int64) of tensors, as NumPy; lse (rows,), weight (kv_len,)."""
    shape = (-(-(rows.stop - rows.start) // size), -(-(keys.stop - keys.start) // size))
    largest, total = np.zeros(shape, np.float32), np.zeros(shape)
    count = np.zeros(shape, np.int64)
    if not count.size:
        return largest, total, count
    width = max(size, min(keys.stop - keys.start, 8192) // size * size)
    height = max(size, cells_of(problem) // width // size * size)
    for first in range(rows.start, rows.stop, height):
        some = slice(first, min(first + height, rows.stop))
        own = None if lse is None else lse[some.start - rows.start : some.stop - rows.start]
        lines = slice((first - rows.start) // size, -(-(some.stop - rows.start) // size))
        for start in range(keys.start, keys.stop, width):
            part = slice(start, min(start + width, keys.stop))
            found = _block(problem, batch, head, (some, part), size, own, weight)
            columns = slice((start - keys.start) // size, -(-(part.stop - keys.start) // size))
            largest[lines, columns], total[lines, columns], count[lines, columns] = found
    return largest, total, count


def _block(
    problem: Problem,
    batch: int,
    head: int,
    where: tuple[slice, slice],
    size: int,
    lse: np.ndarray | None,
    weight: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, keys = where
    with torch.no_grad():
        chunk = Chunk(problem, batch, slice(head, head + 1), rows, [keys], torch.float64, True)
        q, k, _, bias, _ = chunk.pieces()
        if lse is not None and problem.q.dtype != torch.float64 and _fits_float(problem, q, k, bias, lse):
            chunk.wide = torch.float32
            q, k, bias = q.float(), k.float(), None if bias is None else bias.float()
        logits, visible = chunk.logits(q, k, bias)
        seen = torch.ones_like(logits, dtype=torch.bool) if visible is None else visible.expand(logits.shape)
        count = _folded(seen.to(torch.int64), size, "sum")
        if lse is None:
            return np.zeros(count.shape, np.float32), np.zeros(count.shape), count
        base = torch.from_numpy(np.asarray(lse, np.float64)).to(logits.device, chunk.wide)
        probs = chunk.exps(logits, visible, base[None])
        # a row whose lse says that it sees nothing gives nothing
        probs = probs.masked_fill((base == -np.inf)[None, :, None], 0)
        if weight is not None:
            own = torch.from_numpy(np.asarray(weight[keys], np.float64)).to(logits.device, chunk.wide)
            probs = (probs * own).masked_fill(~seen, 0)
        return (
            _folded(probs, size, "amax").astype(np.float32),
            _folded(probs.double(), size, "sum"),
            count,
        )


def _folded(cells: Any, size: int, reduce: str) -> np.ndarray:
    """(1, rows, keys) in squares; edge squares are filled up with zeros."""
    rows, keys = cells.shape[1:]
    filled = torch.nn.functional.pad(cells[0], (0, -keys % size, 0, -rows % size))
    squares = filled.reshape(filled.shape[0] // size, size, filled.shape[1] // size, size)
    return getattr(squares, reduce)(dim=(1, 3)).cpu().numpy()


def _fits_float(problem: Problem, q: Any, k: Any, bias: Any, lse: np.ndarray) -> bool:
    """Whether float32 keeps probs within 1e-5: its error grows with the logits, which are at most ‖q‖ ‖k‖."""
    if bias is not None or problem.softcap is not None or torch.get_float32_matmul_precision() != "highest":
        return False
    longest = [float(x.square().sum(dim=-1).max().sqrt()) for x in (q, k)]
    finite = np.abs(lse[np.isfinite(lse)]).max(initial=0.0)
    return bool(abs(problem.scale) * longest[0] * longest[1] + finite <= EXACT)
