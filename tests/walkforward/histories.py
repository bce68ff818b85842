"""A market store with a history to walk: a few coins whose prices wander."""

import random

from service.clock import DAY_MS, HOUR_MS
from service.market.daily_report.models import DAILY_REPORT
from service.market.models import Bar, Quote, Quotes
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database
from tests.fakes.clock import START_MS
from tests.walkforward.runs import TODAY


def rounded(funding: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Without the noise of adding up."""
    return [(day, round(paid, 12)) for day, paid in funding]


def wander(coin: str, days: range) -> list[Bar]:
    """Bars of a coin, the same for the same name."""
    chance, price, bars = random.Random(coin), 100.0, []  # noqa: S311 - no secret
    for day in days:
        close = round(price * (1 + chance.uniform(-0.05, 0.05)), 4)
        high, low = round(max(price, close) * 1.01, 4), round(min(price, close) * 0.99, 4)
        bars.append(Bar(day * DAY_MS, price, high, low, close, 1_000.0, 10))
        price = close
    return bars


async def hold_history(
    database: Database, origin: str, coins: tuple[str, ...] = ("BTC", "ETH", "kPEPE"), days: int = 3
) -> MarketStore:
    """Keep the last days of coins up to yesterday, with funding of the last one, and publish them."""
    store = MarketStore(database)
    found = [Quote(coin, canonical(coin), 1e6, 2.0, START_MS, 0.0, START_MS) for coin in coins]
    await store.put_quotes(origin, Quotes(START_MS, found, ("MATIC",)))
    for coin in (*coins, "MATIC"):
        await store.put_bars(origin, coin, wander(coin, range(TODAY - days, TODAY + 1)), (TODAY - 1) * DAY_MS)
        paid = [((TODAY - 1) * DAY_MS + hour * HOUR_MS, 0.00001, 1.0) for hour in range(25)]
        await store.put_payments(origin, coin, paid)
    await publish(database, origin, TODAY)
    return store


async def publish(database: Database, origin: str, day: int) -> None:
    """Say that all days before one are published."""
    row = (DAILY_REPORT, origin, day * DAY_MS)
    await database.write(
        lambda connection: (
            connection.execute(
                "INSERT OR REPLACE INTO documents (name, origin, revision, observed_ms) VALUES (?, ?, 1, ?)", row
            ).rowcount
        )
    )
