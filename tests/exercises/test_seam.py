"""What the pages and the lessons rely on: names, documents, the talk by messages, the lock."""

import json

import pytest

from pozor import exercises
from pozor.errors import DtypeError, OptionError
from pozor.exercises import Lock, serve

LANGUAGES = ("cs", "en")
IDS = [exercise.id for exercise in exercises.catalog()]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_document_tells_neither_answer_nor_solution(name: str, lang: str) -> None:
    drawn = exercises.get(name).draw(3)
    document = serve({"ask": "exercise", "id": name, "seed": 3, "lang": lang}, Lock("code"))
    assert document["id"] == name
    assert document["locked"] is True
    assert document["question"] == drawn.question(lang)
    assert document["hints"] == len(drawn.hints(lang)) >= 1
    assert set(document) == {
        "id", "lesson", "kind", "title", "seed", "lang", "question", "html", "choices", "hints", "locked",
    }  # fmt: skip
    shown = json.dumps(document, ensure_ascii=False)
    assert json.dumps(drawn.solution(lang), ensure_ascii=False)[1:-1] not in shown


def test_the_list_names_every_exercise_by_lesson() -> None:
    listed = serve({"ask": "list", "lang": "cs"}, Lock())["exercises"]
    assert [card["id"] for card in listed] == IDS
    assert [card["lesson"] for card in listed] == sorted(card["lesson"] for card in listed)
    assert set(listed[0]) == {"id", "lesson", "kind", "title"}


def test_a_solution_needs_the_code_and_wrong_codes_wait() -> None:
    now = [0.0]
    lock = Lock("sedm", clock=lambda: now[0])
    ask = {"ask": "solution", "id": "dot-product", "lang": "cs"}
    assert serve(ask, lock) == {"locked": True, "message": "Řešení je zamčené. Kód k\u00a0němu má vyučující."}
    assert "neodemyká" in serve(ask | {"code": "osm"}, lock)["message"]
    assert "počkejte" in serve(ask | {"code": "sedm"}, lock)["message"]
    now[0] += 2
    given = serve(ask | {"code": " sedm "}, lock)
    assert given["locked"] is False
    assert given["solution"].startswith("[1;")
    assert serve(ask, Lock())["solution"] == given["solution"]


def test_a_locked_model_answer_does_not_leave_with_the_verdict() -> None:
    ask = {"ask": "check", "id": "first-token-why", "lang": "en", "answer": "it is the first"}
    assert serve(ask, Lock("seven"))["model"] is None
    assert serve(ask | {"code": "seven"}, Lock("seven"))["model"]
    assert serve(ask, Lock())["model"] == exercises.get("first-token-why").draw().model("en")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "ask must be one of list, exercise, check, hint, solution; got None."),
        ({"ask": "list", "lang": "de"}, "lang must be cs or en; got 'de'."),
        ({"ask": "exercise", "id": "nothing"}, "id must be an exercise; got 'nothing'."),
        ({"ask": "exercise", "id": ["x"]}, "id must be an exercise; got ['x']."),
        ({"ask": "exercise", "id": "divisor", "seed": "1"}, "seed must be a whole number; got str."),
        (
            {"ask": "exercise", "id": "divisor", "seed": -1},
            "seed must be from 0 to 9007199254740991; got -1.",
        ),
        ({"ask": "check", "id": "divisor", "answer": 4}, "answer must be a string; got int."),
        ({"ask": "hint", "id": "divisor", "number": 9}, "number must be from 0 to 1; got 9."),
        ([], "message must be an object; got list."),
    ],
)
def test_a_message_that_cannot_be_answered_gets_one_sentence(message, words: str) -> None:
    assert serve(message, Lock())["error"].startswith(words)


def test_the_lock_refuses_codes_that_are_none() -> None:
    with pytest.raises(DtypeError, match="code must be a str or None; got int"):
        Lock(7)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="code must have at least one character"):
        Lock(" ")
