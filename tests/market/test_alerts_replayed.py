"""Alerts and the past over the replay, through the wire: a frozen recording gives the same bytes for ever."""

from pathlib import Path

import pytest

from service.clock import DAY_MS, FrozenClock
from service.errors import ServiceError
from service.market.categories.documents import CapStore, PastCaps
from service.market.funding import on_schedule
from service.market.historical import HistoricalService
from service.market.models import Quotes
from service.market.past_prices import PastPriceReader
from service.market.samples import SampleRefresh, SampleStore
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import FUNDING_PAGE
from service.storage.database import open_database
from service.units import INTERVAL_MS
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import replay_server
from service.upstream.session import open_session
from service.wire.envelope import encode
from service.wire.queries import AlertsQuery, HistoricalQuery
from tests.fakes.loading import series_loading
from tests.market.watching import Watching

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "upstream"
COINS = ("BTC", "ETH", "SOL", "DOGE", "kPEPE", "HYPE")


async def watch(folder: Path) -> tuple[bytes, bytes, bytes, bytes]:
    """A service from nothing to its answers: a page of alerts, the rest of them, and two coins' past."""
    clock = FrozenClock(frozen_at(FIXTURES))
    async with (
        open_database(folder / "verdict.db", clock) as database,
        replay_server(FIXTURES, clock, "frozen") as replay,
        open_session("hyperliquid", replay.url, clock, weight_per_minute=10_000_000) as session,
    ):
        watching = Watching(database, clock)  # type: ignore[arg-type] # it moves time only where a test asks for it
        await fetch(watching, Hyperliquid(session, clock))
        samples = SampleStore(database)
        await SampleRefresh(clock, samples, watching.market, dict, lambda: watching.origin).round()
        await watching.refresh.round()
        past = PastCaps(CapStore(database), lambda: watching.origin, dict)
        prices = PastPriceReader(clock, database, list, watching.market.set_past_prices)
        history = HistoricalService(clock, database, watching.market, samples, past, dict, prices, series_loading)
        first = await watching.said(AlertsQuery(limit=5))
        rest = await watching.said(AlertsQuery(limit=200, cursor=first.meta.next_cursor))
        assert len(first.events) == 5
        assert len(rest.events) == first.meta.total - 5
        hours = await history.historical(HistoricalQuery("btc", 1000, "h"))
        days = await history.historical(HistoricalQuery("kpepe", 365, "d"))
        assert hours.as_of_ms is not None
        assert days.as_of_ms is not None
        assert 0 <= clock.now_ms() - hours.as_of_ms <= DAY_MS
        with pytest.raises(ServiceError):
            await history.historical(HistoricalQuery("PEP"))
        return encode(first), encode(rest), encode(hours.data), encode(days.data)


async def fetch(watching: Watching, source: Hyperliquid) -> None:
    now_ms = watching.clock.now_ms()
    found = await source.quotes()
    listed = [quote for quote in found.quotes if quote.venue_symbol in COINS]
    await watching.store.put_quotes(watching.origin, Quotes(found.observed_ms, listed))
    for coin in COINS:
        for interval, step_ms in INTERVAL_MS.items():
            bars = (await source.bars(coin, interval, now_ms - 1_100 * step_ms)).bars
            await watching.store.put_bars(watching.origin, coin, bars, found.observed_ms - step_ms, interval=interval)
        start_ms = now_ms - 50 * DAY_MS
        while len(rows := await source.funding_history(coin, start_ms)) == FUNDING_PAGE:
            await watching.store.put_payments(watching.origin, coin, on_schedule(rows, 1.0))
            start_ms = rows[-1][0] + 60_000
        await watching.store.put_payments(watching.origin, coin, on_schedule(rows, 1.0))
    watching.market.show(await watching.store.snapshot())


@pytest.mark.slow
@pytest.mark.promise("alerts.payload", "historical.payload")
async def test_a_frozen_recording_gives_the_same_bytes_for_ever(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = await watch(tmp_path / "one"), await watch(tmp_path / "two")
    assert one == two
    assert all(b"NaN" not in text and b"null,null,null,null,null" not in text for text in one)
