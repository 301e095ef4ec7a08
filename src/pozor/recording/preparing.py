"""Makes what the viewer takes from whole heads before anybody looks: bases and tracks, kept in base/."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pozor.errors import OptionError
from pozor.matrix.base import NO_PREVIEW

if TYPE_CHECKING:
    from pozor.recording.reader import Recording

VALUES = ("prob", "value_norm")


def prepare(
    recording: "Recording",
    item: int | None = None,
    *,
    values: tuple[str, ...] = ("prob",),
    tracks: bool = True,
    progress: Callable[[float], None] | None = None,
) -> int:
    """See `Recording.prepare`."""
    odd = [value for value in values if value not in VALUES]
    if odd or isinstance(values, str):
        raise OptionError(f"values must be of {', '.join(VALUES)}; got {values!r:.60}.")
    count = len(recording.items)
    items = range(count) if item is None else [recording._item(item)]
    heads = [
        (entry, head, number)
        for number in items
        for entry in recording.layers
        if max(entry.rows[number].q_len, entry.rows[number].kv_len) > NO_PREVIEW
        for head in entry.heads
    ]
    for place, (entry, head, number) in enumerate(heads):
        for done in _steps(recording.map(entry.layer, head, number, entry.kind), values, tracks):
            if progress is not None:
                progress((place + done) / len(heads))
    return len(heads)


def _steps(shown: Any, values: tuple[str, ...], tracks: bool) -> Any:
    makings = [shown.base(value) for value in values if value == "prob" or shown.has_v_norm]
    makings += [shown.tracks()] if tracks else []
    for number, making in enumerate(makings):
        while making.step() is None:
            yield (number + making.progress) / len(makings)
    yield 1.0
