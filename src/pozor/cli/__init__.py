"""The command line: one file a command, no arithmetic. Errors are one sentence and exit code 2."""

import os
import sys
from io import TextIOWrapper

from pozor.errors import PozorError


def main(argv: list[str] | None = None) -> None:
    """Run the command line; exits with 0, or with 2 and one sentence on wrong input."""
    import typer

    from pozor.cli.app import app

    # newer typer brings its own copy of click: the base of its errors is found by way of one of them
    usage_error: type[Exception] = next(
        kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
    )
    for stream in (sys.stdout, sys.stderr):  # Windows consoles may not be UTF-8
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        code = app(args=argv, prog_name="pozor", standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except usage_error as error:
        code = complain(_usage(error))
    except PozorError as error:
        code = complain(str(error))
    except BrokenPipeError:  # the reader of our output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, str | os.PathLike) else ""
        code = complain(f"{where}{error.strerror or error}.")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def complain(sentence: str) -> int:
    """Print one sentence to stderr; returns the exit code."""
    # a name that came from outside must not steer the terminal
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in sentence)
    print(f"pozor: {shown}", file=sys.stderr)
    return 2


def _usage(error: Exception) -> str:
    """A usage error of typer as one sentence that says where the help is."""
    message = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path if context else 'pozor'} -h."
