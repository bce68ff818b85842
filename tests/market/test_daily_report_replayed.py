"""Breadth and regimes of the generated market, through the wire: a frozen recording gives the same bytes for ever."""

import asyncio
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, FrozenClock
from service.market.ingest.candles import DailyBarsRefresh
from service.market.ingest.quotes import QuoteRefresh
from service.market.models import Row
from service.market.plausibility.quarantine import QUARANTINE, Quarantine, QuarantineReport
from service.market.plausibility.series import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.storage.database import open_database
from service.storage.documents import DocumentStore
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import replay_server
from service.upstream.session import open_session
from service.wire.envelope import Answer, success
from service.wire.market import MarketHealth
from service.wire.regime import ActiveRegime
from tests.analytics import independent
from tests.market.concluding import Leader, read
from tests.market.parts import Standby

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "upstream"


async def conclude(folder: Path) -> tuple[Leader, dict[str, list[Row]]]:
    """A service from nothing to its answers, and the bars it made them of."""
    clock = FrozenClock(frozen_at(FIXTURES))
    async with (
        open_database(folder / "verdict.db", clock) as database,
        replay_server(FIXTURES, clock, "frozen") as replay,
        open_session("hyperliquid", replay.url, clock, weight_per_minute=10_000_000) as session,
    ):
        leader = Leader(database, clock)  # type: ignore[arg-type] # it moves time only where a test asks for it
        leader.origin = replay.origin
        source, standby = Hyperliquid(session, clock), Standby()
        report = DocumentStore(database).document(QUARANTINE, QuarantineReport)
        quotes = QuoteRefresh(
            clock, leader.store, source, lambda: replay.origin, leader.coins, standby, report, lambda: False
        )
        check = SeriesCheck(clock, leader.store, leader.coins.quotes, Quarantine(), standby)
        history = DailyBarsRefresh(clock, leader.store, source, lambda: replay.origin, asyncio.Lock(), standby, check)
        await leader.store.claim(replay.origin)
        await quotes.round()
        await history.round()
        await quotes.round()
        leader.asked_ms = history.asked_ms
        await leader.round()
        return leader, await leader.store.closed_bars()


def answers(leader: Leader) -> list[Answer]:
    regimes = leader.regimes
    return [
        leader.breadth.health(0),
        leader.breadth.health(1),
        leader.breadth.crossing(),
        regimes.regime("active", None),
        regimes.regime("signals", None),
        regimes.regime("confidence", None),
        *(regimes.regime("history", symbol) for symbol in leader.coins.view()),
    ]


@pytest.mark.slow
@pytest.mark.promise("health.payload", "crossing.payload", "regime.active")
async def test_a_frozen_recording_is_concluded_to_the_same_bytes_and_to_independent_counts(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, bars = await conclude(tmp_path / "one")
    two, _ = await conclude(tmp_path / "two")
    said = [success(answer, one.clock.now_ms()) for answer in answers(one)]
    assert said == [success(answer, two.clock.now_ms()) for answer in answers(two)]
    assert len(said) == 6 + len(one.coins.view()) > 80
    health = read(one.breadth.health(1), MarketHealth)
    assert health.date == "2025-07-24"
    assert one.breadth.health(1).as_of_ms == (date(2025, 7, 25) - date(1970, 1, 1)).days * DAY_MS
    assert counted(bars) == (health.trends.UP, health.trends.HODL, health.trends.DOWN)
    assert health.universe < len(bars)  # some of the recorded coins have been delisted
    active = read(one.regimes.regime("active", None), ActiveRegime)
    quoted = {symbol: coin.price for symbol, coin in one.coins.view().items()}
    assert active.positions == [replace(one_, currentPrice=quoted[one_.symbol]) for one_ in active.positions]
    assert all(position.currentPrice for position in active.positions)


def counted(bars: dict[str, list[Row]]) -> tuple[int, int, int]:
    """How many coins are UP, HODL and DOWN on the last closed day, by TA-Lib."""
    states = []
    for coin in bars:
        votes = [independent.directions(chart) for chart in independent.charts(coin, bars)]
        now = [vote.get(date(2025, 7, 24)) for vote in votes]
        if None not in now:
            states.append("UP" if set(now) == {1} else "DOWN" if set(now) == {-1} else "HODL")
    return states.count("UP"), states.count("HODL"), states.count("DOWN")
