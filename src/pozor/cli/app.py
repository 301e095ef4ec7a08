"""The list of commands. Each command is a function in its own file; heavy imports stay inside it."""

from importlib import import_module
from typing import Annotated

import typer

from pozor.cli.naming import options_named
from pozor.cli.view import Base, Lang, Open, Port, view

app = typer.Typer(
    name="pozor",
    help="Transformer attention you can see, check by hand, and run at any length.",
    epilog="Example: pozor   (opens the app on the worked examples and the recordings of this folder)",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
)

# command -> its module in pozor.cli; the function there bears the command's name
COMMANDS = (
    "record",
    "view",
    "prepare",
    "examples",
    "byhand",
    "size",
    "bench",
    "learn",
    "exercise",
    "worksheet",
    "figure",
    "html",
)

for _name in COMMANDS:
    app.command(_name)(options_named(getattr(import_module(f"pozor.cli.{_name}"), _name)))


@app.callback(invoke_without_command=True)
@options_named
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    port: Port = None,
    open: Open = True,
    base_url: Base = None,
    lang: Lang = None,
) -> None:
    """Open the app on the worked examples and the recordings of this folder, or run a command."""
    if version:
        from pozor import __version__

        print(f"pozor {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        view(None, port, open, base_url, lang)
        return
    given = {"--port": port, "--no-open": None if open else False, "--base-url": base_url, "--lang": lang}
    for name, value in given.items():
        if value is not None:
            command = context.invoked_subcommand
            raise typer.BadParameter(f"{name} belongs after the command: pozor {command} {name} …")
