"""What a passage is about: coins and sectors by the sentiment room's matcher and our words for speech, macro topics.

Coins are the matcher's. Sectors are its categories and those that `sectors` has spoken words for; macro topics are
told by `macro`. Both tables are the published rule.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from service.sentiment.matcher import Known, Matcher
from service.transcripts.macro import FAINT, OTHERS, SAID
from service.transcripts.phrases import Phrases, words_of
from service.transcripts.sectors import SPOKEN
from service.wire.transcripts import Macro


class Tags(Struct, frozen=True):
    """What a passage is about, each in the order in which it is named.

    Attributes:
        coins: Tickers.
        sectors: Names of categories.
        macro: Topics of the economy.
        names: Where coins are named in it, start and end: what a name says is not praise.
    """

    coins: tuple[str, ...] = ()
    sectors: tuple[str, ...] = ()
    macro: tuple[Macro, ...] = ()
    names: tuple[tuple[int, int], ...] = ()

    @property
    def count(self) -> int:
        """How many tags there are."""
        return len(self.coins) + len(self.sectors) + len(self.macro)


class Tagger:
    """Finds known coins, known categories and macro topics in what is said.

    Args:
        known: All coins that may be meant.
        categories: Names of categories, as they are asked for.
    """

    def __init__(self, known: Iterable[Known], categories: Iterable[str]) -> None:
        names = list(categories)
        self._matcher = Matcher(known, names)
        self._sectors = Phrases(
            (name, table) for name in names for begins, table in SPOKEN.items() if name.lower().startswith(begins)
        )

    def tag(self, text: str) -> Tags:
        """Find what a passage is about; all empty where nothing known is."""
        about = self._matcher.read(text)
        words = words_of(text)
        lowered = [word.lower() for word in words]
        spoken = [found.means for found in self._sectors.find(words, lowered)]
        return Tags(
            coins=about.coins,
            sectors=tuple(dict.fromkeys([*about.categories, *spoken])),
            macro=_macro(words, lowered),
            names=tuple((mention.start, mention.end) for mention in about.mentions),
        )


_SAID: Final[Phrases[Macro | None]] = Phrases([*SAID.items(), (None, OTHERS)])
_FAINT: Final[Phrases[Macro]] = Phrases((topic, phrases) for topic, (phrases, _) in FAINT.items())
_COMPANY: Final = {topic: frozenset(words_of(company)) for topic, (_, company) in FAINT.items()}


def _macro(words: list[str], lowered: list[str]) -> tuple[Macro, ...]:
    said = list(_SAID.find(words, lowered))
    taken = {at for found in said for at in range(found.start, found.end)}
    present = frozenset(lowered)
    told = [(found.start, found.means) for found in said if found.means]
    told += (
        (found.start, found.means)
        for found in _FAINT.find(words, lowered)
        if found.start not in taken and not _COMPANY[found.means].isdisjoint(present)
    )
    return tuple(dict.fromkeys(topic for _, topic in sorted(told)))
