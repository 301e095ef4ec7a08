"""What a learner typed, as exact numbers with a unit: a small grammar of its own, nothing is evaluated."""

import itertools
import math
import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from pozor.exercises.units import LEADS, POSSIBLE, fold, unit_of

LONGEST = 200  # characters of a number
BIGGEST = 400  # powers of ten
_DASHES = dict.fromkeys(map(ord, "−–—‐‑‒―﹣－"), "-")
_TIMES = dict.fromkeys(map(ord, "·⋅∙•×✕*"), "*")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_FENCES = str.maketrans("", "", "[](){}⟨⟩`")
_BODY = re.compile(r"\d[\d., ]*|[.,]\d+")
_INFINITE = re.compile(r"([-+]?) ?(?:∞|inf(?:inity)?\b|nekone[cč]no\b)", re.IGNORECASE)
_E = re.compile(r"(?:exp ?|e ?(?:\^|\*\*) ?)([-+]?\d+(?:[.,]\d+)?)(?![\d.,]*\d)|e(?![\w^*])")
_PLUS = re.compile(r" ?(\+) ?(?=[-\d√.,e])| (-) (?=[\d√.,e])")  # 3-4 may be a range
_NAME = re.compile(r"([a-zA-Z]) ?_?(\d)")
_PLENTY = Context(prec=60)


# a number, and its digits after the decimal mark (None: exact)
Read = tuple[Fraction, int | None]


class Unread(Exception):
    """The text is no answer of the kind asked for; `reason` is a key of `words.WORDS`."""

    def __init__(self, reason: str, **fields: object):
        super().__init__(reason)
        self.reason, self.fields = reason, fields


@dataclass(frozen=True)
class Quantity:
    """A number as it was written."""

    value: Fraction | float  # in the base unit: bytes, 1 for per cent; a float only where it is infinite
    step: Fraction | None  # what the last written digit is worth; None: exact, such as a fraction
    unit: str = ""  # of `units.unit_of`
    lead: str = ""  # "by" or "to": a fall by 83 % is a fall to 17 %


def plain(text: str) -> str:
    """Text with one kind of minus, of space, of multiplication sign; raised digits as ^n, ½ as 1/2."""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda raised: "^" + raised[0].translate(_RAISED), text)
    text = re.sub(r"(\d)([¼½¾⅐-⅞])", r"\1 \2", text)
    text = text.translate(_DASHES).translate(_TIMES)
    text = unicodedata.normalize("NFKC", text).replace("⁄", "/").replace("÷", "/")
    text = re.sub(r"(?<=\d)['’_](?=\d{3})", "", text)
    text = re.sub(r"\bm[ií]nus (?=[\d.,∞√]|inf|nekone)", "-", text, flags=re.IGNORECASE)
    return " ".join("".join(" " if c.isspace() or not c.isprintable() else c for c in text).split())


def read_number(text: str, lang: str) -> list[Quantity]:
    """The readings of one number with its unit, the likeliest first: 1,024 may be two things.

    Raises:
        Unread: It is none, or more than one, or a unit nobody knows.
    """
    if len(text) > LONGEST:
        raise Unread("too_long")
    text = plain(text).lstrip(" ;").rstrip(" .;")
    if not text:
        raise Unread("empty")
    text = re.sub(r"odmocnin\w+ ze? |(?:the )?(?:square )?root of |sqrt", "√", text, flags=re.IGNORECASE)
    text = re.sub(r"\be na (?=[-+]?\d)", "e^", text.translate(_FENCES))
    name = _NAME.fullmatch(text)
    if name and name[1] != "e":
        raise Unread("name", name=name[1] + name[2])
    endless = _INFINITE.search(text)
    if endless:
        if text.replace(endless[0], "", 1).strip(" =*"):
            raise Unread("words", words=_short(text))
        return [Quantity(-math.inf if endless[1] == "-" else math.inf, None)]
    start = re.search(r"[-+]? ?(?:√ ?)?(?:\d|[.,]\d|(?<!\w)(?:e(?![\w])|exp ?[-+]?\d))", text)
    if not start:
        raise Unread("no_number")
    before, rest = text[: start.start()], text[start.start() :]
    values, rest = _expression(rest, lang)
    if re.match(r" ?[=≈≐].*\d", rest):  # the working, and what comes of it
        return read_number(rest.lstrip(" =≈≐"), lang)
    if re.search(r"\d", before + rest):
        raise Unread("several")
    lead = _lead(before)
    unit, factor = unit_of(rest)
    if unit is None:
        raise Unread("words", words=_short(rest.strip()))
    return [
        Quantity(value * factor, None if places is None else factor / Fraction(10) ** places, unit, lead)
        for value, places in values
    ]


def read_vector(text: str, lang: str, length: int) -> list[list[Quantity]]:
    """The readings of several numbers, apart by spaces, semicolons or commas, in brackets or without.

    Raises:
        Unread: They are no numbers, or there are not `length` of them.
    """
    if len(text) > LONGEST * 4:
        raise Unread("too_long")
    text = plain(text)
    text = re.sub(r"^.*=|^\s*(np\.)?(array|tensor)", "", text).strip()
    text = re.sub(r"\^? ?T$", "", text).translate(_FENCES).lstrip().rstrip(" .")
    if not text:
        raise Unread("empty")
    text = re.sub(r"(?<=\d) +%", "%", text)
    text = re.sub(r"(?:(?<=\s)|^)([-+]) +(?=[\d.,∞])", r"\1", text)
    for pieces in _splits(text, length):
        if len(pieces) == length:
            return _together([read_number(piece, lang) for piece in pieces])
    pieces = _splits(text, length)[0]
    for piece in pieces:
        try:
            read_number(piece, lang)  # words are worth more of a sentence than a count
        except Unread as unread:
            if unread.reason != "several":
                raise
            raise Unread("apart") from None
    raise Unread("count", expected=length, came=len(pieces))


def _splits(text: str, length: int) -> list[list[str]]:
    """The ways to cut a line of numbers, the surest first."""
    if ";" in text or "|" in text or "\n" in text:
        return [[piece.strip(" ,") for piece in re.split(r"[;|\n]", text) if piece.strip(" ,")]]
    words = [word.strip(",") for word in re.sub(r"(?<=\s),|,(?=\s)", " ", text).split() if word.strip(",")]
    ways = [words]
    commas = [piece.strip() for piece in text.split(",") if piece.strip()]
    if len(commas) > 1 and not any(" " in piece for piece in commas):
        ways.append(commas)
        if len(commas) == 2 * length:  # 0,1,0,2: every other comma is a decimal mark
            ways.append([f"{a},{b}" for a, b in zip(commas[::2], commas[1::2])])
    return ways


def _together(readings: list[list[Quantity]]) -> list[list[Quantity]]:
    """Readings of the parts as readings of the whole: each mark is read alike throughout."""
    ways = [[options[0] for options in readings]]
    if any(len(options) > 1 for options in readings):
        ways.append([options[-1] for options in readings])
    last = readings[-1][0]
    if last.unit == "%" and all(options[0].unit == "" for options in readings[:-1]):
        ways += [[*map(_hundredth, way[:-1]), way[-1]] for way in ways]
    return ways


def _hundredth(quantity: Quantity) -> Quantity:
    return Quantity(quantity.value / 100, None if quantity.step is None else quantity.step / 100, "%")


def _expression(text: str, lang: str) -> tuple[list[Read], str]:
    """A sum of terms from the start of `text`; and what follows."""
    values, text = _term(text, lang)
    while operator := _PLUS.match(text):
        others, text = _term(text[operator.end() :], lang)
        sign = 1 if operator[1] else -1
        pairs = itertools.islice(itertools.product(values, others), 8)
        values = [_exactly(a + sign * b) for (a, _), (b, _) in pairs]
    return values, text


def _term(text: str, lang: str) -> tuple[list[Read], str]:
    """Products and quotients of numbers, powers and roots, from the start of `text`; and what follows."""
    sign = 1
    while text[:1] in "+- " and text:
        sign = -sign if text[0] == "-" else sign
        text = text[1:]
    mixed = re.match(r"(\d{1,6}) (\d{1,6}) ?/ ?(\d{1,6})(?![\d.,])", text)
    if mixed and not re.match(r"\d{1,3} \d{3} ?/", text):
        whole, top, bottom = map(int, mixed.groups())
        return [(sign * (whole + _over(Fraction(top), Fraction(bottom))), None)], text[mixed.end() :]
    values, text = _factor(text, lang)
    while operator := re.match(r" ?([*/:]|x(?= ?[\d√])) ?(?=[\d√.,e-])", text):
        after = text[operator.end() :]
        negative = after.startswith("-")
        others, text = _factor(after[1:] if negative else after, lang)
        if negative:
            others = [_exactly(-value) for value, _ in others]
        pairs = itertools.islice(itertools.product(values, others), 8)
        divides = operator[1] in "/:"
        values = [_exactly(_over(a, b) if divides else a * b) for (a, _), (b, _) in pairs]
    if any(value and abs(_magnitude(value)) > BIGGEST for value, _ in values):
        raise Unread("too_big")
    return [(sign * value, places) for value, places in values], text


def _factor(text: str, lang: str) -> tuple[list[Read], str]:
    root = text.startswith("√")
    text = text.lstrip("√ ")
    power_of_e = _E.match(text)
    if power_of_e:
        value = _exp(power_of_e[1] or "1")
        return [_exactly(_root(value) if root else value)], text[power_of_e.end() :]
    body = _BODY.match(text)
    if not body:
        raise Unread("no_number")
    written = body[0].rstrip(" .,")
    rest = text[len(written) :]
    values = _digits(written, lang)
    power = re.match(r"[eE]([-+]?\d+)(?![\d.,])", rest)
    raised = re.match(r" ?(?:\^|\*\*) ?([-+]?\d+)", rest)
    if power:
        exponent = _bounded(power[1])
        values = [_exactly(value * Fraction(10) ** exponent) for value, _ in values]
    elif raised:
        exponent = _bounded(raised[1])
        if exponent < 0 and any(value == 0 for value, _ in values):
            raise Unread("zero")
        if any(value and abs(_magnitude(value) * exponent) > BIGGEST for value, _ in values):
            raise Unread("too_big")
        values = [_exactly(value**exponent) for value, _ in values]
    if root:
        values = [_exactly(_root(value)) for value, _ in values]
    match = power or raised
    return values, rest[match.end() :] if match else rest


def _digits(written: str, lang: str) -> list[Read]:
    """`1 234,5`, `1,234.5`, `1.024`: the numbers that these digits may stand for."""
    if " " in written:
        if not re.fullmatch(r"\d{1,3}( \d{3})+([.,]\d+)?", written):
            raise Unread("several")
        written = written.replace(" ", "")
        return [_decimal(written.replace(",", "."))]
    marks = re.findall(r"[.,]", written)
    if not marks:
        return [_decimal(written)]
    mark = marks[-1]
    grouped = re.fullmatch(r"[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*", written)
    if len(set(marks)) == 2:
        other = marks[0]
        if marks.count(mark) > 1 or not re.fullmatch(rf"\d{{1,3}}(\{other}\d{{3}})+\{mark}\d+", written):
            raise Unread("no_number")
        return [_decimal(written.replace(other, "").replace(mark, "."))]
    if len(marks) > 1:
        if not grouped:
            raise Unread("several")
        return [_decimal(written.replace(mark, ""))]
    readings = [_decimal(written.replace(mark, "."))]
    if grouped:
        readings.append(_decimal(written.replace(mark, "")))
        if lang == "en" and mark == ",":
            readings.reverse()
    return readings


def _decimal(text: str) -> Read:
    return Fraction(text if text[0] != "." else "0" + text), len(text.partition(".")[2])


def _exactly(value: Fraction) -> Read:
    return value, None


def _bounded(exponent: str) -> int:
    if len(exponent.lstrip("+-0")) > 3 or abs(int(exponent)) > BIGGEST:
        raise Unread("too_big")
    return int(exponent)


def _exp(exponent: str) -> Fraction:
    power = Decimal(exponent.replace(",", "."))
    if abs(power) > BIGGEST:
        raise Unread("too_big")
    return Fraction(_PLENTY.exp(power))


def _over(top: Fraction, bottom: Fraction) -> Fraction:
    if bottom == 0:
        raise Unread("zero")
    return top / bottom


def _root(value: Fraction) -> Fraction:
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return Fraction(_PLENTY.sqrt(_PLENTY.divide(Decimal(value.numerator), Decimal(value.denominator))))


def _magnitude(value: Fraction) -> int:
    """About the power of ten."""
    return len(str(abs(value.numerator))) - len(str(value.denominator))


def _lead(before: str) -> str:
    words = fold(before).replace("=", " ").strip(" :~≈≐").split()
    found = [LEADS[word] for word in words if word in LEADS]
    unknown = [word for word in words if word not in LEADS and word not in POSSIBLE]
    if unknown and "=" not in before and ":" not in before:
        raise Unread("words", words=_short(before.strip()))
    return found[-1] if found else ""


def _short(words: str) -> str:
    return words if len(words) <= 24 else words[:23] + "…"
