"""Other people's words as they may stand in an answer: the same words, and nothing that a reader's program acts on."""

import re
import unicodedata
from typing import Final

_SWAPPED: Final = str.maketrans(
    {"<": "\u2039", ">": "\u203a", "`": "'", "[": "(", "]": ")", "|": "/", "\\": "/", "*": "", "~": "", "\0": " "}
    | {"\u201c": '"', "\u201d": '"', "\u201e": '"'}
)
_SCHEME: Final = re.compile(r"(?<=\w):/{2,}|(?<=\bwww)\.", re.IGNORECASE)
_ESCAPED: Final = (
    (re.compile(r"&(?:amp;)*lt;"), "\u2039"),
    (re.compile(r"&(?:amp;)*gt;"), "\u203a"),
    (re.compile(r"&(?:amp;)+"), "&"),
)
"""Characters that services escape for HTML, however often."""

_SPACE: Final = re.compile(r"\s+")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
LONGEST: Final = 2_000
"""Characters of a string that are quoted at most."""


def clean(text: str) -> str:
    """Make a string harmless in Markdown.

    Markup becomes marks that look alike, addresses are taken apart, invisible characters and line breaks go. The
    quotation marks that answers set around quotes do not occur in them.

    Returns:
        One line of at most `LONGEST` characters; cleaning it again changes nothing.
    """
    plain = _visible(text[: 2 * LONGEST]).translate(_SWAPPED)
    for escaped, mark in _ESCAPED if "&" in plain else ():
        plain = escaped.sub(mark, plain)
    plain = _SCHEME.sub(" ", plain)
    return _SPACE.sub(" ", plain).strip()[:LONGEST].rstrip()


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():  # most are, and looking at each character takes long
        return text
    return "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) not in _INVISIBLE
    )
