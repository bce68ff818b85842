"""Past days and the backtested record tell of the same verdicts: whatever is published, and whatever comes late."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.clock import DAY_MS
from service.market.daily_report.models import BreadthDay
from service.market.series import DayCounts, count_days, read_days
from service.storage.database import Database
from service.table.daily import DailyHistory
from service.table.recompute import recompute_days
from service.verdict.backtest import BacktestRecord
from service.verdict.recompute import recompute_scorecard
from service.verdict.scorecard import Scorecard
from tests.fakes.clock import FakeClock
from tests.market.concluding import wave
from tests.table.world import COINS, DAYS, LAST, World, days_of, midnight
from tests.verdict.test_backtest import days_of as closed_days_of
from tests.walkforward.reference_bars import bundled

FLAT_PCT = {1: 2.0, 3: 3.5, 7: 5.0}
END = midnight(LAST)
LATE = [f"LATE{number}" for number in range(8)]
"""Coins whose newest bars arrive after the day is published; together they decide its breadth."""

DECISIVE_DAYS = 5
"""Days of late bars from which the regime of the market would be another one if it was counted from them."""

Cells = Mapping[tuple[int, str, str], tuple[int, int, int, int, float]]


def recounted(daily: DailyHistory) -> Cells:
    """Outcomes, rises, falls, flat moves and the sum of moves by horizon, coin and verdict, from what a reader sees."""
    counts: dict[tuple[int, str, str], Counter[str]] = defaultdict(Counter)
    sums: dict[tuple[int, str, str], float] = defaultdict(float)
    for symbol in daily.symbols:
        closes = {bar.open_ms: bar.close for bar in daily.bars(symbol)}
        for state in daily.states(symbol):
            for days, flat in FLAT_PCT.items():
                later = closes.get(state.day_ms + days * DAY_MS)
                if later is None or state.verdict == "insufficient-evidence":
                    continue
                move = round((later / closes[state.day_ms] - 1) * 100, 4)
                key = days, symbol, state.verdict
                counts[key].update(n=1, up=move > 0, down=move < 0, flat=abs(move) <= flat)
                sums[key] += move
    return {key: (one["n"], one["up"], one["down"], one["flat"], sums[key]) for key, one in counts.items()}


def assert_agree(record: Scorecard, daily: DailyHistory) -> None:
    expected = recounted(daily)
    assert len(expected) == len(record.cells) > 0
    for cell in record.cells:
        *counted, moves = expected[cell.days, cell.symbol, cell.verdict]
        assert [cell.outcomes, cell.ups, cell.downs, cell.flats] == counted
        assert cell.moves == pytest.approx(moves, rel=1e-9, abs=1e-9)


HISTORY = bundled().only("AAVE", "BTC", "DOGE", "ETH", "PEPE", "SOL", "XRP")
WHOLE = closed_days_of(HISTORY)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.floats(0, 1), st.sets(st.sampled_from(sorted(HISTORY.bars)), max_size=3))
def test_every_coin_has_on_every_day_the_verdict_that_the_record_counts(
    seed: int, share: float, without: set[str]
) -> None:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    published = [
        BreadthDay(day, *(chance.randrange(40) for _ in range(3))) for day in HISTORY.days if chance.random() < share
    ]
    known = WHOLE._replace(funding={coin: paid for coin, paid in WHOLE.funding.items() if coin not in without})
    assert_agree(recompute_scorecard(known, published), recompute_days(known, published))


class Late(World):
    """A market some of whose bars arrive after their day is published, and its backtested record."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        super().__init__(database, clock)
        self.record = BacktestRecord(database, self.store, self.document, self.backtested, lambda: self.origin)

    async def publish(self, late_days: int) -> None:
        """Publish the last day while the late coins lack their last bars."""
        await self.list_coins(*COINS, *LATE)
        for number, coin in enumerate(LATE):
            await self.give(coin, late_bars(number)[:-late_days])
        await self.fill()
        await self.record.round()

    async def agree(self) -> DailyHistory:
        daily = await self.history.daily()
        assert self.backtested.current.value is not None
        assert_agree(self.backtested.current.value, daily)
        return daily


def late_bars(number: int) -> Sequence[tuple[int, float, float, float, float]]:
    return wave(range(LAST - DAYS + 1, LAST + 1), 20.0, 0.0, 0.004 + 0.0001 * number)


@pytest.mark.parametrize(("late_days", "coins"), [(1, 8), (1, 1), (2, 8), (5, 8), (20, 8), (40, 8)])
async def test_bars_that_arrive_after_publication_change_both_alike_and_no_other_coin(
    database: Database, clock: FakeClock, late_days: int, coins: int
) -> None:
    world = Late(database, clock)
    await world.publish(late_days)
    before = await world.agree()
    assert await world.history.daily() is before
    for number, coin in enumerate(LATE[:coins]):
        await world.give(coin, late_bars(number)[-late_days:])
    await world.record.round()
    after = await world.agree()
    assert [len(after.states(coin)) - len(before.states(coin)) for coin in LATE[:coins]] == [late_days] * coins
    for symbol in before.symbols:
        past = before.states(symbol)
        assert after.states(symbol)[: len(past)] == past
    midnights = [midnight(day) for day in range(LAST - DAYS, LAST + 1)]
    regimes = [before.market_regime(at_ms) for at_ms in midnights]
    assert [after.market_regime(at_ms) for at_ms in midnights] == regimes
    if late_days >= DECISIVE_DAYS:
        days = await database.inspect(lambda connection: read_days(connection, END))
        counted = await asyncio.to_thread(recompute_days, days, [])
        assert [counted.market_regime(at_ms) for at_ms in midnights] != regimes, "these bars decide the breadth"


async def test_funding_that_is_summed_after_publication_changes_both_alike(
    database: Database, clock: FakeClock
) -> None:
    world = Late(database, clock)
    await world.publish(1)
    await world.agree()
    paid = [(midnight(day), 1e-4, 24.0) for day in range(LAST - 60, LAST + 1)]
    await world.store.put_all_payments(world.origin, dict.fromkeys(LATE, paid))
    await world.store.sum_funding(world.origin)
    await world.record.round()
    daily = await world.agree()
    assert {state.score for state in daily.states(LATE[0])} != {None}
    revision = world.backtested.current.revision
    await world.record.round()
    assert world.backtested.current.revision == revision, "nothing is new"
    assert await world.history.daily() is daily


async def test_days_are_counted_in_the_store_as_they_are_read(database: Database, clock: FakeClock) -> None:
    world = World(database, clock)
    await world.fill()
    await world.store.sum_funding(world.origin)
    bars = sum(map(len, map(days_of, COINS)))
    for end in (END, END - 1, END - DAY_MS, END - 3 * DAY_MS, END - 500 * DAY_MS, 0):
        days = await database.inspect(partial(read_days, until_ms=end))
        counts = await database.inspect(partial(count_days, until_ms=end))
        assert counts == days.counts
        if end == END:
            assert counts.bars == bars
            assert counts.funded > 0
    assert await database.inspect(partial(count_days, until_ms=0)) == DayCounts(0, 0)
