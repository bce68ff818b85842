"""The past of coins over the real recordings: equal to what the files say, read here by themselves."""

import math
from statistics import fmean

import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.market.categories.documents import CapStore, PastCaps
from service.market.historical import HistoricalService
from service.market.models import Bar, Quote, Quotes
from service.market.past_prices import PastPriceReader
from service.market.samples import SampleStore
from service.market.service import MarketService
from service.market.store import MarketStore
from service.storage.database import Database
from service.units import INTERVAL_MS, Interval
from service.wire.envelope import encode
from service.wire.market import Historical
from service.wire.queries import HistoricalQuery
from tests.fakes.clock import FakeClock
from tests.fakes.loading import series_loading
from tests.market.recordings import candles, funding, needs_recordings

pytestmark = [pytest.mark.recorded, needs_recordings]

NOW_MS = 1_753_446_600_000
"""2025-07-25T12:30:00Z."""
COINS = ["BTC", "ETH", "DOGE"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW_MS)


@pytest.fixture
async def desk(database: Database, clock: FakeClock) -> HistoricalService:
    store, market = MarketStore(database), MarketService(clock)
    quotes = [Quote(coin, coin, 1.0, float(closed(coin, "1h")[-1]["c"]), NOW_MS, 0.0, NOW_MS) for coin in COINS]
    await store.put_quotes("one", Quotes(NOW_MS, quotes))
    for coin in COINS:
        for interval, step in INTERVAL_MS.items():
            bars = [msgspec.convert(fields(bar), Bar) for bar in candles(coin, interval) if bar["t"] <= NOW_MS]
            await store.put_bars("one", coin, bars, NOW_MS - step, interval=interval)
        paid = [(row["time"] // MINUTE_MS * MINUTE_MS, float(row["fundingRate"]), 1.0) for row in funding(coin)]
        await store.put_payments("one", coin, [row for row in paid if NOW_MS - 100 * DAY_MS < row[0] <= NOW_MS])
    market.show(await store.snapshot())
    past = PastCaps(CapStore(database), lambda: "one", dict)
    return HistoricalService(
        clock,
        database,
        market,
        SampleStore(database),
        past,
        dict,
        PastPriceReader(clock, database, list, market.set_past_prices),
        series_loading,
    )


def fields(bar: dict[str, str]) -> dict[str, object]:
    names = {"open": "o", "high": "h", "low": "l", "close": "c", "volume": "v"}
    return {"open_ms": bar["t"], "trades": bar["n"]} | {name: float(bar[short]) for name, short in names.items()}


def closed(coin: str, interval: Interval) -> list[dict[str, str]]:
    step = HOUR_MS if interval == "1h" else DAY_MS
    return [bar for bar in candles(coin, interval) if int(bar["t"]) + step <= NOW_MS]


def close_at(coin: str, at_ms: int) -> float | None:
    """The close of the bar, of an hour or a day, that ended last at or before an instant, if in the day before."""
    ended = [
        (int(bar["t"]) + step, float(bar["c"]))
        for interval, step in INTERVAL_MS.items()
        for bar in closed(coin, interval)
        if at_ms - DAY_MS < int(bar["t"]) + step <= at_ms
    ]
    return max(ended, default=(0, None))[1]


def paid_pct(coin: str, from_ms: int, through_ms: int) -> float | None:
    """Mean of what was paid after an instant, through another, percent a year."""
    if from_ms <= NOW_MS - 100 * DAY_MS + DAY_MS:
        return None
    rates = [
        float(row["fundingRate"]) * 8760 * 100
        for row in funding(coin)
        if from_ms < row["time"] // MINUTE_MS * MINUTE_MS <= through_ms
    ]
    return fmean(rates) if rates else None


@pytest.mark.promise("historical.payload", "historical.bounds")
@pytest.mark.parametrize("coin", COINS)
@pytest.mark.parametrize(
    ("unit", "interval", "count"), [("h", "1h", 1000), ("h", "1h", 24), ("d", "1d", 1000), ("d", "1d", 30)]
)
async def test_the_past_of_real_coins_is_what_was_recorded(
    desk: HistoricalService, coin: str, unit: str, interval: Interval, count: int
) -> None:
    answer = await desk.historical(HistoricalQuery(coin, count, "h" if unit == "h" else "d"))
    said, step = answer.data, HOUR_MS if unit == "h" else DAY_MS
    assert isinstance(said, Historical)
    bars = closed(coin, interval)
    assert answer.as_of_ms == int(bars[-1]["t"]) + step <= NOW_MS
    expected = bars[-count:]
    assert [(point.t, point.priceUSD) for point in said.series] == [
        (iso(int(bar["t"]) + step), float(bar["c"])) for bar in expected
    ]
    for point, bar in zip(said.series, expected, strict=True):
        assert point.volume == pytest.approx(float(bar["v"]) * float(bar["c"]), abs=0.01)
        rate = paid_pct(coin, int(bar["t"]), int(bar["t"]) + step)
        if rate is not None:
            assert point.fundingRate == pytest.approx(rate, abs=0.0001)
    past = close_at(coin, NOW_MS - count * step)
    assert said.at.priceUSD == past
    if past is not None:
        assert said.now.priceUSD is not None
        assert said.change_pct == pytest.approx((said.now.priceUSD / past - 1) * 100, abs=0.0001)
    text = encode(said)
    assert b"NaN" not in text
    assert b"-0.0," not in text
    assert all(math.isfinite(point.priceUSD) for point in said.series)
