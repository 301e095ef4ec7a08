"""A locked solution is in no page, no message of the socket and no export before the code is given."""

import json
import time
import zipfile
from pathlib import Path
from typing import Any

from notebook import Reader, heard, serving, signed_in
from pozor import exercises
from pozor.language import LANGUAGES
from pozor.lessons import catalog, wheel
from pozor.lessons.export import export_site

CODE = "sedm-trpaslíků"
LESSON = "warm_up"


def solutions(lang: str) -> list[str]:
    """A telling piece of each solution of the lesson: its longest line."""
    own = [exercise for exercise in exercises.catalog() if exercise.lesson == 0]
    assert own
    return [max(exercise.draw().solution(lang).splitlines(), key=len) for exercise in own]


def ask(reader: Reader, socket: Any, model: str, number: int, code: str | None) -> dict[str, Any]:
    message = {"ask": "solution", "lang": "en", "code": code}
    content = {"serve": number, "message": message}
    body = {"modelId": model, "message": {"method": "custom", "content": content}, "buffers": []}
    assert reader.post("api/kernel/set_model_value", body).status_code == 200
    for said in heard(socket, '"serve"'):
        content = said["data"].get("message", {}).get("content")
        if isinstance(content, dict) and content.get("serve") == number:
            return content["answer"]
    raise AssertionError("no answer")


def test_a_locked_solution_comes_with_the_code_and_not_before() -> None:
    with serving(None, code=CODE, public=True) as lessons, signed_in(lessons) as client:
        start = client.get("/").text
        page = client.get(f"/lessons/{LESSON}/").text
        reader = Reader(lessons, client, LESSON)
        with reader.socket() as socket:
            messages = heard(socket, "completed-run")
            said = json.dumps(messages, ensure_ascii=False)
            opened = [m["data"] for m in messages if m["data"].get("message", {}).get("method") == "open"]
            model = next(m["model_id"] for m in opened if "exercise" in m["message"]["state"])
            locked = ask(reader, socket, model, 1, None)
            wrong = ask(reader, socket, model, 2, "osm")
            for text in (start, page, said, json.dumps(locked), json.dumps(wrong)):
                assert CODE not in text
                assert not [s for s in solutions("en") if s in text]
            assert locked["locked"]
            assert wrong["locked"]
            _after_the_pause()
            assert not ask(reader, socket, model, 3, CODE)["locked"]


def _after_the_pause() -> None:
    time.sleep(1.1)  # a lock takes no second code within a second


def test_a_page_knows_of_an_exercise_no_more_than_its_name() -> None:
    with (
        serving(None, code=CODE) as lessons,
        signed_in(lessons) as client,
        Reader(lessons, client, LESSON, 1).socket() as socket,
    ):
        messages = heard(socket, "completed-run")
    opened = [m["data"] for m in messages if m["data"].get("message", {}).get("method") == "open"]
    states = [m["message"]["state"] for m in opened if "exercise" in m["message"]["state"]]
    assert states
    for state in states:
        own = {name for name in state if not name.startswith("_")} - {"layout", "tabbable", "tooltip"}
        assert own == {"exercise", "lang", "seed"}


def test_an_export_with_a_code_holds_no_solution(tmp_path: Path) -> None:
    open_wheel, locked = tmp_path / "open", tmp_path / "locked"
    open_wheel.mkdir()
    locked.mkdir()
    texts = {}
    for folder, given in ((open_wheel, True), (locked, False)):
        with zipfile.ZipFile(wheel.build(folder, solutions=given)) as built:
            texts[given] = {name: built.read(name).decode("utf-8", "replace") for name in built.namelist()}
    assert texts[True].keys() == texts[False].keys()
    for lang in LANGUAGES:
        name = f"pozor/exercises/texts/warm_up.{lang}.md"
        for kind in ("### solution\n", "### model\n"):
            parts = texts[True][name].split(kind)[1:]
            for part in parts:
                body = part.split("\n##")[0].strip()
                assert body not in texts[False][name]
        # everything else of the exercises is there
        assert texts[False][name].count("### question") == texts[True][name].count("### question")
        assert texts[False][name].count("### hint") == texts[True][name].count("### hint")
        assert texts[False][name].count("### solution") == texts[True][name].count("### solution")


def test_the_pages_of_an_export_with_a_code_hold_no_solution(tmp_path: Path) -> None:
    export_site(str(tmp_path / "site"), code=CODE, lessons=(catalog.get(0),), say=lambda text: None)
    for lang in LANGUAGES:
        page = (tmp_path / "site" / f"{LESSON}.{lang}.html").read_text(encoding="utf-8")
        held = page.split('id="pozor-asleep">')[1].split("</script>")[0]
        known = [one["known"] for one in json.loads(held)["widgets"].values() if one["kind"] == "exercise"]
        assert len(known) == len(solutions(lang))
        for one in known:
            assert set(one) == {"exercise", "hints"}
        for text in (page, held):
            assert CODE not in text
            assert not [piece for piece in solutions(lang) if piece in text]
