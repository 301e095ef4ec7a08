"""What is answered about a sequence: its tokens, in columns."""

from typing import Any

import numpy as np

from pozor.viewer.documents import ItemDocument


def item_document(item: Any) -> ItemDocument:
    """A sequence with its tokens."""
    starts, stops = utf16(item.text, item.starts, item.stops)
    units = item.text.encode("utf-16-le", "surrogatepass")
    return {
        "name": str(item.name),
        "text": item.text,
        "ids": np.asarray(item.token_ids, np.int64).tolist(),
        "starts": starts,
        "stops": stops,
        "texts": [
            None if start >= 0 and units[2 * start : 2 * stop] == _utf16_units(text) else text
            for text, start, stop in zip(item.tokens, starts, stops, strict=True)
        ],
        "special": np.flatnonzero(item.special).tolist(),
    }


def _utf16_units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def utf16(text: str, starts: Any, stops: Any) -> tuple[list[int], list[int]]:
    """Byte offsets into the UTF-8 text as offsets in UTF-16 units; a part of a character becomes all of it.

    Example:
        >>> utf16("é😀!", [0, 2, 4, 6, -1], [2, 4, 6, 7, -1])
        ([0, 1, 1, 3, -1], [1, 3, 3, 4, -1])
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    in_bytes = np.concatenate([[0], np.cumsum(1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF))])
    in_units = np.concatenate([[0], np.cumsum(1 + (points > 0xFFFF))])
    start, stop = np.asarray(starts, np.int64), np.asarray(stops, np.int64)
    first = np.searchsorted(in_bytes, start, side="right") - 1
    last = np.minimum(np.searchsorted(in_bytes, stop, side="left"), len(points))
    outside = start < 0
    return (
        np.where(outside, -1, in_units[np.maximum(first, 0)]).tolist(),
        np.where(outside, -1, in_units[last]).tolist(),
    )
