"""All coins that are known by name: those of the venue, then CoinGecko's largest."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.market.factory import MarketData


class KnownCoin(NamedTuple):
    """A coin: CoinGecko's id (null where none matches), ticker, name, and whether the venue lists it."""

    id: str | None
    symbol: str
    name: str | None
    tracked: bool


class Identities(NamedTuple):
    """Known coins.

    Attributes:
        coins: Those of the venue first, each part with the largest market cap first.
        by_id: CoinGecko's id → coin.
        by_name: Folded name → coins.
        by_ticker: Ticker → coins that the venue does not list.
    """

    coins: Sequence[KnownCoin]
    by_id: Mapping[str, KnownCoin]
    by_name: Mapping[str, Sequence[KnownCoin]]
    by_ticker: Mapping[str, Sequence[KnownCoin]]


def fold(text: str) -> str:
    """Letters and digits of a text, without regard to case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def index_coins(market: MarketData) -> Identities:
    """Index all coins that are known now."""
    known = market.gecko_coins()
    caps = {symbol: (known[symbol].market_cap or 0.0) if symbol in known else 0.0 for symbol in market.coins.directory}
    ranked = sorted(caps, key=lambda symbol: (-caps[symbol], symbol))
    coins = [
        KnownCoin(known[symbol].id, symbol, known[symbol].name, tracked=True)
        if symbol in known
        else KnownCoin(None, symbol, None, tracked=True)
        for symbol in ranked
    ]
    ids = {coin.id for coin in coins}
    coins += [
        KnownCoin(row.id, row.ticker, row.name, tracked=False) for row in market.gecko_largest() if row.id not in ids
    ]
    by_name: dict[str, list[KnownCoin]] = {}
    by_ticker: dict[str, list[KnownCoin]] = {}
    for coin in coins:
        if coin.name is not None:
            by_name.setdefault(fold(coin.name), []).append(coin)
        if not coin.tracked:
            by_ticker.setdefault(coin.symbol, []).append(coin)
    return Identities(coins, {coin.id: coin for coin in coins if coin.id is not None}, by_name, by_ticker)
