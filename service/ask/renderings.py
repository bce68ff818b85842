"""Whether a numeral of a text is a permitted rendering of a value."""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Final

from service.ask.directions import Way
from service.ask.evidence import Fact
from service.ask.measures import CHANGES_SIGN, Kind, Measure
from service.ask.numerals import Numeral

_UNITS: Final[Mapping[Measure, frozenset[str]]] = {
    Measure.USD: frozenset({"usd"}),
    Measure.CENTS: frozenset({"usd"}),
    Measure.PERCENT: frozenset({"percent"}),
    Measure.POINTS: frozenset({"points"}),
    Measure.SHARE: frozenset({"percent", ""}),
    Measure.NUMBER: frozenset({"", "ordinal"}),
    Measure.COUNT: frozenset({""}),
    Measure.DAYS: frozenset({"days", ""}),
    Measure.HOURS: frozenset({"hours", ""}),
    Measure.QUANTITY: frozenset({""}),
    Measure.PLACE: frozenset({"place"}),
}
_WHOLE: Final = frozenset({Measure.COUNT, Measure.DAYS, Measure.HOURS, Measure.PLACE})
_EXACT: Final = Context(prec=400)
"""Digits enough for any float and any figure that is read (`numerals.LONGEST`)."""

_FUNDING: Final = frozenset({"funding"})
_HUNDREDTH: Final = Decimal("0.01")
_PERCENT: Final = 100
_RECEIVED_BY_LONGS: Final = frozenset({"carry_if_long", "long_usd"})


def magnitude(fact: Fact, unit: str) -> Decimal:
    """A value as it is shown with that unit, without its sign."""
    value = abs(_exactly(fact))
    is_share = fact.kind is not None and fact.kind.measure is Measure.SHARE
    return value * _PERCENT if is_share and unit == "percent" else value


def _exactly(fact: Fact) -> Decimal:
    return fact.value if isinstance(fact.value, Decimal) else Decimal(repr(fact.value))


def is_shown_as(numeral: Numeral, fact: Fact, kind: Kind) -> bool:
    """Whether a numeral's digits and unit are those of a value.

    Prices may be rounded to three significant digits or more, what is measured in percent to two decimals; counts and
    days may not be rounded. What is not zero never shows as zero.
    """
    if numeral.unit not in _UNITS[kind.measure]:
        return False
    if numeral.unit == "ordinal" and "percentile" not in fact.pointer:
        return False
    value = magnitude(fact, numeral.unit)
    if numeral.sign and kind.measure in _WHOLE:
        return False
    if numeral.value == value:
        return True
    if kind.measure in _WHOLE or not numeral.value:
        return False
    # Trailing zeros are cut, so few digits may be those of a finer rounding; many digits must all be right.
    step = min(numeral.step, _coarsest(value, kind.measure))
    return any(numeral.value == value.quantize(step, way, _EXACT) for way in (ROUND_HALF_EVEN, ROUND_HALF_UP))


def _coarsest(value: Decimal, measure: Measure) -> Decimal:
    """The last digit that a rounding must have: the third one of money, the sixth of an amount, else hundredths."""
    if measure is Measure.USD:
        return Decimal(1).scaleb(value.adjusted() - 2)
    if measure is Measure.QUANTITY:
        return Decimal(1).scaleb(value.adjusted() - 5)
    return _HUNDREDTH


def has_sign(numeral: Numeral, fact: Fact, kind: Kind, said: Way, paid: Way) -> bool:
    """Whether the sign that is shown or said is the value's.

    Args:
        numeral: As it is written.
        fact: The value.
        kind: What it measures.
        said: Which way the words around it go.
        paid: Who is said to pay.
    """
    value = _exactly(fact)
    is_paid = kind.about == _FUNDING
    if is_paid and paid and value and paid != _payer(fact, value):
        return False
    if numeral.sign:
        return (numeral.sign == "-") == (value < 0)
    if value < 0:
        return said < 0 or bool(paid and is_paid)
    is_change = bool(kind.about & CHANGES_SIGN) or kind.measure is Measure.POINTS
    return not (value and is_change and said < 0) or "Drawdown" in fact.pointer


def _payer(fact: Fact, value: Decimal) -> int:
    """Who pays by a value: of funding longs where it is positive, of what a side receives that side where negative."""
    key = fact.pointer.rpartition("/")[2]
    sign = 1 if value > 0 else -1
    if key in _RECEIVED_BY_LONGS:
        return -sign
    return sign
