"""Finding phrases in speech: tables of words in, what they stand for out. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final, Generic, NamedTuple, TypeVar

Meaning = TypeVar("Meaning")

_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W\d_]\b)*(?:['\u2019][^\W\d_]+)?")
_POSSESSIVE: Final = re.compile(r"['\u2019]s\Z", re.IGNORECASE)


class Words(NamedTuple):
    """The words of a text as they are said, in lower case, and where; hyphens part them, and `'s` is dropped."""

    said: Sequence[str]
    lowered: Sequence[str]
    starts: Sequence[int]


class Found(NamedTuple, Generic[Meaning]):
    """A phrase in a text: what it stands for, and which words it is, from `start` to before `end`."""

    means: Meaning
    start: int
    end: int


class Phrases(Generic[Meaning]):
    """Phrases and what they stand for.

    Args:
        tables: Meanings and their phrases, parted by commas, as `topics` says. A phrase may stand for several.
    """

    def __init__(self, tables: Iterable[tuple[Meaning, str]]) -> None:
        self._phrases: dict[tuple[str, ...], list[tuple[tuple[str, ...], Meaning]]] = {}
        for means, table in tables:
            for phrase in _phrases(table):
                self._phrases.setdefault(tuple(word.lower() for word in phrase), []).append((phrase, means))
        self._longest = max(map(len, self._phrases), default=0)

    def find(self, words: Words) -> Iterator[Found[Meaning]]:
        """Find phrases: at each place the longest, and none that shares a word with one before."""
        at = 0
        while at < len(words.lowered):
            found = self._longest_at(words, at)
            yield from found
            at = found[0].end if found else at + 1

    def _longest_at(self, words: Words, at: int) -> list[Found[Meaning]]:
        for end in range(min(at + self._longest, len(words.lowered)), at, -1):
            meant = self._phrases.get(tuple(words.lowered[at:end]), ())
            found = [Found(means, at, end) for phrase, means in meant if _spelt(phrase, words.said[at:end])]
            if found:
                return found
        return []


def words_of(text: str) -> Words:
    """The words of a text."""
    found = list(_WORD.finditer(text))
    said = [_POSSESSIVE.sub("", word[0]) for word in found]
    return Words(said, [word.lower() for word in said], [word.start() for word in found])


def _spelt(phrase: Sequence[str], said: Sequence[str]) -> bool:
    """Whether every word that is written with a capital in a table is said so."""
    return all(word.islower() or word == heard for word, heard in zip(phrase, said, strict=True))


def _phrases(table: str) -> Iterator[tuple[str, ...]]:
    for phrase in filter(None, map(str.split, table.split(","))):
        for words in product(*(word.split("/") for word in phrase)):
            yield tuple(part for word in words for part in word.split("-"))
