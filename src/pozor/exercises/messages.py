"""The talk between a page and an exercise: one JSON message in, one out; a lock before the solutions."""

import hmac
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from pozor.errors import DtypeError, OptionError, PozorError
from pozor.exercises.words import say
from pozor.language import LANGUAGES, tied

PAUSE = 1.0  # seconds after a code that does not fit: a class does not notice, a guessing program does
ASKS = ("list", "exercise", "check", "hint", "solution")
LOG = logging.getLogger("pozor.exercises")  # unheard by others, it goes to stderr


class Lock:
    """Says whether a solution may be given.

    Args:
        code: What opens it; None: it is open.
        clock: Gives seconds that only grow; of the pause after a code that does not fit.

    Raises:
        DtypeError: code is no str.   OptionError: It is empty.

    Example:
        >>> Lock().opens(None), Lock("seven").opens("seven")
        (True, True)
    """

    def __init__(self, code: str | None = None, *, clock: Callable[[], float] = time.monotonic):
        if code is not None and not isinstance(code, str):
            raise DtypeError(f"code must be a str or None; got {type(code).__name__}.")
        if code is not None and not code.strip():
            raise OptionError("code must have at least one character; got none. Leave it out for no lock.")
        self._code = None if code is None else code.strip().encode()
        self._clock = clock
        self._closed_until = float("-inf")

    @property
    def locked(self) -> bool:
        """A code is needed."""
        return self._code is not None

    @property
    def waits(self) -> bool:
        """A code that did not fit came a moment ago, and none is tried now."""
        return self._clock() < self._closed_until

    def opens(self, code: object) -> bool:
        """Whether `code` opens it; after one that does not fit nothing does for a second."""
        if self._code is None:
            return True
        if not isinstance(code, str) or not code.strip() or self.waits:
            return False
        if hmac.compare_digest(code.strip().encode(), self._code):
            return True
        self._closed_until = self._clock() + PAUSE
        return False


def serve(message: Mapping[str, Any], lock: Lock) -> dict[str, Any]:
    """Answer one message of a page.

    Args:
        message: "ask" ("list", "exercise", "check", "hint", "solution") and, as it needs them, "id", "seed",
            "lang", "answer", "number" (of the hint, from 0), "code".
        lock: Whether solutions may be given. Without the code neither they nor model answers leave.

    Returns:
        For "list" {"exercises": [id, lesson, kind, title each]}; for "exercise" the document of the drawing;
        for "check" right, diagnosis, message, found, missed, model, model_html, locked; for "hint" number,
        of, hint, html; for "solution" solution and html, or locked (true) and message. A message that cannot
        be answered gives {"error": one sentence}, and so does a failure of our own, which is logged.
    """
    try:
        return _served(message, lock)
    except PozorError as error:
        return {"error": str(error)}
    except Exception as error:  # a page that waits for an answer must get one
        LOG.exception("an exercise failed")
        lang = "cs" if message.get("lang") == "cs" else "en"
        return {"error": tied(say("broken", lang, kind=type(error).__name__), lang)}


def _served(message: Mapping[str, Any], lock: Lock) -> dict[str, Any]:
    from pozor.exercises import catalog, get

    if not isinstance(message, Mapping):
        raise DtypeError(f"message must be an object; got {type(message).__name__}.")
    ask, lang = message.get("ask"), message.get("lang", "en")
    if not isinstance(ask, str) or ask not in ASKS:
        raise OptionError(f"ask must be one of {', '.join(ASKS)}; got {_short(ask)}.")
    if not isinstance(lang, str) or lang not in LANGUAGES:
        raise OptionError(f"lang must be cs or en; got {_short(lang)}.")
    if ask == "list":
        return {"exercises": [_card(exercise, lang) for exercise in catalog()]}
    drawn = get(message.get("id")).draw(message.get("seed"))  # type: ignore[arg-type]
    match ask:
        case "exercise":
            return drawn.document(lang) | {"locked": lock.locked}
        case "check":
            return _checked(drawn, message, lang, lock)
        case "hint":
            return _hint(drawn, message.get("number", 0), lang)
        case _:
            return _solution(drawn, message.get("code"), lang, lock)


def _card(exercise: Any, lang: str) -> dict[str, Any]:
    return {
        "id": exercise.id,
        "lesson": exercise.lesson,
        "kind": exercise.kind,
        "title": exercise.title[lang],
    }


def _checked(drawn: Any, message: Mapping[str, Any], lang: str, lock: Lock) -> dict[str, Any]:
    from pozor.exercises.prose import html

    answer = message.get("answer")
    if not isinstance(answer, str):
        raise DtypeError(f"answer must be a string; got {type(answer).__name__}.")
    verdict = drawn.check(answer, lang)
    code = message.get("code")
    model = verdict.model if not lock.locked or (code is not None and lock.opens(code)) else None
    return {
        "right": verdict.right,
        "diagnosis": verdict.diagnosis,
        "message": verdict.message,
        "found": list(verdict.found),
        "missed": list(verdict.missed),
        "model": model,
        "model_html": None if model is None else html(model),
        "locked": lock.locked,
    }


def _hint(drawn: Any, number: object, lang: str) -> dict[str, Any]:
    hints = drawn.hints(lang)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(hints):
        raise OptionError(f"number must be from 0 to {len(hints) - 1}; got {_short(number)}.")
    return {
        "number": number,
        "of": len(hints),
        "hint": hints[number],
        "html": drawn.hints_html(lang)[number],
    }


def _solution(drawn: Any, code: object, lang: str, lock: Lock) -> dict[str, Any]:
    if lock.locked:
        key = "wait_code" if lock.waits else "wrong_code" if code else "locked"
        if not lock.opens(code):
            return {"locked": True, "message": tied(say(key, lang), lang)}
    return {"locked": False, "solution": drawn.solution(lang), "html": drawn.solution_html(lang)}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
