"""Typos: which known word a word of no language was meant to be. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from service.ask.parser.places import CONTEXTS

MOST_MENDED: Final = 48
"""Words of a text that are looked at; what a hostile text costs is bounded by it."""

SHORTEST: Final = 4
_LONGEST: Final = 20
_LONG: Final = 7
"""Letters from which on two mistakes are forgiven, if the first two letters are right."""

KEYWORDS: Final = CONTEXTS["keywords"]
"""Words of questions: a typo of these is corrected."""


class Speller:
    """Finds the one known word that a misspelt word is close to.

    One mistake (a letter too many, too few, another one, two that changed places) is forgiven in words of four letters
    and more, two from seven letters on. Short words and words that two known ones are equally close to are left alone.

    Args:
        words: The known words, and what they mean: of two that mean the same either will do.
    """

    def __init__(self, words: Mapping[str, object]) -> None:
        self._meaning = words
        known = sorted(word for word in words if len(word) >= SHORTEST and word.isalpha())
        self._near: dict[str, list[str]] = {}
        for word in known:
            for key in {word, *_shortened(word)}:
                self._near.setdefault(key, []).append(word)
        self._long: dict[tuple[str, int], list[str]] = {}
        for word in known:
            if len(word) >= _LONG:
                self._long.setdefault((word[:2], len(word)), []).append(word)

    def mend(self, word: str) -> str | None:
        """The known word that a lower-case word was meant to be; null where there is none, or more than one."""
        if not SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
            return None
        close = {other for key in (word, *_shortened(word)) for other in self._near.get(key, ())}
        first = sorted(other for other in close if len(other) >= SHORTEST and is_within(word, other, 1))
        if len(word) == SHORTEST:
            first = [other for other in first if len(other) > SHORTEST or sorted(other) == sorted(word)]
        if first:
            return self._only(word, first)
        return self._only(word, [other for other in self._far(word) if is_within(word, other, 2)])

    def _only(self, word: str, others: list[str]) -> str | None:
        """The one of several; of a word and its plural the one that ends alike."""
        if len(others) > 1:
            same = [other for other in others if other[0] == word[0]] or others
            others = [other for other in same if other.endswith("s") == word.endswith("s")] or same
        return others[0] if len({self._meaning[other] for other in others}) == 1 else None

    def _far(self, word: str) -> Iterator[str]:
        if len(word) >= _LONG:
            for length in range(max(_LONG, len(word) - 2), len(word) + 3):
                yield from self._long.get((word[:2], length), ())


def _shortened(word: str) -> Iterator[str]:
    """A word without one of its letters."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def is_within(one: str, other: str, most: int) -> bool:
    """Whether so many mistakes make one word of another: Damerau's distance, each place changed once (1964)."""
    if abs(len(one) - len(other)) > most:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        above, row, last = row, [at + 1], before
        for to, wanted in enumerate(other):
            cost = min(above[to] + (letter != wanted), above[to + 1] + 1, row[to] + 1)
            if at and to and letter == other[to - 1] and one[at - 1] == wanted:
                cost = min(cost, last[to - 1] + 1)
            row.append(cost)
        if min(row) > most:
            return False
        before = above
    return row[-1] <= most
