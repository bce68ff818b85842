"""Records of days: put together, judged, and laid beside doing nothing."""

from itertools import pairwise

import numpy as np
import pytest

from service.analytics.backtest.performance import (
    ReturnDays,
    buy_and_hold,
    combine_days,
    concatenate_days,
    measure_performance,
)
from service.analytics.backtest.statistics import TrialCount
from service.analytics.backtest.tape import DayBar, build_tape
from tests.analytics.backtest.test_inspection import made

TRIALS = TrialCount(162, 0.001)


def days(*net: float) -> ReturnDays:
    record = np.array(net)
    return ReturnDays(record, np.full(len(net), 0.5), np.full(len(net), 0.1))


def test_folds_make_one_record() -> None:
    _, _, book = made()
    record = concatenate_days([book, book])
    assert np.array_equal(record.net, np.tile(book.net, 2))
    assert np.array_equal(record.exposure, np.tile(book.exposure, 2))
    assert np.array_equal(record.turnover, np.tile(book.turnover, 2))


def test_records_share_a_capital_on_the_first_day_and_what_is_left_over_stays_in_cash() -> None:
    record = combine_days([days(0.03, 0.0, -0.03), days(0.03, 0.06, 0.0)], 1 / 3, 3)
    worth = [3.0, 1.03 + 1.03 + 1, 1.03 + 1.03 * 1.06 + 1, 1.03 * 0.97 + 1.03 * 1.06 + 1]
    assert record.net == pytest.approx([after / before - 1 for before, after in pairwise(worth)], abs=1e-15)
    assert record.exposure == pytest.approx([1 / worth[0], 1.03 / worth[1], (1.03 + 1.03 * 1.06) / 2 / worth[2]])
    assert record.turnover == pytest.approx(record.exposure / 5)
    assert combine_days([], 1 / 3, 2).net.tolist() == [0.0, 0.0]


def test_a_record_that_lost_everything_takes_its_share_alone_and_nothing_is_put_in_again() -> None:
    record = combine_days([days(-1.0, 0.0, 0.0), days(0.0, 0.1, 0.0)], 1 / 2, 3)
    assert record.net == pytest.approx([-0.5, 0.1, 0.0])
    assert combine_days([days(-1.0, 0.0)] * 2, 1 / 2, 2).net.tolist() == [-1.0, 0.0]


def test_a_record_comes_to_figures_that_a_hand_comes_to() -> None:
    found = measure_performance(days(0.1, -0.2, 0.1, 0.05), TRIALS)
    assert found.return_pct == pytest.approx((1.1 * 0.8 * 1.1 * 1.05 - 1) * 100)
    assert found.max_drawdown_pct == pytest.approx(20)
    assert found.exposure == pytest.approx(0.5)
    assert found.turnover == pytest.approx(36.5)
    mean, deviation = 0.0125, np.sqrt(((0.0875**2) * 2 + 0.2125**2 + 0.0375**2) / 4)
    assert found.sharpe == pytest.approx(mean / deviation * np.sqrt(365))


def test_the_more_was_tried_the_less_a_record_proves() -> None:
    record = ReturnDays(*(np.random.default_rng(2).normal(0.002, 0.02, (3, 500))))
    few, many = measure_performance(record, TrialCount(2, 0.001)), measure_performance(record, TRIALS)
    assert few.probabilistic is not None
    assert few.deflated is not None
    assert many.deflated is not None
    assert few.probabilistic == many.probabilistic
    assert few.probabilistic > few.deflated > many.deflated


def test_a_record_in_which_nothing_happens_has_no_ratio() -> None:
    found = measure_performance(days(0, 0, 0, 0, 0), TRIALS)
    assert (found.return_pct, found.max_drawdown_pct) == (0, 0)
    assert (found.sharpe, found.probabilistic, found.deflated) == (None, None, None)


def test_a_record_without_a_day_is_refused() -> None:
    with pytest.raises(ValueError, match="without a day"):
        measure_performance(days(), TRIALS)


def test_doing_nothing_is_bought_at_the_open_pays_funding_and_is_left_at_the_end() -> None:
    tape = build_tape(
        {
            "A": [DayBar(0, 9, 9, 9, 9, 1), DayBar(1, 10, 12, 10, 11, 1), DayBar(2, 11, 15, 11, 15, 1)],
            "B": [DayBar(0, 4, 4, 4, 4, 1), DayBar(1, 5, 5, 4, 4, 1)],
            "C": [DayBar(0, 4, 4, 4, 4, 1), DayBar(1, 1, 9, 1, 9, 1), DayBar(2, 9, 9, 9, 9, 1)],
            "D": [DayBar(0, 4, 4, 4, 4, 1), DayBar(2, 9, 9, 9, 9, 1)],
        },
        {"A": {1: 0.0, 2: 0.01}, "B": {1: 0.0}},
    )
    universe = np.array([[True, True, False, True], [True] * 4, [True] * 4])
    # A: 10 -> 11 -> 15, and 1 % of 11 is paid; B: 5 -> 4, delisted; C is not in the universe, D cannot be bought.
    free = np.cumprod(1 + buy_and_hold(tape, universe, 1, np.zeros((3, 4))))
    assert free == pytest.approx([(1.1 + 0.8) / 2, (1.5 - 0.011 + 0.8) / 2])
    costs = np.array([[0.001, 0.003, 0.1, 0.1], [0.2, 0.005, 0.2, 0.2], [0.007, 0.2, 0.2, 0.2]])
    paid = np.cumprod(1 + buy_and_hold(tape, universe, 1, costs))
    first = 0.95 - 0.002 - 0.005 * 0.8 / 2
    assert paid == pytest.approx([first, first + 0.2 - 0.011 / 2 - 0.007 * 1.5 / 2])


def test_what_is_held_pays_the_resting_rate_where_funding_was_not_recorded() -> None:
    tape = build_tape({"A": [DayBar(day, 9, 9, 9, 9, 1) for day in range(4)]}, {})
    assert buy_and_hold(tape, np.ones((4, 1), np.bool_), 1, np.zeros((4, 1))) == pytest.approx(
        [-0.0003, -0.0003 / 0.9997, -0.0003 / 0.9994], rel=1e-12
    )


def test_a_coin_with_a_day_missing_is_left_for_good() -> None:
    bars = [DayBar(day, 9 + day, 99, 1, 9 + day, 1) for day in range(6) if day != 3]
    tape = build_tape({"A": bars, "B": [DayBar(day, 1, 1, 1, 1, 1) for day in range(6)]}, {
        coin: dict.fromkeys(range(6), 0.0) for coin in "AB"
    })  # fmt: skip
    held = np.cumprod(1 + buy_and_hold(tape, np.ones((6, 2), np.bool_), 1, np.zeros((6, 2))))
    assert held == pytest.approx([1.05, 1.05, 1.05, 1.05, 1.05])  # 10 -> 11, the close of the day before the gap


def test_where_there_is_nothing_to_buy_there_is_nothing_to_hold() -> None:
    tape = build_tape({"A": [DayBar(day, 9, 9, 9, 9, 1) for day in range(4)]}, {})
    assert buy_and_hold(tape, np.zeros((4, 1), np.bool_), 2, np.zeros((4, 1))).tolist() == [0.0, 0.0]
