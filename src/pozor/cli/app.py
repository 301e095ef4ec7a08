"""The list of commands. Each command is a function in its own file; heavy imports stay inside it."""

from importlib import import_module

import typer

app = typer.Typer(
    name="pozor",
    help="Transformer attention you can see, check by hand, and run at any length.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
)

# command -> its module in pozor.cli; the function there bears the command's name
COMMANDS = ("record", "view", "examples", "byhand", "size")

for _name in COMMANDS:
    app.command(_name)(getattr(import_module(f"pozor.cli.{_name}"), _name))


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Without a command: open the app on the worked examples and the recordings of this folder."""
    if version:
        from pozor import __version__

        print(f"pozor {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from pozor.cli.view import view

        view()
