"""Makes what the viewer takes from whole heads before anybody looks: bases, tracks and measures, in base/."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pozor.errors import OptionError
from pozor.matrix.base import NO_PREVIEW

if TYPE_CHECKING:
    from pozor.recording.reader import Recording

VALUES = ("prob", "value_norm")
MOST_OF_IT = 0.7  # of the time; the rest measures the heads


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
    tell = progress or (lambda done: None)
    for place, (entry, head, number) in enumerate(heads):
        for done in _steps(recording.map(entry.layer, head, number, entry.kind), values, tracks):
            tell((place + done) / len(heads) * MOST_OF_IT)
    measured = list(dict.fromkeys(number for _, _, number in heads))
    for place, number in enumerate(measured):
        making = recording.measuring(number).making
        while making.step() is None:
            tell(MOST_OF_IT + (1 - MOST_OF_IT) * (place + making.progress) / len(measured))
    if heads:
        tell(1.0)
    return len(heads)


def _steps(shown: Any, values: tuple[str, ...], tracks: bool) -> Any:
    makings = [shown.base(value) for value in values if value == "prob" or shown.has_v_norm]
    makings += [shown.tracks()] if tracks else []
    for number, making in enumerate(makings):
        while making.step() is None:
            yield (number + making.progress) / len(makings)
    yield 1.0
