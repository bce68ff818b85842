"""What a passage is about: coins and sectors by the sentiment room's matcher and our words for speech, macro topics.

Coins are the matcher's. Sectors are its categories and those that `sectors` has spoken words for; macro topics are
told by `macro`. Both tables are the published rule.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from service.sentiment.matcher import Known
from service.transcripts import homonyms, sectors
from service.transcripts.macro import TOPICS
from service.transcripts.phrases import words_of
from service.transcripts.sectors import SPOKEN
from service.transcripts.spoken_coins import SpokenCoins
from service.transcripts.topics import Topics
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
        names, coins = list(categories), list(known)
        self._coins = SpokenCoins(coins, names)
        self._sectors = Topics(
            {name: topic for name in names for begins, topic in SPOKEN.items() if name.lower().startswith(begins)},
            sectors.OTHERS,
        )

    def tag(self, text: str) -> Tags:
        """Find what a passage is about; all empty where nothing known is."""
        words = words_of(text)
        plain = self._coins.read(text)
        spoken = self._sectors.told(words, _COIN if plain.coins else ())
        about = self._coins.add(text, plain, evident=bool(plain.coins or plain.categories or spoken))
        if about.coins and not plain.coins:
            spoken = self._sectors.told(words, _COIN)
        return Tags(
            coins=about.coins,
            sectors=tuple(dict.fromkeys([*about.categories, *spoken])),
            macro=_MACRO.told(words),
            names=tuple((mention.start, mention.end) for mention in about.mentions),
        )


_MACRO: Final = Topics(TOPICS, homonyms.OTHERS)
_COIN: Final = ("coin",)
"""What a passage that names a coin amounts to."""
