"""The measures of many heads, made head by head, here or behind; what is known is there at once."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pozor.matrix.base import Store
from pozor.matrix.making import Making, Steps
from pozor.matrix.measures import Measures, measured

if TYPE_CHECKING:
    from pozor.matrix.map import AttentionMap

SHARES = ("first", "own", "previous")
OF_POSITIONS = ("own", "previous")  # without a meaning where keys are another sequence's tokens
OF_A_PASS = ("entropy", "distance", "induction")
PLACE = [("layer", "<i8"), ("kind", "<U5"), ("head", "<i8"), ("kv_head", "<i8")]
SHARES_DTYPE = np.dtype([*PLACE, *((name, "<f8") for name in SHARES)])
MEASURES_DTYPE = np.dtype([*PLACE, *((name, "<f8") for name in (*SHARES, *OF_A_PASS))])
SAVED = 16  # heads after which what is known is kept
TOGETHER = 64  # queries whose cells beside the diagonal are looked at together


class Measuring(ABC):
    """The measures of some heads.

    Args:
        lines: One line a head, of MEASURES_DTYPE, with its layer, kind, head and kv_head.

    Attributes:
        lines: The same with the numbers that are known; NaN: not known yet, or without a meaning.
        making: Makes them: `.start()` behind, `.make()` here, `.stop()`, `.progress`, `.ready`. What was
            known when it was stopped stays known.
    """

    def __init__(self, lines: np.ndarray) -> None:
        self.lines = lines
        for name in (*SHARES, *OF_A_PASS):
            lines[name] = np.nan
        self._known = 0  # heads whose pass is done
        self.making: Making[np.ndarray] = Making(self._steps)

    @abstractmethod
    def shares(self) -> Iterator[None]:
        """Fill in `first`, `own` and `previous`, step by step."""

    @abstractmethod
    def head(self, place: int) -> tuple["AttentionMap", dict[str, Any]]:
        """The map of the head of one line, and what `measured` is told about it."""

    def store(self) -> tuple[Store, str] | None:
        """Where the numbers are kept beyond the process, and under which name; None: nowhere."""
        return None

    def _steps(self, making: Making[np.ndarray]) -> Steps[np.ndarray]:
        making.preview = self.lines
        count = len(self.lines)
        kept = self.store()
        if kept is not None and not self._known:
            self._known = self._load(kept[0].load(kept[1]))
        if not self._known:
            for _ in self.shares():
                yield 0.0
        for place in range(self._known, count):
            shown, about = self.head(place)
            sums = Measures()
            for done, sums in measured(shown, **about):  # noqa: B007
                yield (place + done) / count
            for name in OF_A_PASS:
                self.lines[name][place] = getattr(sums, name)
            self._known = place + 1
            if kept is not None and (self._known % SAVED == 0 or self._known == count):
                arrays = {name: self.lines[name].copy() for name in (*SHARES, *OF_A_PASS)}
                kept[0].save(kept[1], arrays | {"known": np.array([self._known])})
        return self.lines

    def _load(self, arrays: Mapping[str, np.ndarray] | None) -> int:
        """How many heads are known from what was kept; 0 where it is none of these heads'."""
        names = (*SHARES, *OF_A_PASS)
        if arrays is None or set(arrays) != {*names, "known"} or arrays["known"].shape != (1,):
            return 0
        known, shape = int(arrays["known"][0]), self.lines.shape
        if any(arrays[name].shape != shape for name in names) or not 0 < known <= len(self.lines):
            return 0
        for name in names:
            self.lines[name] = arrays[name]
        return known


class MapMeasuring(Measuring):
    """The heads of one sequence of a map, as layer 0."""

    def __init__(self, shown: "AttentionMap", batch: int = 0) -> None:
        lines = np.zeros(shown.num_heads, MEASURES_DTYPE)
        lines["kind"], lines["head"] = "self", np.arange(shown.num_heads)
        group = 1 if shown.problem is None else shown.problem.group_size
        lines["kv_head"] = lines["head"] // group
        super().__init__(lines)
        self._shown, self._batch = shown, batch
        self._one_sequence = shown.causal_ok or shown.q_len == shown.kv_len
        self._ids = None if shown.tokens is None else numbered(shown.tokens)

    def shares(self) -> Iterator[None]:
        """By blocks along the diagonal."""
        shown, batch = self._shown, self._batch
        offset = shown.q_offset if shown.problem is None else int(shown.problem.q_offset[batch])
        for head in range(shown.num_heads):
            rows = max(1, int(shown._cells.seeing(batch, head).sum()))
            place = {"head": head, "batch": batch}
            self.lines["first"][head] = shown.column(0, **place).sum() / rows if shown.kv_len else 0
            if self._one_sequence:
                for name, shift in (("own", 0), ("previous", -1)):
                    self.lines[name][head] = _beside(shown, offset + shift, place) / rows
            yield

    def head(self, place: int) -> tuple["AttentionMap", dict[str, Any]]:
        """The map itself."""
        about = {"ids": self._ids, "one_sequence": self._one_sequence, "head": place, "batch": self._batch}
        return self._shown, about


def numbered(labels: Any) -> np.ndarray:
    """A number for each label, the same for the same."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)


def _beside(shown: "AttentionMap", shift: int, place: dict[str, int]) -> float:
    """Sum of the cells (query, query + shift)."""
    total = 0.0
    first, stop = max(0, -shift), min(shown.q_len, shown.kv_len - shift)
    for start in range(first, stop, TOGETHER):
        end = min(start + TOGETHER, stop)
        block = shown.block(slice(start, end), slice(start + shift, end + shift), **place)
        total += float(np.trace(block))
    return total
