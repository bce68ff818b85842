"""The closes that changes are measured from are those of the stored bars."""

from service.clock import DAY_MS, HOUR_MS
from service.storage.database import Database
from service.table.references import CoinCloses, ReferenceCloses
from tests.fakes.clock import FakeClock
from tests.table.world import COINS, LAST, World, days_of, hours_of, midnight


async def test_closes_are_those_of_the_newest_hour_and_of_the_7th_and_30th_day_back(world: World) -> None:
    assert set(world.references.now) == set(COINS)
    newest_ms = world.clock.now_ms()
    for coin in COINS:
        closes = {row[0] // DAY_MS: row[4] for row in days_of(coin)}
        assert world.references.now[coin] == CoinCloses(
            newest_ms,
            hours_of(coin, newest_ms)[-1].close,
            midnight(LAST),
            closes.get(LAST - 6),
            closes.get(LAST - 29),
        )
    assert newest_ms % HOUR_MS == 0


async def test_without_bars_there_are_no_closes_and_no_changes(database: Database, clock: FakeClock) -> None:
    made = World(database, clock)
    await made.store.claim(made.origin)
    await made.list_coins("BTC")
    references = ReferenceCloses(database)
    await references.refresh()
    assert references.now == {"BTC": CoinCloses()}
    assert references.now["BTC"].changes(100.0) == (None, None, None)
