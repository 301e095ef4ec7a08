"""The units a learner may write, and words around a number that say nothing more."""

import re
import unicodedata
from fractions import Fraction

# one spelling each; the others are folded into it
BYTES = {"B": 1} | {
    f"{prefix}{middle}B": (1024 if middle else 1000) ** power
    for power, letter in enumerate("KMGTP", 1)
    for middle, prefix in (("i", letter), ("", "k" if letter == "K" else letter))
}
_WORDS = {
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "tebi": "Ti",
}
_COUNTS = (
    (r"tis(\.|ic\w*)?|thousands?", 10**3),
    (r"mil(\.|ion\w*)|millions?", 10**6),
    (r"mld\.?|miliard\w*|billions?", 10**9),
)
LEADS = {"o": "by", "by": "by", "na": "to", "to": "to"}
# what may stand before or after a number without changing it
_BESIDE = """
asi cca circa about approx approximately zhruba priblizne skoro okolo kolem around roughly je is the
vyjde vychazi klesne klesla kleslo falls fell drops of from po celkem total vysledek result deli se delim
divide divided cisel cisla cislo numbers number skore scores score soucet sum zbude zbyde stays left mene
mensi min less smaller lower vic vice more larger vetsi tj takze so it its
"""
POSSIBLE = frozenset(_BESIDE.split())


def fold(text: str) -> str:
    """Text without diacritics and case."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in apart if not unicodedata.combining(c)).casefold()


def unit_of(rest: str) -> tuple[str | None, Fraction]:
    """(unit, factor) of what follows a number; the unit is None where nobody knows it.

    Units: "" none, "%" (factor 1/100), "points" of per cent, "times", or a key of BYTES with its bytes.
    """
    text = rest.strip(" .,;!")
    folded = fold(text)
    for pattern, factor in _COUNTS:
        match = re.match(rf"({pattern})(?=\W|$)", folded)
        if match:
            unit, more = unit_of(folded[match.end() :])
            return unit, factor * more
    if re.match(r"(p\. ?b\b|pb\b|pp\b|%? ?procentni\w* bod|percentage points?|p\.p)", folded):
        return "points", Fraction(1, 100)
    if re.match(r"(%|procent\w*|per ?cent|pct\b)", folded):
        return _alone("%", Fraction(1, 100), re.sub(r"^(%|procent\w*|per ?cent|pct)", "", folded))
    if re.match(r"(\*|x\b|krat\b|times\b|-?fold\b|-?nasob\w*)", folded):
        return _alone("times", 1, re.sub(r"^(\*|x|krat|times|-?fold|-?nasob\w*)", "", folded))
    first, _, others = text.partition(" ")
    unit = _bytes(first)
    if unit:
        return _alone(unit, BYTES[unit], fold(others))
    return _alone("", 1, folded)


def _alone(unit: str, factor: int | Fraction, others: str) -> tuple[str | None, Fraction]:
    """The unit, if the words that follow say nothing more."""
    return (unit if set(re.findall(r"\w+", others)) <= POSSIBLE else None), Fraction(factor)


def _bytes(word: str) -> str | None:
    folded = fold(word).rstrip(".,;")
    match = re.fullmatch(r"(kilo|mega|giga|tera|kibi|mebi|gibi|tebi)?-?(?:bajt\w*|bytes?)", folded)
    if match:
        letters = _WORDS.get(match[1] or "", "")
        return f"{letters}B"
    return {unit.casefold(): unit for unit in BYTES}.get(folded)
