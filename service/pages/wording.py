"""Template filters: the text of `service.formats` with HTML typography, and a dash for unknown values."""

from collections.abc import Callable, Mapping
from functools import partial
from html import unescape
from typing import Any, Concatenate, Final, ParamSpec
from urllib.parse import quote

from service import formats
from service.clock import SECOND_MS, iso, parse_iso

UNKNOWN: Final = "\u2013"

_TYPOGRAPHY: Final = str.maketrans({"-": "\u2212", " ": "\u202f"})
"""A true minus, as wide as a plus, and a narrow space that does not break between a number and its unit."""

P = ParamSpec("P")


def typeset(write: Callable[Concatenate[Any, P], str]) -> Callable[Concatenate[Any, P], str]:
    """A filter that writes numbers with HTML typography and a dash where the value is not known."""

    def filtered(value: Any, /, *args: P.args, **kwargs: P.kwargs) -> str:
        return UNKNOWN if value is None else write(value, *args, **kwargs).translate(_TYPOGRAPHY)

    return filtered


def rule_value(value: object, rule_id: str) -> str:
    """The input of a rule: a name as it is, funding in percent a year, another number as it is."""
    if isinstance(value, float | int):
        text = formats.change(value) if rule_id.startswith("funding") else formats.price(value)
        return text.translate(_TYPOGRAPHY)
    return UNKNOWN if value is None else str(value)


def age(milliseconds: int) -> str:
    """How old something is: `12 s`, `3 min`, `5 h`, `4 days`."""
    return formats.duration(milliseconds / SECOND_MS)


def seconds(instant: str) -> int:
    """An instant as epoch seconds, for charts."""
    return parse_iso(instant) // SECOND_MS


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "price": typeset(formats.price),
    "money": typeset(formats.money),
    "change": typeset(formats.change),
    "points": typeset(partial(formats.change, unit="")),
    "rate": typeset(partial(formats.change, decimals=1)),
    "percent": typeset(formats.percent),
    "share": typeset(formats.share),
    "number": typeset(formats.number),
    "rule_name": formats.rule,
    "rule_value": rule_value,
    "day": formats.day,
    "moment": formats.short_moment,
    "age": typeset(age),
    "label": formats.label,
    "in_path": partial(quote, safe=""),
    "iso": iso,
    "unescaped": unescape,
    "seconds": seconds,
}
