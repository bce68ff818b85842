"""What no check of figures sees in a model's text: news, advice, forecasts, other languages, talk about itself, tricks.

All of them need words, and the words are counted: those of the rules' own draft, and a short list of plain ones that
claim nothing by themselves. What is refused by mistake costs nothing: the draft follows instead.
"""

import re
from collections.abc import Sequence
from typing import Final

LONGEST: Final = 8_000
"""Characters."""

_WORDS: Final = """
a about after against also alone an and another are as at be been before being beside between both but by came come
comes current currently each following follows for from gave give gives had has have how if in into is it its itself
mean means meanwhile measure measured measures moved moves next of on one or other over own per read reads respectively
said say says show showed shown shows sits so stands stood than that the their them then there these they this those to
together told too trades until was well were what when where whereas which while whose with within

amount annual asset assets average breadth carry categories category change changes class coin coins confidence
correlation cost daily data dates day days dollars evidence figure figures funding history hour hours interest level
levels list market markets month mood name names note open overview percent period point points position positions price
prices quantity rank ranking rate rates ratio reading record regime result results score scores sentiment share side
sides signal signals since source sources stance state states status strategies strategy summary table terms threshold
thresholds time trend trends unit units value values verdict verdicts volume week weekly weeks year yearly
"""
PLAIN: Final = tuple(_WORDS.split())
"""Without words that say more or less, yes or no, good or bad, up or down, why or what comes: those are the draft's."""

_PLAIN: Final = frozenset(PLAIN)
_WORD: Final = re.compile(r"[^\W\d_]+")
_POSSESSIVE: Final = re.compile(r"(?<=[^\W\d_])['\u2019]s\b")
_MARKS: Final = frozenset("\n\u2013\u2014\u2018\u2019\u201c\u201d\u2026")
_LONGEST_WORD: Final = 20


def offence(text: str, draft: Sequence[str]) -> str | None:
    """Say why a model's text is not given to a reader, whatever its figures; null where nothing is wrong.

    Args:
        text: What it wrote.
        draft: What the rules wrote: its words and characters are no offence.
    """
    known = "\n".join(draft)
    if len(text) > LONGEST:
        return "its text is too long"
    if any(not _is_usual(character) and character not in known for character in text):
        return "its text has characters that nobody needs"
    allowed = _PLAIN.union(_words(known))
    strange = next((word for word in _words(text) if word not in allowed), None)
    return strange and f"its text has a word that the draft does not have: {strange[:_LONGEST_WORD]}"


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_POSSESSIVE.sub("", text))]


def _is_usual(character: str) -> bool:
    return (character.isascii() and character.isprintable()) or character in _MARKS
