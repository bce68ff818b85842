"""Series in the database: who was ever listed, bars by day and hour, payments of funding."""

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.market import series, store
from service.market.models import Bar, Quote, Quotes, VenueCoin
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database
from tests.market.parts import show_only

DAY = 20_000


def quotes(*coins: str, delisted: tuple[str, ...] = ()) -> Quotes:
    return Quotes(1_000, [Quote(coin, canonical(coin), 1.0, 2.0, 1_000, 0.0, 1_000) for coin in coins], delisted)


def bar(open_ms: int, close: float = 3.0) -> Bar:
    return Bar(open_ms, 2.0, 4.0, 1.0, close, 10.0, 7)


def row(open_ms: int, close: float = 3.0) -> tuple[int, float, float, float, float]:
    return (open_ms, 2.0, 4.0, 1.0, close)


@pytest.fixture
async def claimed(store: MarketStore) -> MarketStore:
    await store.claim("one")
    return store


async def test_a_coin_that_is_no_longer_listed_is_remembered(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC", "kPEPE", delisted=("MATIC",)))
    await show_only(claimed, "one", HOUR_MS, quotes("BTC").quotes)
    assert await claimed.coins() == [
        VenueCoin("BTC", "BTC", listed=True),
        VenueCoin("MATIC", "MATIC", listed=False),
        VenueCoin("kPEPE", "PEPE", listed=False),
    ]
    assert [coin.symbol for coin in (await claimed.snapshot()).delisted] == ["MATIC", "PEPE"]


async def test_another_venues_quotes_delist_nobody(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC", "ETH"))
    await claimed.put_quotes("one", quotes("BTC"), venue="binance")
    assert [coin.listed for coin in await claimed.coins()] == [True, True]
    assert len((await claimed.snapshot()).coins) == 2


async def test_a_delisted_coin_is_asked_for_until_it_is_settled_and_again_if_it_comes_back(
    claimed: MarketStore,
) -> None:
    async def open_ones() -> list[tuple[str, bool]]:
        return [(coin.venue_symbol, coin.listed) for coin in await claimed.progress("one")]

    await claimed.put_quotes("one", quotes("BTC", delisted=("MATIC",)))
    assert await open_ones() == [("BTC", True), ("MATIC", False)]
    await claimed.settle("two", "MATIC")
    await claimed.settle("one", "BTC")
    assert await open_ones() == [("BTC", True), ("MATIC", False)]
    await claimed.settle("one", "MATIC")
    assert await open_ones() == [("BTC", True)]
    await claimed.put_quotes("one", quotes("BTC", "MATIC"))
    await show_only(claimed, "one", HOUR_MS, quotes("BTC").quotes)
    assert await open_ones() == [("BTC", True), ("MATIC", False)]


async def test_bars_by_the_hour_and_by_the_day_are_kept_apart(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC", "ETH"))
    at_ms = DAY * DAY_MS
    await claimed.put_bars("one", "BTC", [bar(at_ms)], at_ms)
    await claimed.put_bars("one", "BTC", [bar(at_ms, 3.5), bar(at_ms + HOUR_MS)], at_ms, interval="1h")
    assert await claimed.closed_bars(["BTC"]) == {"BTC": [row(at_ms)]}
    assert await claimed.closed_bars(["BTC", "ETH"], "1h") == {"BTC": [row(at_ms, 3.5)], "ETH": []}
    assert [coin.last_ms for coin in await claimed.progress("one", "1h")] == [at_ms, None]
    assert await claimed.newest_closed("1h") == {"BTC": at_ms}
    assert await claimed.bars("BTC", "1h", 0) == [bar(at_ms, 3.5)]


async def test_bars_of_all_coins_include_delisted_ones_and_no_builders_coin(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC", "NEW", delisted=("MATIC",)))
    days = [bar((DAY + number) * DAY_MS) for number in range(3)]
    for coin in ("BTC", "MATIC", "xyz:AAPL"):
        await claimed.put_bars("one", coin, days, days[-1].open_ms)
    since_ms = days[1].open_ms
    rows = [row(since_ms), row(days[2].open_ms)]
    assert await claimed.closed_bars(since_ms=since_ms) == {"BTC": rows, "MATIC": rows}
    assert await claimed.closed_bars(["xyz:AAPL"], since_ms=since_ms) == {"xyz:AAPL": rows}
    assert await claimed.closed_bars_after({"BTC": since_ms, "MATIC": days[2].open_ms, "NO": 0}) == {
        "BTC": rows,
        "MATIC": rows[1:],
        "NO": [],
    }
    assert await claimed.bars("MATIC", "1d", days[2].open_ms) == [days[2]]
    assert await claimed.newest_closed() == {"BTC": days[2].open_ms, "MATIC": days[2].open_ms}


async def test_what_is_usually_traded_is_the_mean_of_the_closed_days_in_usd(claimed: MarketStore) -> None:
    days = [bar((DAY + number) * DAY_MS, close) for number, close in enumerate((3.0, 2.0, 3.5, 4.0))]
    await claimed.put_quotes("one", quotes("BTC"))
    await claimed.put_bars("one", "BTC", days, days[2].open_ms)
    await claimed.put_bars("one", "xyz:AAPL", days, days[2].open_ms)
    assert await claimed.usual_volumes(days[1].open_ms) == {"BTC": (20.0 + 35.0) / 2}


async def test_a_bar_says_where_it_was_seen(claimed: MarketStore, database: Database) -> None:
    at_ms = DAY * DAY_MS
    await claimed.put_bars("one", "BTC", [bar(at_ms), bar(at_ms + DAY_MS)], at_ms)
    await claimed.put_bars("one", "BTC", [bar(at_ms), bar(at_ms + DAY_MS)], at_ms + DAY_MS, venue="binance")
    assert await database.read("SELECT venue, final FROM candles ORDER BY open_ms") == [
        ("hyperliquid", 1),
        ("binance", 1),
    ]


async def test_payments_are_kept_once_and_never_change(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC", "ETH", "xyz"))
    first = (HOUR_MS, 0.001, 1.0)
    await claimed.put_payments("one", "BTC", [first])
    await claimed.put_payments("one", "BTC", [(HOUR_MS, 0.5, 8.0), (2 * HOUR_MS, -0.002, 8.0)])
    await claimed.put_payments("one", "xyz:AAPL", [first])
    await claimed.put_payments("two", "ETH", [first])
    assert await claimed.funding_since(["BTC", "ETH"], 0) == {"BTC": [first, (2 * HOUR_MS, -0.002, 8.0)], "ETH": []}
    assert await claimed.funding_since(None, 2 * HOUR_MS) == {"BTC": [(2 * HOUR_MS, -0.002, 8.0)]}
    assert await claimed.funding_since(["xyz:AAPL"], 0) == {"xyz:AAPL": [first]}
    assert [coin.last_ms for coin in await claimed.funding_progress("one")] == [2 * HOUR_MS, None, None]
    assert await claimed.funding_progress("two") == []


async def test_old_hours_are_forgotten_and_days_are_not(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC"))
    hours = [bar(number * HOUR_MS) for number in range(3)]
    await claimed.put_bars("one", "BTC", hours, hours[-1].open_ms, interval="1h")
    await claimed.put_bars("one", "BTC", [bar(0)], 0)
    for asset in ("AAA", "xyz:AAPL", "xyz:GOLD"):  # not among the coins of the market
        await claimed.put_bars("one", asset, hours, hours[-1].open_ms, interval="1h")
    await claimed.put_payments("one", "BTC", [(number * HOUR_MS, 0.0, 1.0) for number in range(3)])
    await claimed.prune(HOUR_MS)
    for symbol in ("AAA", "BTC", "xyz:AAPL", "xyz:GOLD"):
        assert await claimed.closed_bars([symbol], "1h") == {symbol: [row(HOUR_MS), row(2 * HOUR_MS)]}
    assert len((await claimed.funding_since(["BTC"], 0))["BTC"]) == 2
    assert await claimed.closed_bars(["BTC"]) == {"BTC": [row(0)]}


@pytest.mark.parametrize("statement", [*store._FORGET, series._USUAL, store._PROGRESS, store._PAID])
async def test_nobody_waits_while_every_row_there_is_is_read(database: Database, statement: str) -> None:
    values = ("1d",) * statement.count("?1") + (0,)
    plan = [step for *_, step in await database.read(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert any("PRIMARY KEY (venue_symbol=?" in step for step in plan)
    assert not [step for step in plan if step in {"SCAN candles", "SCAN funding_rates"}]


async def test_series_go_with_their_origin(claimed: MarketStore) -> None:
    await claimed.put_quotes("one", quotes("BTC", delisted=("MATIC",)))
    await claimed.put_bars("one", "BTC", [bar(0)], 0, interval="1h")
    await claimed.put_payments("one", "BTC", [(0, 0.0, 1.0)])
    await claimed.claim("two")
    assert await claimed.coins() == []
    assert await claimed.closed_bars(["BTC"], "1h") == {"BTC": []}
    assert await claimed.funding_since(["BTC"], 0) == {"BTC": []}
