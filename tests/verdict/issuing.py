"""Verdicts to issue, a market's hours put straight into the store, and a ledger opened by somebody who would cheat."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from service.clock import HOUR_MS, iso
from service.market.models import Bar, Quote, Quotes
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database
from service.verdict.decide import decide
from service.verdict.ruleset import CURRENT, RuleSet
from service.wire.market import Stance, Trend
from service.wire.regime import Regime
from service.wire.verdict import (
    CoinVerdict,
    FundingFacts,
    Label,
    RegimeFacts,
    RiskFacts,
    SentimentFacts,
    Sources,
    SourceState,
    VerdictInputs,
    VerdictRaw,
)
from tests.fakes.clock import START_MS

ORIGIN: Final = "test"

LEANS: Final[Mapping[Label, tuple[Trend, Trend, Regime, Stance]]] = {
    "strong-bull": ("UP", "UP", "risk-on", "accumulation"),
    "bull": ("UP", "HODL", "risk-on", "neutral"),
    "neutral": ("HODL", "HODL", "neutral", "neutral"),
    "bear": ("DOWN", "HODL", "risk-off", "neutral"),
    "strong-bear": ("DOWN", "DOWN", "risk-off", "euphoria"),
}


def known(symbol: str, price: float | None, verdict: Label = "bull", funding: float = 0.0) -> VerdictInputs:
    """What leads to a verdict; without a price, to none."""
    at = iso(START_MS)
    state: SourceState = "fulfilled" if price else "rejected"
    daily, weekly, regime, stance = LEANS[verdict]
    risk = RiskFacts(at, price, funding, at, daily, weekly, 0.5, []) if price else None
    return VerdictInputs(
        symbol,
        at,
        Sources(state, "fulfilled", "fulfilled", "fulfilled"),
        VerdictRaw(
            risk,
            FundingFacts(at, funding, funding, 50.0, 700),
            RegimeFacts(at, regime, regime, 0.5),
            SentimentFacts(at, stance, None),
        ),
    )


def judged(
    symbol: str,
    price: float | None = 100.0,
    verdict: Label = "bull",
    funding: float = 0.0,
    rules: RuleSet = CURRENT,
) -> CoinVerdict:
    """A verdict of a coin at a price."""
    found = decide(known(symbol, price, verdict, funding), rules)
    assert found.verdict == (verdict if price else "insufficient-evidence")
    return found


class Hours:
    """A market by the hour, in a store.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self.store = MarketStore(database)
        self._database = database

    async def list_coins(self, *coins: str, origin: str = ORIGIN) -> None:
        """Have these coins traded, and no others: the venue flags those as delisted, twice, an hour apart."""
        rows = await self._database.read("SELECT venue_symbol FROM market_quotes")
        delisted = [coin for (coin,) in rows if coin not in coins]
        quotes = [Quote(coin, canonical(coin), 1e6, 1.0, START_MS, 0.0, START_MS) for coin in coins]
        if delisted:
            await self.store.put_quotes(origin, Quotes(START_MS - HOUR_MS, [], delisted))
        await self.store.put_quotes(origin, Quotes(START_MS, quotes, delisted))

    async def open(self, coin: str, opens: Mapping[int, float], *, closed: bool = True) -> None:
        """Have hours open at these prices, by their number since 1970."""
        bars = [
            Bar(hour * HOUR_MS, price, price * 1.5, price / 2, price * 0.9, 1.0, 1) for hour, price in opens.items()
        ]
        await self.store.put_bars(ORIGIN, coin, bars, 2**52 if closed else 0, interval="1h")

    async def go_on(self, coin: str, hours: Iterable[int], price: float = 1.0) -> None:
        """Have a coin stay at one price for these hours."""
        await self.open(coin, dict.fromkeys(hours, price))


@contextmanager
def cheating(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database as one who takes off its triggers first."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
