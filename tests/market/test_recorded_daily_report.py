"""Breadth, crossings and regimes of the real recordings, through the store and the desks.

Trend states are computed with TA-Lib (`tests/analytics/independent.py`); everything counted from them is counted here.
"""

import json
import re
from datetime import UTC, date, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from service.clock import DAY_MS, MINUTE_MS, iso
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database, open_database
from service.storage.engine import Connection
from service.wire.envelope import success
from service.wire.market import Crossings, MarketHealth
from service.wire.queries import RegimeAction
from service.wire.regime import ActiveRegime, RegimeHistory
from tests.analytics import independent
from tests.fakes.clock import FakeClock
from tests.market.concluding import Leader, Reader, read
from tests.market.recordings import coins, history, needs_recordings
from tests.walkforward import reference_bars

pytestmark = [pytest.mark.recorded, needs_recordings]

ORIGIN = "recorded"
LAST_DAY = 20_294
"""2025-07-25, the last day recorded."""

FRIDAY, SUNDAY = date(2025, 7, 25), date(2025, 7, 20)


@cache
def states() -> dict[date, list[str]]:
    """The states of all coins that have one, day by day."""
    found: dict[date, list[str]] = {}
    for coin in coins():
        votes = [independent.directions(chart) for chart in independent.charts(coin, history())]
        for day in set.intersection(*(set(vote) for vote in votes)):
            now = {vote[day] for vote in votes}
            found.setdefault(day, []).append("UP" if now == {1} else "DOWN" if now == {-1} else "HODL")
    return found


def counts(day: date) -> tuple[int, int, int]:
    of_day = states()[day]
    return of_day.count("UP"), of_day.count("HODL"), of_day.count("DOWN")


def utc_day(number: int) -> date:
    return datetime.fromtimestamp(number * DAY_MS / 1000, UTC).date()


def market() -> reference_bars.History:
    return reference_bars.recorded()


async def know_funding(leader: Leader) -> None:
    """Keep what the recorded payments came to, day by day."""
    names: dict[str, str] = {canonical(coin): coin for coin in coins()}
    rows = [(names[coin], day, paid) for coin, days in market().paid.items() for day, paid in days.items()]

    def work(connection: Connection) -> None:
        connection.executemany("INSERT INTO funding_days (venue_symbol, day, paid) VALUES (?, ?, ?)", rows)

    await leader.database.write(work)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded") / "verdict.db"


@pytest.fixture
async def database(recorded: Path, clock: FakeClock) -> object:
    async with open_database(recorded, clock) as database:
        yield database


@pytest.fixture
async def leader(database: Database, clock: FakeClock) -> Leader:
    """The whole recording, concluded once for all tests."""
    made = Leader(database, clock)
    made.origin = ORIGIN
    made.at(LAST_DAY, 20 * 60)
    await made.store.claim(ORIGIN)
    if not await made.store.coins():
        await made.list_coins(*coins())
        await made.list_coins(*(coin for coin in coins() if history()[coin][-1][0] == LAST_DAY * DAY_MS))
        for coin in coins():
            volumes = {day: bar.volume for day, bar in market().bars[canonical(coin)].items()}
            await made.give(coin, history()[coin], volumes)
        await know_funding(made)
    await made.follow()
    await made.round(asked=True)
    return made


@pytest.mark.promise("health.payload", "crossing.definition")
async def test_every_published_day_equals_a_count_of_independent_states(leader: Leader) -> None:
    told = {utc_day(day.day): (day.up, day.hodl, day.down) for day in leader.told.breadth}
    assert told == {day: counts(day) for day in states()}
    assert len(told) > 800


async def test_health_is_that_of_the_last_day(leader: Leader) -> None:
    health = read(leader.breadth.health(1), MarketHealth)
    assert health.date == "2025-07-25"
    assert counts(FRIDAY) == (health.trends.UP, health.trends.HODL, health.trends.DOWN)
    assert health.universe == 106
    now, before = (100 * (up - down) / (up + hodl + down) for up, hodl, down in map(counts, (FRIDAY, SUNDAY)))
    assert health.velocity == pytest.approx((now - before) / 5, abs=1e-4)


@pytest.mark.promise("crossing.definition", "crossing.payload")
async def test_crossings_equal_those_of_independent_states(leader: Leader) -> None:
    signed = [(day, up, hodl, down) for day in sorted(states()) for up, hodl, down in [counts(day)] if up != down]
    expected = [
        (iso((now[0] - date(1970, 1, 1)).days * DAY_MS + DAY_MS), now[1] > now[3], before[1:], now[1:])
        for before, now in pairwise(signed)
        if (before[1] > before[3]) != (now[1] > now[3]) and (FRIDAY - now[0]).days < 90
    ]
    said = [
        (
            one.at,
            one.direction == "UP over DOWN",
            (one.previous.UP, one.previous.HODL, one.previous.DOWN),
            (one.current.UP, one.current.HODL, one.current.DOWN),
        )
        for one in read(leader.breadth.crossing(), Crossings).crossings
    ]
    assert len(expected) >= 3
    assert said == expected[::-1]


async def test_leaders_and_laggards_are_thirty_days_of_closes_apart(leader: Leader) -> None:
    closes = {canonical(coin): {row[0] // DAY_MS: row[4] for row in rows} for coin, rows in history().items()}
    returns = sorted(
        (100 * (own[LAST_DAY] / own[LAST_DAY - 30] - 1), coin)
        for coin, own in closes.items()
        if LAST_DAY in own and LAST_DAY - 30 in own
    )
    middle = len(returns) // 2
    median = returns[middle][0] if len(returns) % 2 else (returns[middle - 1][0] + returns[middle][0]) / 2
    health = read(leader.breadth.health(1), MarketHealth)
    assert isinstance(health.leadership, list)
    assert isinstance(health.laggards, list)
    for movers, ranked in ((health.leadership, returns[::-1]), (health.laggards, returns)):
        assert [mover.symbol for mover in movers] == [coin for _, coin in ranked[:5]]
        for mover, (gained, _) in zip(movers, ranked, strict=False):
            assert mover.relative_pct == pytest.approx(gained - median, abs=1e-4)


@pytest.mark.parametrize("action", ["active", "signals", "confidence"])
async def test_every_answer_is_finite_and_no_age_is_negative(leader: Leader, action: RegimeAction) -> None:
    answers = [leader.breadth.health(1), leader.breadth.crossing(), leader.regimes.regime(action, None)]
    answers += [leader.regimes.regime("history", coin) for coin in coins()]
    for answer in answers:
        body = success(answer, leader.clock.now_ms())
        assert not re.search(rb"NaN|Infinity|-0\.0+[,}\]]", body)
        assert json.loads(body)["meta"]["data_age_seconds"] == 20 * 60


async def test_positions_are_of_coins_that_still_have_bars_and_were_entered_at_an_open(leader: Leader) -> None:
    active = read(leader.regimes.regime("active", None), ActiveRegime)
    opens: dict[str, dict[date, float]] = {
        canonical(coin): {utc_day(row[0] // DAY_MS): row[1] for row in rows} for coin, rows in history().items()
    }
    assert active.positions
    for position in active.positions:
        entered = date.fromisoformat(position.entryDate)
        assert position.entryPrice == opens[position.symbol].get(entered)
        assert (position.entryPrice is None) == (entered > utc_day(LAST_DAY))
        assert utc_day(LAST_DAY) in opens[position.symbol]


@pytest.mark.promise("regime.trades-standard")
async def test_every_trade_that_is_answered_is_what_the_recorded_files_come_to(leader: Leader) -> None:
    """Entry and exit by the days told; all prices, funding, volumes and costs from the files, by plain arithmetic."""
    trades = 0
    for coin in coins():
        told = read(leader.regimes.regime("history", coin), RegimeHistory)
        bars, paid = market().bars[canonical(coin)], market().paid.get(canonical(coin), {})
        costs = reference_bars.costs_of(bars)
        for trade in told.trades:
            entered, left = (
                date.fromisoformat(day).toordinal() - date(1970, 1, 1).toordinal()
                for day in (trade.entryDate, trade.exitDate)
            )
            at_close = left + 1 not in bars and trade.exitReason == "no-bars"
            sold = bars[left].close if at_close else bars[left].open
            assert (trade.entryPrice, trade.exitPrice) == (bars[entered].open, sold)
            days = range(entered, left + at_close)
            assert trade.holdDays == len(days)
            side = 1 if trade.direction == "long" else -1
            funding = sum(-side * paid.get(day, 0.0003 if side > 0 else 0.0) * bars[day].open for day in days)
            cost = costs[entered - 1] + costs[days[-1]] * sold / bars[entered].open
            assert trade.fundingPct == pytest.approx(100 * funding / bars[entered].open, abs=1e-4)
            assert trade.costPct == pytest.approx(100 * cost, abs=1e-4)
            price = 100 * side * (sold / bars[entered].open - 1)
            assert trade.returnPct == pytest.approx(price + trade.fundingPct - trade.costPct, abs=2e-4)
            trades += 1
    assert trades > 1_000


async def test_another_process_says_the_same_of_all_of_it(leader: Leader, recorded: Path) -> None:
    async with open_database(recorded, leader.clock) as other:
        follower = Reader(other, leader.clock)
        await follower.follow()
        assert follower.told == leader.told
        assert follower.breadth.health(1) == leader.breadth.health(1)
        for coin in coins():
            assert follower.regimes.regime("history", coin) == leader.regimes.regime("history", coin)


async def test_what_was_published_day_by_day_is_what_is_published_at_once(
    leader: Leader, tmp_path: Path, clock: FakeClock
) -> None:
    """Nothing repaints: a service that ran for the last ten days says of every one of them what a new one says."""
    async with open_database(tmp_path / "daily.db", clock) as database:
        daily = Leader(database, clock)
        daily.origin = ORIGIN
        daily.store = MarketStore(database)
        await daily.store.claim(ORIGIN)
        await daily.list_coins(*coins())
        await know_funding(daily)
        for day in range(LAST_DAY - 10, LAST_DAY + 1):
            first = 0 if day == LAST_DAY - 10 else day
            for coin in coins():
                volumes = {each: bar.volume for each, bar in market().bars[canonical(coin)].items()}
                await daily.give(coin, [row for row in history()[coin] if first <= row[0] // DAY_MS <= day], volumes)
            daily.at(day, 20 * MINUTE_MS / 1000)
            await daily.round(asked=True)
            assert daily.told.breadth[-1].day == day
        assert daily.told == leader.told
