"""Errors that name what was typed: the library's `path must …` is `-o must …` on the command line."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

from pozor.errors import PozorError

# a parameter of the library -> the parameter of a command that fills it
FILLED_BY = {"num_heads": "heads", "num_kv_heads": "kv_heads", "path": "output"}
SHORT = {"output": "-o"}
PHRASES = {
    "or None for all": "or --exact for all",
    "or given with overwrite=True": "or given with --overwrite",
}


def options_named(command: Callable[..., Any]) -> Callable[..., Any]:
    """`command`, whose errors name its options."""
    options = set(_options(command))

    @functools.wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        try:
            return command(*args, **given)
        except PozorError as error:
            typed = {name for name in options if given.get(name) is not None}
            error.args = (in_options(str(error), typed, options),)
            raise

    return run


def in_options(sentence: str, typed: set[str], options: set[str]) -> str:
    """A sentence about a parameter, as one about the option that was typed for it; others stay."""
    subject, must, rest = sentence.partition(" must ")
    if not must or FILLED_BY.get(subject, subject) not in typed:
        return sentence
    rule, got, value = rest.partition("; got ")
    for phrase, own in PHRASES.items():
        rule = rule.replace(phrase, own)
    # a plain word in the rule may be just that; one with an underscore is a parameter
    rule = re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: _option(found[0], options), rule)
    return _option(subject, options) + must + rule + got + value


def _option(parameter: str, options: set[str]) -> str:
    name = FILLED_BY.get(parameter, parameter)
    return SHORT.get(name, "--" + name.replace("_", "-")) if name in options else parameter


def _options(command: Callable[..., Any]) -> list[str]:
    """The parameters of a command that are options, not arguments."""
    found = []
    for name, parameter in inspect.signature(command).parameters.items():
        kinds = get_args(parameter.annotation)[1:] if get_origin(parameter.annotation) is Annotated else ()
        if not any(type(kind).__name__ == "ArgumentInfo" for kind in kinds):
            found.append(name)
    return found
