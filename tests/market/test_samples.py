"""Writing down once an hour what nobody keeps."""

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.models import Quote, Quotes
from service.market.samples import DAYS_KEPT_MS, HOURS_KEPT_MS, Sample, SampleRefresh, SampleStore
from service.market.service import MarketService
from service.market.sources.coingecko import GeckoCoin
from service.market.store import MarketStore
from service.storage.database import Database
from tests.fakes.clock import START_MS, FakeClock

BTC = Quote("BTC", "BTC", 5e9, 118_000.0, START_MS, 0.0, START_MS, open_interest=30_000.0)
PEPE = Quote("kPEPE", "PEPE", 1e6, 0.01, START_MS, None, None)
WHOLE = Sample("BTC", 3.54e9, 5e9, 2.3e12, 6e10)


class Hours:
    """A market that shows what a test wants, and its samples."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.database = database
        self.origin = "one"
        self.store = MarketStore(database)
        self.market = MarketService(clock)
        self.samples = SampleStore(database)
        self.worth: dict[str, GeckoCoin] = {}
        self.refresh = SampleRefresh(clock, self.samples, self.market, lambda: self.worth, lambda: self.origin)

    async def show(self, *quotes: Quote) -> None:
        await self.store.put_quotes(self.origin, Quotes(self.clock.now_ms(), quotes))
        self.market.show(await self.store.snapshot())

    async def count(self) -> int:
        ((rows,),) = await self.database.read("SELECT count(*) FROM market_samples")
        return int(rows)


@pytest.fixture
async def hours(database: Database, clock: FakeClock) -> Hours:
    made = Hours(database, clock)
    made.worth["BTC"] = GeckoCoin("bitcoin", "BTC", "Bitcoin", 118_000.0, 2.3e12, 6e10, START_MS - 5 * MINUTE_MS)
    await made.show(BTC, PEPE)
    return made


async def test_each_coin_is_written_down_once_an_hour(hours: Hours) -> None:
    await hours.refresh.round()
    assert await hours.samples.at("BTC", START_MS) == WHOLE
    assert await hours.samples.at("kPEPE", START_MS) == Sample("kPEPE", None, 1e6)
    await hours.clock.advance(60)
    await hours.show(Quote("BTC", "BTC", 1.0, 1.0, hours.clock.now_ms(), None, None))
    await hours.refresh.round()
    assert await hours.samples.at("BTC", START_MS) == WHOLE
    assert await hours.count() == 2
    written = hours.database.transactions
    await hours.refresh.round()
    assert hours.database.transactions == written


async def test_what_comes_late_in_an_hour_is_not_of_its_beginning(hours: Hours) -> None:
    await hours.clock.advance(10 * 60 + 1)
    edge_ms = START_MS + 10 * MINUTE_MS
    await hours.show(
        Quote("BTC", "BTC", 5e9, 118_000.0, edge_ms + 1, None, None), Quote("SOL", "SOL", 2.0, 1.0, edge_ms, None, None)
    )
    await hours.refresh.round()
    assert await hours.samples.at("BTC", START_MS) == Sample("BTC")
    assert await hours.samples.at("SOL", START_MS) == Sample("SOL", None, 2.0)


async def test_what_was_seen_before_the_hour_began_is_not_of_it(hours: Hours) -> None:
    await hours.clock.advance(3600)
    await hours.show(Quote("BTC", "BTC", 5e9, 118_000.0, hours.clock.now_ms() - 1, None, None))
    await hours.refresh.round()
    assert await hours.count() == 0


async def test_another_venues_figures_are_not_this_ones(hours: Hours) -> None:
    await hours.show(Quote("BTC", "BTC", 5e9, 118_000.0, START_MS, None, None, venue="binance"))
    await hours.refresh.round()
    assert await hours.samples.at("BTC", START_MS) == Sample("BTC")


async def test_a_market_cap_of_another_hour_is_left_out(hours: Hours) -> None:
    hours.worth["BTC"] = GeckoCoin("bitcoin", "BTC", "Bitcoin", 1.0, 2.3e12, 6e10, START_MS - HOUR_MS - 1)
    await hours.refresh.round()
    assert await hours.samples.at("BTC", START_MS) == Sample("BTC", 3.54e9, 5e9)


async def test_a_new_process_overwrites_nothing(hours: Hours) -> None:
    await hours.refresh.round()
    again = SampleRefresh(hours.clock, hours.samples, hours.market, dict, lambda: hours.origin)
    await again.round()
    assert await hours.samples.at("BTC", START_MS) == WHOLE


async def test_hours_are_kept_for_a_thousand_hours_and_midnights_for_a_thousand_days(hours: Hours) -> None:
    midnight_ms = START_MS // DAY_MS * DAY_MS
    for at_ms in (midnight_ms, midnight_ms + HOUR_MS):
        await hours.samples.put("one", at_ms, [Sample("BTC", 1.0, 1.0)])
    await hours.samples.put("one", midnight_ms + HOUR_MS + HOURS_KEPT_MS, [])
    assert await hours.count() == 2
    await hours.samples.put("one", midnight_ms + 2 * HOUR_MS + HOURS_KEPT_MS, [])
    assert await hours.samples.at("BTC", midnight_ms) == Sample("BTC", 1.0, 1.0)
    assert await hours.count() == 1
    await hours.samples.put("one", midnight_ms + DAYS_KEPT_MS, [])
    assert await hours.count() == 1
    await hours.samples.put("one", midnight_ms + DAYS_KEPT_MS + HOUR_MS, [])
    assert await hours.count() == 0


async def test_samples_of_another_history_are_cleared_with_the_first_of_the_new_one(hours: Hours) -> None:
    await hours.refresh.round()
    hours.origin = "two"
    await hours.refresh.round()
    assert await hours.count() == 2
    await hours.show(BTC)
    await hours.refresh.round()
    assert await hours.samples.at("BTC", START_MS) == WHOLE
    assert await hours.count() == 1


async def test_what_is_of_another_history_than_the_store_is_dropped(hours: Hours) -> None:
    await hours.store.claim("two")
    await hours.refresh.round()
    assert await hours.count() == 0


async def test_open_interest_is_read_at_the_hours_that_have_it(hours: Hours) -> None:
    await hours.refresh.round()
    asked = [START_MS - HOUR_MS, START_MS, START_MS + HOUR_MS]
    assert await hours.samples.interests("BTC", asked) == {START_MS: 3.54e9}
    assert await hours.samples.interests("kPEPE", asked) == {}
    assert await hours.samples.interests("BTC", []) == {}
