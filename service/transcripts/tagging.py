"""What a passage is about: coins, sectors and topics of the economy.

Coins are found by `spoken_coins`, sectors by the words in `sectors` or, where it has none, by the sentiment package's
matcher, topics of the economy by `macro_money`, `macro_world` and `macro_others`. The tables are the published rule.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct

from service.sentiment.matcher import Known
from service.transcripts import macro_others, sectors
from service.transcripts.macro_money import MONEY
from service.transcripts.macro_world import WORLD
from service.transcripts.phrases import Words, words_of
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


class SpokenSectors:
    """Finds categories by the phrases of `sectors`.

    Args:
        categories: Names of categories.
    """

    def __init__(self, categories: Iterable[str]) -> None:
        self.names = {
            name: topic for name in categories for begins, topic in SPOKEN.items() if name.lower().startswith(begins)
        }
        self._topics = Topics(self.names, sectors.OTHERS)

    def find(self, words: Words, coins: Sequence[str]) -> tuple[str, ...]:
        """Find the categories of a text.

        Args:
            words: Of the text.
            coins: Tickers that it names.
        """
        return self._topics.find(words, _company(coins))


class Tagger:
    """Finds known coins, known categories and macro topics in what is said.

    Args:
        known: All coins that may be meant.
        categories: Names of categories, as they are asked for.
    """

    def __init__(self, known: Iterable[Known], categories: Iterable[str]) -> None:
        names, coins = list(categories), list(known)
        self._coins = SpokenCoins(coins, names)
        self._sectors = SpokenSectors(names)

    def tag(self, text: str) -> Tags:
        """Find what a passage is about; all empty where nothing known is."""
        words = words_of(text)
        about = self._coins.read(text, words)
        spoken = self._sectors.find(words, about.coins)
        about = self._coins.add(text, about, evident=bool(about.coins or about.categories or spoken))
        spoken = self._sectors.find(words, about.coins)
        return Tags(
            coins=about.coins,
            sectors=(*spoken, *(name for name in about.categories if name not in self._sectors.names)),
            macro=_macro().find(words, _company(about.coins)),
            names=tuple((mention.start, mention.end) for mention in about.mentions),
        )


def _company(coins: Sequence[str]) -> Sequence[str]:
    """What a passage that names coins amounts to; Bitcoin alone is named in talk of anything."""
    return ("coin",) if set(coins) - {"BTC"} else ()


@cache
def _macro() -> Topics[Macro]:
    """Topics of the economy; made when the first passage is tagged: 2 MB that only a leader needs."""
    return Topics({**MONEY, **WORLD}, macro_others.OTHERS)
