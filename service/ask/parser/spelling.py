"""Which words are English, and which known word a misspelt one was meant to be. Pure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from service.ask.load import load
from service.ask.parser.places import CONTEXTS


class _Table(Struct):
    words: str


PLAIN: Final = frozenset(load(Path(__file__).with_name("english.toml"), _Table).words.split())
"""Lower case."""

_ENDINGS: Final = (
    ("ies", "y"), ("ied", "y"), ("ier", "y"), ("iest", "y"), ("ily", "y"), ("ing", ""), ("ing", "e"), ("ed", ""),
    ("ed", "e"), ("es", ""), ("es", "e"), ("est", ""), ("est", "e"), ("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"),
    ("ly", ""), ("s", ""), ("ness", ""), ("ment", ""), ("able", ""), ("ful", ""), ("less", ""), ("ation", "e"),
)  # fmt: skip
_SHORTEST_STEM: Final = 3


def is_plain(word: str) -> bool:
    """Whether a lower-case word is an English one, or one with an English ending."""
    return word in PLAIN or any(
        word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and _has(word[: -len(ending)] + instead)
        for ending, instead in _ENDINGS
    )


def _has(stem: str) -> bool:
    """Whether a stem is a word, also where its last letter was doubled ("ripp" of "ripped")."""
    return stem in PLAIN or (stem[-1] == stem[-2] and stem[:-1] in PLAIN)


MOST_CORRECTED: Final = 48
"""Words of a text that are looked at: it bounds what a hostile text costs."""

SHORTEST: Final = 3
_SHORT: Final = 4
"""Letters up to which only changed places are forgiven, or a missing letter of a longer word."""
_LONGEST: Final = 20
_SWAPPED: Final = 2
_MISSING: Final = 1
_LONG: Final = 7
"""Letters from which on two mistakes are forgiven, if the first two letters are right."""

SHORTHAND: Final = load(Path(__file__).with_name("corrections.toml"), dict[str, str])
"""Short words that are corrected at once."""

KEYWORDS: Final = CONTEXTS["keywords"]
"""Words of questions: a typo of these is corrected."""


def near(word: str, known: Sequence[str], most: int) -> list[str]:
    """Known words within so many mistakes: a letter too many, too few or wrong, or two that changed places."""
    return [other for other, _, _ in extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)]


class Speller:
    """Finds the one known word that a misspelt word is close to.

    Two letters that changed places are forgiven in every word, another mistake in words of four letters and more, two
    mistakes from seven letters on. Changed places are likelier than a missing letter, and that than other mistakes;
    words that two known ones are equally close to are left alone.

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
        if len(word) <= _SHORT:
            found = [
                other
                for other in found
                if _likelihood(word, other) == _SWAPPED or (len(word) == _SHORT and len(other) > _SHORT)
            ]
        if not found and len(word) >= _LONG:
            found = [other for other in near(word, self._known, 2) if other[:2] == word[:2] and len(other) >= _LONG]
        return self._only(word, found)

    def _only(self, word: str, others: list[str]) -> str | None:
        """The likeliest of several; of a word and its plural the one that ends alike."""
        if len(others) > 1:
            likeliest = max(_likelihood(word, other) for other in others)
            others = [other for other in others if _likelihood(word, other) == likeliest]
            same = [other for other in others if other[0] == word[0]] or others
            others = [other for other in same if other.endswith("s") == word.endswith("s")] or same
        return others[0] if len({self._meaning[other] for other in others}) == 1 else None


def _likelihood(word: str, other: str) -> int:
    """How likely the mistake is that made one word of another."""
    if sorted(other) == sorted(word):
        return _SWAPPED
    return _MISSING if len(other) > len(word) else 0
