"""What is walked, read from the store."""

import pytest

from service.clock import DAY_MS
from service.market.models import Quote, Quotes
from service.storage.database import Database
from service.walkforward.histories import DatasetChangedError, read_histories
from service.walkforward.parameters import CoinHistoryInput
from tests.fakes.clock import START_MS
from tests.walkforward.histories import hold_history, rounded, wander
from tests.walkforward.runs import TODAY


async def read(database: Database, origin: str = "live", until: int = TODAY) -> list[CoinHistoryInput]:
    return await database.inspect(lambda connection: read_histories(connection, origin, until * DAY_MS))


async def test_every_coin_that_was_ever_listed_is_read_by_its_ticker_with_its_closed_days(database: Database) -> None:
    store = await hold_history(database, "live", days=3)
    await store.sum_funding("live")
    found = await read(database)
    assert [history.coin for history in found] == ["BTC", "ETH", "MATIC", "PEPE"]
    for history, coin in zip(found, ("BTC", "ETH", "MATIC", "kPEPE"), strict=True):
        rows = wander(coin, range(TODAY - 3, TODAY))
        assert history.bars == [
            (bar.open_ms // DAY_MS, bar.open, bar.high, bar.low, bar.close, bar.volume) for bar in rows
        ]
        assert rounded(history.funding) == [(TODAY - 1, 0.00024)]


async def test_days_after_the_one_wanted_are_left_out(database: Database) -> None:
    store = await hold_history(database, "live", days=3)
    await store.sum_funding("live")
    (btc, *_) = await read(database, until=TODAY - 1)
    assert ([bar[0] for bar in btc.bars], btc.funding) == ([TODAY - 3, TODAY - 2], [])


async def test_a_coin_without_a_closed_bar_is_left_out(database: Database) -> None:
    store = await hold_history(database, "live", ("BTC",))
    coins = [Quote(coin, coin, 1.0, 2.0, START_MS, 0.0, START_MS) for coin in ("BTC", "NEW")]
    await store.put_quotes("live", Quotes(START_MS, coins, ("MATIC",)))
    assert [history.coin for history in await read(database)] == ["BTC", "MATIC"]


async def test_of_two_coins_with_one_ticker_the_traded_one_stays_else_the_one_with_the_longer_past(
    database: Database,
) -> None:
    store = await hold_history(database, "live", ("BTC",))
    btc = [Quote("BTC", "BTC", 1.0, 2.0, START_MS, 0.0, START_MS)]
    await store.put_quotes("live", Quotes(START_MS, btc, ("MATIC", "kFOO", "FOO", "Btc")))
    for coin, days in (("kFOO", 2), ("FOO", 3), ("Btc", 5)):
        await store.put_bars("live", coin, wander(coin, range(TODAY - days, TODAY)), (TODAY - 1) * DAY_MS)
    found = {history.coin: history.bars for history in await read(database)}
    assert sorted(found) == ["BTC", "FOO", "MATIC"]
    assert (len(found["BTC"]), len(found["FOO"])) == (3, 3)


async def test_another_history_than_the_one_wanted_is_not_read(database: Database) -> None:
    with pytest.raises(DatasetChangedError, match="None"):
        await read(database)
    await hold_history(database, "a replay")
    with pytest.raises(DatasetChangedError, match="The store holds 'a replay', not 'live'"):
        await read(database)
