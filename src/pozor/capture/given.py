"""What a model was given in its one forward: the tokens of each sequence of the batch, padding cut off."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from pozor.errors import CaptureError


@dataclass(frozen=True)
class Given:
    """The sequences of a batch.

    Attributes:
        length: Tokens of a padded sequence, or None where the model was given no ids (pixels, embeddings).
        spans: First and one past the last position of each sequence that is no padding; None without ids
            and without a padding mask.
        ids: The token ids of each span, int64; None without ids.
    """

    length: int | None
    spans: list[tuple[int, int]] | None
    ids: list[np.ndarray] | None


def read(model: Any, args: tuple, keywords: dict[str, Any]) -> Given:
    """Read the arguments of `model(...)`.

    Raises:
        CaptureError: A cache holds earlier tokens, whose text is not known.
    """
    try:
        bound = inspect.signature(model.forward).bind_partial(*args, **keywords).arguments
    except TypeError:
        bound = dict(keywords)
    named = {**bound, **bound.get("kwargs", {})}
    for name in ("cache", "past_key_values"):
        earlier = _cached(named.get(name))
        if earlier:
            raise CaptureError(
                f"{name} holds {earlier} earlier tokens, whose words are not known here; "
                "record the whole sequence in one forward (queries='A:B' keeps a part of the queries)."
            )
    ids, mask = named.get("input_ids"), named.get("attention_mask")
    if ids is None:
        rows = mask if mask is not None and mask.ndim == 2 else None
        spans = None if rows is None else [_span(row) for row in _whole(rows)]
        return Given(None if rows is None else rows.shape[1], spans, None)
    held = _whole(ids)
    if held.ndim != 2:
        raise CaptureError(f"input_ids must be (batch, tokens); got {tuple(held.shape)}.")
    whole = np.ones(held.shape, np.int64)
    real = _whole(mask) if mask is not None and mask.ndim == 2 and mask.shape == ids.shape else whole
    spans = [_span(row) for row in real]
    return Given(held.shape[1], spans, [row[a:b] for row, (a, b) in zip(held, spans, strict=True)])


def _whole(tensor: Any) -> np.ndarray:
    return tensor.detach().to("cpu").numpy().astype(np.int64)


def _span(row: np.ndarray) -> tuple[int, int]:
    real = np.flatnonzero(row)
    if not len(real):
        raise CaptureError("a sequence of the batch is padding from end to end; leave it out.")
    return int(real[0]), int(real[-1]) + 1


def _cached(cache: Any) -> int:
    if cache is None:
        return 0
    if hasattr(cache, "get_seq_length"):
        return int(cache.get_seq_length())
    return 1 if len(cache) else 0
