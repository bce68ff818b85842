"""The calendar that everything of a walk-forward is laid on."""

import math
import random
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.tape import DayBar, build_tape, build_tape_from_packed
from service.clock import DAY_MS

DAY = 20_000
BAR = DayBar(DAY, 10.0, 12.0, 9.0, 11.0, 100.0)


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["BTC", "AAVE", "kPEPE"]), st.sets(st.integers(0, 20))),
    st.dictionaries(st.sampled_from(["BTC", "AAVE", "GONE"]), st.dictionaries(st.integers(-3, 23), st.floats(-1, 1))),
    st.randoms(use_true_random=False),
)
def test_every_bar_and_payment_stands_on_its_day_and_nothing_else_does(
    days: dict[str, set[int]], paid: dict[str, dict[int, float]], dice: random.Random
) -> None:
    bars = {
        coin: [DayBar(DAY + day, *(dice.uniform(1, 9) for _ in range(5))) for day in on] for coin, on in days.items()
    }
    for made in bars.values():
        dice.shuffle(made)
    tape = build_tape(bars, {coin: {DAY + day: by for day, by in of.items()} for coin, of in paid.items()})
    all_days = {bar.day for made in bars.values() for bar in made}
    assert tape.coins == tuple(sorted(coin for coin, made in bars.items() if made))
    assert tape.close.shape == ((max(all_days) - min(all_days) + 1) if all_days else 0, len(tape.coins))
    assert not all_days or tape.first_day == min(all_days)
    for column, coin in enumerate(tape.coins):
        by_day = {bar.day: bar for bar in bars[coin]}
        for row in range(len(tape.close)):
            day = tape.first_day + row
            laid = [table[row, column] for table in (tape.open, tape.high, tape.low, tape.close, tape.volume)]
            expected = by_day.get(day)
            if expected is None:
                assert all(math.isnan(value) for value in laid)
            else:
                assert laid == list(expected[1:])
            payment = paid.get(coin, {}).get(day - DAY, math.nan)
            np.testing.assert_equal(tape.funding[row, column], payment)


def test_the_first_days_of_a_tape_keep_its_coins_and_forget_the_rest() -> None:
    tape = build_tape(
        {"BTC": [BAR, BAR._replace(day=DAY + 2)], "NEW": [BAR._replace(day=DAY + 1)]}, {"BTC": {DAY + 1: 0.1}}
    )
    young = tape.until(1)
    assert (young.coins, young.first_day) == (("BTC", "NEW"), DAY)
    for table, whole in zip(young[2:], tape[2:], strict=True):
        np.testing.assert_array_equal(table, whole[:1])
    assert np.isnan(young.close[:, 1]).all()
    assert tape.until(9).close.shape == tape.close.shape


@pytest.mark.parametrize(
    "broken",
    [
        BAR._replace(open=0.0),
        BAR._replace(low=-1.0),
        BAR._replace(close=math.nan),
        BAR._replace(high=math.inf),
        BAR._replace(volume=-1.0),
        BAR._replace(volume=math.nan),
    ],
)
def test_a_bar_with_an_impossible_number_is_refused(broken: DayBar) -> None:
    with pytest.raises(ValueError, match="a price that is not positive, or a number that is not finite"):
        build_tape({"BTC": [BAR._replace(day=DAY - 1), broken]}, {})


def test_a_bar_without_volume_is_a_bar() -> None:
    assert build_tape({"BTC": [BAR._replace(volume=0.0)]}, {}).volume.tolist() == [[0.0]]


def test_two_bars_of_one_day_are_refused() -> None:
    with pytest.raises(ValueError, match="two bars of one day"):
        build_tape({"BTC": [BAR, BAR._replace(close=11.5)]}, {})
    assert build_tape({"BTC": [BAR], "ETH": [BAR]}, {}).close.tolist() == [[11.0, 11.0]]


def test_a_payment_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="payment"):
        build_tape({"BTC": [BAR]}, {"BTC": {DAY: math.inf}})


def test_packed_bars_up_to_a_day_are_laid_as_their_rows_are() -> None:
    bars = {"ETH": [BAR, BAR._replace(day=DAY + 2)], "BTC": [BAR._replace(day=DAY + 1, close=9.5)]}
    later = BAR._replace(day=DAY + 3, volume=7.0)
    packed = {
        coin: array("d", [float(n) for row in [*rows, later] for n in (row.day * DAY_MS, *row[1:])])
        for coin, rows in bars.items()
    }
    paid = {"ETH": {DAY: 0.001}}
    expected, found = build_tape(bars, paid), build_tape_from_packed(packed, DAY + 2, paid)
    assert found[:2] == expected[:2]
    for one, other in zip(expected[2:], found[2:], strict=True):
        np.testing.assert_array_equal(one, other)
    assert packed["BTC"][6] == later.day * DAY_MS, "what was packed stays as it is"
