"""Texts cut into words. Pure."""

import re
import unicodedata
from typing import Final, NamedTuple

LONGEST: Final = 8_000
"""Characters that are read of a text."""

_WORD: Final = re.compile(
    r"""
    0x[0-9a-fA-F]{40}\b
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
    "<": "lt",
    ">": "gt",
    "<=": "lte",
    ">=": "gte",
    "\u2264": "lte",
    "\u2265": "gte",
    "=": "equal",
    "==": "equal",
    "!=": "not",
}
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
    return " ".join(_TOP.sub(r"\1 ", _ARROW.sub(" : ", _LINE.sub(" ; ", folded))).split())


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
        tokens.append(_token(found[0], gap)._replace(minus=minus))
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
