"""What all strategies owe: plans that equal a slow reading of their rules and never look ahead."""

from collections.abc import Mapping
from itertools import groupby
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.plan import NO_REASON, REASONS, Strategy, TradingPlan
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.tape import MarketTape, build_tape
from service.analytics.backtest.universe import tradable
from service.analytics.bars import Flags
from service.wire.walkforward import Strategy as Name
from service.wire.walkforward import WalkforwardExit
from tests.analytics.backtest import independent
from tests.analytics.backtest.tapes import SIZE, forged, recorded, tapes
from tests.market.recordings import needs_recordings

SMALL_GRID = {"cross-sectional-momentum": [{"lookback": 14, "top": 1}, {"lookback": 28, "top": 2}]}
"""The tapes made up here have a universe of five, so fewer on either side than in the real grid."""

every_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=[strategy.name for strategy in STRATEGIES])


def small_grid(strategy: Strategy) -> st.SearchStrategy[Mapping[str, float]]:
    return st.sampled_from(SMALL_GRID.get(strategy.name, list(strategy.grid)))


def assert_same(ours: TradingPlan, theirs: TradingPlan) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


def assert_as_read(tape: MarketTape, flags: Flags, strategy: Strategy, parameters: Mapping[str, float]) -> None:
    ours = strategy.plan(tape, flags, parameters)
    cells = independent.RULES[strategy.name](tape, flags.tolist(), parameters)
    fields = np.array([[cell[:4] for cell in row] for row in cells], np.float64).reshape(*tape.close.shape, 4)
    np.testing.assert_array_equal(ours.side, fields[..., 0])
    np.testing.assert_allclose(ours.weight, fields[..., 1], rtol=1e-12)
    np.testing.assert_allclose(ours.score, fields[..., 2], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.stop, fields[..., 3], rtol=1e-9)
    reasons = [[None if why == NO_REASON else REASONS[why] for why in row] for row in ours.reason.tolist()]
    assert reasons == [[cell.reason for cell in row] for row in cells]


@every_strategy
@settings(max_examples=15, deadline=None)
@given(data=st.data(), tape=tapes())
def test_a_plan_is_that_of_a_slow_reading_of_its_rule(
    data: st.DataObject, tape: MarketTape, strategy: Strategy
) -> None:
    assert_as_read(tape, tradable(tape, SIZE), strategy, data.draw(small_grid(strategy)))


@pytest.mark.slow
@every_strategy
@settings(max_examples=25, deadline=None)
@given(data=st.data(), tape=tapes())
def test_a_plan_never_depends_on_a_later_day(data: st.DataObject, tape: MarketTape, strategy: Strategy) -> None:
    parameters, rows = data.draw(small_grid(strategy)), data.draw(st.integers(0, len(tape.close)))
    known = strategy.plan(tape, tradable(tape, SIZE), parameters).until(rows)
    for other in (tape.until(rows), forged(tape, rows)):
        assert_same(strategy.plan(other, tradable(other, SIZE), parameters).until(rows), known)


@every_strategy
@settings(max_examples=15, deadline=None)
@given(data=st.data(), tape=tapes())
def test_a_plan_keeps_what_every_plan_promises(data: st.DataObject, tape: MarketTape, strategy: Strategy) -> None:
    flags = tradable(tape, SIZE)
    plan = strategy.plan(tape, flags, data.draw(small_grid(strategy)))
    assert_sound(plan, flags, strategy)


def assert_sound(plan: TradingPlan, flags: Flags, strategy: Strategy) -> None:
    wanted = plan.side != 0
    assert plan.side.dtype == plan.reason.dtype == np.int8
    assert not (wanted & ~flags).any()
    np.testing.assert_array_equal(plan.weight > 0, wanted)
    assert (plan.weight.sum(axis=1) < 1 + 1e-9).all()
    assert np.isnan(plan.score[~wanted]).all()
    assert np.isnan(plan.stop[~wanted]).all()
    before = np.vstack([np.zeros_like(plan.side[:1]), plan.side])[: len(plan.side)]
    left = (before != 0) & (before != plan.side)
    np.testing.assert_array_equal(plan.reason != NO_REASON, left)
    gone = plan.reason == REASONS.index("universe-left")
    np.testing.assert_array_equal(gone, left & ~flags)
    for column in plan.side.T:
        assert all(not side or len(list(run)) <= strategy.horizon_days for side, run in groupby(column.tolist()))


@every_strategy
def test_a_tape_without_days_has_a_plan_without_days(strategy: Strategy) -> None:
    nothing = build_tape({}, {})
    for parameters in strategy.grid:
        plan = strategy.plan(nothing, tradable(nothing, SIZE), parameters)
        assert [table.shape for table in plan] == [(0, 0)] * 5


def test_the_strategies_are_those_of_the_wire_each_with_a_few_parameter_sets() -> None:
    assert tuple(strategy.name for strategy in STRATEGIES) == get_args(Name)
    assert get_args(WalkforwardExit) == REASONS
    for strategy in STRATEGIES:
        assert 1 < len(strategy.grid) <= 9
        assert len({tuple(parameters.items()) for parameters in strategy.grid}) == len(strategy.grid)
        assert all(list(parameters) == list(strategy.grid[0]) for parameters in strategy.grid)


@pytest.mark.recorded
@needs_recordings
@every_strategy
def test_plans_over_the_recordings_are_those_of_a_slow_reading_of_the_rule(strategy: Strategy) -> None:
    tape, flags = recorded()
    for parameters in (strategy.grid[0], strategy.grid[8]):
        assert_as_read(tape, flags, strategy, parameters)


@pytest.mark.recorded
@needs_recordings
@every_strategy
def test_plans_over_the_recordings_keep_their_promises_and_never_look_ahead(strategy: Strategy) -> None:
    tape, flags = recorded()
    for at, parameters in enumerate(strategy.grid):
        plan = strategy.plan(tape, flags, parameters)
        assert_sound(plan, flags, strategy)
        assert {"time", "universe-left"} <= {REASONS[why] for why in plan.reason[plan.reason != NO_REASON]}
        rows = 200 + 75 * at
        young = tape.until(rows)
        assert_same(strategy.plan(young, tradable(young, 40), parameters), plan.until(rows))
