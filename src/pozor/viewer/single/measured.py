"""The measures of the chosen heads as the page lists them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from pozor.matrix.measuring import MapMeasuring, numbered
from pozor.viewer.answers import number
from pozor.viewer.documents import HeadLine

if TYPE_CHECKING:
    from pozor.recording import Recording
    from pozor.viewer.single.heads import Head

NAMES = ("first", "own", "previous", "entropy", "distance", "induction")


class _Recorded(MapMeasuring):
    """The one head of a recorded map, its tokens told apart by their ids."""

    def __init__(self, one: "Head", recording: "Recording", item: int) -> None:
        super().__init__(one.shown)
        tokens = recording.items[item]
        ids = np.asarray(tokens.token_ids)
        self._ids = ids if (ids >= 0).all() else numbered(tokens.labels)
        self._one_sequence = one.kind == "self"


def of_map(chosen: Sequence["Head"]) -> list[HeadLine]:
    """Heads of one map: all of its heads are measured together."""
    made = MapMeasuring(chosen[0].shown, chosen[0].place["batch"]).making.make()
    return [_line(one, made[one.place["head"]]) for one in chosen]


def of_recording(chosen: Sequence["Head"], recording: "Recording", item: int) -> list[HeadLine]:
    """Recorded heads, each a map of its own."""
    return [_line(one, _Recorded(one, recording, item).making.make()[0]) for one in chosen]


def _line(one: "Head", made: np.void) -> HeadLine:
    place = {"layer": one.layer, "kind": one.kind, "head": one.head, "kv_head": one.kv_head}
    return cast(HeadLine, place | {name: number(float(made[name])) for name in NAMES})
