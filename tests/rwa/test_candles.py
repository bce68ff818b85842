"""Daily bars of the assets: increments, once a day, after the coins'; and the trends that closed ones make."""

import pytest

from service.clock import DAY_MS
from service.market.models import CoinChart
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.rwa.candles import BATCH, WAIT_S
from service.upstream.failures import UpstreamError
from tests.fakes.clock import FakeClock
from tests.market.venue import candle, walk
from tests.rwa.parts import TODAY, Parts
from tests.upstream import faults

NOON_S = 43_200
PATIENCE_S = 600


def asked(parts: Parts) -> list[tuple[str, int]]:
    return [(ask["req"]["coin"], ask["req"]["startTime"]) for ask in parts.dex.asked("candleSnapshot")]


def charts(parts: Parts) -> dict[str, CoinChart]:
    current = parts.documents.charts.current.value
    return current.charts if current else {}


@pytest.fixture
async def market(parts: Parts) -> Parts:
    for ticker in ("AAPL", "TSLA"):
        parts.dex.list_asset(ticker, volume="2.0" if ticker == "AAPL" else "1.0")
        parts.dex.candles[f"xyz:{ticker}"] = walk(f"xyz:{ticker}", range(TODAY - 120, TODAY + 5), 1.01)
        parts.binance.trade(ticker, "100.0", contractType="TRADIFI_PERPETUAL", underlyingType="EQUITY")
    await parts.listing.round()
    await parts.quotes.round()
    return parts


async def test_closed_bars_are_fetched_once_and_their_trends_told(market: Parts) -> None:
    await market.bars.round()
    assert asked(market) == [("xyz:AAPL", EARLIEST_MS), ("xyz:TSLA", EARLIEST_MS)]
    assert charts(market)["xyz:AAPL"].through_ms == TODAY * DAY_MS
    assert market.told("AAPL").trend_daily in {"UP", "DOWN"}
    assert market.told("AAPL").trend_weekly in {"UP", "DOWN"}
    assert market.told("AAPL")._stale_fields == []
    rows = (await market.store.closed_bars(["xyz:AAPL"]))["xyz:AAPL"]
    assert [row[0] // DAY_MS for row in rows] == list(range(TODAY - 120, TODAY))
    await market.bars.round()
    assert len(asked(market)) == 2


async def test_only_the_new_bar_is_asked_for_ten_minutes_into_the_next_day(market: Parts, clock: FakeClock) -> None:
    await market.bars.round()
    await clock.advance(NOON_S + PATIENCE_S - 1)
    await market.bars.round()
    assert len(asked(market)) == 2
    await clock.advance(1)
    await market.bars.round()
    last_ms = (TODAY - 1) * DAY_MS
    assert asked(market)[2:] == [("xyz:AAPL", last_ms), ("xyz:TSLA", last_ms)], "the last stored one is compared"
    assert market.documents.charts.current.observed_ms == (TODAY + 1) * DAY_MS


async def test_an_asset_without_a_new_bar_is_asked_again_after_a_quarter_of_an_hour(
    market: Parts, clock: FakeClock
) -> None:
    market.dex.candles["xyz:TSLA"] = []
    await market.bars.round()
    await clock.advance(WAIT_S - 1)
    await market.bars.round()
    assert len(asked(market)) == 2
    await clock.advance(1)
    await market.bars.round()
    assert asked(market)[2:] == [("xyz:TSLA", EARLIEST_MS)]
    assert charts(market).keys() == {"xyz:AAPL"}


async def test_one_assets_failure_is_its_own(market: Parts) -> None:
    market.dex.faults.next = faults.once(market.dex.faults, faults.answer(400, b"no"))
    await market.bars.round()
    assert market.told("AAPL").trend_daily is None
    assert market.told("TSLA").trend_daily is not None


async def test_a_venue_that_wants_silence_ends_the_round_and_what_came_is_kept(market: Parts, clock: FakeClock) -> None:
    market.dex.candles["xyz:AAPL"] = []
    await market.bars.round()
    market.dex.candles["xyz:AAPL"] = walk("xyz:AAPL", range(TODAY - 120, TODAY + 1))
    await clock.advance(WAIT_S)
    market.dex.faults.next = faults.too_many("60")
    with pytest.raises(UpstreamError):
        await market.bars.round()
    market.dex.faults.next = None
    await clock.advance(60)
    await market.bars.round()
    assert charts(market).keys() == {"xyz:AAPL", "xyz:TSLA"}


async def test_trends_are_read_batch_by_batch(parts: Parts) -> None:
    for number in range(BATCH + 1):
        parts.dex.list_asset(f"A{number}")
        parts.dex.candles[f"xyz:A{number}"] = walk(f"xyz:A{number}", range(TODAY - 30, TODAY + 1))
    await parts.listing.round()
    seen = []
    parts.documents.charts.on_change(lambda current: seen.append(len(current.value.charts) if current.value else 0))
    await parts.bars.round()
    assert seen == [BATCH, BATCH + 1]


async def test_no_bar_that_is_open_ever_enters(market: Parts) -> None:
    level = float(market.dex.candles["xyz:AAPL"][-6]["c"])
    market.dex.candles["xyz:AAPL"][-5] = candle("xyz:AAPL", TODAY, level, level * 3, level / 3, level * 3)
    await market.bars.round()
    first = market.documents.charts.current.value
    market.dex.candles["xyz:AAPL"][-5] = candle("xyz:AAPL", TODAY, level, level, level, level)
    market.bars._bound_origin = ""
    await market.bars.round()
    assert market.documents.charts.current.value == first


async def test_a_bar_read_in_the_first_seconds_after_its_close_is_read_again(market: Parts, clock: FakeClock) -> None:
    await clock.advance(NOON_S + 2)
    await market.bars.round()
    assert charts(market)["xyz:AAPL"].through_ms == TODAY * DAY_MS
    await clock.advance(PATIENCE_S + WAIT_S)
    await market.bars.round()
    assert charts(market)["xyz:AAPL"].through_ms == (TODAY + 1) * DAY_MS


async def test_a_restart_goes_on_where_the_store_ends(market: Parts, clock: FakeClock) -> None:
    await market.bars.round()
    again = Parts(market.dex, market.binance, market.sessions, market.database, clock)
    await again.document_store.refresh()
    assert again.told("AAPL") == market.told("AAPL")
    await again.bars.round()
    assert len(asked(market)) == 2


async def test_what_is_no_longer_listed_has_no_trend(market: Parts, clock: FakeClock) -> None:
    await market.bars.round()
    market.dex.delisted.add("xyz:TSLA")
    for seconds in (NOON_S, 3_600):
        await clock.advance(seconds)
        await market.listing.round()
    await market.bars.round()
    assert charts(market).keys() == {"xyz:AAPL"}


async def test_nothing_is_fetched_before_the_listing_or_into_another_history(market: Parts) -> None:
    market.held = "yesterday"
    await market.bars.round()
    market.held = market.origin = "tomorrow"
    await market.bars.round()
    assert asked(market) == []
    fresh = Parts(market.dex, market.binance, market.sessions, market.database, market.clock)
    await fresh.bars.round()
    assert asked(market) == []


async def test_another_history_is_fetched_anew_and_none_of_the_old_is_left(market: Parts) -> None:
    await market.bars.round()
    before = market.documents.charts.current.value
    market.origin = "tomorrow"
    await market.store.claim("tomorrow")
    market.held = "tomorrow"
    for ticker in ("AAPL", "TSLA"):
        market.dex.candles[f"xyz:{ticker}"] = walk(f"xyz:{ticker}", range(TODAY - 40, TODAY + 1), 0.98)
    await market.listing.round()
    await market.bars.round()
    assert market.documents.charts.current.origin == "tomorrow"
    assert market.documents.charts.current.value != before
    rows = (await market.store.closed_bars(["xyz:AAPL"]))["xyz:AAPL"]
    assert rows[0][0] == (TODAY - 40) * DAY_MS


async def test_bars_that_come_while_the_history_changes_belong_to_neither(market: Parts) -> None:
    histories = iter(["test", "test", "tomorrow", "tomorrow", "tomorrow"])
    market.bars._origin = lambda: next(histories)
    await market.bars.round()
    assert await market.store.closed_bars(["xyz:AAPL"]) == {"xyz:AAPL": []}
    assert market.documents.charts.current.value is None


async def test_a_young_asset_has_no_trend_yet_and_is_said_to_have_none(parts: Parts) -> None:
    parts.dex.list_asset("AAPL")
    parts.dex.candles["xyz:AAPL"] = walk("xyz:AAPL", range(TODAY - 5, TODAY + 1))
    await parts.rounds()
    assert parts.told("AAPL")._stale_fields == ["trend_daily", "trend_weekly"]
    assert charts(parts)["xyz:AAPL"] == CoinChart(through_ms=TODAY * DAY_MS)


@pytest.mark.promise("plausibility.bars", "quarantine.series-reported")
async def test_a_forged_day_is_not_stored_and_is_named(market: Parts, clock: FakeClock) -> None:
    await market.bars.round()
    honest = market.dex.candles["xyz:AAPL"]
    level = float(honest[-5]["o"])
    forged = [dict(bar) for bar in honest]
    forged[-5] |= {"h": repr(level * 20), "c": repr(level * 20)}
    market.dex.candles["xyz:AAPL"] = forged
    await clock.advance(NOON_S + PATIENCE_S)
    await market.bars.round()
    await market.quotes.round()
    assert charts(market)["xyz:AAPL"].through_ms == TODAY * DAY_MS
    assert charts(market)["xyz:TSLA"].through_ms == (TODAY + 1) * DAY_MS
    report = market.documents.quarantine.current.value
    assert report is not None
    assert [(held.coin, held.field, str(held.reason)) for held in report.now] == [("AAPL", "bars-1d", "bar-impossible")]
    market.dex.candles["xyz:AAPL"] = honest
    await clock.advance(WAIT_S)
    await market.bars.round()
    await market.quotes.round()
    assert charts(market)["xyz:AAPL"].through_ms == (TODAY + 1) * DAY_MS
    report = market.documents.quarantine.current.value
    assert report is not None
    assert report.now == ()


async def test_days_on_which_the_market_is_closed_may_be_missing(market: Parts) -> None:
    market.dex.candles["xyz:AAPL"] = [bar for bar in market.dex.candles["xyz:AAPL"] if int(bar["t"]) // DAY_MS % 7 < 5]
    await market.bars.round()
    assert "xyz:AAPL" in charts(market)


async def test_a_strange_day_that_stays_the_same_for_an_hour_is_stored(market: Parts, clock: FakeClock) -> None:
    await market.bars.round()
    strange = market.dex.candles["xyz:AAPL"]
    level = float(strange[-5]["o"]) * 1.4
    strange[-5] |= {"h": repr(level), "c": repr(level)}
    await clock.advance(NOON_S + PATIENCE_S)
    for _ in range(4):
        await market.bars.round()
        assert charts(market)["xyz:AAPL"].through_ms == TODAY * DAY_MS
        await clock.advance(WAIT_S)
    await market.bars.round()
    assert charts(market)["xyz:AAPL"].through_ms == (TODAY + 1) * DAY_MS
