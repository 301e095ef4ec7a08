"""Ways to write the same answer, as learners do."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from pozor.exercises.answers import Answer, Form, Number, Tokens, Vector
from pozor.exercises.units import BYTES

NARROW = "\u202f"  # a narrow unbreakable space


def decimals(value: object, digits: int) -> str:
    """A number with so many decimals, half to even as Python does, far from a tie in every case here."""
    exact = Fraction(value)  # type: ignore[arg-type]
    return f"{Decimal(exact.numerator) / Decimal(exact.denominator):.{digits}f}"


def shortest(value: object) -> str:
    """An exact decimal without trailing zeros."""
    exact = Fraction(value)  # type: ignore[arg-type]
    text = f"{(Decimal(exact.numerator) / Decimal(exact.denominator)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def grouped(value: object, between: str) -> str:
    return f"{int(Fraction(value)):,}".replace(",", between)  # type: ignore[arg-type]


def of_form(form: Form) -> list[str]:
    """One form of a number in several spellings."""
    if "B" in form.units:
        return of_size(int(Fraction(form.value)))
    lead = {"by": "o ", "to": "na ", "": ""}[form.lead]
    if form.relative:
        value = decimals(form.value, 3)
        return [value, value.replace(".", ","), f"{value} ×", f"{value}krát", f"{value} times", f"≈ {value}"]
    if form.units == ("%",) or (form.lead == "to" and "%" in form.units):
        value = decimals(100 * Fraction(form.value), 1)
        return [f"{lead}{value} %", f"{value.replace('.', ',')}%", f"{lead}{value} procent"]
    if form.led:
        value = decimals(form.value, 3)
        return [f"na {value}", f"klesne na {value.replace('.', ',')}", f"to {value}"]
    digits = 9 if form.digits is None else form.digits
    value = shortest(form.value) if form.digits is None else decimals(form.value, digits)
    longer = (
        decimals(form.value, digits + 2)
        if form.digits is not None
        else f"{value}.0"
        if "." not in value
        else f"{value}0"
    )
    ways = [
        value,
        value.replace(".", ","),
        f"= {longer}",
        f" {longer.replace('.', ',')} .",
        value.replace("-", "−"),
    ]
    exact = Fraction(value)
    ways += [f"{value}.", f"asi {value}" if exact >= 0 else f"= {value}", f"({value})"]
    ways.append(f"{exact.numerator * 3}/{exact.denominator * 3}")
    if abs(exact) >= 1000 and exact.denominator == 1:
        ways += [
            grouped(exact, " "),
            grouped(exact, NARROW),
            grouped(exact, "'"),
        ]
    if abs(exact) >= 10**6 and exact.denominator == 1:  # with fewer digits one mark may be a decimal one
        ways += [grouped(exact, "."), grouped(exact, ",")]
    if "%" in form.units:
        ways += [f"{decimals(100 * exact, 1)} %", f"{decimals(100 * exact, 1).replace('.', ',')}{NARROW}%"]
    if "points" in form.units:
        ways.append(f"{lead}{decimals(100 * exact, 1)} p. b.")
    return ways


def of_size(size: int) -> list[str]:
    """A size in several units, to four figures at least."""
    ways = [f"{size} B", f"{grouped(size, ' ')} bajtů", f"{grouped(size, ',')} bytes"]
    for unit in ("KiB", "kB", "MiB", "MB", "GiB", "GB"):
        amount = Decimal(size) / BYTES[unit]
        if Decimal("0.001") <= amount:
            digits = max(0, 4 - amount.adjusted())
            ways += [f"{amount:.{digits}f} {unit}", f"{amount:.{digits}f}{unit.lower()}".replace(".", ",")]
    return ways


def of_vector(vector: Vector) -> list[str]:
    """Several numbers in several spellings."""

    def text(value: object) -> str:
        if math.isinf(value):  # type: ignore[arg-type]
            return "∞" if value > 0 else "-∞"  # type: ignore[operator]
        return shortest(value) if vector.digits is None else decimals(value, vector.digits)

    point = [text(value) for value in vector.values]
    comma = [number.replace(".", ",").replace("-", "−") for number in point]
    ways = [
        " ".join(point), " ".join(comma), "; ".join(comma), f"[{', '.join(point)}]", f"({';'.join(comma)})",
        f"out = [{NARROW.join(comma)}]", ", ".join(comma), " | ".join(point), "\t".join(point),
    ]  # fmt: skip
    if len(point) > 1:
        ways.append(",".join(point))
    return ways


def of_tokens(tokens: Tokens) -> list[str]:
    """Words in several orders, with and without diacritics."""
    from pozor.exercises.units import fold

    words = [tokens.words[i]["cs"] for i in sorted(tokens.chosen)]
    glosses = [tokens.words[i]["en"] for i in sorted(tokens.chosen)]
    return [
        "; ".join(words), " ".join(reversed(words)).capitalize(), ", ".join(map(fold, words)),
        " a ".join(words).upper(), f"„{'“ a „'.join(words)}“", " and ".join(glosses),
        f"[{', '.join(words)}].",
    ]  # fmt: skip


@pytest.fixture(scope="session")
def spellings() -> Callable[[Answer], list[str]]:
    """Ways to write an answer; each must be read as that answer."""

    def ways(answer: Answer) -> list[str]:
        match answer:
            case Number(forms):
                return [way for form in forms for way in of_form(form)]
            case Vector():
                return of_vector(answer)
            case Tokens():
                return of_tokens(answer) if answer.chosen else []

    return ways
