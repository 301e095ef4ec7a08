"""One content, two languages: the same parts, the same fields, no number typed that is computed."""

import re
import string
from html.parser import HTMLParser

import pytest

from pozor import exercises
from pozor.exercises.bank import ROOMS
from pozor.exercises.checking import mistake_texts
from pozor.exercises.faults import FAULTS
from pozor.exercises.pen import Pen
from pozor.exercises.prose import Prose, html, parse, prose_of
from pozor.exercises.sentences import sentences_of
from pozor.exercises.words import WORDS

ALL = [(room, name) for room in ROOMS for name in prose_of(room)]


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def parts(prose: Prose) -> dict[str, str]:
    """Each part under a name, in order."""
    found = {"question": prose.question, "solution": prose.solution, "model": prose.model}
    found |= {f"hint {i}": hint for i, hint in enumerate(prose.hints)}
    found |= {f"mistake {key}": text for key, text in prose.mistakes.items()}
    return found | {f"claim {key}": text for key, text in prose.claims.items()}


@pytest.mark.parametrize(("room", "name"), ALL)
def test_both_languages_have_the_same_structure(room: str, name: str) -> None:
    cs, en = (prose_of(room)[name][lang] for lang in ("cs", "en"))
    assert list(parts(cs)) == list(parts(en))
    for part in parts(cs):
        extra = fields(parts(en)[part]) ^ fields(parts(cs)[part])
        assert extra <= {"gloss"}, f"{part}: {extra}"
    assert cs.title
    assert en.title
    assert cs.title != en.title
    assert len(cs.hints) >= 2


def test_the_rooms_hold_the_catalogue_in_its_order() -> None:
    assert [name for _, name in ALL] == [exercise.id for exercise in exercises.catalog()]


@pytest.mark.parametrize("exercise", exercises.catalog(), ids=lambda exercise: exercise.id)
def test_every_mistake_and_claim_has_its_sentence_and_none_is_left_over(exercise: exercises.Exercise) -> None:
    drawn = exercise.draw(1)
    own = drawn.prose["cs"]
    if exercise.kind == "sentence":
        sentences = sentences_of(exercise.id)
        assert [claim.key for claim in sentences.claims] == list(own.claims)
        assert [slip.key for slip in sentences.slips] == list(own.mistakes)
        assert own.model
    else:
        assert set(own.mistakes) <= set(drawn.built.mistakes)
        shared = set(drawn.built.mistakes) - set(own.mistakes)
        assert shared <= set(mistake_texts("cs"))
        assert not own.model


def test_shared_sentences_of_mistakes_are_in_both_languages() -> None:
    assert list(mistake_texts("cs")) == list(mistake_texts("en"))
    assert set(mistake_texts("cs")) == set(FAULTS)
    for key, (cs, en) in WORDS.items():
        assert fields(cs) == fields(en), key


@pytest.mark.parametrize(("room", "name"), ALL)
def test_no_computed_number_is_typed(room: str, name: str) -> None:
    for prose in prose_of(room)[name].values():
        for part, text in parts(prose).items():
            typed = set(re.findall(r"(?<![\w₀-₉])\d+(?:[.,]\d+)?", re.sub(r"\{\w+\}", "", text)))
            # what a definition says: a whole, nothing, a pair, a mebibyte
            assert typed <= {"0", "1", "2", "1024"}, (part, typed)


@pytest.mark.parametrize("exercise", exercises.catalog(), ids=lambda exercise: exercise.id)
def test_every_field_is_used_by_some_part(exercise: exercises.Exercise) -> None:
    drawn = exercise.draw()
    given = set(drawn.built.fields(Pen("en")))
    used = set().union(*(fields(text) for text in parts(drawn.prose["en"]).values()))
    shared = {
        "open",
        "masked",
        "q",
        "k",
        "d",
        "heads",
    }  # tables and sizes that several exercises have in common
    assert given <= used | shared, given - used


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("exercise", exercises.catalog(), ids=lambda exercise: exercise.id)
@pytest.mark.parametrize("lang", ["cs", "en"])
def test_pages_get_plain_html(exercise: exercises.Exercise, lang: str) -> None:
    drawn = exercise.draw(2)
    for text in (drawn.question_html(lang), *drawn.hints_html(lang), drawn.solution_html(lang)):
        reader = Tags()
        reader.feed(text)
        assert reader.tags <= {
            "p", "em", "strong", "code", "table", "thead", "tbody", "tr", "th", "td", "blockquote",
        }, reader.tags  # fmt: skip
        assert reader.attributes <= {"class"}
        assert "{" not in text
        assert "|" not in text


def test_markup_in_a_text_is_escaped() -> None:
    assert html("a <script>x</script> & b") == "<p>a &lt;script&gt;x&lt;/script&gt; &amp; b</p>\n"
    assert html("| a | b |\n| :--- | ---: |\n| c | 1 |").count('class="num"') == 2


def test_a_part_that_nobody_knows_is_refused() -> None:
    with pytest.raises(AssertionError, match="no such part"):
        parse("## a\ntitle\n\n### qestion\nx")


def test_czech_keeps_lone_letters_and_writes_commas() -> None:
    drawn = exercises.get("weights-row").draw()
    assert "0,309" in drawn.solution("cs")
    assert "0.309" in drawn.solution("en")
    assert "v\u00a0tom" in drawn.question("cs")
    assert not re.search(r"\d\.\d", drawn.question("cs") + drawn.solution("cs"))
