"""One block of cells as a backend hands it to the observables, and the move of sums from base to base."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Block:
    """Cells of some rows and a slice of keys; arrays are (heads, rows, keys) or (heads, rows)."""

    logits: np.ndarray  # -inf where hidden
    exps: np.ndarray  # exp(logits - base), 0 where hidden
    base: np.ndarray  # (heads, rows): the row maximum so far, -inf where nothing was visible yet
    visible: np.ndarray | bool  # broadcasts to (heads, rows, keys)
    positions: np.ndarray  # (rows,): i + q_offset, in tokens
    keys: slice


def rebase(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The factor exp(old - new) that moves sums from one base to another; 0 where the old one is empty."""
    # select, not subtract: -inf - -inf is NaN
    return np.where(old == -np.inf, 0, np.exp(np.where(old == -np.inf, 0, old - new)))


def visible_count(visible: np.ndarray | bool, shape: tuple[int, ...]) -> np.ndarray:
    """The cells seen, as a boolean array of this shape."""
    return np.broadcast_to(np.asarray(visible), shape)
