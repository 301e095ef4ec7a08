"""How to answer: the line under a question, from what counts as an answer."""

from pozor.exercises.answers import Answer, Number, Tokens, Vector, endless
from pozor.exercises.sentences import Sentences
from pozor.exercises.words import many, say
from pozor.language import tied


def how_to_answer(answer: Answer | Sentences, lang: str) -> str:
    """One sentence: what is expected, and how many decimals."""
    return tied(_how(answer, lang), lang)


def places(digits: int, lang: str) -> str:
    """So many decimals, after `na` and `to`."""
    cs = ("desetinné místo", "desetinná místa", "desetinných míst")
    return many(digits, lang, cs, ("decimal", "decimals"))


def _how(answer: Answer | Sentences, lang: str) -> str:
    match answer:
        case Number():
            return _how_number(answer, lang)
        case Vector(values, digits):
            numbers = many(len(values), lang, ("číslo", "čísla", "čísel"), ("number", "numbers"))
            if digits is None:
                return say("ask_vector", lang, numbers=numbers) + (
                    say("or_infinite", lang) if any(map(endless, values)) else ""
                )
            return say("ask_vector_rounded", lang, numbers=numbers, places=places(digits, lang))
        case Tokens():
            return say("ask_tokens", lang)
        case Sentences():
            return say("ask_sentence", lang)


def _how_number(answer: Number, lang: str) -> str:
    first = answer.forms[0]
    if len(answer.forms) > 1:
        return say("ask_fall", lang)
    if answer.sized:
        return say("ask_size", lang)
    if "times" in first.units:
        return say("ask_ratio", lang)
    if first.digits is None:
        return say("ask_infinite" if endless(first.value) else "ask_exact", lang)
    key = "ask_share" if "%" in first.units else "ask_rounded"
    return say(key, lang, places=places(first.digits, lang))
