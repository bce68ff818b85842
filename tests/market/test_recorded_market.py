"""The whole room over the real recordings: 116 coins through the wire, equal to an independent computation.

Trends are computed with TA-Lib, correlation with the standard library (`tests/analytics/independent.py`).
"""

from datetime import UTC, datetime

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.symbols import canonical
from tests.analytics import independent
from tests.fakes.clock import FakeClock
from tests.market.parts import Parts
from tests.market.recordings import candles, coins, funding, history, needs_recordings, price_of_one
from tests.market.venue import Venue, context

pytestmark = [pytest.mark.recorded, needs_recordings]


def instant(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


AFTER_THE_LAST_BAR = instant("2025-07-26T00:10:00")
BEFORE_ANY_COIN_ENDED = instant("2025-04-02T00:10:00")
WHEN_MOST_WERE_YOUNG = instant("2023-07-05T12:00:00")


def play(venue: Venue, now_ms: int) -> dict[str, tuple[str, str]]:
    """List the coins that had a bar by then; price is the last close, funding the last payment recorded."""
    shown = {}
    for coin in coins():
        bars = [bar for bar in candles(coin) if bar["t"] <= now_ms]
        if bars:
            paid = [row["fundingRate"] for row in funding(coin) if row["time"] <= now_ms]
            shown[coin] = (bars[-1]["c"], paid[-1] if paid else "0.0000125")
            venue.contexts[coin] = context(*shown[coin], volume=bars[-1]["v"])
            venue.candles[coin] = candles(coin)
    return shown


def iso(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def expected_charts(coin: str, now_ms: int) -> dict[str, object]:
    """What the definitions say of a coin, of the bars that had closed; nothing where they end 48 hours earlier."""
    closed = {name: [row for row in rows if row[0] + DAY_MS <= now_ms] for name, rows in history().items()}
    charts = independent.charts(coin, closed)
    common = set.intersection(*(set(chart) for chart in charts))
    through_ms = instant(f"{max(common)}T00:00:00") + DAY_MS if common else 0
    if now_ms - through_ms > 48 * HOUR_MS:
        return dict.fromkeys(("trend_daily", "trend_daily_since", "trend_weekly", "trend_weekly_since"), None) | {
            "btc_correlation": 1.0 if coin == "BTC" else None
        }
    daily = independent.trend(charts, 1)
    weekly = independent.trend([independent.weekly(chart) for chart in charts], 7)
    btc = independent.daily(closed["BTC"])
    return {
        "trend_daily": daily and daily[0],
        "trend_daily_since": daily and iso(daily[1]),
        "trend_weekly": weekly and weekly[0],
        "trend_weekly_since": weekly and iso(weekly[1]),
        "btc_correlation": 1.0 if coin == "BTC" else independent.correlation(charts[0], btc),
    }


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> FakeClock:
    return FakeClock(request.param)


@pytest.mark.promise("risk.trends", "risk.correlation", "risk.apr-formula")
@pytest.mark.parametrize(
    "clock", [AFTER_THE_LAST_BAR, BEFORE_ANY_COIN_ENDED, WHEN_MOST_WERE_YOUNG], ids=iso, indirect=True
)
async def test_the_risk_of_every_recorded_coin_equals_an_independent_computation(
    parts: Parts, clock: FakeClock
) -> None:
    now_ms = clock.now_ms()
    shown = play(parts.venue, now_ms)
    await parts.rounds()
    said_of = {coin: parts.risk(coin) for coin in shown}
    for coin, said in said_of.items():
        price, rate = shown[coin]
        expected = expected_charts(coin, now_ms)
        correlation = expected.pop("btc_correlation")
        assert {field: getattr(said, field) for field in expected} == expected, coin
        assert said.btc_correlation == (None if correlation is None else pytest.approx(correlation, abs=1e-9)), coin
        assert said.price == price_of_one(coin, price)
        assert said.funding_apr == pytest.approx(round(float(rate) * 8760 * 100, 4), abs=1e-9)
        assert said.symbol == canonical(coin)
    known = [coin for coin, said in said_of.items() if said.trend_daily]
    if now_ms == BEFORE_ANY_COIN_ENDED:
        assert len(known) == len(shown) == 116
    elif now_ms == AFTER_THE_LAST_BAR:
        assert len(shown) == 116
        assert len(known) == 106
    else:
        assert 0 < len(known) < len(shown)


@pytest.mark.parametrize("clock", [AFTER_THE_LAST_BAR], ids=iso, indirect=True)
async def test_a_day_later_without_new_bars_every_trend_is_named_stale_and_two_days_later_null(
    venue: Venue, parts: Parts, clock: FakeClock
) -> None:
    play(venue, clock.now_ms())
    await parts.rounds()
    assert parts.desk.readiness()["history"] == {"known": 116, "total": 116}
    clock.set_wall(AFTER_THE_LAST_BAR + DAY_MS + 10 * MINUTE_MS)
    await parts.rounds()
    assert parts.risk("BTC")._stale_fields == ["trend_daily", "trend_weekly", "sentiment_stance"]
    assert parts.risk("BTC").trend_daily is not None
    clock.set_wall(AFTER_THE_LAST_BAR + 2 * DAY_MS)
    await parts.rounds()
    assert parts.risk("BTC").trend_daily is None
