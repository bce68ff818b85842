"""The backtested record is what the same rules would have said day by day, counted again the slow way."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from service.analytics.bars import Row
from service.analytics.market import MarketAnalytics
from service.clock import DAY_MS, iso
from service.market.models import PackedBars, VenueCoin
from service.market.series import ClosedDays
from service.storage.database import Database
from service.verdict.backtest import BacktestRecord
from service.verdict.decide import decide
from service.verdict.ledger import ABSTAINED
from service.verdict.recompute import recompute_scorecard
from service.verdict.scorecard import DaySpread, Scorecard
from service.wire.verdict import FundingFacts, Label, RegimeFacts, RiskFacts, Sources, VerdictInputs, VerdictRaw
from tests.fakes.clock import FakeClock
from tests.market.recordings import needs_recordings
from tests.verdict.issuing import ORIGIN, Hours
from tests.verdict.knowing import World, concluded
from tests.walkforward.reference_bars import History, bundled, recorded

COINS = ("AAVE", "BTC", "DOGE", "ETH", "PEPE", "SOL", "XRP")
FLAT_PCT = {1: 2.0, 3: 3.5, 7: 5.0}
HISTORIES = [
    pytest.param(bundled, id="bundled"),
    pytest.param(recorded, id="recorded", marks=[pytest.mark.recorded, needs_recordings]),
]


class Given(NamedTuple):
    """A verdict of the past and its coin's closes from that day on, by day."""

    symbol: str
    day: int
    verdict: Label


def days_of(history: History, origin: str = "test") -> ClosedDays:
    """A history as the store tells it."""
    return ClosedDays(
        origin,
        [VenueCoin(coin, coin, listed=True) for coin in history.bars],
        {
            coin: PackedBars((day * DAY_MS, *bar) for day, bar in sorted(bars.items()))
            for coin, bars in history.bars.items()
        },
        {coin: [(day, rate, 24.0) for day, rate in sorted(paid.items())] for coin, paid in history.paid.items()},
    )


def given_day_by_day(history: History) -> list[Given]:
    """Let a market know a day more each time, as a service does, and decide on what it tells."""
    given = []
    known: dict[str, list[Row]] = {coin: [] for coin in history.bars}
    for day in history.days:
        rows = {coin: (day * DAY_MS, *bars[day][:4]) for coin, bars in history.bars.items() if day in bars}
        for coin, row in rows.items():
            known[coin].append(row)
        market = MarketAnalytics(known)
        assessed, regimes, regime = market.assessments(), market.coin_regimes(), market.regime()
        for coin in rows:
            told, own = assessed[coin], regimes.get(coin)
            is_charted = told.through_ms == (day + 1) * DAY_MS
            at = iso((day + 1) * DAY_MS)
            facts = RiskFacts(
                at,
                rows[coin][4],
                None,
                at,
                told.daily.state if told.daily and is_charted else None,
                told.weekly.state if told.weekly else None,
                None,
                [],
            )
            mean = _means(history.paid.get(coin, {}), day)
            inputs = VerdictInputs(
                coin,
                at,
                Sources("fulfilled", "fulfilled" if mean else "rejected", "fulfilled", "rejected"),
                VerdictRaw(
                    facts,
                    FundingFacts(at, *mean, None, 0) if mean else None,
                    RegimeFacts(at, regime.regime if regime else None, own.regime if own else None, None),
                    None,
                ),
            )
            given.append(Given(coin, day, decide(inputs).verdict))
    return given


def _means(paid: Mapping[int, float], day: int) -> tuple[float, float | None] | None:
    """Percent a year over a day, and over a week whose days are all known."""
    if day not in paid:
        return None
    week = [paid[each] for each in range(day - 6, day + 1) if each in paid]
    mean = round(sum(week) / (24 * 7) * 8_760 * 100, 4) if len(week) == 7 else None
    return round(paid[day] / 24 * 8_760 * 100, 4), mean


def counted(history: History, given: list[Given]) -> tuple[dict[tuple[int, str, Label], Counter[str]], list[DaySpread]]:
    """Ups, downs and flats by horizon, coin and verdict, and the sums over days."""
    cells: dict[tuple[int, str, Label], Counter[str]] = defaultdict(Counter)
    by_day: dict[tuple[int, Label, int], Counter[str]] = defaultdict(Counter)
    for symbol, day, verdict in given:
        for days, bound in FLAT_PCT.items():
            later = history.bars[symbol].get(day + days)
            if verdict == ABSTAINED or later is None:
                continue
            move = round((later.close / history.bars[symbol][day].close - 1) * 100, 4)
            told = {"ups": move > 0, "downs": move < 0, "flats": abs(move) <= bound}
            right = told["ups" if "bull" in verdict else "downs" if "bear" in verdict else "flats"]
            cells[days, symbol, verdict].update(["outcomes", *(name for name, holds in told.items() if holds)])
            by_day[days, verdict, day].update({"outcomes": 1, "hits": int(right)})
    spreads: dict[tuple[int, Label], list[tuple[int, int]]] = defaultdict(list)
    for (days, verdict, _), found in by_day.items():
        spreads[days, verdict].append((found["hits"], found["outcomes"]))
    return cells, [
        DaySpread(
            "daily",
            days,
            verdict,
            len(found),
            sum(hits * hits for hits, _ in found),
            sum(hits * outcomes for hits, outcomes in found),
            sum(outcomes * outcomes for _, outcomes in found),
        )
        for (days, verdict), found in spreads.items()
    ]


@pytest.mark.slow
@pytest.mark.promise("record.backtested")
@pytest.mark.parametrize("history_of", HISTORIES)
def test_the_backtested_record_equals_a_recount_day_by_day_to_the_last_outcome(
    history_of: Callable[[], History],
) -> None:
    history = history_of().only(*COINS)
    found = recompute_scorecard(days_of(history), [])
    cells, spreads = counted(history, given_day_by_day(history))
    assert {
        (cell.days, cell.symbol, cell.verdict): (cell.outcomes, cell.ups, cell.downs, cell.flats)
        for cell in found.cells
    } == {key: (one["outcomes"], one["ups"], one["downs"], one["flats"]) for key, one in cells.items()}
    assert sorted(found.spreads, key=repr) == sorted(spreads, key=repr)
    assert len(found.cells) > 60


async def test_a_published_day_is_recomputed_once_and_again_when_another_is_there(
    database: Database, clock: FakeClock
) -> None:
    world = World(database, clock)
    told = bundled().only(*COINS)
    history = History(told.bars, {coin: _paid_in_one(paid) for coin, paid in told.paid.items()})
    last = history.days[-1]
    await fill(world, history)
    backtest = BacktestRecord(
        world.database, world.market.store, world.conclusions, world.backtest, lambda: world.origin
    )
    await backtest.round()
    assert world.backtest.current.revision == 0, "nothing is published yet"
    await publish(world, last)
    await backtest.round()
    whole = recompute_scorecard(days_of(history), [])
    assert (world.backtest.current.value, world.backtest.current.observed_ms) == (whole, (last + 1) * DAY_MS)
    await backtest.round()
    assert world.backtest.current.revision == 1
    await publish(world, last - 3)
    await backtest.round()
    assert world.backtest.current.value == recompute_scorecard(days_of(history.until(last - 2)), [])
    await world.backtest.put(world.origin, Scorecard(1, [], []), (last - 2) * DAY_MS)
    await backtest.round()
    assert world.backtest.current.value != Scorecard(1, [], []), "another version of the rules counts nothing"


async def test_a_store_that_holds_another_history_is_not_counted(world: World) -> None:
    history = bundled().only("BTC", "ETH")
    await fill(world, history)
    await publish(world, history.days[-1])
    backtest = BacktestRecord(
        world.database, world.market.store, world.conclusions, world.backtest, lambda: world.origin
    )
    world.origin = "another"
    await backtest.round()
    world.origin = ORIGIN
    await world.market.store.claim("another")
    await backtest.round()
    assert world.backtest.current.revision == 0


def _paid_in_one(paid: Mapping[int, float]) -> dict[int, float]:
    """As sums of one payment for 24 hours, to the last bit."""
    return {day: rate / 24 * 24 for day, rate in paid.items()}


async def fill(world: World, history: History) -> None:
    """Put bars and payments as upstreams tell them."""
    await Hours(world.database).list_coins(*history.bars)
    bars = {coin: [(day * DAY_MS, *bar, 1) for day, bar in sorted(bars.items())] for coin, bars in history.bars.items()}
    await world.market.store.put_closed_bars(ORIGIN, "1d", bars)
    paid = {
        coin: [((day + 1) * DAY_MS, rate / 24, 24.0) for day, rate in sorted(paid.items())]
        for coin, paid in history.paid.items()
    }
    await world.market.store.put_all_payments(ORIGIN, paid)


async def publish(world: World, day: int) -> None:
    """Have a day be the last one that is published."""
    await world.conclude(replace(concluded(), through_ms=(day + 1) * DAY_MS))
