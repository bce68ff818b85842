"""Texts cut into words, and the numbers among them: `10k`, `1,000.50`, "two and a half". Pure."""

import re
import unicodedata
from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

LONGEST: Final = 8_000
"""Characters that are read of a text."""

_WORD: Final = re.compile(
    r"""
    0x[0-9a-fA-F]{40}\b
    | (?<![\d:.])\d{1,2}:\d{2}(?::\d{2})?(?i:[ap]m)?(?=[zZ]?(?![\w:]))
    | (?<=:\d\d)[zZ]\b
    | \b(?i:utc|gmt)\s?[-+\u2212]\d{1,2}(?::?\d{2})?(?![\w:.])
    | (?P<offset>(?:(?<=:\d\d)|(?<=:\d\d\ ))[-+\u2212]\d{2}:?\d{2}(?![\w:.]))
    | [sS]&[pP](?=\W|\Z|500)
    | (?:(?<![\w%])\+)?[$\u20ac\u00a3]?\d(?:[\d,.]*\d)?[^\W\d_]*(?:[^\W_]*[^\W\d_])?%?
    | [$\#]?[^\W_]+(?:\.(?:ai|fun|finance|fi|io)\b)?(?:['\u2019\u02bc`][^\W_]+)*
    | [&+]
    | != | ==? | [<>]=? | [\u2264\u2265]
    """,
    re.VERBOSE,
)
_LINE: Final = re.compile(r"\s*\n\s*")
_TOP: Final = re.compile(r"\b(top|bottom|best|worst|last|past)(?=\d{1,3}\b)", re.IGNORECASE)
"""A number that is written together with the word before it: "top3"."""

_INSTANT: Final = re.compile(r"(?<=\d{4}-\d\d-\d\d)[Tt](?=\d\d:\d\d)")
"""The mark between the day and the hour of RFC 3339."""

_HALF_DAY: Final = re.compile(r"(?<![\d.,$:])(\d{1,2}(?::\d{2})?) ?([ap])(?:m\b|\.m\.?)", re.IGNORECASE)
_ARROW: Final = re.compile(r"[-=]>")
_POSSESSIVE: Final = re.compile(r"['\u2019\u02bc`][sS]\Z")
_APOSTROPHES: Final = str.maketrans("", "", "'\u2019\u02bc`")
_STROKES: Final = str.maketrans(
    {"\u0131": "i", "\u0142": "l", "\u0111": "d", "\u00f8": "o", "\u00df": "ss", "\u00e6": "ae", "\u0153": "oe"}
)
"""Letters that are no base letter with an accent."""
_AND: Final = frozenset({"&", "+"})
_SIGILS: Final = "$#"
_MINUS: Final = ("-", "\u2212")
_SYMBOLS: Final = {
    "<": "lt", ">": "gt", "<=": "lte", ">=": "gte", "\u2264": "lte", "\u2265": "gte", "=": "equal", "==": "equal",
    "!=": "not",
}  # fmt: skip
_TRUNCATING: Final = frozenset({"vs", "v", "approx", "e.g", "i.e"})


class Token(NamedTuple):
    """A word of a text.

    Attributes:
        text: As it is written, without the `$` before and the `'s` behind a name.
        word: In lower case, without accents and apostrophes: "whats" of "What's".
        name: `text` in lower case, without accents: what names are looked up by.
        sigil: The `$` or `#` before it.
        gap: What stands between it and the word before it, without blanks.
        owns: Whether an `'s` stands behind it.
        minus: Whether a minus sign stands directly before it.
    """

    text: str
    word: str
    name: str
    sigil: str
    gap: str
    owns: bool = False
    minus: bool = False

    @property
    def opens(self) -> bool:
        """Whether a clause begins with it: a mark stands before it that is more than a comma."""
        return any(mark in self.gap for mark in ".?!;:()\n\u3002\uff1f")

    @property
    def is_number(self) -> bool:
        """Whether it begins with a digit, a currency's sign aside."""
        return self.text[:1].isdigit() or (self.text[:1] in "\u20ac\u00a3" and len(self.text) > 1)


def tidy(text: str) -> str:
    """A text in one form: compatibility forms folded, what cannot be seen left out, blanks single; cut to 8,000."""
    folded = unicodedata.normalize("NFKC", text[:LONGEST])[:LONGEST]
    if not folded.isascii():
        folded = "".join(character for character in folded if unicodedata.category(character) != "Cf")
    single = " ".join(_TOP.sub(r"\1 ", _ARROW.sub(" : ", _LINE.sub(" ; ", folded))).split())
    return _HALF_DAY.sub(r"\1\2m", _INSTANT.sub(" ", single))


def tokenise(text: str) -> list[Token]:
    """The words of a tidy text, in their order."""
    tokens: list[Token] = []
    end = 0
    for found in _WORD.finditer(text):
        between = text[end : found.start()]
        gap = between.replace(" ", "")
        minus = between[-1:] in _MINUS and (not tokens or between[:1] in " (<>=") and found[0][:1] in "0123456789$"
        if gap == "." and tokens and tokens[-1].word in _TRUNCATING:
            gap = ""
        offset = found["offset"]
        token = Token(offset, offset, offset, "", gap) if offset else _token(found[0], gap)
        tokens.append(token._replace(minus=minus and not offset))
        end = found.end()
    return tokens


def _token(text: str, gap: str) -> Token:
    if text in _SYMBOLS:
        return Token(text, _SYMBOLS[text], _SYMBOLS[text], "", gap)
    if text in _AND:
        return Token(text, "and", "and", "", gap)
    text = text.removeprefix("+") if text != "+" else text
    sigil = text[0] if text[0] in _SIGILS else ""
    written = text[1:] if sigil else text
    bare = _POSSESSIVE.sub("", written)
    return Token(bare, fold(written).translate(_APOSTROPHES), fold(bare), sigil, gap, owns=bare != written)


def fold(text: str) -> str:
    """A text in lower case and without accents."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    lowered = lowered.translate(_STROKES)
    return "".join(mark for mark in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(mark))


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
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12,
}  # fmt: skip
_ARTICLES: Final = frozenset({"a", "an"})
_BETWEEN: Final = frozenset({"between", "from"})
_JOINING: Final = frozenset({"and", "to"})
"""In "between 10 and 50 billion" the scale of the second number is that of the first as well."""


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
    number = _single_number(tokens, at)
    if number is None or number.scaled or number.unit or at == 0 or tokens[at - 1].word not in _BETWEEN:
        return number
    to = at + number.size + 1
    if to >= len(tokens) or tokens[to - 1].word not in _JOINING:
        return number
    last = _single_number(tokens, to)
    scale = _scale_of(tokens, to, last) if last is not None and last.scaled else 1.0
    if last is None or number.value * scale >= last.value:
        return number  # "between 500 and 2 thousand"
    return number._replace(value=number.value * scale, scaled=scale != 1)


def _scale_of(tokens: Sequence[Token], at: int, number: Number) -> float:
    """What a scaled number multiplies: 1e9 of "50 billion"."""
    written = _WRITTEN.fullmatch(tokens[at].name)
    suffix = _SCALES.get(written[2] or "", 1.0) if written is not None else 1.0
    return suffix * prod(_SCALES.get(token.word, 1.0) for token in tokens[at + 1 : at + number.size])


def _single_number(tokens: Sequence[Token], at: int) -> Number | None:
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
