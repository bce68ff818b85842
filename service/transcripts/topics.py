"""Which topics a passage is about, by tables of phrases. Pure.

Phrases are parted by commas; `cut/cuts` stands for either word, and a hyphen joins words within such a choice. One with
a capital needs it ("SEC" is no second); others are found in any case. At each place the longest phrase counts, and
nothing within it: "funding rates" are no rates, for they are among the phrases that stand for nothing.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from service.transcripts.phrases import Phrases, Words

Name = TypeVar("Name")


class TopicWords(NamedTuple):
    """Phrases of a topic.

    Attributes:
        said: Tell it wherever they are.
        plain: Tell it, unless one of the words `alien` is in the passage: then they have their other meaning.
        alien: Single words, parted by blanks.
        faint: Tell it as plain ones do, but only where one of the words `company` is in the passage besides.
        company: Single words, parted by blanks.
    """

    said: str
    plain: str = ""
    alien: str = ""
    faint: str = ""
    company: str = ""


class _Level(Enum):
    SAID = 0
    PLAIN = 1
    FAINT = 2


class Topics(Generic[Name]):
    """Finds topics.

    Args:
        topics: Their phrases.
        others: Phrases that stand for none.
    """

    def __init__(self, topics: Mapping[Name, TopicWords], others: str) -> None:
        self._phrases: Phrases[tuple[Name, _Level] | None] = Phrases(
            [
                (None, others),
                *(
                    ((name, level), table)
                    for name, topic in topics.items()
                    for level, table in zip(_Level, (topic.said, topic.plain, topic.faint), strict=True)
                ),
            ]
        )
        self._alien = {name: frozenset(topic.alien.split()) for name, topic in topics.items()}
        self._company = {name: frozenset(topic.company.split()) for name, topic in topics.items()}

    def find(self, words: Words, beside: Collection[str] = ()) -> tuple[Name, ...]:
        """Find the topics of a passage.

        Args:
            words: Of the passage.
            beside: Further words that the passage amounts to.

        Returns:
            Topics in the order in which they occur.
        """
        found = list(self._phrases.find(words))
        silent = {at for one in found if one.means is None for at in range(one.start, one.end)}
        heard = {word for at, word in enumerate(words.lowered) if at not in silent}.union(beside)
        topics: dict[Name, None] = {}
        for one in found:
            if one.means is not None and self._tells(*one.means, words.lowered[one.start : one.end], heard):
                topics.setdefault(one.means[0])
        return tuple(topics)

    def _tells(self, name: Name, level: _Level, phrase: Collection[str], heard: Collection[str]) -> bool:
        """Whether a phrase tells its topic, with all words that are heard."""
        if level is _Level.SAID:
            return True
        accompanied = level is _Level.PLAIN or not self._company[name].isdisjoint(set(heard).difference(phrase))
        return accompanied and self._alien[name].isdisjoint(heard)
