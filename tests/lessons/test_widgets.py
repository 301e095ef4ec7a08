"""The two widgets of a lesson on their Python side: what they hold, what they refuse, whom they ask."""

import json
from typing import Any

import numpy as np
import pytest

from pozor import exercises
from pozor.errors import OptionError, ShapeError
from pozor.lessons import widgets

WORDS = ["pan", "vypil", "pivo"]
PROBS = np.array([[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]])


def test_a_map_holds_plain_json() -> None:
    given = PROBS.copy()
    given[1, 0] = np.nan
    widget = widgets.Heatmap(given, WORDS, states=~np.tri(3, dtype=bool), unmasked=PROBS, title="V hospodě")
    state = {name: getattr(widget, name) for name in ("probs", "states", "unmasked", "words", "query_words")}
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    assert state["probs"][1] == [None, 0.75, 0.0]
    assert state["states"][0] == [False, True, True]
    assert (widget.selected_row, widget.mask_shown, widget.lang, widget.title) == (
        -1,
        True,
        "cs",
        "V hospodě",
    )


def test_queries_are_the_last_words_unless_said() -> None:
    assert widgets.Heatmap(PROBS[1:], WORDS).query_words == ["vypil", "pivo"]
    assert widgets.Heatmap(PROBS, WORDS, query_words=["a", "b", "c"]).query_words == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"probs": PROBS[0]}, "probs must have 1 to 16 rows and 1 to 16 columns; got (3,)."),
        ({"probs": np.ones((17, 3))}, "probs must have 1 to 16 rows and 1 to 16 columns; got (17, 3)."),
        (
            {"words": ["pan"]},
            "probs must have a row for each query and a column for each key; got (3, 3) for 1 queries "
            "and 1 keys.",
        ),
        ({"states": np.ones((2, 3))}, "states must have the shape of probs; got (2, 3) and (3, 3)."),
        ({"unmasked": np.ones((3, 2))}, "unmasked must have the shape of probs; got (3, 2) and (3, 3)."),
    ],
)
def test_a_map_refuses_what_does_not_fit(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ShapeError) as refused:
        widgets.Heatmap(**{"probs": PROBS, "words": WORDS, **options})
    assert str(refused.value) == says


def test_an_unknown_language_is_refused() -> None:
    for make in (
        lambda: widgets.Heatmap(PROBS, WORDS, lang="de"),
        lambda: widgets.ExerciseWidget("divisor", lang="de"),
    ):
        with pytest.raises(OptionError, match=r"^lang must be cs or en; got 'de'\.$"):
            make()


def test_a_missing_bundle_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(widgets, "BUNDLE", tmp_path)
    with pytest.raises(
        OptionError, match=r"^The page is not built yet: .*heatmap\.js is missing; run make web\.$"
    ):
        widgets.Heatmap(PROBS, WORDS)


class Spoken(widgets.ExerciseWidget):
    """Keeps what it would send to its page."""

    def send(self, content: Any, buffers: Any = None) -> None:
        """Instead of a page."""
        self.said = content


def ask(widget: Spoken, **message: Any) -> dict[str, Any]:
    """One message of the page, and its answer."""
    widget._handle_custom_msg({"serve": 7, "message": message}, [])
    assert widget.said["serve"] == 7
    return widget.said["answer"]


def test_an_exercise_answers_its_page() -> None:
    widget = Spoken("divisor", lang="cs")
    # √16 = 4
    assert ask(widget, ask="check", seed=None, lang="cs", answer="4")["right"] is True
    assert ask(widget, ask="check", seed=None, lang="cs", answer="16")["right"] is False
    assert ask(widget, ask="exercise", seed=None, lang="en")["id"] == "divisor"
    assert ask(widget, ask="solution", seed=None, lang="en", code=None)["locked"] is False
    assert "error" in ask(widget, ask="nothing")


def test_an_exercise_speaks_for_itself_alone_and_keeps_what_is_locked() -> None:
    widget = Spoken("divisor", lang="en", lock=exercises.Lock("seven"))
    assert ask(widget, ask="exercise", id="row-sum", seed=None, lang="en")["id"] == "divisor"
    locked = ask(widget, ask="solution", seed=None, lang="en", code=None)
    assert set(locked) == {"locked", "message"}
    assert "html" in ask(widget, ask="solution", seed=None, lang="en", code="seven")
    solution = exercises.get("divisor").draw().solution("en")
    assert solution not in json.dumps(widget.get_state(), default=str)


def test_a_page_gets_an_answer_where_an_exercise_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(drawn: Any, answer: str, lang: str) -> None:
        raise ZeroDivisionError("of our own")

    widget = Spoken("divisor", lang="cs")
    with monkeypatch.context() as failing:
        failing.setattr(exercises.Drawn, "check", fail)
        said = ask(widget, ask="check", seed=None, lang="cs", answer="4")
    assert said == {
        "error": "Tohle jsme nezvládli a\u00a0chyba je u\u00a0nás (ZeroDivisionError). "
        "Zkuste to znovu, nebo odpověď napište jinak."
    }
    assert "of our own" in caplog.text
    assert ask(widget, ask="check", seed=None, lang="cs", answer="4")["right"] is True


def test_what_is_no_message_is_left_unanswered() -> None:
    widget = Spoken("divisor")
    widget.said = None
    for content in (None, "x", {}, {"serve": 1}, {"serve": 1, "message": "x"}):
        widget._handle_custom_msg(content, [])
    assert widget.said is None
    with pytest.raises(OptionError):
        widgets.ExerciseWidget("no-such-exercise")
