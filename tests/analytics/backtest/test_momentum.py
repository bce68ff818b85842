"""Cross-sectional momentum, worked by hand."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from service.analytics.backtest.momentum import STRATEGY, plan
from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.backtest.universe import tradable
from tests.analytics.backtest.independent import weekday

MONDAY = 20_000 - (20_000 + 3) % 7
ONE_A_SIDE = {"lookback": 14, "top": 1}
SUNDAYS = [day for day in range(120) if day % 7 == 6]


def market(prices: Mapping[str, Callable[[int], float]], days: int = 120, first: int = MONDAY) -> MarketTape:
    return build_tape(
        {coin: [DayBar(first + day, *(of(day),) * 4, 5) for day in range(days)] for coin, of in prices.items()}, {}
    )


def held(tape: MarketTape, parameters: Mapping[str, float] = ONE_A_SIDE, size: int = 9) -> TradingPlan:
    return plan(tape, tradable(tape, size), parameters)


def growing(rate: float) -> Callable[[int], float]:
    return lambda day: 100 * (1 + rate) ** day


def reasons(told: TradingPlan, column: int) -> dict[int, str]:
    return {int(row): REASONS[told.reason[row, column]] for row in np.flatnonzero(told.reason[:, column] != NO_REASON)}


def test_the_strongest_is_held_against_the_weakest_from_the_first_sunday_on_which_they_can_be_traded() -> None:
    tape = market({"UP": growing(0.02), "FLAT": growing(0.0), "DOWN": growing(-0.02)}, 70)
    told = held(tape)
    assert weekday(MONDAY) == 1
    assert tape.coins == ("DOWN", "FLAT", "UP")
    assert not told.side[:62].any()
    assert told.side[62:].tolist() == [[-1, 0, 1]] * 8  # day 62 is a Sunday, day 59 the first that is seasoned
    assert told.weight[62].tolist() == [0.5, 0, 0.5]
    assert told.score[62, 2] == pytest.approx((1.02**14 - 1) * 100)
    assert np.isnan(told.stop).all()


def test_what_the_last_day_brought_does_not_count() -> None:
    def leaping(day: int) -> float:
        return 100.0 if day < 62 else 900.0

    tape = market({"A": growing(0.001), "B": growing(-0.001), "LEAPS": leaping}, 76)
    told = held(tape)
    assert told.side[62].tolist() == [1, -1, 0]
    assert told.side[69].tolist() == [0, -1, 1]
    assert reasons(told, 0) == {69: "rank-lost"}


def test_a_winner_is_left_on_its_fourth_sunday_and_may_come_back_on_the_fifth() -> None:
    told = held(market({"UP": growing(0.02), "FLAT": growing(0.0), "DOWN": growing(-0.02)}))
    for column, side in ((0, -1), (2, 1)):
        assert told.side[:, column].tolist() == [0] * 62 + [side] * 28 + [0] * 7 + [side] * 23
        assert reasons(told, column) == {90: "time"}
    assert STRATEGY.horizon_days == 28


def test_a_coin_that_leaves_the_universe_is_left_that_day_and_not_bought_again_before_sunday() -> None:
    tape = market({"UP": growing(0.02), "FLAT": growing(0.0), "DOWN": growing(-0.02)}, 100)
    flags = tradable(tape, 9)
    flags[65, 2] = False
    told = plan(tape, flags, ONE_A_SIDE)
    assert told.side[60:70, 2].tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0, 1]
    assert reasons(told, 2) == {65: "universe-left", 97: "time"}  # four weeks after it came back, on day 69
    assert reasons(told, 0) == {90: "time"}


def test_nobody_is_held_where_too_few_can_be_ranked() -> None:
    prices = {"A": growing(0.02), "B": growing(0.01), "C": growing(0.0), "D": growing(-0.01)}
    tape = market(prices, 80)
    assert held(tape, {"lookback": 14, "top": 2}).side[62].tolist() == [1, 1, -1, -1]
    three = tradable(tape, 9)
    three[69, 1] = False
    told = plan(tape, three, {"lookback": 14, "top": 2})
    assert not told.side[69:76].any()
    assert told.side[76].tolist() == [1, 1, -1, -1]
    assert reasons(told, 0) == {69: "rank-lost"}
    assert reasons(told, 1) == {69: "universe-left"}


def test_of_equals_the_first_counts_as_the_stronger() -> None:
    same = growing(0.01)
    assert held(market({"A": same, "B": same, "C": same}, 70)).side[62].tolist() == [1, 0, -1]
    rates = [(coin * coin) % 5 for coin in range(60)]
    prices = {f"C{coin:02}": growing(rate / 100) for coin, rate in enumerate(rates)}
    many = held(market(prices, 70), {"lookback": 14, "top": 8}, size=60).side[62]
    order = sorted(range(60), key=lambda coin: (-rates[coin], coin))
    assert np.flatnonzero(many == 1).tolist() == sorted(order[:8])
    assert np.flatnonzero(many == -1).tolist() == sorted(order[-8:])


def test_a_coin_without_a_bar_at_either_end_of_the_lookback_is_not_ranked() -> None:
    tape = market({"UP": growing(0.02), "FLAT": growing(0.0), "DOWN": growing(-0.02), "MISSED": growing(0.09)}, 80)
    for row in (61, 47):
        gappy = MarketTape(tape.coins, tape.first_day, *(table.copy() for table in tape[2:]))
        gappy.close[row, 2] = np.nan
        told = plan(gappy, tradable(tape, 9), ONE_A_SIDE)
        assert told.side[62].tolist() == [-1, 0, 0, 1]
        assert held(tape).side[62].tolist() == [-1, 0, 1, 0]


@pytest.mark.parametrize("first", range(7))
def test_only_sundays_decide_whatever_day_the_tape_begins_on(first: int) -> None:
    prices = {"UP": growing(0.02), "FLAT": growing(0.0), "DOWN": growing(-0.02)}
    told = held(market(prices, 90, MONDAY + first))
    begun = np.flatnonzero(told.side[:, 2] != 0)[0] + first
    assert begun in SUNDAYS
    assert begun - first < 59 + 7
