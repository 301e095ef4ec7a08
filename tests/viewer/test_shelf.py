"""The cache: bounded, the oldest leave, one key is made once at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pozor.viewer.shelf import Shelf


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40))), st.integers(1, 60))
def test_it_holds_its_budget_or_the_newest(asked: list[tuple[int, int]], budget: int) -> None:
    shelf: Shelf[int] = Shelf(budget, lambda cost: cost)
    kept: dict[tuple[int, int], int] = {}
    for key in asked:
        assert shelf.get(key, lambda cost=key[1]: cost) == key[1]
        kept.pop(key, None)
        kept[key] = key[1]
        while sum(kept.values()) > budget and len(kept) > 1:
            del kept[next(iter(kept))]
        assert shelf.total == sum(kept.values())
        assert all(shelf.peek(one) == cost for one, cost in kept.items())


def test_one_key_is_made_once_for_all_who_ask_together() -> None:
    shelf: Shelf[int] = Shelf(10, lambda _: 1)
    made, together = [], threading.Barrier(8)

    def make() -> int:
        made.append(1)
        threading.Event().wait(0.05)
        return 7

    def ask(_: int) -> int:
        together.wait()
        return shelf.get("key", make)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [7] * 8
    assert len(made) == 1


def test_a_failure_goes_to_all_and_is_not_kept() -> None:
    shelf: Shelf[int] = Shelf(10, lambda _: 1)
    together = threading.Barrier(4)

    def fail() -> int:
        threading.Event().wait(0.05)
        raise ValueError("no")

    def ask(_: int) -> str:
        together.wait()
        with pytest.raises(ValueError, match="no"):
            shelf.get("key", fail)
        return "failed"

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == ["failed"] * 4
    assert shelf.peek("key") is None
    assert shelf.get("key", lambda: 3) == 3
