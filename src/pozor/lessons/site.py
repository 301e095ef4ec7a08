"""All lessons under one address: a start page, files, each notebook as a marimo app behind its gate."""

import mimetypes
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pozor.language import LANGUAGES, choose
from pozor.lessons.catalog import HERE, Lesson
from pozor.lessons.gate import Gate, lesson_policy
from pozor.lessons.head import fonts, head
from pozor.lessons.settings import Settings
from pozor.lessons.start_page import start_page
from pozor.lessons.turns import Turns

LOST_AFTER = 120  # seconds after which the state of a reader who left is given up
PAGES = "/lessons"

for _suffix, _type in {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}.items():
    mimetypes.add_type(_type, _suffix)


class Site:
    """The application, and the marimo apps in it by the name of their lesson."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.notebooks: dict[str, Starlette] = {}
        self.policy = lesson_policy()
        faces = HERE.parent / "viewer" / "static" / "assets"
        lessons = settings.lessons
        self.app = Starlette(
            routes=[
                Route("/", self.start),
                Route("/static/fonts.css", _fonts),
                Mount("/static", StaticFiles(directory=HERE / "static")),
                Mount("/fonts", StaticFiles(directory=faces, check_dir=False)),
                *(Route(f"{PAGES}/{lesson.name}", _with_slash) for lesson in lessons),
                Mount("/", self._notebooks(lessons)),
            ]
        )

    def _notebooks(self, lessons: tuple[Lesson, ...]) -> Any:
        """marimo's application of all notebooks, in run mode, each behind its gate."""
        import marimo

        builder = marimo.create_asgi_app(
            quiet=True,
            include_code=False,
            session_ttl=LOST_AFTER,
            html_head=head(self.settings, "../../"),
        )
        turns = Turns()
        for lesson in lessons:

            def behind_gate(app: Any, lesson: Lesson = lesson) -> Any:
                self.notebooks[lesson.name] = app
                return Gate(app, str(lesson.notebook), lesson.name, turns)

            builder.with_app(
                path=f"{PAGES}/{lesson.name}", root=str(lesson.notebook), middleware=[behind_gate]
            )
        return builder.build()

    async def start(self, request: Request) -> Response:
        """GET /: the list of lessons, or with ?lesson=N that lesson."""
        lang = self._lang(request)
        asked = request.query_params.get("lesson")
        for lesson in self.settings.lessons:
            if asked in (lesson.name, str(lesson.number)):
                return HTMLResponse(_onward(f".{PAGES}/{lesson.name}/?lang={lang}"))
        page = start_page(self.settings, lang)
        return HTMLResponse(page, headers={"cache-control": "no-store"})

    def _lang(self, request: Request) -> str:
        asked = request.query_params.get("lang") or self.settings.lang
        if asked in LANGUAGES:
            return asked
        preferred = request.headers.get("accept-language")
        return choose(None) if preferred is None else "cs" if preferred.lower().startswith("cs") else "en"


def _onward(address: str) -> str:
    """A page that goes on by itself.

    Not a redirect: who comes from the app comes from another origin, and stays a stranger along a chain of
    redirects; the guard lets strangers in at the front door alone.
    """
    return f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>pozor</title>'


async def _fonts(request: Request) -> Response:
    del request
    return Response(fonts(), media_type="text/css")


async def _with_slash(request: Request) -> Response:
    rest = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{request.url.path.rpartition('/')[2]}/{rest}", 307)
