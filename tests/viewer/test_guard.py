"""Only the user's own browser gets an answer: every route and socket, without token and from elsewhere."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from pozor.errors import OptionError
from pozor.viewer.app import App
from pozor.viewer.guard import CONTENT_SECURITY_POLICY, HEADERS, BaseUrl, Guard
from pozor.viewer.library import Library

OWN = "http://127.0.0.1:8765"
TOKEN = "t0k-en_for.tests"
Connect = Callable[..., TestClient]


def routes_of_the_app() -> Iterator[tuple[str, str]]:
    """(method, path) of every route, so that a route added later is asked too."""
    for route in App(Library(Path("nowhere"))).asgi().routes:
        if isinstance(route, Route):
            for method in sorted(route.methods or {"GET", "POST"}):
                yield method, route.path.replace("{id}", "0123456789abcdef")
        else:
            assert isinstance(route, Mount), f"{route} is a socket or an unknown kind: give it tests here"
            yield from (("GET", f"{route.path}/assets/app.js"), ("POST", f"{route.path}/assets/app.js"))


ROUTES = list(routes_of_the_app())
FOREIGN: dict[str, dict[str, str]] = {
    "another origin": {"origin": "http://evil.example"},
    "another port of this machine": {"origin": "http://127.0.0.1:9999"},
    "https of this address": {"origin": "https://127.0.0.1:8765"},
    "own name as a prefix": {"origin": "http://127.0.0.1:8765.evil.example"},
    "no origin, from a sandbox or a file": {"origin": "null"},
    "a name that points at 127.0.0.1": {"host": "evil.example:8765", "origin": "http://evil.example:8765"},
    "a name that begins like ours": {"host": "127.0.0.1.evil.example"},
    "a name that ends like ours": {"host": "evil-localhost:8765"},
    "user and host": {"host": "localhost:8765@evil.example"},
    "no host": {"host": ""},
    "an image on another page": {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"},
    "a script on another port": {"sec-fetch-site": "same-site", "sec-fetch-dest": "script"},
    "a frame on another page": {"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"},
}


def test_the_list_of_routes_is_the_contract() -> None:
    assert {path for _, path in ROUTES} >= {
        "/",
        "/api/start",
        "/api/open",
        *(
            f"/api/recordings/0123456789abcdef{end}"
            for end in ("", "/map", "/tile", "/row", "/column", "/cell")
        ),
    }


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_the_token_every_route_is_refused(connect: Connect, method: str, path: str) -> None:
    client = connect(signed_in=False)
    for cookie in (None, "pozor-8765=", "pozor-8765=wrong", f"other={TOKEN}", f"pozor-9999={TOKEN}"):
        headers = {"origin": OWN} | ({"cookie": cookie} if cookie else {})
        answer = client.request(method, path, headers=headers, json={} if method == "POST" else None)
        assert answer.status_code == 403, cookie
        assert "set-cookie" not in answer.headers
        assert_headers(answer.headers)
        if path.startswith("/api/") and method != "HEAD":
            assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_foreign_page_is_refused_even_with_the_cookie(
    client: TestClient, method: str, path: str, kind: str
) -> None:
    answer = client.request(method, path, headers=FOREIGN[kind], json={} if method == "POST" else None)
    assert answer.status_code == 403
    assert_headers(answer.headers)


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_page_cannot_use_the_token_either(connect: Connect, kind: str) -> None:
    answer = connect(signed_in=False).get("/", params={"token": TOKEN}, headers=FOREIGN[kind])
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:9000", "[::1]"])
def test_loopback_hosts_on_any_port_are_ours(connect: Connect, host: str) -> None:
    client = connect(signed_in=False)
    signed = client.get("/", params={"token": TOKEN}, headers={"host": host})
    assert signed.status_code == 303
    cookie = signed.headers["set-cookie"].split(";")[0]
    port = host.rpartition(":")[2] if host not in {"localhost", "[::1]"} else "8765"
    assert cookie == f"pozor-{port}={TOKEN}"
    answer = client.get("/api/start", headers={"host": host, "cookie": cookie, "origin": f"http://{host}"})
    assert answer.status_code == 200


def test_two_hosts_in_one_request_are_refused(client: TestClient) -> None:
    answer = client.get("/api/start", headers=[("host", "127.0.0.1:8765"), ("host", "evil.example")])
    assert answer.status_code == 403


def test_a_post_needs_its_origin(client: TestClient) -> None:
    assert client.post("/api/open", json={"path": "x"}).status_code == 403
    assert client.post("/api/open", json={"path": "x"}, headers={"origin": OWN}).status_code == 404


def test_the_token_becomes_a_cookie_and_leaves_the_address(connect: Connect) -> None:
    client = connect(signed_in=False)
    answer = client.get(f"/?lang=cs&token={TOKEN}&x=%26")
    assert answer.status_code == 303
    assert answer.headers["location"] == "./?lang=cs&x=%26"
    assert answer.headers["set-cookie"] == f"pozor-8765={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/").text.startswith("<!doctype html>")
    assert client.get(f"/?token={TOKEN}").headers["location"] == "./"


def test_a_link_from_another_site_may_open_the_page_with_the_token(connect: Connect) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert connect(signed_in=False).get(f"/?token={TOKEN}", headers=headers).status_code == 303


@pytest.mark.parametrize(
    "query", ["token=", "token=wrong", "token", f"token={TOKEN}&token={TOKEN}", f"Token={TOKEN}"]
)
def test_a_wrong_token_is_refused(connect: Connect, query: str) -> None:
    answer = connect(signed_in=False).get(f"/?{query}")
    assert answer.status_code == 403
    assert answer.text.startswith("This page opens only at the address that pozor printed in the terminal")
    assert "Stránku otevře jen adresa" in answer.text


def test_the_token_opens_no_other_route(connect: Connect) -> None:
    assert connect(signed_in=False).get("/api/start", params={"token": TOKEN}).status_code == 403


@given(st.text())
def test_any_token_text_compares_without_an_error(text: str) -> None:
    from pozor.viewer.guard import _same

    assert _same(text, TOKEN) == (text == TOKEN)


def test_what_an_answer_forbids_the_browser(client: TestClient) -> None:
    for path in ("/", "/api/start", "/assets/app.js", "/nothing", "/api/recordings/0123456789abcdef"):
        assert_headers(client.get(path).headers)
    assert CONTENT_SECURITY_POLICY == (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
        "style-src 'self'; font-src 'self'; connect-src 'self'; "
        "img-src 'self' data: blob:; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_no_answer_of_the_api_is_cached(client: TestClient) -> None:
    for path in ("/api/start", "/api/recordings/0123456789abcdef", "/api/nothing"):
        assert client.get(path).headers["cache-control"] == "no-store", path
    assert client.get("/assets/app.js").headers["cache-control"] == "no-cache"


# ---- sockets ---------------------------------------------------------------------------------------------


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("in")
    await socket.close()


@pytest.fixture
def sockets() -> TestClient:
    """The guard in front of a socket, as a later route may be one."""
    from starlette.applications import Starlette

    return TestClient(Guard(Starlette(routes=[WebSocketRoute("/live", echo)]), TOKEN, 8765), base_url=OWN)


COOKIE = {"cookie": f"pozor-8765={TOKEN}"}


def test_a_socket_of_our_own_page_opens(sockets: TestClient) -> None:
    with sockets.websocket_connect(
        "/live", headers={**COOKIE, "host": "127.0.0.1:8765", "origin": OWN}
    ) as socket:
        assert socket.receive_text() == "in"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": OWN},
        {"origin": OWN, "cookie": "pozor-8765=wrong"},
        {**COOKIE},
        *({**COOKIE, **foreign} for foreign in FOREIGN.values()),
    ],
)
def test_a_socket_without_token_or_from_elsewhere_is_refused(
    sockets: TestClient, headers: dict[str, str]
) -> None:
    headers = {"host": "127.0.0.1:8765"} | headers
    with pytest.raises(WebSocketDisconnect) as refused, sockets.websocket_connect("/live", headers=headers):
        pass
    assert refused.value.code == 1008


@pytest.mark.parametrize("path", ["/", "/api/start", "/assets/app.js", "/live"])
def test_no_route_of_the_app_is_a_socket(client: TestClient, path: str) -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(path, headers={"host": "127.0.0.1:8765", "origin": OWN}),
    ):
        pass


# ---- behind a proxy --------------------------------------------------------------------------------------

BASE = "https://hub.example.org/user/me/proxy/8765/"


@pytest.mark.parametrize("prefix", ["", "/user/me/proxy/8765"])
@pytest.mark.parametrize("host", ["hub.example.org", "127.0.0.1:8765"])
def test_a_proxy_may_cut_its_prefix_or_leave_it(connect: Connect, prefix: str, host: str) -> None:
    client = connect(signed_in=False, base=BASE)
    headers = {"host": host, "origin": "https://hub.example.org"}
    signed = client.get(f"{prefix}/?token={TOKEN}", headers=headers)
    assert signed.status_code == 303
    assert signed.headers["location"] == "./"
    assert signed.headers["set-cookie"] == (
        f"pozor-8765={TOKEN}; HttpOnly; SameSite=Strict; Path=/user/me/proxy/8765; Secure"
    )
    headers["cookie"] = f"pozor-8765={TOKEN}"
    for path in ("/", "/api/start", "/assets/app.js"):
        assert client.get(prefix + path, headers=headers).status_code == 200, path
    assert client.post(f"{prefix}/api/open", json={"path": "x"}, headers=headers).status_code == 404


@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"host": "hub.example.org:444"}, *FOREIGN.values()]
)
def test_behind_a_proxy_everybody_else_is_still_refused(connect: Connect, headers: dict[str, str]) -> None:
    client = connect(signed_in=False, base=BASE)
    headers = {"host": "hub.example.org", "cookie": f"pozor-8765={TOKEN}"} | headers
    assert client.get("/api/start", headers=headers).status_code == 403


def test_plain_http_of_the_proxys_host_is_another_origin(connect: Connect) -> None:
    client = connect(signed_in=False, base=BASE)
    headers = {"host": "hub.example.org", "cookie": f"pozor-8765={TOKEN}", "origin": "http://hub.example.org"}
    assert client.get("/api/start", headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("text", "address", "host", "prefix"),
    [
        ("https://hub.example.org/a/b/", "https://hub.example.org/a/b/", "hub.example.org", "/a/b"),
        ("http://HUB.example.org:80", "http://hub.example.org/", "hub.example.org", ""),
        ("https://hub.example.org:8443/x", "https://hub.example.org:8443/x/", "hub.example.org:8443", "/x"),
        ("http://[::1]:9/", "http://[::1]:9/", "[::1]:9", ""),
    ],
)
def test_base_urls(text: str, address: str, host: str, prefix: str) -> None:
    base = BaseUrl.parse(text)
    assert (base.address, base.host, base.prefix) == (address, host, prefix)


@pytest.mark.parametrize(
    "text",
    [
        "hub.example.org",
        "/proxy/8765",
        "ftp://x/",
        "https://",
        "https://x:port/",
        "https://u:p@x/",
        "https://x/?a",
        "https://x/#a",
        "https://x:99999/",
        "https://x/č",
    ],
)
def test_wrong_base_urls_are_refused_in_words(text: str) -> None:
    with pytest.raises(
        OptionError, match="--base-url must be the address under which the proxy shows the app"
    ):
        BaseUrl.parse(text)


@pytest.mark.parametrize("text", ["", "https://x/\r\nSet-Cookie: a", "https://x/ y", "https://x/\x00"])
def test_a_base_url_cannot_carry_a_header(text: str) -> None:
    with pytest.raises(OptionError, match=r"^--base-url must be the address"):
        BaseUrl.parse(text)


# ---- the bundle ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
        "/..%5csecret.txt",
        "/assets/app.js%00.txt",
        "/assets",
        "/" + "a" * 5000,
    ],
)
def test_no_path_leads_out_of_the_bundle(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": "Nothing is at this address."}


def test_a_link_out_of_the_bundle_is_not_followed(client: TestClient, static: Path) -> None:
    try:
        (static / "out.txt").symlink_to(static.parent / "secret.txt")
    except OSError:
        return  # Windows allows links to administrators only
    assert client.get("/out.txt").status_code == 404


def test_scripts_have_their_type_whatever_the_system_says(client: TestClient) -> None:
    assert client.get("/assets/app.js").headers["content-type"].startswith("text/javascript")


def test_the_bundle_is_revalidated(client: TestClient) -> None:
    first = client.get("/assets/app.js")
    again = client.get("/assets/app.js", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    assert_headers(again.headers)


def assert_headers(headers: object) -> None:
    for name, value in HEADERS.items():
        assert headers[name] == value, name  # type: ignore[index]
