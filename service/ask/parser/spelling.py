"""Typos: which known word a word of no language was meant to be. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from service.ask.parser.places import CONTEXTS

MOST_CORRECTED: Final = 48
"""Words of a text that are looked at: it bounds what a hostile text costs."""

SHORTEST: Final = 4
_LONGEST: Final = 20
_LONG: Final = 7
"""Letters from which on two mistakes are forgiven, if the first two letters are right."""

KEYWORDS: Final = CONTEXTS["keywords"]
"""Words of questions: a typo of these is corrected."""


def near(word: str, known: Sequence[str], most: int) -> list[str]:
    """Known words within so many mistakes: a letter too many, too few or wrong, or two that changed places."""
    return [other for other, _, _ in extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)]


class Speller:
    """Finds the one known word that a misspelt word is close to.

    One mistake is forgiven in words of four letters and more, two from seven letters on. Short words and words that two
    known ones are equally close to are left alone.

    Args:
        words: The known words, and what they mean: of two that mean the same either will do.
    """

    def __init__(self, words: Mapping[str, object]) -> None:
        self._meaning = words
        self._known = sorted(word for word in words if len(word) >= SHORTEST and word.isalpha())

    def correct(self, word: str) -> str | None:
        """The known word that a lower-case word was meant to be; null where there is none, or more than one."""
        if not SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
            return None
        found = near(word, self._known, 1)
        if len(word) == SHORTEST:
            found = [other for other in found if len(other) > SHORTEST or sorted(other) == sorted(word)]
        if not found and len(word) >= _LONG:
            found = [other for other in near(word, self._known, 2) if other[:2] == word[:2] and len(other) >= _LONG]
        return self._only(word, found)

    def _only(self, word: str, others: list[str]) -> str | None:
        """The one of several; of a word and its plural the one that ends alike."""
        if len(others) > 1:
            same = [other for other in others if other[0] == word[0]] or others
            others = [other for other in same if other.endswith("s") == word.endswith("s")] or same
        return others[0] if len({self._meaning[other] for other in others}) == 1 else None
