"""Trend following: worked by hand, and its lines against those who publish them."""

import random
from collections.abc import Mapping

import numpy as np
import pytest
import talib
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.backtest.trend_following import GRID, STRATEGY, plan
from service.analytics.backtest.universe import tradable
from service.analytics.bars import Chart
from service.analytics.supertrend import supertrend
from tests.analytics.backtest.independent import slow_supertrend
from tests.analytics.backtest.tapes import recorded, walk
from tests.market.recordings import needs_recordings

every_set = pytest.mark.parametrize("parameters", GRID, ids=["-".join(map(str, by.values())) for by in GRID])
FAST = {"period": 7, "multiplier": 2.0}


def followed(closes: list[float], parameters: Mapping[str, float] = FAST) -> tuple[TradingPlan, MarketTape]:
    """The plan for one coin all of whose bars reach one dollar to either side of their close."""
    tape = build_tape({"BTC": [DayBar(at, by, by + 1, by - 1, by, 5) for at, by in enumerate(closes)]}, {})
    return plan(tape, tradable(tape, 1), parameters), tape


@pytest.mark.slow
@every_set
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_any_series_has_the_line_and_direction_of_ta_lib_and_of_a_slow_computation(
    seed: int, parameters: Mapping[str, float]
) -> None:
    bars = walk(random.Random(seed), range(80))  # noqa: S311 - prices, not secrets
    assert_published([(bar.high, bar.low, bar.close) for bar in bars], parameters)


def assert_published(bars: list[tuple[float, float, float]], parameters: Mapping[str, float]) -> None:
    period, multiplier = int(parameters["period"]), parameters["multiplier"]
    high, low, close = np.array(bars).T.copy()
    ours = supertrend(Chart(high[:, None], low[:, None], close[:, None]), period=period, multiplier=multiplier)
    lines, directions = talib.SUPERTREND(high, low, close, timeperiod=period, multiplier=multiplier)
    np.testing.assert_allclose(ours.line[:, 0], lines, rtol=1e-9)
    np.testing.assert_array_equal(ours.direction[:, 0], directions)
    np.testing.assert_allclose(ours.atr[:, 0], talib.ATR(high, low, close, timeperiod=period), rtol=1e-9)
    slow = slow_supertrend(bars, period, multiplier)
    assert ours.direction[:, 0].tolist() == [0] * period + [direction for _, direction in slow]
    assert ours.line[period:, 0].tolist() == pytest.approx([line for line, _ in slow], rel=1e-9)


@pytest.mark.recorded
@needs_recordings
@every_set
def test_recorded_coins_have_the_line_and_direction_of_ta_lib_and_of_a_slow_computation(
    parameters: Mapping[str, float],
) -> None:
    tape, _ = recorded()
    for column in range(0, len(tape.coins), 9):
        there = ~np.isnan(tape.close[:, column])
        bars = np.column_stack([table[there, column] for table in (tape.high, tape.low, tape.close)])
        assert_published([(high, low, close) for high, low, close in bars.tolist()], parameters)


def test_a_turn_is_followed_from_its_day_until_the_next_one() -> None:
    # Flat, then down by five dollars on day 70 and up again by ten on day 80: the average range is two dollars.
    told, tape = followed([100.0] * 70 + [95.0] * 10 + [105.0] * 5)
    assert told.side[:, 0].tolist() == [0] * 70 + [-1] * 10 + [1] * 5
    assert np.flatnonzero(told.reason[:, 0] != NO_REASON).tolist() == [80]
    assert REASONS[told.reason[80, 0]] == "trend-turned"
    # Day 70: its range is 100 - 94 = 6, the average (2 * 6 + 6) / 7 = 18 / 7, the upper band 95 + 2 * 18 / 7.
    assert told.stop[70, 0] == pytest.approx(95 + 36 / 7)
    assert told.score[70, 0] == pytest.approx(-2)
    assert told.weight[70, 0] == 1
    assert told.stop[80, 0] < tape.close[80, 0]
    assert told.score[80, 0] > 0


def test_a_series_that_has_never_turned_is_not_traded_though_it_counts_as_up() -> None:
    _, tape = followed([100.0 + day for day in range(90)])
    assert (supertrend(Chart(tape.high, tape.low, tape.close), period=7, multiplier=2.0).direction[7:] == 1).all()
    always = np.ones(tape.close.shape, np.bool_)
    assert not plan(tape, always, FAST).side.any()


def test_a_turn_before_the_coin_is_seasoned_is_not_joined_later() -> None:
    told, _ = followed([100.0] * 40 + [90.0] * 50)
    assert not told.side.any()


def test_a_trend_that_goes_on_is_left_after_sixty_days_and_not_joined_again() -> None:
    told, _ = followed([200.0] * 70 + [190.0 - day for day in range(100)])
    assert told.side[:, 0].tolist() == [0] * 70 + [-1] * 60 + [0] * 40
    assert REASONS[told.reason[130, 0]] == "time"
    assert STRATEGY.horizon_days == 60


def test_a_turn_across_days_without_bars_is_a_turn() -> None:
    bars = [DayBar(day, 100, 101, 99, 100, 5) for day in range(70)]
    bars += [DayBar(day, 90, 91, 89, 90, 5) for day in range(73, 76)]
    tape = build_tape({"BTC": bars}, {})
    told = plan(tape, tradable(tape, 1), FAST)
    assert told.side[:, 0].tolist() == [0] * 73 + [-1] * 3


def test_the_capital_is_shared_among_all_coins_that_can_be_traded() -> None:
    bars = [DayBar(day, by, by + 1, by - 1, by, 5) for day, by in enumerate([100.0] * 70 + [90.0] * 9)]
    calm = [DayBar(day, 5, 6, 4, 5, 5) for day in range(79)]
    tape = build_tape({"A": bars, "B": calm, "C": calm, "YOUNG": calm[30:]}, {})
    told = plan(tape, tradable(tape, 9), FAST)
    assert told.weight[70:].tolist() == [[pytest.approx(1 / 3), 0, 0, 0]] * 9
