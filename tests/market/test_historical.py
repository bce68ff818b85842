"""A coin some time ago, now, and between."""

import math

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.errors import ServiceError
from service.market.categories.documents import CapStore, PastCaps
from service.market.historical import HistoricalService
from service.market.models import Bar, Quote, Quotes
from service.market.past_prices import PastPriceReader
from service.market.samples import Sample, SampleStore
from service.market.service import MarketService
from service.market.sources.coingecko import GeckoCoin, PastCap
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.documents import FetchFailure
from service.units import Interval
from service.wire.envelope import Answer
from service.wire.market import FactsNow, FactsThen, Historical, HistoricalPoint
from service.wire.queries import HistoricalQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import series_loading

NOTHING = FactsThen(None, None, None, None, None, None, None)
TODAY_MS = START_MS // DAY_MS * DAY_MS
STEP: dict[Interval, int] = {"1h": HOUR_MS, "1d": DAY_MS}


class Past:
    """A market with a past, asked as the route asks."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.store = MarketStore(database)
        self.market = MarketService(clock)
        self.samples = SampleStore(database)
        self.caps = CapStore(database)
        self.worth: dict[str, GeckoCoin] = {}
        past = PastCaps(self.caps, lambda: "one", lambda: {"PEPE": "pepe"})
        prices = PastPriceReader(clock, database, list, self.market.set_past_prices)
        self.desk = HistoricalService(
            clock, database, self.market, self.samples, past, lambda: self.worth, prices, series_loading
        )

    async def show(self, price: float = 200.0) -> None:
        now_ms = self.clock.now_ms()
        quote = Quote("kPEPE", "PEPE", 1e6, price, now_ms, 0.0000125, now_ms, open_interest=1234.5678)
        await self.store.put_quotes("one", Quotes(now_ms, [quote]))
        self.market.show(await self.store.snapshot())

    async def close(self, interval: Interval, through_ms: int, closes: dict[int, float]) -> None:
        """Bars by how many they lie before the last one, whose close is `through_ms`; ten units traded in each."""
        step = STEP[interval]
        bars = [
            Bar(through_ms - (back + 1) * step, close, close * 2, close / 2, close, 10.0, 3)
            for back, close in sorted(closes.items(), reverse=True)
        ]
        await self.store.put_bars("one", "kPEPE", bars, through_ms - step, interval=interval)

    async def ask(self, count: int = 24, unit: str = "h") -> Historical:
        data = (await self.answer(count, unit)).data
        assert isinstance(data, Historical)
        return data

    async def answer(self, count: int = 24, unit: str = "h") -> Answer:
        return await self.desk.historical(HistoricalQuery("kpepe", count, "h" if unit == "h" else "d"))


@pytest.fixture
async def past(database: Database, clock: FakeClock) -> Past:
    """Two hundred hours and fifty days, each closing at a hundred and its number."""
    made = Past(database, clock)
    await clock.advance(20 * 60)
    await made.show()
    await made.close("1h", START_MS, {back: 100.0 + back for back in range(200)})
    await made.close("1d", TODAY_MS, {back: 100.0 + back for back in range(50)})
    return made


@pytest.mark.promise("historical.payload", "historical.parameters")
async def test_the_series_is_the_last_closed_bars_and_at_is_as_many_units_before_now(past: Past) -> None:
    said = await past.ask(24)
    assert (said.symbol, said.count, said.unit) == ("PEPE", 24, "h")
    assert [point.t for point in said.series] == [iso(START_MS - back * HOUR_MS) for back in range(23, -1, -1)]
    assert [point.priceUSD for point in said.series] == [100.0 + back for back in range(23, -1, -1)]
    assert said.series[-1] == HistoricalPoint(iso(START_MS), 100.0, 1000.0, None)
    assert (said.at.priceUSD, said.at.as_of) == (124.0, iso(START_MS - 24 * HOUR_MS))
    assert said.now.priceUSD == 200.0
    assert said.change_pct == round((200 / 124 - 1) * 100, 4)


@pytest.mark.promise("historical.bounds")
@pytest.mark.parametrize("count", [1, 2, 24, 200])
async def test_as_many_points_as_are_asked_for_are_said(past: Past, count: int) -> None:
    assert len((await past.ask(count)).series) == count


async def test_days_are_counted_by_their_closes(past: Past) -> None:
    said = await past.ask(30, "d")
    assert (said.unit, len(said.series)) == ("d", 30)
    assert said.series[-1].t == iso(TODAY_MS)
    assert said.at == FactsThen(130.0, None, None, None, None, 1300.0, iso(TODAY_MS - 30 * DAY_MS))


@pytest.mark.promise("historical.as-of")
async def test_as_of_is_the_close_of_the_last_bar(past: Past) -> None:
    assert (await past.answer(24, "h")).as_of_ms == START_MS
    assert (await past.answer(24, "d")).as_of_ms == TODAY_MS


@pytest.mark.promise("historical.payload")
async def test_further_back_than_the_first_bar_nothing_was_recorded_and_the_series_is_what_there_is(past: Past) -> None:
    said = await past.ask(1000, "d")
    assert said.at == NOTHING
    assert said.change_pct is None
    assert (len(said.series), said.series[0].priceUSD) == (50, 149.0)


@pytest.mark.promise("historical.bounds")
async def test_a_thousand_points_are_the_most(past: Past) -> None:
    await past.close("1h", START_MS, dict.fromkeys(range(200, 1100), 5.0))
    said = await past.ask(1000)
    assert len(said.series) == 1000
    assert said.at.priceUSD == 5.0


async def test_an_open_bar_is_not_said(past: Past) -> None:
    await past.store.put_bars("one", "kPEPE", [Bar(START_MS, 1, 1, 1, 1, 1, 1)], START_MS - HOUR_MS, interval="1h")
    assert (await past.ask(1)).series[0].t == iso(START_MS)


async def test_a_bar_that_is_missing_is_left_out_and_not_replaced_by_its_neighbour(past: Past) -> None:
    await past.close("1h", START_MS + 3 * HOUR_MS, {0: 7.0})
    said = await past.ask(4)
    assert [point.priceUSD for point in said.series] == [100.0, 7.0]
    await past.clock.advance(3 * 60 * 60)
    assert (await past.ask(1)).at.priceUSD is None


async def test_a_bars_funding_is_the_mean_of_what_was_paid_for_its_hours(past: Past) -> None:
    # Sixteen payments of one hour, then one of eight hours, which weighs as much as eight of them.
    day = [(TODAY_MS - (23 - hour) * HOUR_MS, hour * 0.000001, 1.0) for hour in range(16)]
    baseline = [(TODAY_MS - DAY_MS, 1.0, 1.0), (TODAY_MS + HOUR_MS, 1.0, 1.0)]
    await past.store.put_payments("one", "kPEPE", [*day, (TODAY_MS, 0.00003, 8.0), *baseline])
    expected = round((math.fsum(range(16)) + 30 * 8) / 24 * 0.000001 * 8760 * 100, 4)
    assert (await past.ask(1, "d")).series[0].fundingRate == expected
    await past.clock.advance(24 * 60 * 60)
    assert (await past.ask(1, "d")).at.fundingRate == expected


async def test_an_hours_funding_is_what_was_paid_at_its_end(past: Past) -> None:
    await past.store.put_payments("one", "kPEPE", [(START_MS - HOUR_MS, -0.0000125, 1.0), (START_MS, 0.0000125, 1.0)])
    said = await past.ask(3)
    assert [point.fundingRate for point in said.series] == [None, -10.95, 10.95]


async def test_a_rate_of_nearly_nothing_is_zero_without_a_sign(past: Past) -> None:
    await past.store.put_payments("one", "kPEPE", [(START_MS, -1e-12, 1.0)])
    (rate,) = [point.fundingRate for point in (await past.ask(1)).series]
    assert rate is not None
    assert math.copysign(1, rate) == 1


@pytest.mark.promise("historical.payload")
async def test_what_was_written_down_at_the_time_is_said_of_it(past: Past) -> None:
    at_ms = START_MS - 24 * HOUR_MS
    await past.samples.put("one", at_ms, [Sample("kPEPE", 1.239, 2.0, 3.0, 4.0)])
    assert (await past.ask(24)).at == FactsThen(124.0, 3.0, 4.0, 1.24, None, 2.0, iso(at_ms))


async def test_a_sample_is_not_known_until_ten_minutes_after_its_hour(past: Past) -> None:
    at_ms = START_MS - 24 * HOUR_MS
    await past.samples.put("one", at_ms - HOUR_MS, [Sample("kPEPE", 1.0, 2.0, 3.0, 4.0)])
    await past.samples.put("one", at_ms, [Sample("kPEPE", 9.0, 9.0, 9.0, 9.0)])
    for late_ms, known in ((0, 3.0), (10 * MINUTE_MS - 1, 3.0), (10 * MINUTE_MS, 9.0)):
        past.clock.set_wall(START_MS + late_ms)
        assert (await past.ask(24)).at.marketCap == known


async def test_market_cap_and_volume_of_the_past_are_coingeckos_where_nothing_was_written_down(past: Past) -> None:
    at_ms = START_MS - 24 * HOUR_MS
    known, later = PastCap(at_ms + 20 * MINUTE_MS, 5e9, 6e8), PastCap(at_ms + 20 * MINUTE_MS + 1, 9.0, 9.0)
    await past.caps.put("one", "pepe", [known, later], START_MS)
    said = await past.ask(24)
    assert (said.at.marketCap, said.at.volume) == (5e9, 6e8)
    await past.samples.put("one", at_ms, [Sample("kPEPE", None, 2.0, None, None)])
    assert (await past.ask(24)).at == FactsThen(124.0, 5e9, 6e8, None, None, 2.0, iso(at_ms))


async def test_what_was_traded_in_a_day_is_the_sum_of_its_hours_where_all_of_them_are_known(past: Past) -> None:
    said = await past.ask(24)
    assert said.at.futuresVolume24h == sum(10 * (100 + back) for back in range(24, 48))
    assert (await past.ask(176)).at.futuresVolume24h == sum(10 * (100 + back) for back in range(176, 200))
    assert (await past.ask(177)).at.futuresVolume24h is None


async def test_now_shows_the_latest_values_and_the_age_of_each_group(past: Past) -> None:
    seen_ms = START_MS - 2 * DAY_MS + 20 * MINUTE_MS
    past.worth["PEPE"] = GeckoCoin("pepe", "PEPE", "Pepe", 0.2, 8.123e9, 7e8, seen_ms)
    quoted = iso(past.clock.now_ms())
    assert (await past.ask()).now == FactsNow(200.0, 8.123e9, 7e8, 246913.56, 10.95, 1e6, quoted, iso(seen_ms))
    await past.clock.advance(1)
    await past.show()
    quoted = iso(past.clock.now_ms())
    assert (await past.ask()).now == FactsNow(200.0, None, None, 246913.56, 10.95, 1e6, quoted, None)


@pytest.mark.promise("historical.now-as-of")
async def test_the_time_of_now_is_that_of_the_older_of_price_and_funding(past: Past) -> None:
    shown_ms = past.clock.now_ms()
    await past.clock.advance(15)
    funding = Quote("kPEPE", "PEPE", 1e6, None, None, 0.0000125, past.clock.now_ms())
    await past.store.put_quotes("one", Quotes(past.clock.now_ms(), [funding]))
    past.market.show(await past.store.snapshot())
    answer = await past.answer()
    assert (await past.ask()).now.as_of == iso(shown_ms)
    assert answer.as_of_ms == START_MS  # the close of the last bar: older than what `now` shows


async def test_what_is_too_old_to_be_said_of_now_is_null(past: Past) -> None:
    await past.clock.advance(601)
    said = await past.ask()
    assert said.now == FactsNow(None, None, None, None, None, None, None, None)
    assert said.change_pct is None
    assert said.at.priceUSD == 124.0


async def test_an_unknown_coin_is_told_with_candidates(past: Past) -> None:
    with pytest.raises(ServiceError) as caught:
        await past.desk.historical(HistoricalQuery("PEP"))
    assert (caught.value.code, caught.value.details) == ("UNKNOWN_SYMBOL", {"candidates": ["PEPE"]})


async def test_a_coin_without_bars_is_being_fetched(database: Database, clock: FakeClock) -> None:
    fresh = Past(database, clock)
    with pytest.raises(ServiceError) as caught:
        await fresh.ask()
    assert caught.value.code == "UNAVAILABLE"
    await fresh.show()
    with pytest.raises(ServiceError) as caught:
        await fresh.ask()
    assert (caught.value.code, caught.value.headers["Retry-After"]) == ("UNAVAILABLE", "5")
    assert "Hourly bars of PEPE are not available yet" in caught.value.message


async def test_a_coin_without_bars_tells_the_failure_of_its_venue(database: Database, clock: FakeClock) -> None:
    fresh = Past(database, clock)
    await fresh.show()
    await fresh.store.put_failure(FetchFailure(START_MS, 503, "down"))
    fresh.market.show(await fresh.store.snapshot())
    with pytest.raises(ServiceError) as caught:
        await fresh.ask(1, "d")
    assert caught.value.code == "UPSTREAM_5XX"
    assert "daily bars of PEPE" in caught.value.message
