"""The body of a POST: JSON, sent as JSON, and not longer than it need be."""

import json
from typing import Any

from starlette.requests import Request

from pozor.errors import OptionError

LONGEST = 64 << 10  # bytes


async def read_json(request: Request, example: str) -> dict[str, Any]:
    """The object that a POST carries.

    Args:
        request: The request, its body not read yet.
        example: What such a body looks like, for the sentence that refuses another.

    Raises:
        OptionError: The body is too long, or no object sent as application/json.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise OptionError(f"The body must be JSON, sent as application/json: {example}.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            raise OptionError(f"The body must be at most {LONGEST} bytes.")
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise OptionError(f"The body must be {example}.")
    return message
