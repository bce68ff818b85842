"""Everything that can be named here, by its words. Built once, when the listings change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Final, Literal, NamedTuple

from service.ask.parser.names import ABSENT, ASSETS, CRUDES, FORMER, OIL, SLANG, SURE_TOPICS, TOPICS
from service.ask.parser.tokens import fold, tokenise
from service.ask.parser.words import bag, is_plain
from service.market.symbols import SUCCEEDED, Directory, unit_of
from service.sentiment.names import ACRONYMS, COMMON, WORDS

Kind = Literal["COIN", "ASSET", "CATEGORY", "UNKNOWN"]
"""What a name is of; also what stands for it in a masked text."""


class Care(IntEnum):
    """How much a name needs beside itself: nothing, a place where a coin stands, or words that leave no doubt."""

    FREE = 0
    HINTED = 1
    STRICT = 2


class Thing(NamedTuple):
    """What a name means.

    Attributes:
        kind: Of what it is the name.
        keys: Tickers, asset ids or names of categories; of an unknown thing what may be meant instead.
        care: How sure one has to be.
        ticker: Whether it is a ticker, which capitals make surer.
        both: Whether all keys are meant; else several are one spelling of several things.
    """

    kind: Kind
    keys: tuple[str, ...]
    care: Care
    ticker: bool = False
    both: bool = False


_SURE: Final = bag(
    """
    apple atom avalanche bitcoins copper corn cosmos dot ether gold google makerdao microsoft amazon facebook
    platinum sandbox silver treasuries crude euro euros yen brent bullion polygon ripple solana tesla trumpcoin oil
    """
)
"""English words that hardly mean anything else to who asks about markets."""
_LIKELY: Final = bag("gold hype link maker near optimism pump render sandbox silver threshold trump")
"""Of the commonest words, those that need no more than a place where a coin stands."""
_MOSTLY_PLAIN: Final = frozenset({"coin", "etc", "strategy"})
_SHORT: Final = 2
_TAILS: Final = ("dao", "protocol", "network", "token", "finance", "coin", "chain", "labs", "hub", "ecosystem")
_NOT_NAMES: Final = frozenset({"memecoin"})


class Known:
    """Every name of every coin, asset and category.

    Args:
        directory: The venue's coins.
        assets: Real-world assets: id (`xyz:AAPL`) → what people call it ("Apple").
        categories: Names of the categories, as they are asked for.

    Attributes:
        directory: The venue's coins.
        things: Words of a name → what it means.
        topics: Words of a category's name → the category, also where they are a coin's as well.
        longest: How many words the longest name has.
        categories: Names of the categories.
        parts: Every word of every name.
    """

    def __init__(self, directory: Directory, assets: Mapping[str, str], categories: Sequence[str]) -> None:
        self.directory = directory
        self.categories = tuple(categories)
        self.things: dict[tuple[str, ...], Thing] = {}
        for name, thing in (*_coins(directory), *_assets(assets), *_categories(categories), *_absent(directory)):
            self.things.setdefault(name, thing)
        self.topics = dict(_categories(categories))
        self.longest = max(map(len, self.things))
        self.parts = frozenset(word for name in self.things for word in name)
        self.assets = {asset.rpartition(":")[2]: asset for asset in assets}

    def meanings(self) -> Mapping[str, object]:
        """The words of all names, each with what it means where it is a name alone."""
        return {
            part: (thing.kind, thing.keys) if (thing := self.find((part,))) and thing.keys else part
            for part in self.parts
        }

    def find(self, words: tuple[str, ...]) -> Thing | None:
        """What the words of a name mean."""
        return self.things.get(words)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, as they are looked up."""
    return tuple(token.name for token in tokenise(name))


def _coins(directory: Directory) -> Iterator[tuple[tuple[str, ...], Thing]]:
    thousands = dict(_thousands(directory))
    for symbol in directory:
        yield (symbol.lower(),), Thing("COIN", (symbol,), _care(symbol.lower(), ticker=True), ticker=True)
    for name, symbols in _titles(directory):
        yield _titled(name, symbols, frozenset(thousands.values()))
    for base, thousand in thousands.items():
        yield (f"1000{base.lower()}",), Thing("COIN", (thousand,), Care.FREE, ticker=True)
        yield (base.lower(),), Thing("UNKNOWN", (thousand,), Care.FREE, ticker=True)
    listed = frozenset[str](directory)
    for called, names in SLANG.items():
        if called in listed:
            for name in names:
                yield _titled(name, (called,), frozenset(thousands.values()))
    for name, new in FORMER.items():
        yield words_of(name), Thing("UNKNOWN", (new,) if new in listed else (), Care.FREE)
    for old, new in SUCCEEDED.items():
        if old not in listed:
            candidates = (new,) if new in listed else ()
            yield (old.lower(),), Thing("UNKNOWN", candidates, _care(old.lower(), ticker=True), ticker=True)


def _titled(name: str, symbols: tuple[str, ...], thousands: frozenset[str]) -> tuple[tuple[str, ...], Thing]:
    """A name, and what it means: of a coin that is traded by the thousand it is no name."""
    words = words_of(name)
    care = _care(" ".join(words), ticker=False)
    if symbols[0] in thousands:
        return words, Thing("UNKNOWN", symbols, care)
    return words, Thing("COIN", symbols, care)


def _thousands(directory: Directory) -> Iterator[tuple[str, str]]:
    for symbol in directory:
        base, units = unit_of(directory.listing(symbol).venue_symbol)
        if units > 1:
            yield base, symbol


def _titles(directory: Directory) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Titles, whole and without the last word that writers leave out, with all coins that bear them."""
    owners: dict[str, list[str]] = {}
    shortened: dict[str, list[str]] = {}
    for symbol in directory:
        title = fold((directory.listing(symbol).title or "").partition("(")[0].strip())
        if title and title not in _NOT_NAMES:
            owners.setdefault(title, []).append(symbol)
            first, _, last = title.rpartition(" ")
            if first and last in _TAILS:
                shortened.setdefault(first, []).append(symbol)
    yield from ((title, tuple(symbols)) for title, symbols in owners.items())
    yield from ((title, tuple(symbols)) for title, symbols in shortened.items() if title not in owners)


def _assets(assets: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], Thing]]:
    ids = {asset.rpartition(":")[2].upper(): asset for asset in assets}
    for ticker, asset in ids.items():
        care = _care(ticker.lower(), ticker=True)
        yield (ticker.lower(),), Thing("ASSET", (asset,), care, ticker=True)
        yield words_of(asset), Thing("ASSET", (asset,), Care.FREE)
    for ticker, asset in ids.items():
        for name in (assets[asset], *ASSETS.get(ticker, ())):
            words = words_of(name)
            yield words, Thing("ASSET", (asset,), _care(" ".join(words), ticker=False))
    crudes = tuple(ids[ticker] for ticker in CRUDES if ticker in ids)
    if crudes:
        for name in OIL:
            yield words_of(name), Thing("ASSET", crudes, Care.FREE, both=True)


def _categories(categories: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Thing]]:
    for category in categories:
        yield words_of(category), Thing("CATEGORY", (category,), _category_care(fold(category)))
        for name in _topics(category):
            yield words_of(name), Thing("CATEGORY", (category,), _category_care(name))


def _topics(category: str) -> Iterator[str]:
    name, _, short = fold(category).partition("(")
    plain = name.strip().replace("-", " ")
    yield from filter(None, (plain, f"{plain}s", short.strip(") ")))
    for beginning, topics in TOPICS.items():
        if plain.startswith(beginning):
            yield from topics


def _category_care(name: str) -> Care:
    sure = name in SURE_TOPICS or (" " in name and not name.startswith("real world"))
    return Care.FREE if sure else Care.HINTED


def _absent(directory: Directory) -> Iterable[tuple[tuple[str, ...], Thing]]:
    for name in sorted(ABSENT):
        care = Care.HINTED if is_plain(name) else Care.FREE
        yield words_of(name), Thing("UNKNOWN", (), care, ticker=directory.was_listed(name))


def _care(name: str, *, ticker: bool) -> Care:
    """How sure one has to be that a name is meant."""
    if " " in name:
        return Care.HINTED if name in {"the graph", "king coin"} else Care.FREE
    if name in _SURE:
        return Care.FREE
    if name in _MOSTLY_PLAIN:
        return Care.STRICT
    if len(name) == 1 or ((name in COMMON or name in ACRONYMS) and name not in _LIKELY):
        return Care.STRICT
    if name in WORDS or is_plain(name) or (ticker and len(name) <= _SHORT):
        return Care.HINTED
    return Care.FREE
