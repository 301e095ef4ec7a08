"""The gate in front of every route and socket: own host, own origin, token; and the headers of every answer.

A page elsewhere can make a browser send requests here (also under a name that it points at 127.0.0.1), so a
loopback address alone protects nothing: the browser's Host, Origin and Sec-Fetch-Site must all be ours.
"""

import hmac
import json
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pozor.errors import OptionError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self' blob:",
        "style-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
NO_TOKEN = (
    "This page opens only at the address that pozor printed in the terminal, the one with ?token= in it.\n"
    "Stránku otevře jen adresa, kterou pozor vypsal v terminálu; poznáte ji podle ?token=."
)


@dataclass(frozen=True)
class BaseUrl:
    """The address under which a proxy shows the app, as `--base-url` gives it."""

    origin: str  # scheme://host[:port], without the scheme's own port, lower case
    host: str  # the Host header that belongs to it
    prefix: str  # "/user/x/proxy/8765" or ""

    @classmethod
    def parse(cls, text: str) -> "BaseUrl":
        """Read `https://hub.example.org/user/x/proxy/8765/`.

        Raises:
            OptionError: It is no http or https address of a host and a path.
        """
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        plain = re.fullmatch(r"[!-~]*", text) and not (parts.query or parts.fragment or "@" in parts.netloc)
        if parts.scheme not in {"http", "https"} or not parts.hostname or not plain:
            raise OptionError(
                "--base-url must be the address under which the proxy shows the app, such as "
                f"https://hub.example.org/user/me/proxy/8765/; got {text!r}."
            )
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname.lower()
        host = name if port in {None, {"http": 80, "https": 443}[parts.scheme]} else f"{name}:{port}"
        return cls(f"{parts.scheme}://{host}", host, parts.path.rstrip("/"))

    @property
    def address(self) -> str:
        """The address of the page, with the slash at its end."""
        return f"{self.origin}{self.prefix}/"


@dataclass(frozen=True)
class Guard:
    """Pure ASGI middleware for http and websocket alike; `port` is the one the server listens on."""

    app: ASGIApp
    token: str = field(repr=False)
    port: int
    base: BaseUrl | None = None
    # other names and addresses of this machine under which it is meant to be reached
    hosts: frozenset[str] = frozenset()
    policy: str = CONTENT_SECURITY_POLICY  # of every answer that brings none of its own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, exchange its token for the cookie, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        scope = self._without_prefix(scope)
        headers = Headers(scope=scope)
        reason = self._foreign(scope, headers)
        if reason is None and scope["type"] == "http" and self._signs_in(scope):
            await self._sign_in(scope, headers, send)
            return
        if reason is None and not self._has_cookie(headers):
            reason = NO_TOKEN
        if reason is not None:
            await _refuse(scope, reason, send)
            return
        await self.app(scope, receive, _with_headers(send, self.policy))

    def _without_prefix(self, scope: Scope) -> Scope:
        # some proxies cut the prefix off, some leave it: the app below never sees it
        prefix, path = (self.base.prefix if self.base else ""), scope["path"]
        if prefix and (path == prefix or path.startswith(prefix + "/")):
            return {**scope, "path": path[len(prefix) :] or "/", "root_path": ""}
        return scope

    # ---- whose request -------------------------------------------------------------------------------------

    def _foreign(self, scope: Scope, headers: Headers) -> str | None:
        """Why the request is not of our own page; None if it is."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own_host(hosts[0]):
            return (
                f"The host {_shown(hosts)} is not this server's; it answers to localhost and 127.0.0.1, and "
                "behind a proxy to the address given as --base-url."
            )
        asks_only = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        origins = headers.getlist("origin")
        if not (asks_only and not origins) and not self._is_own_origin(origins, hosts[0]):
            return f"The origin {_shown(origins)} is not this server's own page."
        # an image or a script of a foreign page carries no Origin, but browsers say where it comes from
        site = headers.get("sec-fetch-site", "none")
        navigates = (
            headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        )
        if site not in {"same-origin", "none"} and not (asks_only and navigates and scope["path"] == "/"):
            return "The request comes from a page of another site."
        return None

    def _is_own_host(self, host: str) -> bool:
        host = host.lower()
        found = re.fullmatch(r"(\[[0-9a-f:]+\]|[^:\[\]]+)(?::(\d{1,5}))?", host)
        own = found is not None and (found[1] in LOOPBACK or found[1] in self.hosts)
        return own or (self.base is not None and host == self.base.host)

    def _is_own_origin(self, origins: list[str], host: str) -> bool:
        if len(origins) != 1:
            return False
        own = {f"http://{host.lower()}"} if host.lower() != (self.base.host if self.base else "") else set()
        return origins[0].lower() in own | ({self.base.origin} if self.base else set())

    # ---- token and cookie ----------------------------------------------------------------------------------

    def _cookie_name(self, headers: Headers) -> str:
        # cookies do not tell ports apart: two apps on one machine, or forwarded to it, must not share a name
        port = headers.get("host", "").rpartition(":")[2]
        return f"pozor-{port if port.isascii() and port.isdigit() else self.port}"

    def _has_cookie(self, headers: Headers) -> bool:
        given = cookie_parser("; ".join(headers.getlist("cookie"))).get(self._cookie_name(headers), "")
        return _same(given, self.token)

    def _signs_in(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in {"GET", "HEAD"}:
            return False
        given = [value for name, value in _query(scope) if name == "token"]
        return len(given) == 1 and _same(given[0], self.token)

    async def _sign_in(self, scope: Scope, headers: Headers, send: Send) -> None:
        rest = urlencode([pair for pair in _query(scope) if pair[0] != "token"])
        prefix = self.base.prefix if self.base else ""
        secure = "; Secure" if self.base and self.base.origin.startswith("https:") else ""
        answer = {
            # relative to the page, because a proxy may have cut its prefix off the path that came
            "location": "./" + (f"?{rest}" if rest else ""),
            "set-cookie": f"{self._cookie_name(headers)}={self.token}; HttpOnly; SameSite=Strict; "
            f"Path={prefix or '/'}{secure}",
            "cache-control": "no-store",
        }
        await _answer(send, 303, answer, b"")


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())


def _shown(values: list[str]) -> str:
    return ascii(", ".join(values)[:200]) if values else "(none)"


def _with_headers(send: Send, policy: str) -> Send:
    own = {**HEADERS, "content-security-policy": policy}

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            extra = [(n.encode(), v.encode()) for n, v in own.items() if n.encode() not in given]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return send_with_headers


async def _refuse(scope: Scope, reason: str, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    api = scope["path"].startswith("/api/")
    body = json.dumps({"error": reason}) if api else reason + "\n"
    kind = "application/json" if api else "text/plain; charset=utf-8"
    await _answer(send, 403, {"content-type": kind, "cache-control": "no-store"}, body.encode())


async def _answer(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    pairs = {**headers, "content-length": str(len(body)), **HEADERS}
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [(n.encode(), v.encode("latin-1")) for n, v in pairs.items()]})
    await send({"type": "http.response.body", "body": body})
