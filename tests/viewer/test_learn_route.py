"""The app and the process of its lessons: started, found, killed; the app answers all along."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

from pozor.viewer.app import App
from pozor.viewer.guard import BaseUrl, Guard
from pozor.viewer.library import Library
from pozor.viewer.reasons import SENTENCES

TOKEN = "t0k-en_for.tests"
OWN = "http://127.0.0.1:8765"


@pytest.fixture
def app(tmp_path: Any) -> Iterator[App]:
    made = App(Library(tmp_path, shipped=tmp_path / "shipped"), None, tmp_path)
    made.lessons._settings["port"] = 0
    yield made
    made.lessons.stop()


def signed_in(app: App, base: BaseUrl | None = None) -> TestClient:
    client = TestClient(Guard(app.asgi(), TOKEN, 8765, base), base_url=OWN, headers={"origin": OWN})
    client.get("/", params={"token": TOKEN}, follow_redirects=False)
    return client


def asked(client: TestClient, body: Any, status: int = 200) -> dict[str, Any]:
    answer = client.post("/api/learn", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def running(client: TestClient, body: dict[str, Any]) -> dict[str, Any]:
    end = time.monotonic() + 60
    while (said := asked(client, body))["state"] == "starting":
        assert time.monotonic() < end
        time.sleep(0.1)
    return said


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_app_starts_finds_and_outlives_its_lessons(app: App) -> None:
    client = signed_in(app)
    assert client.get("/api/learn").json() == {"state": "off", "url": None, "reason": None, "notes": []}
    said = running(client, {"lesson": 1, "lang": "cs"})
    assert said["state"] == "running"
    address = urlsplit(said["url"])
    assert address.hostname == "127.0.0.1"
    query = parse_qs(address.query)
    assert query["lesson"] == ["1"]
    assert query["lang"] == ["cs"]
    assert query["token"] != [TOKEN]
    assert httpx.get(said["url"], follow_redirects=True).status_code == 200
    assert httpx.get(said["url"].partition("?")[0]).status_code == 403
    # who only asks how it is gets no key
    assert client.get("/api/learn").json() == {"state": "running", "url": None, "reason": None, "notes": []}
    again = asked(client, {"lang": "en"})
    assert urlsplit(again["url"]).port == address.port
    os.kill(app.lessons.pid or 0, signal.SIGKILL)
    until(lambda: app.lessons.state == "ended")
    ended = client.get("/api/learn", params={"lang": "cs"}).json()
    assert ended["state"] == "ended"
    assert ended["reason"].startswith("Lekce ukončilo něco zvenčí (SIGKILL).")
    assert client.get("/api/start").status_code == 200
    assert running(client, {"lang": "cs"})["state"] == "running"


def test_behind_a_proxy_only_one_that_names_ports_can_show_them(app: App) -> None:
    app.base = BaseUrl.parse("https://hub.example.org/app/")
    said = asked(signed_in(app), {"lang": "en"})
    assert (said["state"], said["reason"]) == ("off", SENTENCES["en"]["behind"])
    app.base = BaseUrl.parse("https://hub.example.org/user/x/proxy/8765/")
    said = running(signed_in(app), {"lang": "en"})
    assert said["url"].startswith(f"https://hub.example.org/user/x/proxy/{app.lessons.port}/?lang=en&token=")


@pytest.mark.parametrize(
    "body", [{"lesson": "1"}, {"lesson": True}, {"lesson": -1}, {"lang": "de"}, {"lang": 5}]
)
def test_what_it_does_not_understand(app: App, body: dict[str, Any]) -> None:
    said = asked(signed_in(app), body, 400)
    assert said == {"error": 'The body must be {"lesson": 1, "lang": "en"}.'}
    assert app.lessons.state == "off"


def test_without_marimo_the_app_says_what_is_missing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pozor.viewer.lessons.find_spec", lambda name: None)
    said = asked(signed_in(app), {"lang": "cs"})
    assert said["state"] == "missing"
    assert said["reason"] == SENTENCES["cs"]["missing"]


def test_a_class_reaches_its_server_by_the_names_it_listens_on() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(app, TOKEN, 8766, hosts=frozenset({"192.168.1.5"}), policy="default-src 'none'")
    client = TestClient(guard, base_url="http://192.168.1.5:8766")
    assert client.get("/", params={"token": TOKEN}, follow_redirects=False).status_code == 303
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    assert client.get("/", headers={"host": "192.168.1.6:8766"}).status_code == 403
    assert client.post("/", headers={"origin": "http://192.168.1.5:8766"}).status_code == 200
    assert client.post("/", headers={"origin": "http://192.168.1.6:8766"}).status_code == 403
