"""The panel: the same whole, in part, and day by day."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.bars import Row
from service.analytics.panel import BTC, Panel
from service.analytics.states import UNKNOWN
from service.analytics.trend import assessments
from service.clock import DAY_MS
from tests.analytics.histories import History, coarse, on, until
from tests.market.recordings import history, needs_recordings


def advanced(history: History, stop: int) -> Panel:
    """A panel made of the days before one, and led on day by day."""
    panel = Panel(until(history, stop))
    for day in sorted({row[0] // DAY_MS for rows in history.values() for row in rows}):
        if day >= stop:
            panel.advance(day, on(history, day))
    return panel


def tables(panel: Panel) -> list[np.ndarray]:
    return [panel.close, panel.atr, panel.line, panel.states, *panel.runs]


def of_coin(panel: Panel, coin: str) -> list[bytes]:
    """Everything a panel holds of a coin, bit for bit."""
    column = panel.column(coin)
    weekly = panel.weekly.runs()
    return [table[:, column].tobytes() for table in (*tables(panel), panel.weekly.states, *weekly)]


@settings(max_examples=60, deadline=None)
@given(coarse(), st.integers(0, 61))
def test_a_panel_led_on_day_by_day_holds_the_same_bits_as_one_made_whole(history: History, stop: int) -> None:
    whole, led = Panel(history), advanced(history, stop)
    if led.coins:
        assert (led.first_day, led.last_day) == (whole.first_day, whole.last_day)
    for coin in led.coins:
        assert of_coin(led, coin) == of_coin(whole, coin)
        assert led.through[led.column(coin)] == whole.through[whole.column(coin)]
    ours, theirs = assessments(led), assessments(whole)
    assert ours == {coin: theirs[coin] for coin in led.coins}


@settings(max_examples=40, deadline=None)
@given(coarse(), st.integers(0, 61))
def test_days_that_come_later_change_nothing_of_those_before(history: History, stop: int) -> None:
    cut, whole = Panel(until(history, stop)), Panel(history)
    shown = len(cut.states)
    for coin in cut.coins:
        ours, theirs = cut.column(coin), whole.column(coin)
        for before, after in zip(tables(cut), tables(whole), strict=True):
            np.testing.assert_array_equal(before[:, ours], after[:shown, theirs])
        weeks = cut.weekly.states[:, ours]
        known = weeks != UNKNOWN
        np.testing.assert_array_equal(whole.weekly.states[: len(weeks), theirs][known], weeks[known])


@settings(max_examples=20, deadline=None)
@given(coarse(), st.sampled_from(["SOL", "DOGE"]))
def test_a_coin_is_the_same_in_whatever_company(history: History, coin: str) -> None:
    alone, together = Panel({name: history[name] for name in (coin, "ETH", BTC)}), Panel(history)
    ours, theirs = assessments(alone)[coin], assessments(together)[coin]
    assert ours == theirs


def rising(days: Sequence[int]) -> list[Row]:
    return [(day * DAY_MS, 10.0 + day, 12.0 + day, 9.0 + day, 11.0 + day) for day in days]


def test_a_day_that_is_not_new_or_has_no_bars_is_refused() -> None:
    panel = Panel({BTC: rising(range(5))})
    for day, rows in ((4, {BTC: rising([4])[0]}), (3, {BTC: rising([3])[0]}), (5, {}), (6, {BTC: rising([5])[0]})):
        with pytest.raises(ValueError, match="these are not the bars of a day after the last one"):
            panel.advance(day, rows)
    assert panel.last_day == 4


def test_days_left_out_are_days_without_bars() -> None:
    panel = Panel({BTC: rising(range(5))})
    panel.advance(8, {BTC: rising([8])[0]})
    assert panel.last_day == 8
    assert np.isnan(panel.close[5:8, 0]).all()


def test_a_coin_that_is_listed_has_no_past() -> None:
    panel = Panel({BTC: rising(range(30)), "ETH": rising(range(30))})
    panel.advance(30, {"NEW": rising([30])[0], BTC: rising([30])[0]})
    assert panel.coins == [BTC, "ETH", "NEW"]
    assert np.isnan(panel.close[:30, 2]).all()
    assert (panel.states[:, 2] == UNKNOWN).all()
    assert assessments(panel)["NEW"].through_ms is None  # ether has no bar on its day
    assert panel.column("OTHER") == -1


@pytest.mark.real_data
@needs_recordings
def test_the_last_weeks_of_the_recordings_can_be_led_on_day_by_day() -> None:
    whole = Panel(history())
    led = advanced(history(), whole.last_day - 20)
    assert led.coins == whole.coins
    for coin in whole.coins:
        assert of_coin(led, coin) == of_coin(whole, coin), coin
    assert assessments(led) == assessments(whole)
