r"""Coins in speech: the sentiment room's matcher, and names that are English words where speech shows what they mean.

A headline writes many words with a capital; a transcript hardly any but names. So of coins that are called by an
English word ("Avalanche", "Optimism", "Maker", "Render") these count besides what the matcher finds:

- with a capital within a sentence ("Between Arbitrum and Optimism …");
- at the beginning of a sentence, where the passage is about coins anyway: "Maker was the first that put real world
  assets in there". One of the commonest words needs a verb after it there: "Optimism about Solana is back" is none.
- a ticker of four letters or more in capitals ("NEAR").
- without any capital in the whole passage, as machines write down, where it is about coins anyway and the word is none
  of the commonest.

Identifiers (`OP_VAULT`) name no coin.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from service.sentiment.matcher import Attribution, Known, Matcher, Mention
from service.sentiment.names import ACRONYMS, ALIASES, COMMON, TAILS, WORDS

_HIDDEN: Final = re.compile(
    r"\w*[^\W_]_\w+|https?://\S+|\b[\w-]+\.(?:com|org|io|xyz|review|fm|net)\b|(?<!\$)\bZK\b(?! (?:token|holders|price))"
)
"""Identifiers, addresses, and a ticker that is the everyday name of a technique."""

_WORD: Final = re.compile(r"[A-Za-z]+")
_SENTENCE: Final = re.compile(r"(?:\A|[.!?:\u2026][\"'\u2019\u201d)]*)\s*[\"'\u2018\u201c(]*\Z")
_LONG: Final = 4
_SHORT_TAIL: Final = 40
"""Characters before a word that are looked at for the end of a sentence."""

_VERB: Final = re.compile(
    r"\s+(?:is|was|has|had|did|does|can|will|would|could|just|also|still|never|already|actually|got|went|came|made|put|built|"
    r"[a-z]{3,}ed|[a-z]{2,}[^sua\W]s)\b(?! (?:back|high|higher|low|about|around|over)\b)"
)
_GENERIC: Final = frozenset({"memecoin", "gas", "meme", "official", "space", "story", "id", "not", "one", "trump"})
"""Words that are names of coins and of what everybody speaks of."""


class SpokenCoins:
    """Finds known coins in speech.

    Args:
        known: All coins that may be meant.
        categories: Names of categories, as they are asked for.
    """

    def __init__(self, known: Sequence[Known], categories: Iterable[str]) -> None:
        self._matcher = Matcher(known, categories)
        owners: dict[str, set[str]] = {}
        for coin in known:
            for word in _wordy(coin):
                owners.setdefault(word, set()).add(coin.symbol)
        self._names = {word: next(iter(symbols)) for word, symbols in owners.items() if len(symbols) == 1}
        self._tickers = {coin.symbol for coin in known if len(coin.symbol) >= _LONG}

    def read(self, text: str) -> Attribution:
        """What the matcher finds; identifiers are hidden from it."""
        return self._matcher.read(_hidden(text))

    def add(self, text: str, read: Attribution, *, evident: bool) -> Attribution:
        """Add the names that are English words.

        Args:
            text: What was read.
            read: What the matcher found in it.
            evident: Whether the passage is about coins anyway.
        """
        hidden = _hidden(text)
        taken = {at for mention in read.mentions for at in range(mention.start, mention.end)}
        more = [mention for mention in self._meant(hidden, evident=evident) if mention.start not in taken]
        if not more:
            return read
        mentions = tuple(sorted([*read.mentions, *more], key=lambda mention: mention.start))
        return replace(read, coins=tuple(dict.fromkeys(mention.symbol for mention in mentions)), mentions=mentions)

    def _meant(self, text: str, *, evident: bool) -> Iterator[Mention]:
        shouted = text.isupper()
        lowered = text.islower()
        for found in _WORD.finditer(text):
            word = found[0]
            symbol = self._names.get(word.lower())
            if word in self._tickers and word in _CAPITALS and not shouted:
                yield Mention(word, found.start(), found.end())
            elif symbol is not None and not shouted and self._counts(text, found, lowered=lowered, evident=evident):
                yield Mention(symbol, found.start(), found.end())

    def _counts(self, text: str, found: re.Match[str], *, lowered: bool, evident: bool) -> bool:
        word = found[0]
        if lowered:
            return evident and word not in COMMON
        if not word.istitle():
            return False
        if not _SENTENCE.search(text, max(0, found.start() - _SHORT_TAIL), found.start()):
            return True
        return evident and (word.lower() not in COMMON or _VERB.match(text, found.end()) is not None)


def _hidden(text: str) -> str:
    """A text without what names no coin; everything else stays where it was."""
    return _HIDDEN.sub(lambda found: "_" * len(found[0]), text)


def _wordy(coin: Known) -> Iterator[str]:
    """The names of a coin that are one English word, lower case."""
    words = [word.lower() for word in _WORD.findall(coin.title)]
    names = {" ".join(words), *ALIASES.get(coin.symbol, ())}
    if len(words) > 1 and words[-1] in TAILS:
        names.add(" ".join(words[:-1]))
    for name in names - _GENERIC:
        if name in WORDS or name in ACRONYMS:
            yield name


_CAPITALS: Final = frozenset(word.upper() for word in WORDS if len(word) >= _LONG and word not in _GENERIC)
"""Words that nobody writes in capitals but as tickers."""
