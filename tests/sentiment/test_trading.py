"""How coins trade, over a real store that was filled from a venue."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.clock import DAY_MS
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote
from service.market.past_prices import PastPriceReader
from service.sentiment.stance import Trading
from service.sentiment.trading import TradingSnapshot
from service.storage.database import open_database
from service.units import Symbol
from service.upstream.session import open_session
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import TODAY, Parts
from tests.market.venue import candle, context, open_venue


@pytest.fixture
async def parts(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Parts]:
    async with (
        open_venue(clock) as venue,
        open_session("hyperliquid", venue.url, clock, weight_per_minute=10_000_000, deadline_s=20) as session,
        open_database(tmp_path / "verdict.db", clock) as database,
    ):
        made = Parts(venue, session, database, clock)
        await made.store.claim(made.origin)
        yield made


def tape_of(parts: Parts) -> TradingSnapshot:
    return TradingSnapshot(parts.clock, parts.desk, parts.store, lambda: {Symbol("SOL"): "Solana"})


def list_sol(parts: Parts, days: range = range(TODAY - 40, TODAY + 1)) -> None:
    """A coin that closes at 100 and its day's number since forty days ago; 10 traded a day, 200 USD of it now."""
    parts.venue.contexts["SOL"] = context("144.0", volume="200.0") | {"prevDayPx": "140.0"}
    parts.venue.candles["SOL"] = [
        candle("SOL", day, close, close * 1.02, close * 0.98, close)
        for day, close in ((day, float(day - TODAY + 141)) for day in days)
    ]


async def test_a_coin_trades_as_its_venue_says_now_and_did_on_its_last_days(parts: Parts) -> None:
    list_sol(parts)
    await parts.rounds()
    tape = tape_of(parts)
    await tape.read()
    await PastPriceReader(parts.clock, parts.store._database, lambda: ["SOL"], parts.desk.set_past_prices).refresh()
    # The close that ended a week and half a day ago is the last one known a week ago.
    # Of days that opened at or after noon 31 days ago 30 have closed: those at 111 to 140, 10 traded in each.
    assert tape.now() == {
        "SOL": Trading(
            title="Solana",
            change_7d=round((144 / 133 - 1) * 100, 4),
            funding_apr=10.95,
            volume_ratio=round(200 / (125.5 * 10), 4),
            observed_ms=START_MS,
        )
    }


async def test_what_is_not_known_is_null(parts: Parts) -> None:
    list_sol(parts, range(TODAY - 3, TODAY + 1))
    parts.venue.contexts["NEW"] = parts.venue.contexts["kPEPE"] = context(None, funding=None)
    await parts.rounds()
    tape = tape_of(parts)
    assert tape.now()["SOL"].volume_ratio is None
    await tape.read()
    seen = tape.now()
    assert (seen["SOL"].change_7d, seen["SOL"].volume_ratio) == (None, round(200 / (139 * 10), 4))
    assert seen["NEW"] == Trading()
    assert seen["PEPE"] == Trading(units=1_000)


async def test_days_are_read_once_an_hour_or_when_more_of_them_have_come(parts: Parts) -> None:
    parts.list_market()
    list_sol(parts)
    await parts.quotes.round()
    tape = tape_of(parts)
    await tape.read()
    assert tape.now()["SOL"].volume_ratio is None
    await parts.keep_history()
    await tape.read()
    known = tape._usual
    assert tape.now()["SOL"].volume_ratio is not None
    await parts.clock.advance(59 * 60)
    await tape.read()
    assert tape._usual is known
    await parts.clock.advance(60)
    await tape.read()
    assert tape._usual is not known


async def test_days_of_another_history_are_read_anew(parts: Parts) -> None:
    list_sol(parts)
    await parts.rounds()
    tape = tape_of(parts)
    await tape.read()
    parts.origin = "tomorrow"
    await parts.quotes.round()
    await tape.read()
    assert tape.now()["SOL"].volume_ratio is None


async def test_measured_by_next_to_nothing_a_figure_is_not_known(parts: Parts) -> None:
    quote = Quote("SOL", "SOL", 1e300, 1e300, START_MS, 0.0, START_MS)
    parts.desk.show(MarketSnapshot(MarketState("test", 1, quotes_ms=START_MS), [(quote, CoinChart())]))
    list_sol(parts)
    for bar in parts.venue.candles["SOL"]:
        bar.update(dict.fromkeys("ohlc", "1e-300"))
    bars = await parts.source.bars("SOL", "1d", START_MS - 40 * DAY_MS)
    await parts.store.put_bars(parts.origin, "SOL", bars.bars, START_MS - DAY_MS)
    tape = tape_of(parts)
    await tape.read()
    assert (tape.now()["SOL"].change_7d, tape.now()["SOL"].volume_ratio) == (None, None)
