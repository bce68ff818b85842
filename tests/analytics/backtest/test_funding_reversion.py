"""Funding reversion, worked by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from service.analytics.backtest.funding_reversion import STRATEGY, plan
from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.tape import DayBar, build_tape
from service.analytics.backtest.universe import tradable
from tests.analytics.backtest.independent import ranked

RARE = {"rarity": 90.0, "excess_apr": 10.95}
RESTING, DEAR, CHEAP = 10.95, 60.0, -40.0


def daily(apr: float) -> float:
    return apr / 36_500


def held(*aprs: Sequence[float], before: Sequence[float] = (RESTING, 9.0) * 35) -> TradingPlan:
    """The plan for coins that pay this on the days after the seventieth, in percent a year, and rested before."""
    paid, bars = {}, {}
    for coin, own in enumerate(aprs):
        year = [*before, *own]
        bars[f"C{coin}"] = [DayBar(day, 1, 1, 1, 1, 5) for day in range(len(year))]
        paid[f"C{coin}"] = {day: daily(apr) for day, apr in enumerate(year)}
    tape = build_tape(bars, paid)
    return plan(tape, tradable(tape, 9), RARE)


def sides(told: TradingPlan) -> list[int]:
    assert not told.side[:70, 0].any()
    return [int(side) for side in told.side[70:, 0]]


def reasons(told: TradingPlan) -> dict[int, str]:
    return {int(row) - 70: REASONS[told.reason[row, 0]] for row in np.flatnonzero(told.reason[:, 0] != NO_REASON)}


def test_who_is_paid_rarely_much_is_joined_until_it_is_normal_again() -> None:
    told = held([DEAR, 50, 30, 9, 9])
    assert sides(told) == [-1, -1, -1, 0, 0]
    assert reasons(told) == {3: "funding-normal"}
    assert told.score[70, 0] == pytest.approx(DEAR)
    assert np.isnan(told.stop).all()


def test_where_shorts_pay_the_long_side_is_joined() -> None:
    told = held([CHEAP, -30, 5, 10.95, 9])
    assert sides(told) == [1, 1, 1, 0, 0]
    assert reasons(told) == {3: "funding-normal"}
    assert told.score[70, 0] == pytest.approx(CHEAP)


def test_a_rate_that_is_rare_and_not_dear_is_nothing_nor_is_one_that_is_dear_and_not_rare() -> None:
    assert sides(held([21.8, 9])) == [0, 0]
    assert sides(held([22.0, 9])) == [-1, 0]
    assert sides(held([0.1, 9])) == [0, 0]
    assert sides(held([-0.1, 10.95])) == [1, 0]
    assert sides(held([60.0, 9], before=(70.0, 50.0) * 35)) == [0, 0]


def test_the_crowd_from_one_side_to_the_other_turns_the_position() -> None:
    told = held([DEAR, CHEAP, CHEAP])
    assert sides(told) == [-1, 1, 1]
    assert reasons(told) == {1: "funding-normal"}


def test_a_crowd_that_stays_is_left_after_two_weeks_and_joined_again_only_when_it_was_normal_once() -> None:
    told = held([*(DEAR + day for day in range(20)), 0, DEAR * 3])
    assert sides(told) == [-1] * 14 + [0] * 7 + [-1]
    assert reasons(told) == {14: "time"}
    assert STRATEGY.horizon_days == 14


def test_a_day_that_was_not_recorded_changes_nothing_and_the_time_runs_on() -> None:
    told = held([DEAR, math.nan, math.nan, 9])
    assert sides(told) == [-1, -1, -1, 0]
    assert np.isnan(told.score[71, 0])
    assert sides(held([DEAR, *[math.nan] * 14])) == [-1] * 14 + [0]


def test_under_twenty_known_days_of_the_last_thirty_nothing_is_rare() -> None:
    gaps = [math.nan] * 41
    assert sides(held([DEAR, 9], before=[*gaps, *[RESTING] * 29])) == [-1, 0]
    assert sides(held([DEAR, 9], before=[*[RESTING] * 40, *gaps[:11], *[RESTING] * 19])) == [-1, 0]
    assert sides(held([DEAR, 9], before=[*[RESTING] * 41, *gaps[:11], *[RESTING] * 18])) == [0, 0]


def test_what_was_paid_more_than_thirty_days_ago_is_forgotten() -> None:
    dear_month_ago = [*[RESTING] * 37, *[90.0] * 4, *[RESTING] * 29]
    assert sides(held([DEAR], before=dear_month_ago)) == [-1]
    assert sides(held([DEAR], before=[*dear_month_ago[1:], RESTING])) == [-1]
    assert sides(held([DEAR], before=[RESTING, *dear_month_ago[:-1]])) == [-1]
    assert sides(held([DEAR], before=[*[RESTING] * 3, *dear_month_ago[:-3]])) == [0]


def test_the_capital_is_shared_among_coins_whose_funding_is_recorded() -> None:
    told = held([DEAR, 9], [9, 9], [9, 9], before=(RESTING, 9.0) * 35)
    assert told.weight[70].tolist() == [pytest.approx(1 / 3), 0, 0]
    unknown = held([DEAR, 9], [9, 9], [math.nan, 9], before=(RESTING, 9.0) * 35)
    assert unknown.weight[70].tolist() == [pytest.approx(1 / 2), 0, 0]


def test_on_a_day_without_any_record_those_who_are_held_share_the_capital() -> None:
    told = held([DEAR, math.nan], [DEAR, math.nan], [9, math.nan])
    assert told.weight[71].tolist() == [0.5, 0.5, 0]


def test_a_coin_whose_funding_was_never_recorded_is_never_traded() -> None:
    tape = build_tape({"BTC": [DayBar(day, 1, 1, 1, 1, 5) for day in range(90)]}, {})
    assert not plan(tape, tradable(tape, 1), RARE).side.any()


def test_a_rate_pinned_at_the_resting_one_lies_in_the_middle() -> None:
    assert ranked([daily(RESTING)] * 40, 39) == 50
    assert sides(held([DEAR, RESTING], before=[RESTING] * 70)) == [-1, 0]
