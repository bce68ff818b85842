"""Any plan, on any market, with any days forbidden, brings what the slow and obvious implementation says."""

import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.performance import buy_and_hold
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.universe import fill_costs, tradable
from tests.market.recordings import needs_recordings
from tests.walkforward import reference_trading as reference
from tests.walkforward.reference_bars import Bar, History, bundled, recorded
from tests.walkforward.reference_plans import universe
from tests.walkforward.reference_summary import kept
from tests.walkforward.reference_tables import decisions_of, held_of, plan_of, signals_of, tape_of, trades_of

RECORDINGS = [
    pytest.param(bundled, id="bundled"),
    pytest.param(recorded, id="recorded", marks=[pytest.mark.recorded, needs_recordings]),
]
DAILY = ("net", "price", "exposure", "turnover")

DAYS, COINS = 40, ("ADA", "BTC", "DOGE", "ETH")
BY_RULE = ("trend-turned", "stop", "rank-lost", "funding-normal", "time", "universe-left")


@st.composite
def markets(draw: st.DrawFn) -> History:
    """Coins that are listed and delisted when they like, with days missing and funding that is known now and then."""
    dice = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311 - prices, not secrets
    history = History({}, {})
    for coin in COINS:
        begin, end = sorted(draw(st.tuples(st.integers(0, DAYS - 1), st.integers(0, DAYS))))
        missing = draw(st.sets(st.integers(0, DAYS - 1), max_size=4))
        days = [day for day in range(begin, max(end, begin + 1)) if day == begin or day not in missing]
        history.bars[coin] = {day: _bar(dice) for day in days}
        history.paid[coin] = {day: dice.gauss(0, 0.001) for day in range(DAYS) if dice.random() < 0.7}
    return history


def _bar(dice: random.Random) -> Bar:
    opened, close = dice.uniform(50, 150), dice.uniform(50, 150)
    return Bar(opened, max(opened, close) * 1.02, min(opened, close) * 0.98, close, dice.uniform(1, 100))


@st.composite
def plans(draw: st.DrawFn) -> reference.Plan:
    """Sides that last a few days each, some wanted on days on which a coin has no bar."""
    dice = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311 - sides, not secrets
    patience = draw(st.sampled_from((0.2, 0.5, 0.9)))
    made: reference.Plan = {}
    for coin in COINS:
        side, made[coin] = 0, {}
        for day in range(DAYS):
            before, side = side, side if dice.random() < patience else dice.choice((-1, 0, 1))
            reason = dice.choice(BY_RULE) if before not in (0, side) else None
            weight, score = (dice.uniform(0, 0.5), dice.gauss(0, 1)) if side else (0.0, None)
            made[coin][day] = reference.Decision(side, weight, score, None, reason)
    return made


@pytest.mark.slow
@given(markets(), plans(), st.tuples(st.integers(0, DAYS), st.integers(0, DAYS)), st.sets(st.integers(0, DAYS - 1)))
@settings(max_examples=100, deadline=None)
def test_any_plan_brings_what_trading_it_day_by_day_brings(
    history: History, plan: reference.Plan, window: tuple[int, int], forbidden: set[int]
) -> None:
    calendar = history.days
    start, end = sorted(min(calendar.start + row, calendar.stop) for row in window)
    theirs = simulate(
        tape_of(history),
        plan_of(history, plan),
        start - calendar.start,
        end - calendar.start,
        fill_costs(tape_of(history)),
        np.array([day not in forbidden for day in calendar]),
    )
    own = reference.simulate(history, plan, start, end, lambda day: day not in forbidden)

    same(trades_of(history, theirs), own.trades)
    same(held_of(history, theirs), own.held)
    assert signals_of(history, theirs) == sorted(own.signals, key=attrgetter("day", "coin"))
    for name in DAILY:
        assert getattr(theirs, name) == pytest.approx([own.of_day(name, day) for day in range(start, end)], abs=1e-12)
    assert (theirs.position_days, theirs.known_days) == (own.position_days, own.known_days)


def same(theirs: Iterable[reference.Trade], own: Iterable[reference.Trade]) -> None:
    expected = sorted(own, key=attrgetter("entered", "coin"))
    assert [_facts(trade) for trade in theirs] == [_facts(trade) for trade in expected]
    for told, trade in zip(theirs, expected, strict=True):
        assert told[4:10] == pytest.approx(trade[4:10], rel=1e-9, abs=1e-12)


def _facts(trade: reference.Trade) -> tuple[object, ...]:
    return trade[:4] + trade[-2:]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=[strategy.name for strategy in STRATEGIES])
@pytest.mark.parametrize("read", RECORDINGS)
def test_every_recorded_day_of_a_strategy_is_that_of_plain_arithmetic_and_of_a_cut_tape(
    read: Callable[[], History], strategy: Strategy
) -> None:
    history = read()
    tape = tape_of(history)
    plan, costs = strategy.plan(tape, tradable(tape, 50), strategy.grid[0]), fill_costs(tape)
    decided: reference.Plan = {coin: {} for coin in history.bars}
    for (coin, day), decision in decisions_of(history, plan).items():
        decided[coin][day] = decision
    rows = len(tape.open)
    theirs = simulate(tape, plan, 0, rows, costs)
    own = reference.simulate(history, decided, history.days.start, history.days.stop)
    same(trades_of(history, theirs), own.trades)
    same(held_of(history, theirs), own.held)
    assert np.count_nonzero(theirs.net) > 60
    for name in DAILY:
        exact = [own.of_day(name, day) for day in history.days]
        assert getattr(theirs, name).tolist() == pytest.approx(exact, rel=1e-9, abs=1e-9)
    for cut in range(rows - 50, rows, 7):
        known = simulate(tape.until(cut), plan.until(cut), 0, cut, costs[:cut])
        for name in DAILY:
            assert getattr(known, name)[:-1].tolist() == getattr(theirs, name)[: cut - 1].tolist()


@pytest.mark.parametrize("read", RECORDINGS)
def test_every_recorded_day_of_doing_nothing_is_that_of_plain_arithmetic(read: Callable[[], History]) -> None:
    history, begin = read(), 365
    tape = tape_of(history)
    worth = kept(history, universe(history), history.days.start + begin)
    returns = buy_and_hold(tape, tradable(tape, 50), begin, fill_costs(tape))
    assert returns.tolist() == pytest.approx([after / before - 1 for before, after in pairwise(worth)], abs=1e-9)
    assert len(returns) > 300
