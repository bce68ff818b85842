"""Numbers as people write them: `10k`, `1,000.50`, "two and a half", "a couple of". Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from service.ask.parser.tokens import Token

_WRITTEN: Final = re.compile(
    r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,12})?)(k|thousand|m|mm|mn|mil|mio|million|b|bn|billion)?\Z"
)
_SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "grand": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "mil": 1e6, "mio": 1e6, "million": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "hundred": 1e2,
}  # fmt: skip
_ONES: Final = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty
"""
_SPELLED: Final = {word: number for number, word in enumerate(_ONES.split(), start=1)} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "dozen": 12,
}
_LOOSE: Final = {"a": 1.0, "an": 1.0, "couple": 2.0, "few": 3.0, "half": 0.5, "single": 1.0}


class Number(NamedTuple):
    """A number in a text: its value, how many words it takes, whether digits or number words write it, its suffix."""

    value: float
    size: int
    exact: bool
    scaled: bool = False


def number_at(tokens: Sequence[Token], at: int) -> Number | None:
    """The number that begins at a word; null where none does."""
    token = tokens[at]
    written = _WRITTEN.match(token.name) if token.is_number else None
    if written is not None:
        value = float(written[1].replace(",", "")) * _SCALES.get(written[2] or "", 1)
        number = _scaled(tokens, at + 1, value, 1, scaled=written[2] is not None)
        return _and_a_half(tokens, at, number)
    if token.word in _SPELLED:
        number = _scaled(tokens, at + 1, float(_SPELLED[token.word]), 1, scaled=False)
        return _and_a_half(tokens, at, number)
    return None


def loosely_at(tokens: Sequence[Token], at: int) -> Number | None:
    """The number that begins at a word, also one that an article or "a few" stands for."""
    exact = number_at(tokens, at)
    if exact is not None or tokens[at].word not in _LOOSE:
        return exact
    value, size = _LOOSE[tokens[at].word], 1
    if tokens[at].word in {"a", "an"} and _word(tokens, at + 1) in _LOOSE:
        value, size = _LOOSE[_word(tokens, at + 1)], 2
    elif tokens[at].word == "half" and _word(tokens, at + 1) in {"a", "an"}:
        size = 2
    if _word(tokens, at + size) == "of":
        size += 1
    return Number(value, size, exact=False)


def _scaled(tokens: Sequence[Token], at: int, value: float, size: int, *, scaled: bool) -> Number:
    scale = _SCALES.get(_word(tokens, at)) if len(_word(tokens, at)) > 1 else None
    if scale is None:
        return Number(value, size, exact=True, scaled=scaled)
    return Number(value * scale, size + 1, exact=True, scaled=True)


def _and_a_half(tokens: Sequence[Token], at: int, number: Number) -> Number:
    ahead = [_word(tokens, at + number.size + step) for step in range(3)]
    if ahead == ["and", "a", "half"]:
        return number._replace(value=number.value + 0.5, size=number.size + 3)
    return number


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].word if at < len(tokens) else ""
