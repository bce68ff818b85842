"""Numerals of answers that stand neither in a result nor in the query."""

import re
from collections.abc import Iterator
from typing import Any, Final

from service.clock import iso
from tests.ask.banks.check import numbers

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?")
_LEFT_OUT: Final = re.compile(r"(?<=, )\S+ and \d+ more(?=; as of|\.)")
"""How many sources are not named."""
_EARLIEST_MS: Final = 1_000_000_000_000
"""Larger numbers of a result may be instants."""


def unbound(text: str, found: Any) -> list[str]:
    """Numerals of a text that nothing stands behind.

    Args:
        text: The answer.
        found: Queries and results, as they are answered beside it.
    """
    held = [*_held(found), *_lengths(text)]
    strings = [each for each in held if isinstance(each, str)]
    values = [abs(float(each)) for each in held if not isinstance(each, str)]
    dates = {iso(int(value))[:16].replace("T", " ") for value in values if _EARLIEST_MS < value < 4 * _EARLIEST_MS}
    known = {*dates, *(date.replace("T", " ") for string in strings for date in _DATE.findall(string))}
    missing = [
        date for date in _DATE.findall(text) if not any(each.startswith(date.replace("T", " ")) for each in known)
    ]
    rest = _plain(_LEFT_OUT.sub(" ", _DATE.sub(" ", text)))
    undated = {_plain(_DATE.sub(" ", each)).strip() for each in strings}
    for string in sorted((each for each in undated if re.search(r"\d", each)), key=len, reverse=True):
        rest = re.sub(rf"(?<![\w.,]){re.escape(string)}(?!\w|[.,]\d)", " ", rest)
    scaled = [*values, *(value * 100 for value in values)]
    return missing + [
        number.text
        for number in numbers(rest)
        if not any(abs(abs(number.value) - value) <= number.slack + 1e-9 * value for value in scaled)
    ]


def _plain(text: str) -> str:
    """Text without the marks that answers take out of other people's words."""
    return re.sub(r"[`'\"*|]", "", text)


def _lengths(text: str) -> Iterator[float]:
    """How many rows each table has: "Shown: 10 of 34"."""
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        yield table.count("\n|") - 1


def _held(value: Any) -> Iterator[float | str]:
    """Numbers, strings, and lengths of lists."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _held(each)
    elif isinstance(value, list):
        yield len(value)
        for each in value:
            yield from _held(each)
    elif isinstance(value, str | int | float):
        yield value
