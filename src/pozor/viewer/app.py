"""The routes: HTTP in, documents and tiles out. What they mean: `documents.py`; who may ask: `guard.py`."""

import json
import mimetypes
import os
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from pozor import __version__
from pozor.errors import OptionError, PozorError
from pozor.language import choose
from pozor.viewer import learn_route, learning
from pozor.viewer.address import Query
from pozor.viewer.body import read_json
from pozor.viewer.desk import DOCUMENTS, PAYLOADS, Payload, RecordingDesk, maps_shelf
from pozor.viewer.documents import RecordingCard, StartDocument
from pozor.viewer.guard import BaseUrl
from pozor.viewer.lessons import Lessons
from pozor.viewer.library import Changed, Library, NotThere, Opened, sentence
from pozor.viewer.live import Live
from pozor.viewer.shelf import Shelf
from pozor.viewer.workers import WORKERS

STATIC = Path(__file__).parent / "static"
TILE_BYTES = 64 << 20
LONGEST_SEND = 60.0  # seconds; who takes no tile for so long is gone
WAITED = ("tracks",)  # what is made behind for seconds, in a long text
A_WHILE = 0.1  # seconds until it is asked again whether it is there
TILES_AT_ONCE = 32  # being computed or sent; the others wait without holding their bytes

# Windows takes these from its registry, and a script of the wrong type is refused under nosniff
for _suffix, _type in {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}.items():
    mimetypes.add_type(_type, _suffix)


class App:
    """The state of one running app and its routes."""

    def __init__(
        self, library: Library, lang: str | None = None, static: Path = STATIC, base: BaseUrl | None = None
    ) -> None:
        self.library, self.lang, self.static, self.base = library, lang, static, base
        self.lessons = Lessons({"lang": lang})  # their process; stopped by who runs the app
        self.live = Live()
        self._maps = maps_shelf()
        self._payloads: Shelf[Payload] = Shelf(
            TILE_BYTES, lambda payload: len(payload.body), keep=lambda payload: not payload.preview
        )
        self.sending = anyio.Semaphore(TILES_AT_ONCE)  # held until the last byte is out

    def asgi(self) -> Starlette:
        """The application, without its guard."""
        one = "/api/recordings/{id}"
        files = GZipMiddleware(Bundle(directory=self.static, check_dir=False), compresslevel=6)
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/api/start", self.start),
                Route("/api/open", self.open, methods=["POST"]),
                Route("/api/exercise", self.exercise, methods=["POST"]),
                Route("/api/learn", self.learn, methods=["GET"]),
                Route("/api/learn", self.start_lessons, methods=["POST"]),
                Route("/api/live", self.read_live, methods=["POST"]),
                Route("/api/live/{id}/probs", self.live_probs),
                Route("/api/live/{id}/step", self.live_step, methods=["POST"]),
                Route(one, self.recording),
                *(Route(f"{one}/{ask}", PayloadRoute(self, ask), methods=["GET"]) for ask in PAYLOADS),
                *(Route(f"{one}/{ask}", self.ask(ask)) for ask in DOCUMENTS if ask != "recording"),
                Mount("/", files),
            ],
            exception_handlers={
                PozorError: _wrong,
                OSError: _wrong,
                HTTPException: _no_route,
                ClientDisconnect: _gone,
                Exception: _broken,
            },
        )

    # ---- routes --------------------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """GET /."""
        del request
        return FileResponse(self.static / "index.html", headers={"cache-control": "no-cache"})

    async def start(self, request: Request) -> Response:
        """GET /api/start."""
        Query(request.query_params)

        def make() -> StartDocument:
            return {
                "version": __version__,
                "lang": "cs" if self.lang == "cs" else "en" if self.lang == "en" else None,
                "folder": os.fsencode(self.library.folder).decode("utf-8", "replace"),
                "recordings": self.library.cards(),
            }

        return await self._document(request, make)

    async def open(self, request: Request) -> Response:
        """POST /api/open {"path": …}."""
        path = await _path_of(request)
        return await self._document(request, lambda: self.library.open(path))

    async def exercise(self, request: Request) -> Response:
        """POST /api/exercise: a message of `exercises.serve`."""
        message = await read_json(request, '{"ask": "list", "lang": "en"}')
        return await self._document(request, lambda: learning.exercise(message))

    async def read_live(self, request: Request) -> Response:
        """POST /api/live {"text": …}."""
        message = await read_json(request, '{"text": "Pan Švejk"}')
        return await self._document(request, lambda: self.live.read(message))

    async def live_probs(self, request: Request) -> Response:
        """GET /api/live/{id}/probs."""
        Query(request.query_params)
        body = await WORKERS.run(lambda: self.live.probs(request.path_params["id"]))
        return _response(body, "application/octet-stream", packed=False)

    async def live_step(self, request: Request) -> Response:
        """POST /api/live/{id}/step {}."""
        await read_json(request, "{}")
        return await self._document(request, lambda: self.live.step(request.path_params["id"]))

    async def learn(self, request: Request) -> Response:
        """GET /api/learn?lang=."""
        lang = Query(request.query_params, "lang").lang(choose(self.lang))
        return await self._document(request, lambda: self.lessons.document(lang))

    async def start_lessons(self, request: Request) -> Response:
        """POST /api/learn {"lesson": …, "lang": …}."""
        lesson, lang = learn_route.asked(await read_json(request, learn_route.EXAMPLE))
        return await self._document(
            request, lambda: learn_route.started(self.lessons, request, self.base, lesson, lang)
        )

    async def recording(self, request: Request) -> Response:
        """GET /api/recordings/{id}: as it is on disk now."""
        id = request.path_params["id"]
        return await self._document(
            request,
            lambda: self._desk(self.library.current(id)).document("recording", request.query_params),
        )

    def ask(self, ask: str) -> Callable[[Request], Awaitable[Response]]:
        """GET /api/recordings/{id}/ASK: a question with a document for an answer."""

        async def answer(request: Request) -> Response:
            given = request.query_params
            return await self._document(request, lambda: self.desk(request).document(ask, given))

        return answer

    def desk(self, request: Request) -> RecordingDesk:
        """Who answers about the recording; its files must be those that were opened."""
        version = request.query_params.get("version")
        return self._desk(self.library.get(request.path_params["id"], version))

    def _desk(self, opened: Opened) -> RecordingDesk:
        return RecordingDesk(
            opened, self.library.card, self._maps, self.lang, lambda id: self.library.get(id, None)
        )

    def payload(self, request: Request, ask: str, packed: bool) -> Payload:
        """The bytes that answer a question."""
        desk, given = self.desk(request), request.query_params
        versions = desk.fresh(ask, given)

        def make() -> Payload:
            payload = desk.payload(ask, given)
            # runs are all that floats have in common; looking for more takes three times as long, for nothing
            return replace(payload, body=_gzip(payload.body, zlib.Z_RLE)) if packed else payload

        asked = tuple(sorted(given.multi_items()))
        return self._payloads.get((desk.opened.id, versions, ask, asked, packed), make)

    def waits(self, request: Request, ask: str) -> bool:
        """Whether an answer is still being made behind; no worker waits for it."""
        return self.desk(request).waits(ask, request.query_params)

    # ---- how they answer -----------------------------------------------------------------------------------

    async def _document(self, request: Request, make: Callable[[], Mapping[str, Any]]) -> Response:
        packed = _takes_gzip(request)
        body, packed = await WORKERS.run(lambda: _json(make(), packed))
        return _response(body, "application/json", packed)


class PayloadRoute:
    """GET …/tile and its like: binary, and bounded in memory however many are asked for at once."""

    def __init__(self, app: App, ask: str) -> None:
        self._app, self._ask = app, ask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one question; one that nobody waits for any more is not worked on."""
        request = Request(scope, receive)
        packed = _takes_gzip(request)
        while self._ask in WAITED and await WORKERS.run(lambda: self._app.waits(request, self._ask)):
            if await request.is_disconnected():
                return
            await anyio.sleep(A_WHILE)
        async with self._app.sending:
            if await request.is_disconnected():
                return
            payload = await WORKERS.run(lambda: self._app.payload(request, self._ask, packed))
            answer = _response(payload.body, "application/octet-stream", packed)
            if payload.preview:
                answer.headers["x-pozor-preview"] = "1"
            with anyio.move_on_after(LONGEST_SEND):
                await _send_out(answer, send)


class Bundle(StaticFiles):
    """The page's files. The browser asks each time whether they changed, so that `make web` shows at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, to be revalidated."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def _json(document: Mapping[str, Any] | RecordingCard, packed: bool) -> tuple[bytes, bool]:
    # ASCII only: a lone surrogate of a file name or a token stays valid, and U+2028 harmless
    body = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    packed = packed and len(body) > 1024
    return (_gzip(body) if packed else body), packed


def _gzip(body: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS, strategy=strategy)
    return packer.compress(body) + packer.flush()


async def _send_out(answer: Response, send: Send) -> None:
    """Send an answer and return when the reader has taken it."""
    start = {"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers}
    await send(start)
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    await send({"type": "http.response.body", "body": b""})  # uvicorn lets it through once the rest is out


def _response(body: bytes, kind: str, packed: bool) -> Response:
    headers = {"cache-control": "no-store", "vary": "Accept-Encoding"}
    return Response(body, media_type=kind, headers=headers | ({"content-encoding": "gzip"} if packed else {}))


def _takes_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "").lower()


async def _path_of(request: Request) -> str:
    path = (await read_json(request, '{"path": "NAME.pozor"}')).get("path")
    if not isinstance(path, str):
        raise OptionError('The body must be {"path": "NAME.pozor"}.')
    return path


# ---- errors -----------------------------------------------------------------------------------------------


async def _wrong(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, PozorError | OSError)
    status = (
        404 if isinstance(error, NotThere | FileNotFoundError) else 409 if isinstance(error, Changed) else 400
    )
    return _error(sentence(error), status)


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = {404: "Nothing is at this address.", 405: f"This address does not take {request.method}."}
    return _error(known.get(error.status_code, f"{error.detail}."), error.status_code, error.headers)


async def _broken(request: Request, error: Exception) -> Response:
    del request
    return _error(f"pozor failed here ({type(error).__name__}); its terminal shows where.", 500)


async def _gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=400)  # nobody reads it


def _error(text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    body, _ = _json({"error": text}, packed=False)
    return Response(body, status, {**(headers or {}), "cache-control": "no-store"}, "application/json")
