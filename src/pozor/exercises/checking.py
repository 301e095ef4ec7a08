"""The checker: an answer as typed against what is right and what the usual mistakes give."""

import functools
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from pozor.exercises.answers import CLOSE, RIGHT, ROUGH, Answer, Number, Vector
from pozor.exercises.prose import TEXTS
from pozor.exercises.reading import Quantity, Unread
from pozor.exercises.sentences import Sentences
from pozor.exercises.words import say
from pozor.language import tied

if TYPE_CHECKING:
    from pozor.exercises.drawing import Drawn, Verdict


@functools.cache
def mistake_texts(lang: str) -> dict[str, str]:
    """Key -> the sentence of a mistake that several exercises share."""
    text = (TEXTS / f"mistakes.{lang}.md").read_text(encoding="utf-8")
    blocks = (block.partition("\n") for block in re.split(r"^## ", text, flags=re.M)[1:])
    return {key.strip(): body.strip() for key, _, body in blocks}


def check(drawn: "Drawn", typed: str, lang: str) -> "Verdict":
    """What there is to say of an answer."""
    answer = drawn.built.answer
    try:
        if isinstance(answer, Sentences):
            return _check_sentence(drawn, answer, answer.read(typed), lang)
        return _check_value(drawn, answer, answer.read(typed, lang), lang)
    except Unread as unread:
        key = _of_another_length(drawn, typed, lang) if unread.reason == "count" else None
        if key:
            return _verdict(False, key, drawn.mistake_text(key, lang), lang)
        return _verdict(False, None, say(unread.reason, lang, **unread.fields), lang)


def _check_value(drawn: "Drawn", answer: Answer, readings: list, lang: str) -> "Verdict":
    said = [answer.judge(reading) for reading in readings]
    for level in (RIGHT, CLOSE):
        for reading, verdict in zip(readings, said):  # the likeliest reading first
            if verdict == level == RIGHT:
                return _verdict(True, None, say(f"right_{answer.kind}", lang), lang)
            if verdict == level == CLOSE:
                return _verdict(False, "rounding", say("close", lang), lang)
            for key, mistake in drawn.mistakes.items():
                if mistake.judge(reading) == level:
                    return _verdict(False, key, drawn.mistake_text(key, lang), lang)
    if isinstance(answer, Number):
        slip = _unit_slip(answer, readings)
        if slip:
            return _verdict(False, slip, say(slip, lang), lang)
    if isinstance(answer, Vector) and any(answer.shuffled(reading) for reading in readings):
        return _verdict(False, "order", say("order", lang), lang)
    if ROUGH in said:
        sized = isinstance(answer, Number) and answer.forms[0].relative
        asked = say("size_rough" if sized else "digits_rough", lang)
        return _verdict(False, "rough", say("rough", lang, asked=asked), lang)
    return _verdict(False, None, say("other", lang), lang)


def _of_another_length(drawn: "Drawn", typed: str, lang: str) -> str | None:
    """The mistake that has as many numbers as were typed: all of them, where some were asked for."""
    for key, mistake in drawn.mistakes.items():
        if isinstance(mistake, Vector):
            with suppress(Unread):
                if any(mistake.judge(reading) == RIGHT for reading in mistake.read(typed, lang)):
                    return key
    return None


def _unit_slip(answer: Number, readings: list[Quantity]) -> str | None:
    """What is the matter with the unit, if that is all that is."""
    for got in readings:
        if answer.sized and got.unit == "":
            return "no_unit"
        if answer.unit_slip(got):
            return "unit_slip"
        percent = answer.percent_slip(got)
        if percent:
            return percent
        written = {form.lead for form in answer.forms if form.units and got.unit in form.units}
        bare = Quantity(got.value, got.step, got.unit)
        if got.lead and written and answer.judge(bare) == RIGHT:
            return "by_for_to"
        if got.unit and all(got.unit not in form.units for form in answer.forms):
            return "unit_not_asked"
    return None


def _check_sentence(drawn: "Drawn", answer: Sentences, parts: list[str], lang: str) -> "Verdict":
    keys = answer.found(parts)
    found = tuple(drawn.claim_text(key, lang) for key in keys)
    missed = tuple(drawn.claim_text(claim.key, lang) for claim in answer.claims if claim.key not in keys)
    slip = answer.slip(parts)
    fields = {"found": "; ".join(found), "missed": "; ".join(missed)}
    key = "right_sentence" if not missed else "part_sentence" if found else "none_sentence"
    message = drawn.mistake_text(slip, lang) if slip else say(key, lang, **fields)
    verdict = _verdict(not missed and slip is None, slip, message, lang)
    return type(verdict)(verdict.right, verdict.diagnosis, verdict.message, found, missed)


def _verdict(right: bool, diagnosis: str | None, message: str, lang: str) -> "Verdict":
    from pozor.exercises.drawing import Verdict

    return Verdict(right, diagnosis, tied(message, lang))
