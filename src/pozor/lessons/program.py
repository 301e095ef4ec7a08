"""Runs a reader's program in a namespace of its own and says what came of it. Imports Python's own alone.

Also a program itself: `python program.py RESULT MEMORY` reads the source from stdin, lets it print, and
writes the result as JSON to the file RESULT; MEMORY is the most bytes of address space, 0 for any.
"""

import ast
import base64
import contextlib
import io
import json
import linecache
import sys
import traceback
from pathlib import Path
from typing import Any, TypedDict

NAME = "<program>"
LONGEST_VALUE = 20_000  # characters
MOST_IMAGES = 8


class Result(TypedDict):
    """What a program left when it ended; what it printed went to stdout."""

    value: str | None  # of its last line, if that is an expression
    error: str | None  # one traceback of the program's own lines
    images: list[str]  # figures of matplotlib, PNG in base64


def run(source: str) -> Result:
    """Run a whole program, as if it were typed into an empty session."""
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    value, error = None, None
    try:
        tree = ast.parse(source, NAME)
        last = tree.body[-1] if tree.body else None
        last = last if isinstance(last, ast.Expr) else None
        tree.body = tree.body[:-1] if last else tree.body
        exec(compile(tree, NAME, "exec"), names)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), NAME, "eval"), names)
            value = None if shown is None else repr(shown)[:LONGEST_VALUE]
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)  # as Python itself does
    except BaseException as raised:
        error = own_traceback(raised)
    return {"value": value, "error": error, "images": _figures()}


def run_here(source: str) -> tuple[str, Result]:
    """What it printed, and its result: in the browser, where there is no other process to run it in."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        result = run(source)
    return out.getvalue(), result


def own_traceback(raised: BaseException) -> str:
    """The lines of the program that led to the error, and the error; nothing of the libraries between."""
    frames = traceback.extract_tb(raised.__traceback__)
    own = traceback.StackSummary.from_list([frame for frame in frames if frame.filename == NAME])
    lines = own.format() + traceback.format_exception_only(raised)
    kind = type(raised)
    named = f"{kind.__module__}.{kind.__qualname__}"
    return "".join(lines).replace(f'  File "{NAME}", line', "line").replace(named, kind.__qualname__).rstrip()


def _figures() -> list[str]:
    plots = sys.modules.get("matplotlib.pyplot")
    if plots is None:
        return []
    images = []
    for number in plots.get_fignums()[:MOST_IMAGES]:
        image = io.BytesIO()
        plots.figure(number).savefig(image, format="png", bbox_inches="tight")
        images.append(base64.b64encode(image.getvalue()).decode("ascii"))
    plots.close("all")
    return images


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows; there only the time is limited
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _main() -> None:
    path, memory = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    source = sys.stdin.buffer.read().decode("utf-8")
    sys.argv[:] = [NAME]
    _limit(memory)
    result = run(source)
    sys.stdout.flush()
    path.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    _main()
