"""What of marimo is let through: pages, files, values of controls, one socket. It can do far more.

marimo's server also saves, installs, executes, opens terminals and files; in run mode it refuses most of that
itself, but what is not named here does not reach it. What comes in over its socket it drops; see the tests.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pozor.lessons.turns import Turns
from pozor.viewer.guard import CONTENT_SECURITY_POLICY

PAGES = {"/"}
ASKED = re.compile(
    r"/(assets/[^/]+|@file/[^/]+|favicon\.ico|manifest\.json|apple-touch-icon\.png|logo\.png|health)"
)
TOLD = {
    "/api/kernel/set_ui_element_value",
    "/api/kernel/set_model_value",
    "/api/kernel/function_call",
}
SOCKETS = {"/ws"}
# of another notebook, of another reader's page, of marimo's own token: nothing of ours has these
REFUSED_PARAMETERS = {"file", "kiosk", "access_token"}
LONGEST_BODY = 1 << 20  # bytes of a POST
NOT_HERE = "Lessons answer to their own pages alone; this is not one of their addresses."

SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL)
ROOT = re.compile(r'"rootUri":\s*"[^"]*"')  # of the project that the notebook lies in
PREVIEW = re.compile(r'\s*<(meta|link)[^>]*(?:property="og:|name="twitter:|rel="manifest")[^>]*/?>')


@dataclass(frozen=True)
class Gate:
    """ASGI middleware in front of one notebook's marimo app; paths are those below its mount."""

    app: ASGIApp
    path: str  # of the notebook's file, which no page needs to know
    name: str
    turns: Turns | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if not self._passes(scope):
            await _refuse(scope, send)
            return
        if scope["type"] == "http" and scope["method"] == "POST":
            receive = _limited(receive)
        if scope["type"] == "http" and self._below(scope) in PAGES:
            # a page kept from before would bring the policy of before
            kept = [pair for pair in scope["headers"] if pair[0] != b"if-none-match"]
            scope, send = {**scope, "headers": kept}, _Page(self, send).send
        if scope["type"] == "websocket" and self.turns is not None:
            await self.turns.open(self.app, scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _below(self, scope: Scope) -> str:
        root, path = scope.get("root_path", ""), scope["path"]
        return path[len(root) :] if root and path.startswith(root) else path

    def _passes(self, scope: Scope) -> bool:
        names = {
            name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        }
        path = self._below(scope)
        if names & REFUSED_PARAMETERS or ".." in path:
            return False
        if scope["type"] == "websocket":
            return path in SOCKETS
        if scope["method"] == "POST":
            return path in TOLD
        return scope["method"] in {"GET", "HEAD"} and (path in PAGES or ASKED.fullmatch(path) is not None)

    def page(self, html: str) -> str:
        """marimo's page without what would look elsewhere, or say where the notebook lies."""
        html = SCRIPT.sub(lambda found: "" if "serviceWorker" in found["body"] else found[0], html)
        html = PREVIEW.sub("", html)
        for path in {self.path, json.dumps(self.path)[1:-1]}:
            html = html.replace(path, self.name)
        html = ROOT.sub('"rootUri": ""', html)
        folder = self.path.rpartition("/")[0]
        return html.replace(folder, "") if folder else html


def policy(html: str) -> str:
    """The policy of a page that may run its own inline scripts, known by their hashes, and no other."""
    hashes = []
    for found in SCRIPT.finditer(html):
        if " src=" not in found["attributes"] and "application/json" not in found["attributes"]:
            digest = hashlib.sha256(found["body"].encode()).digest()
            hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    return lesson_policy(*hashes)


def lesson_policy(*hashes: str) -> str:
    """The policy of the lessons; looser than the app's only where marimo's page would not work."""
    mended = {
        "script-src 'self' 'wasm-unsafe-eval'": " ".join(["script-src 'self' 'wasm-unsafe-eval'", *hashes]),
        # marimo's components carry style attributes, its editor writes style elements
        "style-src 'self'": "style-src 'self' 'unsafe-inline'",
        "font-src 'self'": "font-src 'self' data:",  # a face of the formulas lies in a style sheet
        "base-uri 'none'": "base-uri 'self'",
    }
    policy = CONTENT_SECURITY_POLICY
    for strict, looser in mended.items():
        policy = policy.replace(strict, looser)
    return policy


class _Page:
    """Collects marimo's page, mends it, and sends it on with its policy."""

    def __init__(self, gate: Gate, send: Send) -> None:
        self._gate, self._send = gate, send
        self._start: Message = {}
        self._body = b""

    async def send(self, message: Message) -> None:
        """One message of the answer."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        if "text/html" not in Headers(raw=self._start["headers"]).get("content-type", ""):
            if self._start:
                await self._send(self._start)
                self._start = {"headers": [(b"content-type", b"")]}
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        html = self._gate.page(self._body.decode("utf-8"))
        body = html.encode("utf-8")
        own = {
            "content-length": str(len(body)),
            "content-security-policy": policy(html),
            "cache-control": "no-store",
        }
        dropped = {b"content-length", b"etag", b"cache-control", b"referrer-policy"}
        headers = [pair for pair in self._start["headers"] if pair[0].lower() not in dropped]
        headers += [(name.encode(), value.encode()) for name, value in own.items()]
        await self._send({**self._start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _limited(receive: Receive) -> Receive:
    taken = 0

    async def receive_limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LONGEST_BODY:
            return {"type": "http.disconnect"}
        return message

    return receive_limited


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    body = json.dumps({"error": NOT_HERE}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
