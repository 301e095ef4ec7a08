"""A bounded cache for several threads: the least recently used leaves, and one key is made once at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Shelf(Generic[Made]):
    """Keeps what `make` gave while the costs add up to `budget`; the newest stays even if it is dearer.

    What `keep` says no to goes to all who wait for it and is made anew for the next.
    """

    def __init__(
        self, budget: int, cost: Callable[[Made], int], keep: Callable[[Made], bool] = lambda _: True
    ) -> None:
        self._budget, self._cost, self._worth = budget, cost, keep
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Made, int]] = OrderedDict()
        self._being_made: dict[Hashable, Future[Made]] = {}
        self._total = 0

    @property
    def total(self) -> int:
        """What is kept, in the unit of `cost`."""
        return self._total

    def peek(self, key: Hashable) -> Made | None:
        """The value of `key` if it is kept."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The value of `key`, made here if nobody has it; a failure goes to all who wait and is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
            mine: Future[Made] = Future()
            made = self._being_made.setdefault(key, mine)
        if made is mine:
            try:
                self._keep(key, value := make())
            except BaseException as error:
                with self._lock:
                    del self._being_made[key]
                mine.set_exception(error)
                raise
            mine.set_result(value)
        return made.result()

    def _keep(self, key: Hashable, value: Made) -> None:
        cost = self._cost(value)
        with self._lock:
            del self._being_made[key]
            if not self._worth(value):
                return
            self._kept[key] = (value, cost)
            self._total += cost
            while self._total > self._budget and len(self._kept) > 1:
                _, (_, freed) = self._kept.popitem(last=False)
                self._total -= freed
