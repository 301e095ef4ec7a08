"""`pozor learn`: the lessons in the browser, for one reader, for a class, or as a site of files."""

from typing import Annotated

import typer

from pozor.cli.view import Lang


def learn(
    lesson: Annotated[
        str | None, typer.Option("--lesson", help="Number or name of the lesson to open. Left out: the list.")
    ] = None,
    lang: Lang = None,
    port: Annotated[
        int | None,
        typer.Option("--port", help="Port; 0 takes a free one. Left out: 8766, or a free one if taken."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the address in a browser.")
    ] = True,
    public: Annotated[
        bool, typer.Option("--public", help="One link for a class: code that a reader typed never runs.")
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", help="With --public: address to listen on, 0.0.0.0 for all. Left out: 127.0.0.1."
        ),
    ] = None,
    presenter: Annotated[
        bool, typer.Option("--presenter", help="For a projector: larger type, the next step by → or Space.")
    ] = False,
    solution_code: Annotated[
        str | None,
        typer.Option(
            "--solution-code",
            envvar="POZOR_SOLUTION_CODE",
            help="Solutions stay locked until a reader gives this code; take at least 6 characters.",
        ),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="DIR",
            help="Write a site of files that runs in the reader's browser, and stop.",
        ),
    ] = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline", help="With --export: bundle Python itself too; needs a network while it writes."
        ),
    ] = False,
    pyodide: Annotated[
        str | None, typer.Option("--pyodide", metavar="URL", help="With --offline: a mirror of Pyodide.")
    ] = None,
) -> None:
    """Learn attention: a warm-up and five lessons in the browser.

    Example: pozor learn --lesson 1 --lang cs
    """
    from pozor.errors import OptionError
    from pozor.language import choose

    words = choose(lang)
    if export is not None:
        from pozor.lessons.export import export_site

        export_site(export, lang=lang, code=solution_code, offline=offline, pyodide=pyodide)
        return
    if offline or pyodide is not None:
        raise OptionError("--offline and --pyodide must come with --export.")
    if host is not None and not public:
        raise OptionError(
            "--host must come with --public: without it the lessons run code and stay on this machine."
        )

    from pozor.lessons.run import Start, run

    run(
        Start(
            lesson=lesson,
            lang=lang,
            port=port,
            open_browser=browser,
            public=public,
            host=host,
            presenter=presenter,
            code=solution_code,
            words=words,
        )
    )
