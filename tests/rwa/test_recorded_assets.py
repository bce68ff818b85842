"""Trends over real prices: daily bars of stocks, gold and oil, re-shaped as candles of `xyz`; derived, not recorded.

Trends are computed with TA-Lib (`tests/analytics/independent.py`).
"""

import csv
from datetime import UTC, datetime

import pytest

from service.clock import DAY_MS
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from tests.analytics import independent
from tests.fakes.clock import FakeClock
from tests.market.recordings import DATA, needs_recordings
from tests.rwa.parts import Parts

pytestmark = [pytest.mark.recorded, needs_recordings]

ASSETS = {
    "AAPL": "stocks",
    "MSFT": "stocks",
    "NVDA": "stocks",
    "TSLA": "stocks",
    "GCF": "commodities",
    "CLF": "commodities",
}
Row = tuple[int, float, float, float, float]


def recorded(ticker: str) -> list[Row]:
    with (DATA / "rwa" / f"{ticker}.csv").open() as file:
        rows = [
            (int(datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC).timestamp()) * 1000, row)
            for row in csv.DictReader(file)
        ]
    return [
        (at_ms, float(row["open"]), float(row["high"]), float(row["low"]), float(row["close"]))
        for at_ms, row in rows
        if at_ms >= EARLIEST_MS
    ]


def derived(ticker: str) -> list[dict[str, object]]:
    """A candle of `xyz` for every session; there is none on other days, as there would be of a perpetual."""
    return [
        {"t": at, "T": at + DAY_MS - 1, "s": f"xyz:{ticker}", "i": "1d", "n": 0, "v": "1.0"}
        | dict(zip("ohlc", map(repr, prices), strict=True))
        for at, *prices in recorded(ticker)
    ]


@pytest.fixture(params=["2026-03-31T12:00:00", "2025-08-12T01:00:00", "2023-03-22T12:00:00"])
def clock(request: pytest.FixtureRequest) -> FakeClock:
    at_ms = int(datetime.fromisoformat(request.param).replace(tzinfo=UTC).timestamp()) * 1000
    return FakeClock(at_ms)


async def test_trends_of_real_prices_are_those_of_ta_lib(parts: Parts, clock: FakeClock) -> None:
    for ticker, category in ASSETS.items():
        closes = [str(row["c"]) for row in derived(ticker) if int(str(row["T"])) < clock.now_ms()]
        parts.dex.list_asset(ticker, category, price=closes[-1])
        parts.dex.candles[f"xyz:{ticker}"] = derived(ticker)
    await parts.rounds()
    told = 0
    for ticker in ASSETS:
        closed = [row for row in recorded(ticker) if row[0] + DAY_MS <= clock.now_ms()]
        bars = independent.daily(closed)
        daily = independent.trend([bars], 1)
        weekly = independent.trend([independent.weekly(bars)], 7)
        asset = parts.told(ticker)
        assert asset.trend_daily == (daily and daily[0])
        assert asset.trend_weekly == (weekly and weekly[0])
        assert asset.trend_daily != "HODL"
        told += daily is not None
    assert told == len(ASSETS)
