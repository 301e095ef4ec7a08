"""The routes for exercises and the live model: documents of the promised shape, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from viewer_asking import fits, strict

from pozor import exercises, lm
from pozor.lessons.catalog import LESSONS
from pozor.viewer import documents
from pozor.viewer.live import MOST_SESSIONS
from support import assert_close

Connect = Callable[..., TestClient]
WORDS = Path(__file__).parents[2] / "web" / "src" / "words"
TEXT = "Pan Švejk vypil pivo 😀"


def post(client: TestClient, path: str, body: Any, status: int = 200) -> Any:
    answer = client.post(path, json=body, headers={"origin": "http://127.0.0.1:8765"})
    assert answer.status_code == status, answer.text[:200]
    return strict(answer.text)


@pytest.fixture
def client(connect: Connect) -> TestClient:
    return connect()


# ---- exercises


def test_exercises_answer_with_the_documents_they_promise(client: TestClient) -> None:
    everything = post(client, "/api/exercise", {"ask": "list", "lang": "cs"})
    assert fits(everything, documents.ExercisesDocument)
    assert len(everything["exercises"]) >= 30
    kinds = {one["kind"]: one["id"] for one in everything["exercises"]}
    assert set(kinds) == {"number", "vector", "tokens", "sentence"}
    for id in kinds.values():
        which = {"id": id, "seed": 7, "lang": "en"}
        drawn = post(client, "/api/exercise", {"ask": "exercise", **which})
        assert fits(drawn, documents.ExerciseDocument), drawn
        assert fits(
            post(client, "/api/exercise", {"ask": "check", **which, "answer": "1"}), documents.VerdictDocument
        )
        for number in range(drawn["hints"]):
            hint = post(client, "/api/exercise", {"ask": "hint", **which, "number": number})
            assert fits(hint, documents.HintDocument)
        solution = post(client, "/api/exercise", {"ask": "solution", **which, "code": None})
        assert fits(solution, documents.SolutionDocument)


def test_a_message_that_cannot_be_answered_gets_a_sentence(client: TestClient) -> None:
    for body in ({}, {"ask": "list", "lang": "de"}, {"ask": "exercise", "id": "none", "lang": "cs"}):
        assert fits(post(client, "/api/exercise", body, 400), documents.ErrorDocument)
    answer = post(client, "/api/exercise", [], 400)
    assert answer["error"] == 'The body must be {"ask": "list", "lang": "en"}.'


def test_an_exercise_that_fails_answers_and_is_logged(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(drawn: Any, answer: str, lang: str) -> None:
        raise ZeroDivisionError("of our own")

    monkeypatch.setattr(exercises.Drawn, "check", fail)
    asked = {"ask": "check", "id": "divisor", "seed": None, "lang": "en", "answer": "4"}
    answer = post(client, "/api/exercise", asked, 400)
    assert fits(answer, documents.ErrorDocument)
    assert answer["error"].startswith(
        "We could not cope with this, and the fault is ours (ZeroDivisionError)."
    )
    assert "of our own" in caplog.text


def test_the_home_page_calls_the_lessons_by_their_titles() -> None:
    text = (WORDS / "learn.ts").read_text(encoding="utf-8")
    places = [[text.index(f'title: "{lesson.title[lang]}"') for lesson in LESSONS] for lang in ("en", "cs")]
    assert all(found == sorted(found) for found in places)
    assert text.count('{ title: "') == 2 * len(LESSONS)


# ---- the live model


def test_the_live_attention_is_that_of_the_reference(client: TestClient) -> None:
    document = post(client, "/api/live", {"text": TEXT})
    assert fits(document, documents.LiveDocument)
    tokens = len(document["tokens"])
    assert document["room"] == document["context"] - tokens
    raw = client.get(f"/api/live/{document['id']}/probs").content
    shape = (document["layers"], document["heads"], tokens, tokens)
    got = np.frombuffer(raw, "<f4").reshape(shape)
    # the same weights in float64, softmax written out
    exact = lm.load("czech", dtype="float64")
    steps = exact.read(TEXT).layers
    for layer, step in enumerate(steps):
        for head in range(shape[1]):
            assert_close(
                got[layer, head].astype(float), softmaxed(step.q[head], key_head(step, head)), atol=1e-5
            )


def softmaxed(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Causal probabilities by their definition."""
    logits = q @ k.T / np.sqrt(q.shape[-1])
    logits[np.triu_indices(len(q), 1)] = -np.inf
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def key_head(step: Any, head: int) -> np.ndarray:
    """The keys that a query head reads."""
    return step.k[head * len(step.k) // len(step.q)]


def test_each_step_gives_the_row_that_reading_the_longer_text_gives(client: TestClient) -> None:
    document = post(client, "/api/live", {"text": TEXT, "seed": 3})
    for _ in range(3):
        step = post(client, f"/api/live/{document['id']}/step", {})
        assert fits(step, documents.LiveStepDocument)
    assert 0 < step["probability"] <= 1
    assert step["text"].startswith(TEXT)
    assert len(step["tokens"]) == len(document["tokens"]) + 3
    assert step["room"] == document["room"] - 3
    raw = client.get(f"/api/live/{document['id']}/probs").content
    rows = np.asarray(step["rows"])
    again = np.frombuffer(raw, "<f4")
    if (
        len(again) == rows.shape[0] * rows.shape[1] * rows.shape[2] ** 2
    ):  # unless it now cuts into other pieces
        assert_close(rows, again.reshape(*rows.shape, rows.shape[2])[:, :, -1].astype(float), atol=1e-5)
    assert_close(rows.sum(axis=-1), np.ones(rows.shape[:2]), atol=1e-9)


def test_the_same_seed_goes_on_with_the_same_words(client: TestClient) -> None:
    texts = []
    for _ in range(2):
        id = post(client, "/api/live", {"text": TEXT, "seed": 5, "temperature": 1.2})["id"]
        texts.append([post(client, f"/api/live/{id}/step", {})["text"] for _ in range(4)][-1])
    assert texts[0] == texts[1]


def test_tokens_cut_the_text_as_the_page_will(client: TestClient) -> None:
    document = post(client, "/api/live", {"text": TEXT})
    units = TEXT.encode("utf-16-le")
    pieces = [
        units[2 * one["start"] : 2 * one["stop"]].decode("utf-16-le")
        for one in document["tokens"]
        if not one["special"]
    ]
    whole = [
        one for one in zip(pieces, document["tokens"][1:], strict=True) if not one[1]["text"].startswith("⟨")
    ]
    assert all(piece == token["text"] for piece, token in whole)
    assert document["tokens"][0]["special"]
    assert document["tokens"][-1]["stop"] == len(units) // 2


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, 'The body must be {"text": "Pan Švejk", "temperature": 0.8, "seed": 0}.'),
        ({"text": TEXT, "seed": -1}, "seed must be a whole number from 0 to 2147483647; got '-1'."),
        ({"text": TEXT, "seed": 1.5}, "seed must be a whole number from 0 to 2147483647; got '1.5'."),
        ({"text": TEXT, "temperature": "x"}, "temperature must be a number from 0 to 100; got 'x'."),
    ],
)
def test_what_cannot_be_read_is_refused(client: TestClient, body: dict[str, Any], says: str) -> None:
    assert post(client, "/api/live", body, 400)["error"] == says


def test_a_full_context_ends_and_too_long_a_text_is_refused(client: TestClient) -> None:
    context = lm.load("czech").context
    document = post(client, "/api/live", {"text": "7" * (context - 2)})
    assert document["room"] == 1
    post(client, f"/api/live/{document['id']}/step", {})
    says = post(client, f"/api/live/{document['id']}/step", {}, 400)["error"]
    assert says.startswith(
        f"The text must leave room in the model's context of {context} tokens; it is full."
    )
    assert post(client, "/api/live", {"text": "7" * (context - 1)})["room"] == 0
    says = post(client, "/api/live", {"text": "7" * context}, 400)["error"]
    assert says == f"text must have at most {context - 1} tokens; got {context}. Shorten it."


def test_old_sessions_are_let_go(client: TestClient) -> None:
    first = post(client, "/api/live", {"text": "pan"})["id"]
    for _ in range(MOST_SESSIONS):
        post(client, "/api/live", {"text": "pan"})
    says = post(client, f"/api/live/{first}/step", {}, 404)["error"]
    assert says == "The session is too old or not there; read the text again."
    assert client.get(f"/api/live/{first}/probs").status_code == 404
