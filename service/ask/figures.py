"""The forms in which values of results stand in prose, and what keeps each one tied to its value."""

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from msgspec import Struct

from service.ask.cleaning import clean
from service.ask.evidence import Found, is_moment
from service.ask.hashes import is_hash, shortened
from service.ask.measures import Measure
from service.wire.ask import Step

NOT_KNOWN: Final = "not known"
_PERCENT: Final = 100
_FEWEST_DIGITS: Final = 2
_HEADS: Final = (("T", 12), ("B", 9), ("M", 6), ("k", 3))
_WINDOW: Final = re.compile(r"(\d+)(h|d)(?![a-z])")
_DATE: Final = len("2025-07-25")
_MINUTE: Final = len("2025-07-25T14:02")
_SECOND: Final = len("2025-07-25T14:02:10")


class Bound(Struct, frozen=True):
    """A piece of prose that is tied to a value: its text, and the step, the JSON pointer and the form it came by.

    Made by the functions of this module only; `step` is empty for what the question said.
    """

    text: str
    step: str
    pointer: str
    form: str


def _bound(found: Found, pointer: str, form: str, text: str) -> Bound:
    return Bound(text, found.step, pointer, form)


def _unknown(found: Found, pointer: str) -> Bound:
    return Bound(NOT_KNOWN, found.step, pointer, "missing")


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    exact = Decimal(repr(value) if isinstance(value, float) else str(value))
    return exact if exact.is_finite() else None


def _figure(found: Found, pointer: str, form: str) -> Bound:
    value = _decimal(found.get(pointer))
    return _unknown(found, pointer) if value is None else _bound(found, pointer, form, _SHOWN[form](value))


def exact(value: Decimal) -> str:
    """A number with all its digits, grouped by thousands, without trailing zeros or an exponent."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded(value: Decimal, decimals: int = 2) -> str:
    """A number to so many decimals, or to two significant digits where it is smaller, without trailing zeros.

    Zero has no sign; what is not zero never looks like zero.
    """
    least = max(decimals, _FEWEST_DIGITS - 1 - value.adjusted()) if value else decimals
    return exact(value.quantize(Decimal(1).scaleb(-least), ROUND_HALF_EVEN) + 0)


def _signed(text: str) -> str:
    return text if text.startswith("-") or text == "0" else f"+{text}"


def _short(value: Decimal) -> str:
    for letter, power in _HEADS:
        if abs(value) >= Decimal(1).scaleb(power):
            return f"{rounded(value.scaleb(-power))}{letter}"
    return rounded(value)


def _dollars(text: str) -> str:
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"


def _moved(value: Decimal) -> str:
    if not value:
        return "unchanged"
    return f"{'up' if value > 0 else 'down'} {rounded(abs(value))} %"


_SHOWN: Final[Mapping[str, Callable[[Decimal], str]]] = {
    "usd": lambda value: _dollars(exact(value)),
    "big_usd": lambda value: _dollars(_short(value)),
    "cents": lambda value: _dollars(rounded(value)),
    "size_usd": lambda value: _dollars(rounded(abs(value))),
    "percent": lambda value: f"{rounded(value)} %",
    "signed": lambda value: f"{_signed(rounded(value))} %",
    "size": lambda value: f"{rounded(abs(value))} %",
    "moved": _moved,
    "points": lambda value: f"{_signed(rounded(value))} points",
    "share": lambda value: f"{rounded(value * _PERCENT)} %",
    "number": rounded,
    "signed_number": lambda value: _signed(rounded(value)),
    "count": exact,
    "days": lambda value: _with_noun(exact(value), "day", "days"),
    "hours": lambda value: _with_noun(exact(value), "hour", "hours"),
    "quantity": lambda value: rounded(value, max(0, 7 - value.adjusted()) if value else 0),
    "exact": exact,
    "place": lambda value: _place(int(value)),
}


_USUAL: Final[Mapping[Measure, str]] = {
    Measure.USD: "usd",
    Measure.CENTS: "cents",
    Measure.PERCENT: "signed",
    Measure.POINTS: "points",
    Measure.SHARE: "share",
    Measure.NUMBER: "signed_number",
    Measure.COUNT: "count",
    Measure.DAYS: "days",
    Measure.HOURS: "hours",
    Measure.QUANTITY: "quantity",
    Measure.PLACE: "place",
}


def _with_noun(text: str, one: str, many: str) -> str:
    return f"{text} {one if text == '1' else many}"


def _place(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def usd(found: Found, pointer: str) -> Bound:
    """A price: `$67,123.4`, with the payload's own digits."""
    return _figure(found, pointer, "usd")


def big_usd(found: Found, pointer: str) -> Bound:
    """A large amount: `$1.24B`."""
    return _figure(found, pointer, "big_usd")


def cents(found: Found, pointer: str) -> Bound:
    """An amount that was computed or named: `$1,234.57`."""
    return _figure(found, pointer, "cents")


def size_usd(found: Found, pointer: str) -> Bound:
    """An amount without its sign, where the words before it say which way it goes."""
    return _figure(found, pointer, "size_usd")


def percent(found: Found, pointer: str) -> Bound:
    """A percentage: `8.76 %`, `-3.2 %`."""
    return _figure(found, pointer, "percent")


def signed(found: Found, pointer: str) -> Bound:
    """A percentage with its sign: `+8.76 %`."""
    return _figure(found, pointer, "signed")


def size(found: Found, pointer: str) -> Bound:
    """A percentage without its sign, where the words before it say which way it goes."""
    return _figure(found, pointer, "size")


def moved(found: Found, pointer: str) -> Bound:
    """A change in words: `up 3.2 %`, `down 3.2 %`, `unchanged`."""
    return _figure(found, pointer, "moved")


def points(found: Found, pointer: str) -> Bound:
    """Percentage points: `+1.2 points`."""
    return _figure(found, pointer, "points")


def share(found: Found, pointer: str) -> Bound:
    """Something from 0 to 1: `62 %`."""
    return _figure(found, pointer, "share")


def number(found: Found, pointer: str) -> Bound:
    """A number without a unit: `0.83`."""
    return _figure(found, pointer, "number")


def signed_number(found: Found, pointer: str) -> Bound:
    """A number with its sign: `+2.5`."""
    return _figure(found, pointer, "signed_number")


def count(found: Found, pointer: str) -> Bound:
    """A count: `1,234`."""
    return _figure(found, pointer, "count")


def counted(found: Found, pointer: str, one: str, many: str) -> Bound:
    """A count and what is counted: `12 coins`, `1 coin`."""
    plain = count(found, pointer)
    text = plain.text if plain.form == "missing" else _with_noun(plain.text, one, many)
    return _bound(found, pointer, plain.form, text)


def length(found: Found, pointer: str) -> Bound:
    """How many things a list holds."""
    return _bound(found, pointer, "length", exact(Decimal(found.size(pointer))))


def days(found: Found, pointer: str) -> Bound:
    """A number of days: `12 days`."""
    return _figure(found, pointer, "days")


def hours(found: Found, pointer: str) -> Bound:
    """A number of hours: `8 hours`."""
    return _figure(found, pointer, "hours")


def quantity(found: Found, pointer: str) -> Bound:
    """So much of a coin, to eight digits: `0.00712345`."""
    return _figure(found, pointer, "quantity")


def amount(found: Found, pointer: str) -> Bound:
    """So much of a token, with all its digits: `1,234.567890123456789012`."""
    return _figure(found, pointer, "exact")


def place(found: Found, pointer: str) -> Bound:
    """How far into a recording: `12:34`, `1:02:03`."""
    return _figure(found, pointer, "place")


def date(found: Found, pointer: str) -> Bound:
    """A date, or the UTC date of an instant: `2025-07-25`."""
    return _moment(found, pointer, "date", _DATE)


def instant(found: Found, pointer: str) -> Bound:
    """An instant to the minute: `2025-07-25 14:02 UTC`."""
    return _moment(found, pointer, "instant", _MINUTE)


def as_of(found: Found) -> Bound:
    """When the oldest input of a step was observed, to the second; `not known` where it has none."""
    if found.as_of is None:
        return _unknown(found, "")
    return _bound(found, "", "as_of", f"{found.as_of[:_DATE]} {found.as_of[_DATE + 1 : _SECOND]} UTC")


def since(found: Found) -> Bound:
    """The instant from which on a step was to tell, an argument of it: `2025-07-21 00:00 UTC`."""
    return Bound(_told(str(found.args.get("since")), _MINUTE), found.step, "/since", "since")


def _moment(found: Found, pointer: str, form: str, length: int) -> Bound:
    value = found.get(pointer)
    if not isinstance(value, str) or not is_moment(value):
        return _unknown(found, pointer)
    return _bound(found, pointer, form, _told(value, length))


def _told(moment: str, length: int) -> str:
    shown = moment[:length] if len(moment) > _DATE else moment
    return f"{shown[:_DATE]} {shown[_DATE + 1 :]} UTC" if len(shown) > _DATE else shown


def window(found: Found, pointer: str) -> Bound:
    """The time that a field's name speaks of: `24 h` of `change_24h`.

    Raises:
        LookupError: If the name speaks of none: a defect.
    """
    at = _WINDOW.search(pointer.rpartition("/")[2])
    if at is None:
        raise LookupError(f"{pointer} speaks of no time")
    return _bound(found, pointer, "window", f"{at[1]} {at[2]}")


def quote(found: Found, pointer: str) -> Bound:
    """A string of a result, word for word but for markup."""
    value = found.get(pointer)
    if not isinstance(value, str):
        return _unknown(found, pointer)
    return _bound(found, pointer, "quote", clean(value))


def address(found: Found, pointer: str) -> Bound:
    """An address or a hash, shortened to its ends where that tells it from every other one of the result."""
    value = found.get(pointer)
    if not isinstance(value, str) or not is_hash(value) or shortened(value).lower() in found.twins:
        return quote(found, pointer)
    return _bound(found, pointer, "address", shortened(value))


def shown(found: Found, pointer: str) -> Bound:
    """Whatever it is, in the form of its unit: a number signed, a string word for word."""
    if isinstance(found.get(pointer), str):
        return quote(found, pointer)
    return _figure(found, pointer, _USUAL[found.kind(pointer).measure])


def failure(step: Step) -> Bound:
    """Why a step failed."""
    return Bound(clean(step.error or ""), step.id, "", "failure")


def field(found: Found, name: str) -> Bound:
    """The name of a field or a source of a result: inline code."""
    return Bound(f"`{clean(name)}`", found.step, "", "field")


def said(text: str) -> Bound:
    """A name that the question holds, or that is offered in its place: inline code."""
    return Bound(f"`{clean(text)}`", "", "", "said")
