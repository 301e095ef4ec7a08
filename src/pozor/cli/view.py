"""`pozor view`, and what `pozor` alone does: the app in the browser."""

from typing import Annotated

import typer

Port = Annotated[
    int | None,
    typer.Option(
        "--port", help="Port to listen on; 0 takes a free one. Left out: 8765, or a free one if taken."
    ),
]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the address in a browser.")]
Base = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        help="Address under which a proxy shows the app, such as https://hub.example.org/user/me/proxy/8765/.",
    ),
]
Lang = Annotated[
    str | None,
    typer.Option("--lang", help="cs or en. Left out: the browser's in the page, the locale's here."),
]


def view(
    recording: Annotated[
        str | None, typer.Argument(metavar="NAME.pozor", help="Recording to open. Left out: the home page.")
    ] = None,
    port: Port = None,
    open: Open = True,
    base_url: Base = None,
    lang: Lang = None,
) -> None:
    """Look at a recording in the browser.

    Example: pozor view novel.pozor
    """
    import os
    import sys
    from pathlib import Path

    from pozor.errors import OptionError
    from pozor.language import choose

    words = choose(lang)
    if port is not None and not 0 <= port <= 65535:
        raise OptionError(f"--port must be from 0 to 65535; got {port}.")

    # tiles are small and several are made at once: BLAS's own threads would only fight over the processors
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(name, "1")

    from pozor.viewer.guard import BaseUrl
    from pozor.viewer.serve import Start, serve
    from pozor.viewer.workers import WORKERS

    serve(
        Start(
            folder=Path.cwd(),
            recording=recording,
            port=port,
            open_browser=open,
            base=None if base_url is None else BaseUrl.parse(base_url),
            lang=lang,
            words=words,
        )
    )
    if WORKERS.busy:  # BLAS, unloaded while it computes, may wait for ever for its own threads
        sys.stdout.flush()
        os._exit(0)
