"""The exercises by lesson, in the order in which they are best done."""

import functools
from importlib import import_module

from pozor.errors import OptionError
from pozor.exercises.drawing import Exercise

# lesson number -> its module here and its prose in texts/
ROOMS = ("warm_up", "by_hand", "self_attention", "heads_and_positions", "found_by_itself", "never_stored")


@functools.cache
def _all() -> dict[str, Exercise]:
    found: dict[str, Exercise] = {}
    for lesson, room in enumerate(ROOMS):
        for name, kind, build in import_module(f"pozor.exercises.bank.{room}").EXERCISES:
            assert name not in found, f"two exercises are called {name}"
            found[name] = Exercise(name, lesson, room, kind, build)
    return found


def catalog() -> list[Exercise]:
    """All exercises, by lesson and in order."""
    return list(_all().values())


def get(id: str) -> Exercise:
    """The exercise of that id.

    Args:
        id: Its name, such as "first-token-out"; the same in both languages.

    Raises:
        OptionError: There is none.

    Example:
        >>> drawn = get("dot-product").draw()                     # by hand: [1, 0, 1] · [1, 1, 1]
        >>> drawn.check("2,0", "cs").right, drawn.check("5", "en").diagnosis
        (True, 'added_all')
    """
    if not isinstance(id, str) or id not in _all():
        shown = repr(id) if len(repr(id)) <= 60 else repr(id)[:59] + "…"
        raise OptionError(f"id must be an exercise; got {shown}. pozor exercise --list names them.")
    return _all()[id]
