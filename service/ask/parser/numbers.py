"""Numbers as people write them: `10k`, `1,000.50`, "two and a half". Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from service.ask.parser.tokens import Token

_WRITTEN: Final = re.compile(
    r"[\u20ac\u00a3]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,12})?)"
    r"(k|thousand|m|mm|mn|mil|mio|million|b|bn|billion|t|tn|trillion)?(%|x)?"
)
_SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "grand": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "mil": 1e6, "mio": 1e6, "million": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12, "hundred": 1e2,
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
_ARTICLES: Final = frozenset({"a", "an"})


class Number(NamedTuple):
    """A number in a text.

    Attributes:
        value: Its value.
        size: How many words it takes.
        scaled: Whether a suffix or a word of scale follows: `10k`, "10 million".
        unit: `%` or `x` where one is written behind it.
    """

    value: float
    size: int
    scaled: bool = False
    unit: str | None = None


def number_at(tokens: Sequence[Token], at: int) -> Number | None:
    """The number that begins at a word; null where none does."""
    token = tokens[at]
    written = _WRITTEN.fullmatch(token.name) if token.is_number else None
    if written is not None:
        value = float(written[1].replace(",", "")) * _SCALES.get(written[2] or "", 1)
    elif token.word in _SPELLED:
        value = float(_SPELLED[token.word])
    elif (counted := _one_of_a_scale(tokens, at)) is not None:
        return counted
    else:
        return None
    ahead = [token.word for token in tokens[at + 1 : at + 4]]
    scale, unit = (written[2], written[3]) if written is not None else (None, None)
    size = 1
    while not scale and at + size < len(tokens) and _is_scale(tokens[at + size]):
        value *= _SCALES[tokens[at + size].word]
        size += 1
    if size > 1:
        return Number(value, size, scaled=True, unit=unit)
    if ahead == ["and", "a", "half"]:
        return Number(value + 0.5, 4)
    return Number(value, 1, scaled=scale is not None, unit=unit)


def _is_scale(token: Token) -> bool:
    """Whether a word multiplies the number before it."""
    return len(token.word) > 1 and token.word in _SCALES and not token.gap


def _one_of_a_scale(tokens: Sequence[Token], at: int) -> Number | None:
    """One of a scale without its number: "a thousand", "hundred", "half a million"."""
    words = [token.word for token in tokens[at : at + 3]]
    half = len(words) > 1 and words[0] == "half" and words[1] in _ARTICLES
    skipped = 2 if half else 1 if words[0] in _ARTICLES else 0
    size = 0.5 if half else 1.0
    if len(words) > skipped and len(words[skipped]) > 1 and words[skipped] in _SCALES:
        return Number(size * _SCALES[words[skipped]], skipped + 1, scaled=True)
    return Number(size, skipped) if half else None
