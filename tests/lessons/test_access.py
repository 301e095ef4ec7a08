"""Without the token nothing opens; with it what a page needs; for a class no typed code runs."""

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus

import pozor
from notebook import Reader, base, heard, signed_in
from pozor.lessons.gate import LONGEST_BODY, TOLD
from pozor.viewer.lessons import Lessons

FOREIGN = "http://evil.example"


def marimo_routes() -> tuple[list[tuple[str, str]], list[str]]:
    """Every route of marimo's server as (method, path), and its sockets."""
    from marimo._server.api.router import build_routes
    from starlette.routing import Mount, Route, WebSocketRoute

    asked: list[tuple[str, str]] = []
    sockets: list[str] = []

    def walk(routes: Any, above: str) -> None:
        for route in routes:
            path = above + route.path
            if isinstance(route, WebSocketRoute):
                sockets.append(path)
            elif isinstance(route, Route):
                asked.extend((method, path) for method in sorted(route.methods or {"GET"}))
            elif isinstance(route, Mount) and route.routes:
                walk(route.routes, path)
            elif isinstance(route, Mount):
                asked.append(("GET", f"{path}/x.js"))

    walk(build_routes(), "")
    return asked, sockets


ROUTES, SOCKETS = marimo_routes()
OURS = ["/", "/static/lesson.css", "/static/fonts.css", "/fonts/x.woff2", "/lessons/small", "/lessons/small/"]
EVERY = [("GET", path) for path in OURS] + [(method, f"/lessons/small{path}") for method, path in ROUTES]


def test_marimo_has_the_routes_that_the_gate_was_written_for() -> None:
    paths = {path for _, path in ROUTES}
    assert paths >= TOLD
    assert {"/api/kernel/run", "/api/kernel/save", "/api/packages/add", "/api/files/create"} <= paths
    assert "/ws" in SOCKETS


@pytest.mark.parametrize("served", ["alone", "school"])
def test_nothing_answers_without_the_token(served: str, request: pytest.FixtureRequest) -> None:
    lessons: Lessons = request.getfixturevalue(served)
    with httpx.Client(base_url=base(lessons), headers={"origin": base(lessons)}) as client:
        for method, path in EVERY:
            answer = client.request(method, path)
            assert answer.status_code == 403, (method, path)
            assert method == "HEAD" or "token" in answer.text, (method, path)


@pytest.mark.parametrize("served", ["alone", "school"])
def test_nothing_answers_a_foreign_page(served: str, request: pytest.FixtureRequest) -> None:
    lessons: Lessons = request.getfixturevalue(served)
    with signed_in(lessons) as client:
        for method, path in EVERY:
            answer = client.request(method, path, headers={"origin": FOREIGN})
            assert answer.status_code == 403, (method, path)
        assert client.get("/", headers={"host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("served", ["alone", "school"])
def test_no_socket_opens_without_token_or_from_elsewhere(served: str, request: pytest.FixtureRequest) -> None:
    lessons: Lessons = request.getfixturevalue(served)
    with signed_in(lessons) as client:
        for path in ("ws", "ws_sync", "terminal/ws", "lsp/pylsp"):
            reader = Reader(lessons, client, "small", 90)
            reader.lesson = "small"
            for headers in ({"cookie": ""}, {"origin": FOREIGN}, {"origin": ""}):
                with pytest.raises(InvalidStatus) as refused, _open(reader, path, headers):
                    pass
                assert refused.value.response.status_code == 403, (path, headers)
            if path != "ws":
                with pytest.raises(InvalidStatus), _open(reader, path, {}):
                    pass


def _open(reader: Reader, path: str, headers: dict[str, str]) -> Any:
    reader.session = f"s_{path[:2]}"
    whole = reader.lesson
    reader.lesson = f"{whole}/{path}?x=" if path != "ws" else whole
    try:
        return reader.socket(**headers)
    finally:
        reader.lesson = whole


@pytest.mark.parametrize("served", ["alone", "school"])
def test_the_gate_lets_through_what_pages_need_and_refuses_all_else(
    served: str, request: pytest.FixtureRequest
) -> None:
    lessons: Lessons = request.getfixturevalue(served)
    through = set()
    with signed_in(lessons) as client:
        for method, path in EVERY:
            answer = client.request(method, path, follow_redirects=True)
            refused = answer.status_code == 403
            assert refused == ("not one of their addresses" in answer.text) or method == "HEAD", (
                method,
                path,
            )
            if not refused:
                through.add((method, path))
    allowed = {("GET", path) for path in OURS}
    allowed |= {("POST", f"/lessons/small{path}") for path in TOLD}
    allowed |= {
        ("GET", "/lessons/small/"),
        ("HEAD", "/lessons/small/"),
        ("GET", "/lessons/small/assets/x.js"),
    }
    allowed |= {(method, "/lessons/small/health") for method in ("GET", "HEAD")}
    patterns = {(method, path) for method, path in through if "{" in path}
    assert through - patterns <= allowed, through - patterns - allowed
    # a pattern asked for literally: `/@file/{name}` is a file that is not there
    assert patterns <= {
        (method, "/lessons/small/@file/{filename_and_length:path}") for method in ("GET", "HEAD")
    }


@pytest.mark.parametrize(
    "path",
    [
        "?file=other.py",
        "?kiosk=true",
        "?access_token=x",
        "api/export/html",
        "api/kernel/..%2f..%2frun",
        "public/notebook.py",
        "@file/../../x",
    ],
)
def test_other_notebooks_and_files_are_refused(alone: Lessons, path: str) -> None:
    with signed_in(alone) as client:
        assert client.get(f"/lessons/small/{path}").status_code in {403, 404}


@pytest.mark.parametrize("served", ["alone", "school"])
def test_no_page_says_where_it_lies_on_the_disk(served: str, request: pytest.FixtureRequest) -> None:
    lessons: Lessons = request.getfixturevalue(served)
    with signed_in(lessons) as client:
        page = client.get("/lessons/small/").text
    assert "rootUri" in page  # marimo still says it
    folders = [Path(__file__), Path(pozor.__file__), Path(sys.prefix), Path.cwd()]
    for folder in [str(folder.parent) for folder in folders[:2]] + [str(folder) for folder in folders[2:]]:
        assert folder not in page, folder
    assert '"rootUri": ""' in page


def test_a_post_is_limited(alone: Lessons) -> None:
    with signed_in(alone) as client:
        reader = Reader(alone, client, "small", 5)
        answer = None
        try:
            answer = reader.post("api/kernel/function_call", {"x": "y" * (LONGEST_BODY + 1)})
        except httpx.HTTPError:
            return
        assert answer.status_code >= 400


# ---- typed code --------------------------------------------------------------------------------------------

RUN = {"cellIds": ["Hbol"], "codes": ["print('typed code ran')"]}
CODE_ROUTES = {
    "api/kernel/run": RUN,
    "api/kernel/scratchpad/run": {"code": RUN["codes"][0]},
    "api/kernel/execute": {"code": RUN["codes"][0]},
    "api/kernel/instantiate": {
        "objectIds": [],
        "values": [],
        "autoRun": True,
        "codes": {"Hbol": RUN["codes"][0]},
    },
    "api/kernel/save": {
        "cellIds": ["Hbol"],
        "codes": RUN["codes"],
        "names": ["_"],
        "configs": [{}],
        "filename": "x.py",
    },
    "api/kernel/install_missing_packages": {"manager": "pip", "versions": {"x": ""}},
    "api/packages/add": {"package": "x"},
    "api/files/create": {"path": "/tmp", "type": "file", "name": "x", "contents": ""},
    "api/document/transaction": {},
    "api/kernel/pdb/pm": {},
}


def test_the_page_of_a_class_has_no_editor(school: Lessons) -> None:
    with signed_in(school) as client, Reader(school, client, "small").socket() as socket:
        said = json.dumps(heard(socket, "completed-run"))
        assert "marimo-code-editor" not in said
        assert "marimo-form" not in said
        assert "typed code ran" in said  # the program is there to be read
        assert "no typed code runs" in said


def test_typed_code_is_refused_on_every_route_and_on_the_socket(school: Lessons) -> None:
    with signed_in(school) as client:
        reader = Reader(school, client, "small", 1)
        with reader.socket() as socket:
            heard(socket, "completed-run")
            for path, body in CODE_ROUTES.items():
                assert reader.post(path, body).status_code == 403, path
            for path, body in CODE_ROUTES.items():
                socket.send(json.dumps({"op": path.rpartition("/")[2], "type": path, "data": body, **body}))
                socket.send(json.dumps({"type": "execute-cells", **RUN}))
            with pytest.raises(TimeoutError):
                heard(socket, "typed code ran", seconds=2)


def test_a_control_of_a_class_answers_and_one_it_does_not_have_is_nothing(school: Lessons) -> None:
    with signed_in(school) as client:
        reader = Reader(school, client, "small", 2)
        with reader.socket() as socket:
            said = json.dumps(heard(socket, "completed-run"))
            slider = said.split("object-id='")[1].split("'")[0]
            body = {"objectIds": [slider, "made-up"], "values": [7, "print('typed code ran')"]}
            assert reader.post("api/kernel/set_ui_element_value", body).status_code == 200
            said = json.dumps(heard(socket, "There are 7 steps"))
            assert "typed code ran" not in said


def test_the_run_function_itself_refuses_on_the_link_of_a_class() -> None:
    from types import SimpleNamespace

    from pozor.lessons.code_cell import Runs

    shown = SimpleNamespace(on_msg=lambda told: None)
    runs = Runs(SimpleNamespace(public=True, lang="en"), shown)
    with pytest.raises(PermissionError, match="never runs on the link of a class"):
        runs.start("print(1)")
