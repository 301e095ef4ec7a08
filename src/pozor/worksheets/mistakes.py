"""The usual mistakes of each step of a sheet, as computations on the numbers that a pupil had before it."""

from collections.abc import Callable

import numpy as np

from pozor.worksheets.sheet import Array, Sheet, joined, split, visible

Numbers = dict[str, Array]  # step -> values, as in Sheet.right
Make = Callable[[Sheet, Numbers], Array]


def rightly(step: str, sheet: Sheet, own: Numbers) -> Array:
    """The step done rightly on the numbers at hand."""
    return RIGHT[step](sheet, own)


def _scores(sheet: Sheet, own: Numbers) -> Array:
    return _products(sheet, own["q"], own["k"])


def _products(sheet: Sheet, left: Array, right: Array) -> Array:
    return split(left, sheet.num_heads) @ split(right, sheet.num_heads).transpose(0, 2, 1)


def _masked(sheet: Sheet, rows: Array, fill: float = -np.inf) -> Array:
    return np.where(visible(sheet.tokens), rows, fill)


def _mix(sheet: Sheet, probs: Array, values: Array) -> Array:
    """The last word's weights (heads, tokens) times its heads' values, side by side."""
    return joined(np.einsum("hk,hke->he", probs, split(values, sheet.num_heads))[:, None])[0]


def _shares(exps: Array, axis: int = 2) -> Array:
    total = exps.sum(axis=axis, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total != 0)


RIGHT: dict[str, Make] = {
    "q": lambda s, own: s.x @ s.w_q,
    "k": lambda s, own: s.x @ s.w_k,
    "v": lambda s, own: s.x @ s.w_v,
    "scores": _scores,
    "logits": lambda s, own: _masked(s, own["scores"] * s.head_dim**-0.5),
    "exps": lambda s, own: np.exp(own["logits"]),
    "sums": lambda s, own: own["exps"].sum(axis=2),
    "probs": lambda s, own: np.divide(
        own["exps"], own["sums"][..., None], out=np.zeros_like(own["exps"]), where=own["sums"][..., None] != 0
    ),
    "out": lambda s, own: _mix(s, own["probs"][:, -1], own["v"]),
    "projected": lambda s, own: own["out"] @ s.w_o,
    "y": lambda s, own: own["projected"] + s.x[-1],
}

MISTAKES: dict[str, dict[str, Make]] = {
    "q": {"by_rows": lambda s, own: s.x @ s.w_q.T, "other_matrix": lambda s, own: s.x @ s.w_k},
    "k": {"by_rows": lambda s, own: s.x @ s.w_k.T, "other_matrix": lambda s, own: s.x @ s.w_q},
    "v": {"by_rows": lambda s, own: s.x @ s.w_v.T, "other_matrix": lambda s, own: s.x @ s.w_k},
    "scores": {
        "turned": lambda s, own: _scores(s, own).transpose(0, 2, 1),
        "values_for_keys": lambda s, own: _products(s, own["q"], own["v"]),
        "whole_vectors": lambda s, own: np.stack([own["q"] @ own["k"].T] * s.num_heads),
    },
    "logits": {
        "no_root": lambda s, own: _masked(s, own["scores"]),
        "by_d": lambda s, own: _masked(s, own["scores"] / s.head_dim),
        "no_mask": lambda s, own: own["scores"] * s.head_dim**-0.5,
        "no_root_no_mask": lambda s, own: own["scores"],
        "zero_for_inf": lambda s, own: _masked(s, own["scores"] * s.head_dim**-0.5, 0.0),
        "polarity": lambda s, own: np.where(~visible(s.tokens), own["scores"] * s.head_dim**-0.5, -np.inf),
        "past_hidden": lambda s, own: np.where(
            visible(s.tokens).T, own["scores"] * s.head_dim**-0.5, -np.inf
        ),
    },
    "exps": {
        "hidden_one": lambda s, own: _masked(s, np.exp(own["logits"]), 1.0),
        "no_exp": lambda s, own: np.where(np.isfinite(own["logits"]), own["logits"], 0.0),
        "two_to": lambda s, own: np.exp2(own["logits"]),
    },
    "sums": {"columns": lambda s, own: own["exps"].sum(axis=1)},
    "probs": {
        "wrong_axis": lambda s, own: _shares(own["exps"], axis=1),
        "not_divided": lambda s, own: own["exps"],
        "no_exp": lambda s, own: _shares(np.where(np.isfinite(own["logits"]), own["logits"], 0.0)),
        "mask_after": lambda s, own: _masked(s, _shares(np.exp(_scores(s, own) * s.head_dim**-0.5)), 0.0),
        "over_all": lambda s, own: own["exps"] / own["exps"].sum(axis=(1, 2), keepdims=True),
    },
    "out": {
        "keys_for_values": lambda s, own: _mix(s, own["probs"][:, -1], own["k"]),
        "column": lambda s, own: _mix(s, own["probs"][:, :, -1], own["v"]),
        "not_weighed": lambda s, own: _mix(s, np.full_like(own["probs"][:, -1], 1 / s.tokens), own["v"]),
        "only_added": lambda s, own: _mix(s, np.ones_like(own["probs"][:, -1]), own["v"]),
    },
    "projected": {
        "forgot_w_o": lambda s, own: own["out"],
        "by_rows": lambda s, own: s.w_o @ own["out"],
    },
    "y": {
        "forgot_x": lambda s, own: own["projected"],
        "first_x": lambda s, own: own["projected"] + s.x[0],
        "out_for_projected": lambda s, own: own["out"] + s.x[-1],
    },
}
