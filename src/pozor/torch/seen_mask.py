"""A model's boolean mask, seen through: causal, window and padding become options that skip what is hidden.

The form is guessed from a few rows and then compared with every cell; what is not exactly it stays an array.
"""

from collections.abc import Iterator
from typing import Any

import torch

from pozor.masks import Causal, Mask, Padding, Window

_ROWS = 256  # compared at once
_FEWEST = 32  # rows from which on skipping pays for looking
_NOTE = "_pozor_seen"  # attribute of a mask that has been looked through: every layer gets the same tensor


def options_of(mask: torch.Tensor) -> dict[str, Any]:
    """mask= and q_offset= for a boolean mask (batch, 1 or num_heads, q_len, kv_len)."""
    if mask.shape[1] != 1 or mask.shape[2] < _FEWEST or mask.shape[3] == 0 or mask.device.type != "cpu":
        return {"mask": mask}
    version = -1 if mask.is_inference() else mask._version
    looked, found = getattr(mask, _NOTE, (None, None))
    if looked != version:
        found = _seen(mask)
        setattr(mask, _NOTE, (version, found))
    return {"mask": mask} if found is None else found


def _seen(mask: torch.Tensor) -> dict[str, Any] | None:
    shown = mask[:, 0].any(dim=1)  # (batch, kv_len): keys that some row sees
    for q_offset, left, right in _guesses(mask):
        if _is(mask, shown, q_offset, left, right):
            found: Mask | None = None
            if (left, right) != (None, None):
                found = Causal() if (left, right) == (None, 0) else Window(left, right)
            if not bool(shown.all()):
                found = Padding(shown) if found is None else found & Padding(shown)
            return {"mask": found, "q_offset": q_offset}
    return None


def _guesses(mask: torch.Tensor) -> Iterator[tuple[int, int | None, int | None]]:
    """(q_offset, left, right), plain ones first; from what the first, middle and last rows see."""
    q_len = mask.shape[2]
    yield 0, None, None
    rows = [0, q_len // 2, q_len - 1]
    ends = [(b, row, *_ends(mask[b, 0, row])) for b in range(mask.shape[0]) for row in rows]
    seen = [(row, first, last) for _, row, first, last in ends if last >= 0]
    if not seen:
        return
    q_offset = max(last - row for row, _, last in seen)
    left = max(row + q_offset - first for row, first, _ in seen)
    yield q_offset, None, 0
    yield q_offset, left, 0
    # looks ahead too: positions are then those of the keys
    yield 0, max(row - first for row, first, _ in seen), max(last - row for row, _, last in seen)


def _ends(row: torch.Tensor) -> tuple[int, int]:
    """First and last visible key; (0, -1) where there is none."""
    keys = row.nonzero()
    return (int(keys[0]), int(keys[-1])) if len(keys) else (0, -1)


def _is(mask: torch.Tensor, shown: torch.Tensor, q_offset: int, left: int | None, right: int | None) -> bool:
    """Whether the form says exactly this mask."""
    q_len, kv_len = mask.shape[2:]
    keys = torch.arange(kv_len)
    for first in range(0, q_len, _ROWS):
        stop = min(first + _ROWS, q_len)
        position = torch.arange(first, stop)[:, None] + q_offset
        inside = torch.ones((stop - first, kv_len), dtype=torch.bool)
        if left is not None:
            inside &= keys >= position - left
        if right is not None:
            inside &= keys <= position + right
        if not torch.equal(mask[:, 0, first:stop], inside & shown[:, None]):
            return False
    return True
