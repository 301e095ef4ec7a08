"""Asking the app, and judging whether an answer has the type that documents.py promises."""

import json
from typing import Any, Literal, get_args, get_origin, get_type_hints

from starlette.testclient import TestClient


def fits(value: Any, kind: Any) -> bool:
    """Whether a JSON value has the type that documents.py gives it, with no field more or less."""
    if hasattr(kind, "__required_keys__"):
        hints = get_type_hints(kind)
        return (
            isinstance(value, dict)
            and set(value) == set(hints)
            and all(fits(value[n], hints[n]) for n in hints)
        )
    if get_origin(kind) is list:
        return isinstance(value, list) and all(fits(one, get_args(kind)[0]) for one in value)
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_args(kind):
        return any(fits(value, one) for one in get_args(kind))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return type(value) is int
    return isinstance(value, kind)


def strict(text: str) -> Any:
    """JSON as browsers read it: NaN and Infinity are errors."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def ask(client: TestClient, path: str, kind: Any, **query: Any) -> Any:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    document = strict(answer.text)
    assert fits(document, kind), document
    return document
