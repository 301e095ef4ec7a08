"""What the app does not answer: each wrong question gets one sentence and the right status, never a fault."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from viewer_asking import ask, fits, strict
from viewer_recordings import record

from pozor.viewer import documents

WHERE = {"layer": 1, "head": 3}
MAP = {"layer": "1", "head": "3"}
TILE = {**MAP, "zoom": "0", "row": "0", "column": "0"}


@pytest.mark.parametrize(
    ("end", "query", "status", "sentence"),
    [
        ("map", {}, 400, "layer is missing; give layer=N."),
        ("map", {"layer": "1"}, 400, "head is missing; give head=N."),
        ("map", {**MAP, "layer": "2"}, 404, "layer must be one with self attention (0-1); got 2."),
        ("map", {**MAP, "head": "4"}, 404, "head must be one that layer 1 keeps (0-3); got 4."),
        ("map", {**MAP, "item": "1"}, 404, "item must be below 1; got 1."),
        ("map", {**MAP, "kind": "cross"}, 404, "layer must be one with cross attention (none); got 1."),
        ("map", {**MAP, "kind": "self "}, 400, "kind must be self or cross; got 'self '."),
        ("map", {**MAP, "variant": "all"}, 400, "variant must be recorded or unmasked or causal; got 'all'."),
        ("map", {**MAP, "head": "-1"}, 400, "head must be a whole number from 0 up; got '-1'."),
        ("map", {**MAP, "head": "1.0"}, 400, "head must be a whole number from 0 up; got '1.0'."),
        ("map", {**MAP, "head": "\u0661"}, 400, "head must be a whole number from 0 up; got '\u0661'."),
        (
            "map",
            {**MAP, "head": "9" * 5000},
            400,
            f"head must be a whole number from 0 up; got '{'9' * 50}'.",
        ),
        (
            "map",
            {**MAP, "heads": "1"},
            400,
            "'heads' is no parameter here; there are item, layer,",
        ),
        ("tile", MAP, 400, "zoom is missing; give zoom=N."),
        ("tile", {**TILE, "zoom": "1"}, 404, "zoom must be below 1 (zooms of this map); got 1."),
        (
            "tile",
            {**TILE, "zoom": "999999999"},
            404,
            "zoom must be below 1 (zooms of this map);",
        ),
        ("tile", {**TILE, "row": "1"}, 404, "row must be below 1 (tiles at zoom 0); got 1."),
        ("tile", {**TILE, "column": "1"}, 404, "column must be below 1 (tiles at zoom 0); got 1."),
        ("tile", {**TILE, "reduce": "min"}, 400, "reduce must be max or mean or share; got 'min'."),
        ("tile", {**TILE, "value": "norm"}, 400, "value must be prob or value_norm; got 'norm'."),
        ("row", MAP, 400, "query is missing; give query=N."),
        ("row", {**MAP, "query": "6"}, 404, "query must be below 6 (queries of this map); got 6."),
        ("column", {**MAP, "key": "6"}, 404, "key must be below 6 (keys of this map); got 6."),
        (
            "cell",
            {**MAP, "query": "6", "key": "0"},
            404,
            "query must be below 6 (queries of this map); got 6.",
        ),
        ("cell", {**MAP, "query": "0", "key": "6"}, 404, "key must be below 6 (keys of this map); got 6."),
        ("cell", {**MAP, "query": "0", "key": "0", "lang": "de"}, 400, "lang must be cs or en; got 'de'."),
        ("cell", {**MAP, "query": "0", "key": "0", "digits": "99"}, 400, "digits must be"),
        ("", {"x": "1"}, 400, "'x' is no parameter here; there are none."),
        ("nothing", {}, 404, "Nothing is at this address."),
    ],
)
def test_wrong_questions_get_a_sentence(
    client: TestClient, noise: tuple[str, Any], end: str, query: dict[str, str], status: int, sentence: str
) -> None:
    answer = client.get(f"{noise[0]}/{end}".rstrip("/"), params=query)
    assert answer.status_code == status
    document = strict(answer.text)
    assert fits(document, documents.ErrorDocument)
    assert document["error"].startswith(sentence)


def test_a_recording_without_v_norm_has_no_value_norm(folder: Path, client: TestClient) -> None:
    record(folder / "plain.pozor", w_o=None)
    (card,) = ask(client, "/api/start", documents.StartDocument)["recordings"]
    base = f"/api/recordings/{card['id']}"
    assert ask(client, f"{base}/map", documents.MapDocument, **WHERE)["values"] == ["prob"]
    answer = client.get(f"{base}/tile", params={**TILE, "value": "value_norm"})
    assert answer.status_code == 404
    assert (
        answer.json()["error"]
        == "value must be prob: this layer was recorded without v_norm (no W_O was found)."
    )


def test_other_methods_are_refused(client: TestClient, noise: tuple[str, Any]) -> None:
    for path in ("/api/start", noise[0], f"{noise[0]}/tile", f"{noise[0]}/map", "/"):
        answer = client.post(path, headers={"origin": "http://127.0.0.1:8765"})
        assert (answer.status_code, answer.json()) == (405, {"error": "This address does not take POST."})


def test_a_fault_of_ours_is_an_error_document(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pozor.viewer.library.Library.cards", fail)
    answer = client.get("/api/start")
    assert answer.status_code == 500
    assert answer.json() == {"error": "pozor failed here (ZeroDivisionError); its terminal shows where."}


ENDS = {
    "map": (),
    "row": ("query",),
    "column": ("key",),
    "cell": ("query", "key", "lang", "digits"),
    "tile": ("zoom", "row", "column", "value", "reduce"),
}
VALUES = st.one_of(
    st.integers(-2, 8).map(str),
    st.sampled_from(
        ["self", "cross", "recorded", "unmasked", "causal", "prob", "value_norm", "mean", "cs", "en"]
    ),
    st.text(max_size=4),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), end=st.sampled_from(sorted(ENDS)))
def test_no_question_makes_it_fail(
    client: TestClient, noise: tuple[str, Any], data: st.DataObject, end: str
) -> None:
    names = ["item", "kind", "variant", "version", *ENDS[end]]
    more = data.draw(st.dictionaries(st.sampled_from(names), VALUES))
    answer = client.get(f"{noise[0]}/{end}", params={**MAP, **more})
    assert answer.status_code in {200, 400, 404, 409}, answer.text
    if answer.status_code == 200 and end == "tile":
        assert len(answer.content) == 65_536 * 5
    else:
        document = strict(answer.text)
        assert (answer.status_code == 200) or fits(document, documents.ErrorDocument)
