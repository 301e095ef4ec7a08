"""The experiment of lesson 1: random queries and keys of any length and scale, and their softmax."""

from dataclasses import dataclass

import numpy as np

LENGTHS = tuple(2**n for n in range(1, 11))  # of head_dim
SCALES = tuple(2 ** (-n / 2) for n in range(12, -1, -1))  # 1/√d of every length is among them, and 1
KEYS = 8
FLAT, GOOD, LEANING = 0.7, 1.3, 3.5  # standard deviation of the logits, up to which each verdict holds

_dice = np.random.default_rng(5)
QUERY, KEYS_OF_ALL = _dice.standard_normal(LENGTHS[-1]), _dice.standard_normal((KEYS, LENGTHS[-1]))


@dataclass(frozen=True)
class Saturation:
    """One query and eight keys whose numbers have mean 0 and variance 1."""

    head_dim: int
    scale: float

    @property
    def spread(self) -> float:
        """The standard deviation that the logits have by calculation: scale · √head_dim."""
        return self.scale * self.head_dim**0.5

    @property
    def logits(self) -> np.ndarray:
        """scale · q·k, (keys,)."""
        return self.scale * KEYS_OF_ALL[:, : self.head_dim] @ QUERY[: self.head_dim]

    @property
    def probs(self) -> np.ndarray:
        """Their softmax."""
        return np.exp(self.logits - np.logaddexp.reduce(self.logits))

    @property
    def slopes(self) -> np.ndarray:
        """p(1 − p): the derivative of each weight by its own logit."""
        return self.probs * (1 - self.probs)

    @property
    def leads(self) -> list[float]:
        """How far each logit is ahead of the log-sum-exp of the others."""
        return [
            float(logit - np.logaddexp.reduce(np.delete(self.logits, key)))
            for key, logit in enumerate(self.logits)
        ]

    @property
    def verdict(self) -> str:
        """The section of the prose that says how it stands."""
        if self.spread < FLAT:
            return "scale_flat"
        if self.spread < GOOD:
            return "scale_good"
        return "scale_leaning" if self.spread < LEANING else "scale_saturated"
