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
from service.storage.database import Database, open_database
from service.wire.envelope import success
from service.wire.market import Crossings, MarketHealth
from service.wire.queries import RegimeAction
from service.wire.regime import ActiveRegime
from tests.analytics import independent
from tests.fakes.clock import FakeClock
from tests.market.concluding import Leader, Reader, read
from tests.market.recordings import coins, history, needs_recordings

pytestmark = [pytest.mark.unmeasured, pytest.mark.real_data, needs_recordings]

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
            await made.give(coin, history()[coin])
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
    closes = {coin.upper(): {row[0] // DAY_MS: row[4] for row in rows} for coin, rows in history().items()}
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


async def test_positions_are_of_coins_that_still_have_bars_and_were_opened_at_a_close(leader: Leader) -> None:
    active = read(leader.regimes.regime("active", None), ActiveRegime)
    closes = {coin.upper(): {utc_day(row[0] // DAY_MS): row[4] for row in rows} for coin, rows in history().items()}
    assert active.positions
    for position in active.positions:
        assert closes[position.symbol][date.fromisoformat(position.entryDate)] == position.entryPrice
        assert utc_day(LAST_DAY) in closes[position.symbol]


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
        for day in range(LAST_DAY - 10, LAST_DAY + 1):
            first = 0 if day == LAST_DAY - 10 else day
            for coin in coins():
                await daily.give(coin, [row for row in history()[coin] if first <= row[0] // DAY_MS <= day])
            daily.at(day, 20 * MINUTE_MS / 1000)
            await daily.round(asked=True)
            assert daily.told.breadth[-1].day == day
        assert daily.told == leader.told
