"""Funding alerts over the real recordings: events equal those of the machine written down independently."""

import math
from bisect import bisect_right

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.market.models import Bar, PaymentRow, Quote, Quotes
from service.market.symbols import canonical
from service.storage.database import Database
from service.wire.envelope import encode
from service.wire.queries import AlertsQuery
from tests.fakes.clock import FakeClock
from tests.market.recordings import candles, coins, funding, needs_recordings
from tests.market.watching import ORIGIN, Watching
from tests.market.zones import expected_events

pytestmark = [pytest.mark.recorded, needs_recordings]

INSTANTS = [1_753_446_600_000, 1_733_027_400_000]
"""2025-07-25T12:30:00Z and, with nothing hourly recorded but funding, 2024-12-01T04:30:00Z."""
CHECKED = ["BTC", "ETH", "DOGE", "kPEPE"]


def payments(coin: str, now_ms: int) -> list[PaymentRow]:
    rows = [(row["time"] // MINUTE_MS * MINUTE_MS, float(row["fundingRate"]), 1.0) for row in funding(coin)]
    return rows[: bisect_right(rows, now_ms, key=lambda row: row[0])]


def closes(coin: str, now_ms: int) -> dict[int, float]:
    """Close of each hour that had closed, by when it closed; recorded of some coins only."""
    try:
        bars = candles(coin, "1h")
    except FileNotFoundError:
        return {}
    return {bar["t"] + HOUR_MS: float(bar["c"]) for bar in bars if bar["t"] + HOUR_MS <= now_ms}


async def play(watching: Watching) -> list[str]:
    """Everything that was recorded until now, as the venue would have told it; returns the coins."""
    now_ms, quotes = watching.clock.now_ms(), []
    paid = {coin: payments(coin, now_ms) for coin in coins()}
    paid = {coin: rows for coin, rows in paid.items() if rows and rows[-1][0] > now_ms - 2 * HOUR_MS}
    quotes = [Quote(coin, canonical(coin), 1.0, 2.5, now_ms, rows[-1][1], now_ms) for coin, rows in paid.items()]
    await watching.store.put_quotes(ORIGIN, Quotes(now_ms, quotes))
    for coin, rows in paid.items():
        await watching.store.put_payments(ORIGIN, coin, rows[-60 * 24 :])
        bars = [Bar(at_ms - HOUR_MS, c, c, c, c, 1.0, 1) for at_ms, c in closes(coin, now_ms).items()]
        await watching.store.put_bars(ORIGIN, coin, bars[-400:], now_ms, interval="1h")
    watching.market.show(await watching.store.snapshot())
    return list(paid)


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> FakeClock:
    return FakeClock(request.param)


@pytest.mark.promise("alerts.payload", "alerts.hysteresis")
@pytest.mark.parametrize("clock", INSTANTS, ids=iso, indirect=True)
async def test_the_events_of_real_funding_equal_an_independent_computation(
    database: Database, clock: FakeClock
) -> None:
    watching, now_ms = Watching(database, clock), clock.now_ms()
    played = await play(watching)
    assert len(played) >= 35
    await watching.refresh.round()
    found = 0
    for coin in CHECKED:
        rows, priced = payments(coin, now_ms)[-60 * 24 :], closes(coin, now_ms)
        expected = expected_events([*rows, (now_ms, rows[-1][1], 1.0)], now_ms - 14 * DAY_MS, now_ms - 7 * DAY_MS)
        said = (await watching.said(AlertsQuery(symbol=coin, limit=200))).events
        assert [
            (event.triggerZone, event.firedAt, event.clearedAt, event.fundingAtTrigger, event.percentile)
            for event in reversed(said)
        ] == [(zone, iso(at), cleared and iso(cleared), apr, rank) for zone, at, cleared, apr, rank in expected]
        for event, (_, fired_ms, *_) in zip(reversed(said), expected, strict=True):
            assert event.price == (2.5 if fired_ms == now_ms else priced.get(fired_ms))
        found += len(said)
    assert found > 0


@pytest.mark.parametrize("clock", INSTANTS, ids=iso, indirect=True)
async def test_every_event_of_real_funding_is_whole_and_in_order(database: Database, clock: FakeClock) -> None:
    watching, now_ms = Watching(database, clock), clock.now_ms()
    await play(watching)
    await watching.refresh.round()
    answer = await watching.desk.alerts(AlertsQuery(limit=200))
    assert answer.as_of_ms == now_ms
    assert b"NaN" not in encode(answer.data)
    events = await watching.events()
    assert len({event.id for event in events}) == len(events) > 20
    assert [event.firedAt for event in events] == sorted((event.firedAt for event in events), reverse=True)
    for event in events:
        assert event.firedAt <= (event.clearedAt or iso(now_ms)) <= iso(now_ms)
        assert math.isfinite(event.fundingAtTrigger)
        assert 0 <= event.percentile <= 100
        assert (event.fundingAtTrigger > 0) == ("hot" in event.triggerZone)
