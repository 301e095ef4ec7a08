"""The example on paper as a lesson reads it: the records of `pozor.by_hand` by name; it computes nothing."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pozor import by_hand
from pozor.examples import PAPER, Example, Matrix
from pozor.working import records


@dataclass(frozen=True)
class Row:
    """What happens to one word, step by step."""

    projections: dict[tuple[str, int], records.Projection]  # by role ("q", "k", "v") and word
    scores: records.Scores
    mask: records.Mask
    softmax: records.Softmax
    summed: records.WeightedSum
    join: records.Join | None  # with one head there is nothing to join
    output: records.Output
    residual: records.Residual
    experiments: records.Experiments | None

    @property
    def exps(self) -> np.ndarray:
        """e to each logit."""
        assert self.softmax.plain is not None  # the logits of this example are small
        return self.softmax.plain


def words() -> list[str]:
    """The words themselves, which stay Czech in every language."""
    return [word.cs for word in PAPER.words]


def gloss(lang: str) -> str:
    """The sentence in the reader's language."""
    return getattr(PAPER.sentence, lang)


def example(**changed: Any) -> Example:
    """The example with some of its fields changed, such as num_heads=2 or causal=False."""
    return replace(PAPER, **changed)


def row(query: int, *, num_heads: int = 1, head: int = 0, causal: bool = True) -> Row:
    """The records of one word.

    Args:
        query: The word, counted from 0.
        num_heads: 1, 2 or 4.
        head: Of which head scores, softmax and sum are, counted from 0.
        causal: Whether words see only themselves and those before.
    """
    steps = by_hand(example(num_heads=num_heads, causal=causal), query=query, head=head).steps

    def only(kind: type) -> Any:
        return next((step for step in steps if isinstance(step, kind)), None)

    kept = [step for step in steps if isinstance(step, records.Projection)]
    named = (records.Scores, records.Mask, records.Softmax, records.WeightedSum)
    scores, mask, softmax, summed = (only(kind) for kind in named)
    return Row(
        {(step.target, step.token.index): step for step in kept},
        scores,
        mask,
        softmax,
        summed,
        only(records.Join),
        only(records.Output),
        only(records.Residual),
        only(records.Experiments),
    )


def rows(**options: Any) -> list[Row]:
    """The records of every word, with the options of `row`."""
    return [row(query, **options) for query in range(len(PAPER.words))]


PROGRAM = """
import numpy as np

words = {words}
x = np.array([{x}])
W_Q = np.array([{w_q}])
W_K = np.array([{w_k}])
W_V = np.array([{w_v}])
W_O = np.array([{w_o}])
num_heads = 1
causal = True

q, k, v = x @ W_Q, x @ W_K, x @ W_V
head_dim = q.shape[1] // num_heads
outs = []
for head in range(num_heads):
    # {comment_part}
    part = slice(head * head_dim, (head + 1) * head_dim)
    logits = q[:, part] @ k[:, part].T / np.sqrt(head_dim)
    if causal:
        # {comment_hidden}
        hidden = np.triu(np.ones((len(x), len(x)), bool), 1)
        logits = np.where(hidden, -np.inf, logits)
    # {comment_max}
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    probs = exps / exps.sum(axis=1, keepdims=True)
    outs.append(probs @ v[:, part])
    print("probs, head", head)
    for word, row in zip(words, probs):
        print(word, row.round(6))

y = np.concatenate(outs, axis=1) @ W_O + x
print("y")
for word, row in zip(words, y):
    print(word, row.round(6))
"""


def program(page: Any) -> str:
    """The example as a program that needs NumPy alone, its remarks in the reader's language."""
    matrices = {name: _written(name, getattr(PAPER, name)) for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    remarks = {name: page.word(name) for name in ("comment_part", "comment_hidden", "comment_max")}
    return PROGRAM.format(words=words(), **matrices, **remarks)


def _written(name: str, matrix: Matrix) -> str:
    """Its rows as Python writes them, two on a line."""
    rows = [f"[{', '.join(row)}]" for row in matrix]
    lines = [", ".join(rows[at : at + 2]) for at in range(0, len(rows), 2)]
    return f",\n{' ' * len(f'{name} = np.array([')}".join(lines)
