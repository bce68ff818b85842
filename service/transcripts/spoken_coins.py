r"""Coins in speech: the sentiment package's matcher, and what speech has beside headlines.

A headline writes many words with a capital; a transcript hardly any but names. So of coins that are called by an
English word ("Avalanche", "Optimism", "Maker", "Render") these count besides what the matcher finds:

- with a capital within a sentence ("Between Arbitrum and Optimism …");
- at the beginning of a sentence, where the passage is about coins anyway: "Maker was the first that put real world
  assets in there". One of the commonest words needs a verb after it there: "Optimism about Solana is back" is none.
- a ticker of four letters or more in capitals ("NEAR"), and any before "coin" or "token" ("the Trump coin").
- without any capital in the whole passage, as machines write down, where it is about coins anyway and the word is none
  of the commonest.

Short forms, and names as machines hear them ("chain link"), are in `SHORT`. Identifiers (`OP_VAULT`) name no coin.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.sentiment.matcher import Attribution, Known, Matcher, Mention
from service.sentiment.names import ACRONYMS, ALIASES, COMMON, TAILS, WORDS
from service.transcripts.phrases import Phrases, Words

SHORT: Final[Mapping[str, str]] = {
    "ADA": "ada coin",
    "ARB": "Arb",
    "AVAX": "avax",
    "BCH": "bcash, b cash, bitcoin cash",
    "DOGE": "doge coin",
    "DOT": "polka dot",
    "EIGEN": "eigenlayer, eigen layer, eigen",
    "FET": "fetch ai",
    "FIL": "file coin",
    "HYPE": "hyper liquid",
    "INJ": "injective",
    "JUP": "jup",
    "BONK": "bonk coin",
    "LINK": "chain link",
    "LTC": "lite coin",
    "PENGU": "pengu, pudgy penguin, pudgies",
    "PEPE": "pepe coin",
    "POL": "matic",
    "PUMP": "pump fun, pump dot fun, pumpfun",
    "SHIB": "shiba, shiba coin",
    "STRK": "stark net",
    "TAO": "tao, bit tensor",
    "TIA": "celestia",
    "TON": "TON, ton coin",
    "TRX": "tron",
    "UNI": "uni swap",
    "WIF": "wif, dog wif hat",
    "WLD": "world coin",
    "XLM": "lumens, stellar lumens",
    "XMR": "xmr",
    "ZEC": "z cash, zec",
    "ZK": "zksync, zk sync",
    "ZRO": "layer zero",
}
"""Ticker in capitals → short forms and mishearings, read as `topics` says."""

_HIDDEN: Final = re.compile(
    r"\w*[^\W_]_\w+|https?://\S+|\b[\w-]+\.(?:com|org|io|xyz|review|fm|net)\b|(?<!\$)\bZK\b(?! (?:token|holders|price))"
)
"""Identifiers, addresses, and a ticker that is the everyday name of a technique."""

_WORD: Final = re.compile(r"[A-Za-z]+")
_BEGINS: Final = re.compile(r"(?:\A|[.!?:\u2026][\"'\u2019\u201d)]*)\s*[\"'\u2018\u201c(]*\Z")
_TAIL: Final = 40
"""Characters before a word that are looked at for the end of a sentence."""

_LONG: Final = 4
_VERB: Final = re.compile(
    r"\s+(?:is|was|has|had|did|does|can|will|would|could|just|also|still|never|already|actually|got|went|came|made|put|built|"
    r"for|[a-z]{3,}ed|[a-z]{2,}[^\Wsua]s)\b(?! (?:back|high|higher|low|about|around|over)\b)"
)
_TOKEN: Final = re.compile(r" (?:coin|token|memecoin|meme coin)\b")
_GENERIC: Final = frozenset({"memecoin", "gas", "meme", "official", "space", "story", "id", "not", "one", "trump"})
"""Names of coins that everybody speaks of anyway."""

_COUNTED: Final = frozenset({"gas", "meme", "not", "one", "id", "me", "s", "w", "t"})
"""Tickers that stand before "coin" or "token" without being meant."""

_CAPITALS: Final = frozenset(word.upper() for word in WORDS if len(word) >= _LONG and word not in _GENERIC)
"""Words that are written in capitals only as tickers."""


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
        self._tickers = {coin.symbol.lower(): coin.symbol for coin in known}
        self._short = Phrases(
            (coin.symbol, SHORT[coin.symbol.upper()]) for coin in known if coin.symbol.upper() in SHORT
        )

    def read(self, text: str, words: Words) -> Attribution:
        """What the matcher finds, identifiers hidden from it, and short forms."""
        plain = self._matcher.read(_hidden(text))
        return _with(plain, (_mention(found.means, words, found.start, found.end) for found in self._short.find(words)))

    def add(self, text: str, read: Attribution, *, evident: bool) -> Attribution:
        """Add the names that are English words.

        Args:
            text: What was read.
            read: What is found in it without them.
            evident: Whether the passage is about coins anyway.
        """
        return read if text.isupper() else _with(read, self._meant(_hidden(text), evident=evident))

    def _meant(self, text: str, *, evident: bool) -> Iterator[Mention]:
        lowered = text.islower()
        for found in _WORD.finditer(text):
            word = found[0]
            ticker = self._tickers.get(word.lower())
            name = self._names.get(word.lower())
            if ticker is not None and self._is_ticker(text, found):
                yield Mention(ticker, found.start(), found.end())
            elif name is not None and self._is_name(text, found, lowered=lowered, evident=evident):
                yield Mention(name, found.start(), found.end())

    def _is_ticker(self, text: str, found: re.Match[str]) -> bool:
        word = found[0]
        named = word.lower() not in _COUNTED and not word.islower() and _TOKEN.match(text, found.end()) is not None
        return named or word in _CAPITALS

    def _is_name(self, text: str, found: re.Match[str], *, lowered: bool, evident: bool) -> bool:
        word = found[0]
        if lowered:
            return evident and word not in COMMON
        if not word.istitle():
            return False
        if not _BEGINS.search(text, max(0, found.start() - _TAIL), found.start()):
            return True
        return evident and (word.lower() not in COMMON or _VERB.match(text, found.end()) is not None)


def _mention(symbol: str, words: Words, start: int, end: int) -> Mention:
    return Mention(symbol, words.starts[start], words.starts[end - 1] + len(words.said[end - 1]))


def _with(read: Attribution, found: Iterable[Mention]) -> Attribution:
    """An attribution with further mentions, where nothing was mentioned yet."""
    taken = {at for mention in read.mentions for at in range(mention.start, mention.end)}
    more = [mention for mention in found if taken.isdisjoint(range(mention.start, mention.end))]
    mentions = tuple(sorted([*read.mentions, *more], key=lambda mention: mention.start))
    return replace(read, coins=tuple(dict.fromkeys(mention.symbol for mention in mentions)), mentions=mentions)


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
