"""How a number is written: digits as the reader chose them, the decimal mark of the language."""

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np

from pozor.errors import DtypeError, OptionError
from pozor.language import decimal
from pozor.working.records import Number

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
LONGEST = 17
FIGURES = 3  # a number that is worked on keeps at least so many
WIDE = Context(prec=1500)  # holds every float64 and every product of exact decimals


@dataclass(frozen=True)
class Written:
    """A number as text, and whether the text is the exact value."""

    text: str
    exact: bool


@dataclass(frozen=True)
class Numbers:
    """Writes numbers in `lang` with up to `digits` decimals; None: every digit there is.

    With `measured` a small number of which the decimals would leave fewer than three figures gets one more
    decimal, and where that is too little a power of ten: the numbers of a model are multiplied on, and by
    hand that needs figures, not decimals.
    """

    digits: int | None
    lang: str
    measured: bool = False

    def __post_init__(self):
        if self.digits is None:
            return
        if not isinstance(self.digits, int) or isinstance(self.digits, bool):
            raise DtypeError(f"digits must be a whole number or None; got {type(self.digits).__name__}.")
        if not 1 <= self.digits <= LONGEST:
            raise OptionError(f"digits must be from 1 to {LONGEST}, or None for all; got {self.digits}.")

    def write(self, value: Number, places: int | None = None) -> Written:
        """`value` with at most `digits` decimals; with `places` exactly that many, zeros included."""
        if not math.isfinite(value):
            text = "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
            return Written(text, True)
        whole = shortest(value)
        if self.digits is None:
            long = not isinstance(value, Decimal) and len(whole.normalize().as_tuple().digits) > 15
            if whole != 0 and not -LONGEST <= whole.adjusted() <= LONGEST:
                return self._scientific(whole, len(whole.as_tuple().digits))
            return Written(self._spell(_plain(whole)), not long)
        missing = self._missing(whole)
        if missing > 1 or abs(whole) >= 10**7:
            return self._scientific(whole, self._figures)
        rounded = self.shown(value)
        if missing:
            return Written(self._spell(f"{rounded:f}"), False)
        exact = rounded == whole
        if places is None:
            return Written(self._spell(_plain(rounded) if exact else f"{rounded:f}"), exact)
        return Written(self._spell(f"{_rounded(whole, places):f}"), exact)

    def _missing(self, whole: Decimal) -> int:
        """The figures that the decimals leave too few; all where they leave none."""
        assert self.digits is not None
        rounded = _rounded(whole, self.digits)
        if rounded == whole:
            return 0
        if rounded == 0:
            return self._figures + 1
        if not self.measured:
            return 0
        # of the number itself: 0.00975 has three figures to keep, although its three decimals say 0.010
        order = Decimal(f"{whole:.{self._figures - 1}e}").adjusted()
        return max(0, self._figures - self.digits - 1 - order)

    def shown(self, value: Number) -> Decimal:
        """The number that a reader sees where `value` is written with `digits`."""
        whole = shortest(value)
        if self.digits is None:
            return whole
        missing = self._missing(whole)
        if missing > 1:
            return Decimal(f"{whole:.{self._figures - 1}e}")
        return _rounded(whole, self.digits + missing)

    def places(self, values: "np.ndarray | list[Number]") -> int | None:
        """The decimals a column of these numbers needs, so that their marks stand under each other."""
        if self.digits is None:
            return None
        needed = 0
        for value in values:
            if math.isfinite(value):
                rounded = _rounded(shortest(value), self.digits)
                exponent = rounded.normalize().as_tuple().exponent
                exact = rounded == shortest(value)
                needed = max(needed, self.digits if not exact else -min(int(exponent), 0))
        return needed

    def count(self, value: int) -> str:
        """A whole number with its thousands grouped."""
        return f"{value:,}".replace(",", "\u00a0" if self.lang == "cs" else ",").replace("-", "−")

    def rough(self, value: float) -> str:
        """Two significant digits, for sizes of errors."""
        if value == 0 or not math.isfinite(value):
            return self.write(value).text
        if 0.01 <= abs(value) < 100:
            return self._spell(f"{Decimal(f'{value:.1e}'):f}")
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{self._spell(mantissa)}·10{str(int(exponent)).translate(SUPERSCRIPTS)}"

    def percent(self, value: float) -> str:
        """A share in whole percent, below 10 % with one decimal."""
        number = 100 * value
        text = (
            f"{number:.0f}" if number >= 9.95 or number == 0 else f"{number:.1f}" if number >= 0.1 else "<0.1"
        )
        return f"{self._spell(text)}\u00a0%" if self.lang == "cs" else f"{text}\u00a0%"

    @property
    def between(self) -> str:
        """What stands between two numbers: a semicolon where the comma is the decimal mark."""
        return "; " if self.lang == "cs" else ", "

    def scientific(self, value: Number) -> Written:
        """`value` as a number times a power of ten."""
        return self._scientific(shortest(value), FIGURES)

    @property
    def _figures(self) -> int:
        return FIGURES if self.digits is None else min(self.digits, FIGURES)

    def _scientific(self, whole: Decimal, figures: int) -> Written:
        mantissa, exponent = f"{whole:.{figures - 1}e}".split("e")
        return Written(f"{self._spell(mantissa)}·10{str(int(exponent)).translate(SUPERSCRIPTS)}", False)

    def _spell(self, text: str) -> str:
        return decimal(text, self.lang).replace("-", "−")


def shortest(value: Number) -> Decimal:
    """The decimal itself; of a float64 the shortest digits that name it, as a program prints it."""
    return value if isinstance(value, Decimal) else Decimal(repr(float(value)))


def _rounded(whole: Decimal, decimals: int) -> Decimal:
    return whole.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, WIDE)


def _plain(value: Decimal) -> str:
    """Without trailing zeros and without an exponent."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
