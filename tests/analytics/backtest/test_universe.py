"""Who may be traded: what could be known on the day, coins that were delisted later included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.backtest.universe import tradable
from tests.analytics.backtest import independent
from tests.analytics.backtest.tapes import forged, recorded, tapes
from tests.market.recordings import needs_recordings


def steady(coin_volumes: dict[str, float], days: int = 90) -> MarketTape:
    return build_tape(
        {coin: [DayBar(day, 1, 1, 1, 1, by) for day in range(days)] for coin, by in coin_volumes.items()}, {}
    )


@settings(max_examples=25, deadline=None)
@given(tapes(), st.integers(0, 8))
def test_the_universe_is_that_of_a_slow_reading_of_the_rule(tape: MarketTape, size: int) -> None:
    np.testing.assert_array_equal(tradable(tape, size), np.array(independent.universe(tape, size)))


@settings(max_examples=25, deadline=None)
@given(tapes(), st.data())
def test_a_day_s_universe_never_depends_on_a_later_one(tape: MarketTape, data: st.DataObject) -> None:
    rows = data.draw(st.integers(0, len(tape.close)))
    known = tradable(tape, 4)[:rows]
    np.testing.assert_array_equal(tradable(tape.until(rows), 4), known)
    np.testing.assert_array_equal(tradable(forged(tape, rows), 4)[:rows], known)


def test_a_coin_is_in_from_its_sixtieth_bar_until_its_last() -> None:
    bars = [DayBar(day, 1, 1, 1, 1, 5) for day in range(80)]
    tape = build_tape({"OLD": bars, "GONE": bars[:70], "NEW": bars[15:], "LATE": bars[30:]}, {})
    within = {coin: np.flatnonzero(tradable(tape, 9)[:, at]).tolist() for at, coin in enumerate(tape.coins)}
    assert within == {
        "OLD": list(range(59, 80)),
        "GONE": list(range(59, 70)),
        "NEW": list(range(74, 80)),
        "LATE": [],
    }


def test_a_day_without_a_bar_is_a_day_out_and_no_bar_is_counted_for_it() -> None:
    tape = build_tape({"BTC": [DayBar(day, 1, 1, 1, 1, 5) for day in range(70) if day not in {20, 65}], "ETH": []}, {})
    assert np.flatnonzero(tradable(tape, 1)[:, 0]).tolist() == [60, 61, 62, 63, 64, 66, 67, 68, 69]


def test_the_largest_are_told_by_what_was_traded_in_dollars_and_the_first_of_equals_wins() -> None:
    tape = steady({"A": 5, "B": 9, "C": 5, "D": 1})
    assert tradable(tape, 2)[-1].tolist() == [True, True, False, False]
    dear = build_tape({"CHEAP": [DayBar(day, 1, 1, 1, 1, 9) for day in range(60)],
                "DEAR": [DayBar(day, 8, 8, 8, 8, 2) for day in range(60)]}, {})  # fmt: skip
    assert tradable(dear, 1)[-1].tolist() == [False, True]


def test_of_many_equals_the_first_ones_are_taken() -> None:
    tape = steady({f"C{coin:02}": 5.0 + (coin * 37) % 7 for coin in range(60)})
    first = sorted(range(60), key=lambda coin: (-((coin * 37) % 7), coin))[:20]
    assert np.flatnonzero(tradable(tape, 20)[-1]).tolist() == sorted(first)


def test_one_wild_day_makes_no_coin_large_and_half_a_month_does() -> None:
    def traded(wild: range) -> MarketTape:
        volumes = [DayBar(day, 1, 1, 1, 1, 99 if day in wild else 2) for day in range(90)]
        return build_tape({"CALM": [DayBar(day, 1, 1, 1, 1, 3) for day in range(90)], "WILD": volumes}, {})

    assert tradable(traded(range(89, 90)), 1)[-1].tolist() == [True, False]
    assert tradable(traded(range(76, 90)), 1)[-1].tolist() == [True, False]
    assert tradable(traded(range(75, 90)), 1)[-1].tolist() == [False, True]


def test_a_tape_without_days_has_no_universe() -> None:
    assert tradable(build_tape({}, {}), 5).shape == (0, 0)
    assert tradable(steady({"A": 1}).until(0), 5).shape == (0, 1)


@pytest.mark.recorded
@needs_recordings
def test_the_recorded_universe_is_that_of_a_slow_reading_of_the_rule() -> None:
    tape, flags = recorded()
    np.testing.assert_array_equal(flags, np.array(independent.universe(tape, 40)))
    assert flags.sum(axis=1).max() == 40
