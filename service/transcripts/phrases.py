"""Finding phrases in speech: tables of words in, what they stand for out. Pure."""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final, Generic, NamedTuple, TypeVar

Meaning = TypeVar("Meaning")

_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W\d_]\b)*(?:['\u2019][^\W\d_]+)?")
_POSSESSIVE: Final = re.compile(r"['\u2019]s\Z")


class _Phrase(NamedTuple, Generic[Meaning]):
    words: tuple[str, ...]
    exact: tuple[str, ...] | None
    means: Meaning


class Found(NamedTuple, Generic[Meaning]):
    """A phrase in a text: what it stands for, and which words it is, from `start` to before `end`."""

    means: Meaning
    start: int
    end: int


class Phrases(Generic[Meaning]):
    """Phrases and what they stand for.

    Args:
        tables: Meaning → phrases parted by commas; `cut/cuts` stands for either word. A phrase with a capital needs it.
    """

    def __init__(self, tables: Iterable[tuple[Meaning, str]]) -> None:
        self._by_first: dict[str, list[_Phrase[Meaning]]] = {}
        for means, table in tables:
            for phrase in _phrases(table):
                lowered = tuple(word.lower() for word in phrase)
                exact = None if lowered == phrase else phrase
                self._by_first.setdefault(lowered[0], []).append(_Phrase(lowered, exact, means))
        for phrases in self._by_first.values():
            phrases.sort(key=lambda phrase: -len(phrase.words))

    def find(self, words: list[str], lowered: list[str]) -> Iterator[Found[Meaning]]:
        """Find phrases in words as they are said, and the same in lower case: at each place the longest, none twice."""
        at = 0
        while at < len(words):
            phrase = self._at(words, lowered, at)
            if phrase is None:
                at += 1
            else:
                yield Found(phrase.means, at, at + len(phrase.words))
                at += len(phrase.words)

    def _at(self, words: list[str], lowered: list[str], at: int) -> _Phrase[Meaning] | None:
        for phrase in self._by_first.get(lowered[at], ()):
            end = at + len(phrase.words)
            if tuple(lowered[at:end]) == phrase.words and (phrase.exact is None or tuple(words[at:end]) == phrase.exact):
                return phrase
        return None


def words_of(text: str) -> list[str]:
    """The words of a text; hyphens part them, and `'s` is dropped."""
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(text)]


def _phrases(table: str) -> Iterator[tuple[str, ...]]:
    for phrase in table.split(","):
        yield from product(*(word.split("/") for word in phrase.split()))

