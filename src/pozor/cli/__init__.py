"""The command line: one file a command, no arithmetic. Errors are one sentence and exit code 2."""

import sys

from pozor.errors import PozorError


def main(argv: list[str] | None = None) -> None:
    """Run the command line; exits with 0, or with 2 and one sentence on wrong input."""
    import typer

    from pozor.cli.app import app

    # ClickException: typer brings its own click from 0.26 on, so it is reached through typer's own names
    wrong_use = typer.BadParameter.__mro__[2]

    for stream in (sys.stdout, sys.stderr):  # Windows consoles may not be UTF-8
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        code = app(args=argv, prog_name="pozor", standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except wrong_use as error:
        code = complain(error.format_message())  # type: ignore[attr-defined]
    except PozorError as error:
        code = complain(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        code = complain(f"{error.strerror or error}{where}.")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def complain(sentence: str) -> int:
    """Print one sentence to stderr; returns the exit code."""
    print(f"pozor: {sentence}", file=sys.stderr)
    return 2
