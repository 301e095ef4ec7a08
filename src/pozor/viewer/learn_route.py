"""GET and POST /api/learn: how the lessons' process is, and its start. The process itself: `lessons.py`."""

import re
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from pozor.errors import OptionError
from pozor.language import LANGUAGES
from pozor.viewer.documents import LearnDocument
from pozor.viewer.guard import BaseUrl
from pozor.viewer.lessons import Lessons
from pozor.viewer.reasons import Reason

EXAMPLE = '{"lesson": 1, "lang": "en"}'


def asked(message: dict[str, Any]) -> tuple[int | None, str]:
    """Which lesson, None for their list, and which language a page asks for.

    Raises:
        OptionError: It asks for something else.
    """
    lesson, lang = message.get("lesson"), message.get("lang", "en")
    known = lesson is None or (isinstance(lesson, int) and not isinstance(lesson, bool) and 0 <= lesson < 100)
    if not known or not isinstance(lang, str) or lang not in LANGUAGES:
        raise OptionError(f"The body must be {EXAMPLE}.")
    return lesson, lang


def started(
    lessons: Lessons, request: Request, base: BaseUrl | None, lesson: int | None, lang: str
) -> LearnDocument:
    """Start the process unless it runs, and say how it is and where."""
    if base is not None and _proxied(base, 0) is None:
        return {"state": "off", "url": None, "reason": Reason("behind").sentence(lang), "notes": []}
    if lessons.state != "missing":
        lessons.begin()
    return lessons.document(lang, _url(lessons, request, base, lesson, lang))


def _url(lessons: Lessons, request: Request, base: BaseUrl | None, lesson: int | None, lang: str) -> str:
    query = {} if lesson is None else {"lesson": str(lesson)}
    query |= {"lang": lang, "token": lessons.token}
    home = None if base is None else _proxied(base, lessons.port)
    if home is None:
        # the name by which the reader reaches this machine; the guard has let through none but its own
        name = re.sub(r":\d+$", "", request.headers["host"])
        home = f"http://{name}:{lessons.port}/"
    return f"{home}?{urlencode(query)}"


def _proxied(base: BaseUrl, port: int) -> str | None:
    """The address of another port under the same proxy, where its own names the port: …/proxy/8765/."""
    prefix, own = re.subn(r"/proxy/\d+$", f"/proxy/{port}", base.prefix)
    return f"{base.origin}{prefix}/" if own else None
