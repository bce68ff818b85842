"""Checks answers against the facts of their questions."""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tests.ask.banks.case import Case
from tests.ask.banks.facts import Facts

_NUMBER: Final = re.compile(
    r"(?<![\w.])[-+\u2212]?\$?[-+\u2212]?\d[\d,]*(?:\.\d+)?"
    r"(?:\s?(?:k|thousand|million|billion|trillion|[KMBT]|bn|mn)\b)?"
)
_PARTS: Final = re.compile(r"([-+]*)(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_SCALES: Final = {
    "": 1.0, "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9,
    "t": 1e12, "trillion": 1e12,
}  # fmt: skip
_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_NONE: Final = r"\b(no|none|not any|nothing)\b"
_ROUNDED: Final = 0.004
"""Share by which a number may be rounded away from its value."""


class Number(NamedTuple):
    """A number of a text, and how far the value behind it may be."""

    text: str
    value: float
    slack: float


def numbers(text: str) -> list[Number]:
    """All numbers of a text."""
    return [_number(match, text[match.end() : match.end() + 8]) for match in _NUMBER.finditer(text)]


def _number(match: re.Match[str], after: str) -> Number:
    plain = match[0].replace("\u2212", "-").replace("$", "").replace(",", "")
    parts = _PARTS.match(plain)
    assert parts is not None, plain
    scale = _SCALES[parts[3].lower()]
    decimals = len(parts[2].partition(".")[2])
    percent = re.match(r"\s?(%|points)", after) is not None
    value = float(parts[2]) * scale * (-1 if "-" in parts[1] else 1)
    return Number(match[0], value, max(0.51 * 10**-decimals * scale, 0.06 if percent else 0))


def faults(case: Case, text: str, facts: Facts) -> list[str]:
    """What an answer does not say of the facts of its question, or says that it should not."""
    missing = [f"{fact} = {value}" for fact in case.facts if not says(text, value := facts.evaluate(fact))]
    listed = (name for fact in case.absent for name in _listed(facts.evaluate(fact)))
    unwanted = [name for name in listed if _at(text, name, re.IGNORECASE) >= 0]
    return missing + [f"names {name}" for name in unwanted]


def _listed(value: Any) -> list[str]:
    return [name for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)]


def says(text: str, value: Any) -> bool:
    """Whether a text says a value: a yes or no first, a number rounded, a word, or tickers in their order."""
    if isinstance(value, bool):
        first = re.split(r"(?<=[.!?])\s|\n", text.strip())[0]
        return re.match(r"yes\b" if value else r"no\b|none\b|not\b", first.strip("* "), re.IGNORECASE) is not None
    if isinstance(value, int | float):
        return _counts(text, value)
    if isinstance(value, list):
        names = [each for each in value if isinstance(each, str)]
        return _in_order(text, names) and all(says(text, each) for each in value if not isinstance(each, str))
    assert isinstance(value, str), value
    return _names(text, value)


def _counts(text: str, value: float) -> bool:
    if any(abs(abs(each.value) - abs(value)) <= max(each.slack, abs(value) * _ROUNDED) for each in numbers(text)):
        return True
    if value == 0 and re.search(_NONE, text.lower()):
        return True
    return value in range(len(_WORDS)) and re.search(rf"\b{_WORDS[int(value)]}\b", text.lower()) is not None


def _names(text: str, name: str) -> bool:
    return name.lower() in text.lower()


def _at(text: str, name: str, flags: int = 0) -> int:
    """Where a name stands first; negative: nowhere."""
    found = re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text, flags)
    return found.start() if found else -1


def _in_order(text: str, symbols: Sequence[str]) -> bool:
    places = [_at(text, symbol) for symbol in symbols]
    return -1 not in places and places == sorted(places)
