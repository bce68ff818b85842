"""What no check of figures sees in a model's text: another language, advice, forecasts, talk about itself, tricks.

The tables are short and may be read. What they refuse by mistake costs nothing: the rules' own text follows instead.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from service.ask.prompt import SYSTEM

LONGEST: Final = 8_000
"""Characters."""

_ADVICE: Final = re.compile(
    r"\b(?:you should|should (?:buy|sell|hold|wait)|(?:i|we) (?:would|suggest|think|believe|expect)|recommend\w*"
    r"|advis\w+|buy|buying|sell|selling|go (?:long|short)|take profits?|stop.?loss|opportunit\w+|guarantee\w*|risk.free"
    r"|will (?:rise|fall|go|reach|hit|rally|drop|climb|crash|moon|continue|keep)|going to|likely|probably"
    r"|price targets?|forecast\w*|predict\w*|moon\w*|soon|tomorrow|skyrocket\w*|inevitabl\w+)\b",
    re.IGNORECASE,
)
_SELF: Final = re.compile(
    r"\b(?:system (?:prompt|message)|instruct\w+|my rules|these rules|language model|as an ai|ai (?:model|assistant)"
    r"|ignor\w+|jailbr\w+|the draft|the data (?:block|object)|i cannot|i can't|i'm sorry|sorry|certainly|sure|of course"
    r"|here is|here's)\b",
    re.IGNORECASE,
)
_SMALL: Final = (
    "the and to with from by than that this it its has have are were be been not but which while where since between "
    "both each when if pay pays paid up down above below over under they their there more"
)
"""Small words that other languages in Latin letters do not have, or seldom."""

_ENGLISH: Final = frozenset(_SMALL.split())
_ONE_IN: Final = 10
_FEW: Final = 4
"""So few words may be names."""

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_RUN: Final = 8
"""So many words in a row are no chance."""


def offence(text: str, draft: Sequence[str]) -> str | None:
    """Say why a model's text is not given to a reader, whatever its figures; null where nothing is wrong.

    Args:
        text: What it wrote.
        draft: What the rules wrote: words and letters that stand there are no offence.
    """
    known = "\n".join(draft)
    if len(text) > LONGEST:
        return "its text is too long"
    if any(unicodedata.category(character)[0] == "C" and character != "\n" for character in text):
        return "its text has invisible characters"
    words = [word.lower() for word in _WORD.findall(text)]
    if not _is_english(text, words, known):
        return "its text is not English"
    if _new(_SELF, text, known) or _echoes(words, known):
        return "its text is about itself"
    return "its text advises or foretells" if _new(_ADVICE, text, known) else None


def _is_english(text: str, words: Sequence[str], known: str) -> bool:
    if any(character.isalpha() and not character.isascii() and character not in known for character in text):
        return False
    return len(words) < _FEW or sum(word in _ENGLISH for word in words) * _ONE_IN >= len(words)


def _new(pattern: re.Pattern[str], text: str, known: str) -> bool:
    """Whether something is said that the draft does not say."""
    allowed = {found.lower() for found in pattern.findall(known)}
    return any(found.lower() not in allowed for found in pattern.findall(text))


def _runs(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


_RULES: Final = _runs([word.lower() for word in _WORD.findall(SYSTEM)])


def _echoes(words: Sequence[str], known: str) -> bool:
    """Whether so many words in a row are those of our rules, and not the draft's."""
    return bool(_runs(words) & _RULES - _runs([word.lower() for word in _WORD.findall(known)]))
