"""What the app asks the exercises. The process that the lessons run in: `lessons.py`."""

from collections.abc import Mapping
from typing import Any

from pozor.errors import OptionError


def exercise(message: dict[str, Any]) -> Mapping[str, Any]:
    """What the exercises answer to a message.

    Raises:
        OptionError: They do not understand it.
    """
    from pozor import exercises

    answer = exercises.serve(message, exercises.Lock())
    if "error" in answer:
        raise OptionError(answer["error"])
    return answer
