"""Everything that can be named, by its words. Built when the listings change. Nicknames are data: `names.toml`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from service.ask.load import load
from service.ask.parser.language import is_plain, near
from service.ask.parser.tokens import fold, tokenise
from service.market.symbols import SUCCEEDED, CoinDirectory, unit_of
from service.sentiment.names import ACRONYMS, COMMON, WORDS

Kind = Literal["coin", "asset", "category", "unknown"]


class Care(IntEnum):
    """How much a name needs beside itself: nothing, a place where a coin stands, or words that leave no doubt."""

    FREE = 0
    HINTED = 1
    STRICT = 2


class Thing(NamedTuple):
    """What a name means.

    Attributes:
        kind: What it names.
        keys: Tickers, asset ids or names of categories; of something unknown what may be meant instead.
        care: How sure one has to be.
        ticker: Whether it is a ticker, which capitals make surer.
    """

    kind: Kind
    keys: tuple[str, ...]
    care: Care
    ticker: bool = False


class _Tables(Struct, frozen=True):
    """What `names.toml` holds; see there."""

    sure_categories: frozenset[str]
    absent_categories: frozenset[str]
    absent: frozenset[str]
    acronyms: frozenset[str]
    sure: frozenset[str]
    likely: frozenset[str]
    doubtful: frozenset[str]
    tails: frozenset[str]
    coins: Mapping[str, Sequence[str]]
    assets: Mapping[str, Sequence[str]]
    asset_pairs: Mapping[str, Sequence[str]]
    categories: Mapping[str, Sequence[str]]
    former: Mapping[str, str]


TABLES: Final = load(Path(__file__).with_name("names.toml"), _Tables)

CURRENCIES: Final = frozenset({("xyz:EUR",), ("xyz:JPY",), ("xyz:GBP",)})
"""Assets that figures may be asked in, such as "in euros". All figures are in dollars."""

_SHORT_TICKER: Final = 2
_SHORT_NAME: Final = 4
"""Letters up to which only one mistake is forgiven in what may have been meant."""
_MOST_CANDIDATES: Final = 3

Named = Iterator[tuple[tuple[str, ...], Thing]]


class NameIndex:
    """Every name of every coin, asset and category.

    Args:
        directory: The venue's coins.
        assets: Real-world assets: id (`xyz:AAPL`) to what people call it ("Apple").
        categories: Names of the categories.

    Attributes:
        directory: The venue's coins.
        things: Words of a name, to what it means.
        topics: Words of a category's name, to the category, also where they are a coin's as well.
        longest: How many words the longest name has.
        parts: Every word of every name.
        lots: Tickers of a thousand of a coin, in lower case (`kpepe`, `1000pepe`), to the coin.
    """

    def __init__(self, directory: CoinDirectory, assets: Mapping[str, str], categories: Sequence[str]) -> None:
        self.directory = directory
        self.topics = dict(_categories(categories))
        self.lots = dict(_lots(directory))
        self.things: dict[tuple[str, ...], Thing] = {}
        for name, thing in (*_coins(directory, self.lots), *_assets(assets), *self.topics.items(), *_absent(directory)):
            self.things.setdefault(name, thing)
        self.longest = max(map(len, self.things))
        self.parts = frozenset(word for name in self.things for word in name)

    def meanings(self) -> Mapping[str, object]:
        """The words of all names, each with what it means where it is a name alone."""
        return {
            part: (thing.kind, thing.keys) if (thing := self.find((part,))) and thing.keys else part
            for part in self.parts
        }

    def find(self, words: tuple[str, ...]) -> Thing | None:
        """What the words of a name mean."""
        return self.things.get(words)

    def candidates(self, written: str) -> tuple[str, ...]:
        """Tickers of coins whose name is at most two mistakes from a lower-case text, one from a short text."""
        names = {" ".join(words): thing.keys for words, thing in self.things.items() if thing.kind == "coin"}
        most = 1 if len(written) <= _SHORT_NAME else 2
        keys = (key for name in near(written, list(names), most) for key in names[name])
        return tuple(dict.fromkeys(keys))[:_MOST_CANDIDATES]


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, as they are looked up."""
    return tuple(token.name for token in tokenise(name))


def _lots(directory: CoinDirectory) -> Iterator[tuple[str, str]]:
    for symbol in directory:
        if unit_of(directory.listing(symbol).venue_symbol)[1] > 1:
            for prefix in ("k", "1000"):
                yield f"{prefix}{symbol.lower()}", symbol


def _coins(directory: CoinDirectory, lots: Mapping[str, str]) -> Named:
    listed = frozenset[str](directory)
    for symbol in directory:
        yield (symbol.lower(),), Thing("coin", (symbol,), _care(symbol.lower(), ticker=True), ticker=True)
    for ticker, coin in lots.items():
        yield (ticker,), Thing("coin", (coin,), Care.FREE, ticker=True)
    nicknames = ((name, (symbol,)) for symbol, names in TABLES.coins.items() if symbol in listed for name in names)
    for name, symbols in (*_titles(directory), *nicknames):
        words = words_of(name)
        kind: Kind = "coin" if len(symbols) == 1 else "unknown"
        care = _care(" ".join(words), ticker=False)
        yield words, Thing(kind, symbols, care)
    former = {**TABLES.former, **{old.lower(): new for old, new in SUCCEEDED.items() if old not in listed}}
    for name, new in former.items():
        care = _care(name, ticker=True)
        yield words_of(name), Thing("unknown", (new,) if new in listed else (), care, ticker=True)


def _titles(directory: CoinDirectory) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Titles, whole and without the last word that people leave out, with all coins that have them."""
    owners: dict[str, list[str]] = {}
    shortened: dict[str, list[str]] = {}
    for symbol in directory:
        title = fold((directory.listing(symbol).title or "").partition("(")[0].strip())
        if title and title != "memecoin":
            owners.setdefault(title, []).append(symbol)
            first, _, last = title.rpartition(" ")
            if first and last in TABLES.tails:
                shortened.setdefault(first, []).append(symbol)
    for title, symbols in {**shortened, **owners}.items():
        yield title, tuple(symbols)


def _assets(assets: Mapping[str, str]) -> Named:
    ids = {asset.rpartition(":")[2].upper(): asset for asset in assets}
    for ticker, asset in ids.items():
        yield (ticker.lower(),), Thing("asset", (asset,), _care(ticker.lower(), ticker=True), ticker=True)
        yield words_of(asset), Thing("asset", (asset,), Care.FREE)
    for ticker, asset in ids.items():
        for name in (assets[asset], *TABLES.assets.get(ticker, ())):
            words = words_of(name)
            yield words, Thing("asset", (asset,), _care(" ".join(words), ticker=False))
    for name, tickers in TABLES.asset_pairs.items():
        keys = tuple(ids[ticker] for ticker in tickers if ticker in ids)
        if keys:
            yield words_of(name), Thing("asset", keys, Care.FREE)


def _categories(categories: Sequence[str]) -> Named:
    seen: set[tuple[str, ...]] = set()
    for category in categories:
        for name in (fold(category), *_topics(category)):
            words = words_of(name)
            if words not in seen:
                seen.add(words)
                yield words, Thing("category", (category,), _category_care(name))


def _topics(category: str) -> Iterator[str]:
    name, _, short = fold(category).partition("(")
    plain = name.strip().replace("-", " ")
    yield from filter(None, (plain, f"{plain}s", short.strip(") ")))
    for beginning, topics in TABLES.categories.items():
        if plain.startswith(beginning):
            yield from topics


def _category_care(name: str) -> Care:
    sure = name in TABLES.sure_categories or (" " in name and not name.startswith("real world"))
    return Care.FREE if sure else Care.HINTED


def _absent(directory: CoinDirectory) -> Iterable[tuple[tuple[str, ...], Thing]]:
    for name in sorted(TABLES.absent):
        care = Care.HINTED if is_plain(name) else Care.FREE
        yield words_of(name), Thing("unknown", (), care, ticker=directory.delisted(name) is not None)


def _care(name: str, *, ticker: bool) -> Care:
    """How sure one has to be that a name is meant."""
    if " " in name:
        return Care.HINTED if name in {"the graph", "king coin"} else Care.FREE
    if name in TABLES.sure:
        return Care.FREE
    if name in TABLES.doubtful or len(name) == 1:
        return Care.STRICT
    if (name in COMMON or name in ACRONYMS) and name not in TABLES.likely:
        return Care.STRICT
    if name in WORDS or is_plain(name) or (ticker and len(name) <= _SHORT_TICKER):
        return Care.HINTED
    return Care.FREE
