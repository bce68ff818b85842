"""The market's days in bulk: bars with their volume, what funding came to, and what has been published."""

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.market.daily_report.models import DAILY_REPORT
from service.market.models import Bar, Quote, Quotes
from service.market.series import ClosedDays, read_days
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database

DAY = 20_000
HOURS = 24


def quotes(*coins: str, delisted: tuple[str, ...] = ()) -> Quotes:
    return Quotes(1_000, [Quote(coin, canonical(coin), 1.0, 2.0, 1_000, 0.0, 1_000) for coin in coins], delisted)


def bar(day: int) -> Bar:
    return Bar(day * DAY_MS, 2.0, 4.0, 1.0, 3.0, 10.0, 7)


def payments(day: int, hours: range = range(1, HOURS + 1), rate: float = 0.0001) -> list[tuple[int, float, float]]:
    """Payments at the ends of hours of a day, the last of them at the midnight that ends it."""
    return [(day * DAY_MS + hour * HOUR_MS, rate, 1.0) for hour in hours]


@pytest.fixture
async def claimed(store: MarketStore) -> MarketStore:
    await store.claim("one")
    await store.put_quotes("one", quotes("BTC", "kPEPE", delisted=("MATIC",)))
    return store


async def days(database: Database, until: int = DAY + 9) -> ClosedDays:
    return await database.inspect(lambda connection: read_days(connection, until * DAY_MS))


async def summed(store: MarketStore, database: Database) -> dict[str, list[tuple[int, float]]]:
    """The days of which 23 hours are paid at least."""
    await store.sum_funding("one")
    return {
        coin: [(day, round(paid, 12)) for day, paid, hours in found if hours >= 23]
        for coin, found in (await days(database)).funding.items()
    }


async def test_an_empty_store_holds_no_history(store: MarketStore, database: Database) -> None:
    assert await store.held() is None
    assert await days(database) == ClosedDays(None, [], {}, {})


async def test_days_of_all_coins_that_were_ever_listed_are_read_up_to_a_midnight(
    claimed: MarketStore, database: Database
) -> None:
    for coin in ("BTC", "MATIC", "xyz:AAPL"):
        await claimed.put_bars("one", coin, [bar(DAY), bar(DAY + 1), bar(DAY + 2), bar(DAY + 3)], (DAY + 2) * DAY_MS)
    found = await days(database, DAY + 2)
    assert await claimed.held() == found.origin == "one"
    assert [(coin.symbol, coin.listed) for coin in found.coins] == [("BTC", True), ("MATIC", False), ("PEPE", True)]
    two = [(day * DAY_MS, 2.0, 4.0, 1.0, 3.0, 10.0) for day in (DAY, DAY + 1)]
    assert {coin: list(bars.with_volumes()) for coin, bars in found.bars.items()} == {"BTC": two, "MATIC": two}
    assert [row[0] // DAY_MS for row in (await days(database)).bars["BTC"]] == [DAY, DAY + 1, DAY + 2]


async def test_a_payment_at_midnight_pays_for_the_day_that_ends_then(claimed: MarketStore, database: Database) -> None:
    await claimed.put_payments("one", "BTC", [(DAY * DAY_MS, 0.5, 1.0), *payments(DAY)])
    assert await summed(claimed, database) == {"BTC": [(DAY, 0.0024)]}


async def test_what_was_paid_every_eight_hours_counts_for_all_of_them(claimed: MarketStore, database: Database) -> None:
    rows = [(DAY * DAY_MS + hour * HOUR_MS, 0.0001, 8.0) for hour in (8, 16, 24)]
    await claimed.put_payments("one", "BTC", rows)
    assert await summed(claimed, database) == {"BTC": [(DAY, 0.0024)]}


async def test_a_day_that_is_not_over_or_lacks_two_hours_is_unknown_and_one_hour_may_lack(
    claimed: MarketStore, database: Database
) -> None:
    rows = [*payments(DAY, range(3, 25)), *payments(DAY + 1, range(2, 25)), *payments(DAY + 2, range(1, 24))]
    await claimed.put_payments("one", "BTC", rows)
    assert await summed(claimed, database) == {"BTC": [(DAY + 1, 0.0023)]}
    await claimed.put_payments("one", "BTC", payments(DAY + 2, range(24, 25)))
    assert await summed(claimed, database) == {"BTC": [(DAY + 1, 0.0023), (DAY + 2, 0.0024)]}
    assert [(day, hours) for day, _, hours in (await days(database)).funding["BTC"]] == [
        (DAY, 22),
        (DAY + 1, 23),
        (DAY + 2, 24),
    ]


async def test_sums_outlive_the_payments_and_are_never_told_differently(
    claimed: MarketStore, database: Database
) -> None:
    await claimed.put_payments("one", "BTC", payments(DAY))
    await claimed.put_payments("one", "MATIC", payments(DAY, rate=-0.0001))
    before = await summed(claimed, database)
    await claimed.prune((DAY + 1) * DAY_MS)
    await claimed.put_payments("one", "BTC", [*payments(DAY, rate=0.5), *payments(DAY + 1)])
    after = await summed(claimed, database)
    assert before == {"BTC": [(DAY, 0.0024)], "MATIC": [(DAY, -0.0024)]}
    assert after == {"BTC": [(DAY, 0.0024), (DAY + 1, 0.0024)], "MATIC": [(DAY, -0.0024)]}


async def test_sums_are_cleared_with_their_history_and_kept_for_no_other(
    claimed: MarketStore, database: Database
) -> None:
    await claimed.put_payments("one", "BTC", payments(DAY))
    await claimed.sum_funding("two")
    assert (await days(database)).funding == {}
    assert await summed(claimed, database) == {"BTC": [(DAY, 0.0024)]}
    await claimed.claim("two")
    assert await database.read("SELECT * FROM funding_days") == []


async def test_many_coins_are_summed_a_few_at_a_time(
    claimed: MarketStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.market.store._COINS_A_SUM", 1)
    await claimed.put_payments("one", "BTC", payments(DAY))
    await claimed.put_payments("one", "kPEPE", payments(DAY))
    assert await summed(claimed, database) == {"BTC": [(DAY, 0.0024)], "kPEPE": [(DAY, 0.0024)]}


async def test_a_history_is_published_through_its_own_last_conclusions(store: MarketStore, database: Database) -> None:
    assert await store.published_through("one") is None
    row = (DAILY_REPORT, "one", 1, DAY * DAY_MS)
    await database.write(
        lambda connection: (
            connection.execute(
                "INSERT INTO documents (name, origin, revision, observed_ms) VALUES (?, ?, ?, ?)", row
            ).rowcount
        )
    )
    assert await store.published_through("one") == DAY * DAY_MS
    assert await store.published_through("two") is None
