"""Exercises on the matrix that nobody stores: counts, bytes, blocks."""

from pozor import footprint
from pozor.exercises.answers import size
from pozor.exercises.bank.common import Dice
from pozor.exercises.drawing import Built


def scores_memory(dice: Dice) -> Built:
    """Bytes of the scores of one layer."""
    heads, tokens = (32, 1024) if dice is None else (dice.choice((4, 8, 16, 32)), 2 ** dice.randrange(9, 14))
    cost = footprint(tokens, num_heads=heads)

    def bytes_of(**changes: object):
        given = {"tokens": tokens, "num_heads": heads, "dtype": "float16"} | changes
        return size(footprint(**given).scores_bytes)  # type: ignore[arg-type]

    return Built(
        size(cost.scores_bytes),
        lambda pen: {
            "heads": pen.count(heads), "tokens": pen.count(tokens), "scores": pen.count(cost.scores),
            "bytes": pen.count(cost.scores_bytes), "mib": pen.number(cost.scores_bytes / 2**20),
            "mb": pen.number(cost.scores_bytes / 10**6, 1),
        },
        {
            "one_head": bytes_of(num_heads=1), "float32": bytes_of(dtype="float32"),
            "one_byte": bytes_of(dtype="float8"), "not_squared": bytes_of(kv_len=1),
        },
    )  # fmt: skip


EXERCISES = (("scores-memory", "number", scores_memory),)
