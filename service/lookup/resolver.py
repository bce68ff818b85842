"""Which coins and real-world assets a text means.

Exact ways come first, and the first that finds something ends the search: ticker, CoinGecko's id, name, contract, other
names. They are tried with the text as typed, then without what people write beside a name (`BTC-USD`, `apple stock`).
Otherwise everything is scored that begins with the text, has its words in its name, or is spelled like it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from service.lookup.chains import normalized
from service.lookup.identities import Identities, fold
from service.market.sources.coingecko import GeckoToken
from service.market.symbols import SUCCEEDED, CoinDirectory
from service.rwa.documents import ListedAsset
from service.sentiment.names import ALIASES
from service.wire.rwa import AssetType

ASSET_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "google": "GOOGL", "goog": "GOOGL", "facebook": "META", "microstrategy": "MSTR", "nasdaq": "XYZ100",
        "nasdaq 100": "XYZ100", "ndx": "XYZ100", "s&p": "SP500", "s and p 500": "SP500", "spx": "SP500", "spy": "SP500",
        "oil": "CL", "crude": "CL", "wti": "CL", "wti oil": "CL", "crude oil": "CL", "brent": "BRENTOIL",
        "brent oil": "BRENTOIL", "gas futures": "NATGAS", "xau": "GOLD", "xauusd": "GOLD", "gld": "GOLD",
        "xag": "SILVER", "xagusd": "SILVER", "eurusd": "EUR", "usdjpy": "JPY", "yen": "JPY", "nikkei": "JP225",
        "treasuries": "TLT", "semiconductors": "SMH", "kospi": "EWY",
    }
)  # fmt: skip
"""Name → ticker of a real-world asset."""

COIN_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "binance": "BNB", "lumens": "XLM", "stellar lumens": "XLM", "hashgraph": "HBAR", "layer0": "ZRO",
        "wif hat": "WIF", "internet computer": "ICP", "sats": "BTC", "satoshi": "BTC", "bitcoin digital gold": "BTC",
        "hyper": "HYPE", "trump coin": "TRUMP", "official trump meme": "TRUMP", "donald trump": "TRUMP",
    }
)  # fmt: skip
"""Name → ticker of a coin, beside those that news articles use."""

PAIRED: Final = ("usdt", "usdc", "usd", "perpetual", "perp", "futures", "swap")
"""What is written behind a ticker, with or without something between: `BTC-USD`, `BTCUSDT`, `btc perp`."""

ADDED: Final = frozenset(
    {
        "coin", "token", "crypto", "memecoin", "price", "stock", "stocks", "share", "shares", "inc", "corp", "network",
        "protocol", "finance", "games", "index", "commodity", "etf", "chain", "dao", "the", "inu", "one", "labs",
    }
)  # fmt: skip
"""Words beside a name that do not decide which one is meant."""

EXACT: Final = 1.0
CLEANED: Final = 0.95
PREFIX: Final = 0.9
WORDS: Final = 0.85
MOST_ALIKE: Final = 0.89
LEAST_ALIKE: Final = 0.6

EXACT_WAYS: Final = ("symbol-exact", "id-exact", "name-exact", "contract-exact", "alias-exact")
OTHER_WAYS: Final = ("symbol-prefix", "name-prefix", "name-words", "fuzzy")

_MOST_ALIKE_FORMS: Final = 40
_SHORTEST_PREFIX: Final = 2
_SIGNS: Final = "$#"
_BRACKETED: Final = re.compile(r"\s*\(.*?\)\s*")
_PAIR: Final = re.compile(rf"(.+?)[\s/_:.-]*(?:{'|'.join(PAIRED)})\Z")
_GLUED: Final = ("coin", "token")


class Candidate(NamedTuple):
    """Something that a text may mean: its id, ticker, name and type, and whether its price is followed here."""

    id: str | None
    symbol: str
    name: str | None
    type: Literal["crypto"] | AssetType
    tracked: bool = True


class Match(NamedTuple):
    """A candidate, how it was found, and how sure that is, from 0 to 1."""

    candidate: Candidate
    via: str
    score: float


class Resolver:
    """Everything that can be meant, indexed. Immutable.

    Args:
        directory: Spellings of the venue's tickers.
        coins: Known coins.
        assets: Real-world assets.
        contracts: Address → chains and tokens.
    """

    def __init__(
        self,
        directory: CoinDirectory,
        coins: Identities,
        assets: Sequence[ListedAsset],
        contracts: Mapping[str, Sequence[tuple[str, GeckoToken]]],
    ) -> None:
        of_coins = [Candidate(coin.id, coin.symbol, coin.name, "crypto", coin.tracked) for coin in coins.coins]
        of_assets = [Candidate(asset.id, asset.symbol, asset.name, asset.type) for asset in assets]
        self._directory = directory
        self._contracts = contracts
        self._all = [*of_coins, *of_assets]
        self._place = {candidate: place for place, candidate in enumerate(self._all)}
        self._coins = {candidate.symbol: candidate for candidate in reversed(of_coins)}
        self._by_id = {one.id: one for one in self._all if one.id is not None}
        self._symbols = _grouped((fold(one.symbol), one) for one in self._all)
        self._ids = _grouped((fold(one.id), one) for one in self._all if one.id is not None)
        self._names = _grouped((fold(name), one) for one in self._all for name in _names(one))
        by_ticker = {one.symbol: one for one in of_assets}
        self._aliases = _grouped(
            [
                *((fold(name), self._coins[ticker]) for ticker, name in _coin_aliases() if ticker in self._coins),
                *((fold(name), by_ticker[ticker]) for name, ticker in ASSET_NAMES.items() if ticker in by_ticker),
            ]
        )
        indices = (self._symbols, self._ids, self._names, self._aliases)
        self._forms = _grouped((form, one) for index in indices for form, found in index.items() for one in found)
        self._spelled = list(self._forms)

    def resolve(self, text: str) -> tuple[list[Match], list[str]]:
        """Find what a text may mean.

        Args:
            text: What somebody typed.

        Returns:
            Matches, the best first, and the names of the ways that were tried, in order.
        """
        typed = text.strip().lstrip(_SIGNS).strip()
        for variant, score in _variants(typed):
            for way, found in self._exact(variant):
                if found:
                    return [Match(one, way, score) for one in self._ordered(found)], _until(way)
        return self._alike(typed), [*EXACT_WAYS, *OTHER_WAYS]

    def _exact(self, text: str) -> Iterator[tuple[str, Sequence[Candidate]]]:
        folded = fold(text)
        spelled = self._directory.spelled(text)
        listed = [self._coins[spelled]] if spelled in self._coins else []
        yield "symbol-exact", list(dict.fromkeys([*listed, *self._symbols.get(folded, ())])) if folded else []
        yield "id-exact", self._ids.get(folded, ())
        yield "name-exact", self._names.get(folded, ())
        yield "contract-exact", [self._of_token(token) for _, token in self._contracts.get(normalized(text), ())][:1]
        yield "alias-exact", self._aliases.get(folded, ())

    def _of_token(self, token: GeckoToken) -> Candidate:
        return self._by_id.get(token.id) or Candidate(token.id, token.ticker, token.name, "crypto", tracked=False)

    def _alike(self, typed: str) -> list[Match]:
        """Everything that resembles a text, each with its best score."""
        words = [fold(word) for word in re.split(r"[\s/_-]+", typed) if fold(word)]
        telling = [word for word in words if word not in ADDED] or words
        best: dict[Candidate, Match] = {}
        for folded in dict.fromkeys(("".join(words), "".join(telling))):
            for match in (*self._beginning(folded), *self._spelled_like(folded)):
                if match.candidate not in best or match.score > best[match.candidate].score:
                    best[match.candidate] = match
        for candidate in self._all:
            own = set(re.split(r"[^a-z0-9]+", (candidate.name or "").casefold()))
            if telling and own.issuperset(telling) and (candidate not in best or best[candidate].score < WORDS):
                best[candidate] = Match(candidate, "name-words", WORDS)
        return sorted(best.values(), key=lambda match: (-match.score, *self._rank(match.candidate)))

    def _beginning(self, folded: str) -> Iterator[Match]:
        if len(folded) < _SHORTEST_PREFIX:
            return
        for way, index in (("symbol-prefix", self._symbols), ("name-prefix", self._names)):
            for form, found in index.items():
                if form.startswith(folded):
                    yield from (Match(one, way, PREFIX) for one in found)

    def _spelled_like(self, folded: str) -> Iterator[Match]:
        alike = extract(
            folded,
            self._spelled,
            scorer=OSA.normalized_similarity,
            processor=None,
            limit=_MOST_ALIKE_FORMS,
            score_cutoff=LEAST_ALIKE,
        )
        for form, likeness, _ in alike:
            score = round(min(likeness, MOST_ALIKE), 4)
            yield from (Match(one, "fuzzy", score) for one in self._forms[form])

    def _ordered(self, found: Iterable[Candidate]) -> list[Candidate]:
        return sorted(dict.fromkeys(found), key=self._rank)

    def _rank(self, candidate: Candidate) -> tuple[bool, int]:
        """What the service follows first, then the largest."""
        return not candidate.tracked, self._place.get(candidate, len(self._all))


def _grouped(pairs: Iterable[tuple[str, Candidate]]) -> dict[str, list[Candidate]]:
    grouped: dict[str, list[Candidate]] = {}
    for form, candidate in pairs:
        if form and candidate not in grouped.setdefault(form, []):
            grouped[form].append(candidate)
    return grouped


def _names(candidate: Candidate) -> Iterator[str]:
    """The name of a candidate, and without what stands in brackets."""
    if candidate.name:
        yield candidate.name
        yield _BRACKETED.sub(" ", candidate.name)


def _coin_aliases() -> Iterator[tuple[str, str]]:
    yield from ((ticker, name) for ticker, names in ALIASES.items() for name in names)
    yield from ((ticker, name) for name, ticker in COIN_NAMES.items())
    yield from ((ticker, former) for former, ticker in SUCCEEDED.items())


def _variants(typed: str) -> Iterator[tuple[str, float]]:
    """The text, then without what is written beside a name."""
    yield typed, EXACT
    text = typed.casefold()
    words = [word for word in text.split() if word not in ADDED]
    shorter = " ".join(words)
    if shorter and shorter != text:
        yield shorter, CLEANED
    paired = _PAIR.match(text)
    if paired is not None:
        yield paired[1], CLEANED
    for ending in _GLUED:
        if text.endswith(ending) and len(text) > len(ending) + 1:
            yield text.removesuffix(ending), CLEANED


def _until(way: str) -> list[str]:
    return [*EXACT_WAYS[: EXACT_WAYS.index(way) + 1]]
