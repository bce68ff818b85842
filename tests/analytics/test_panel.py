"""The panel: the same whole and in part."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.bars import Row
from service.analytics.panel import BTC, Panel
from service.analytics.states import UNKNOWN
from service.analytics.trend import assessments
from service.clock import DAY_MS
from tests.analytics.histories import History, coarse, until


def tables(panel: Panel) -> list[np.ndarray]:
    return [panel.close, panel.atr, panel.line, panel.states, *panel.runs]


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


def test_days_left_out_are_days_without_bars() -> None:
    panel = Panel({BTC: rising([*range(5), 8])})
    assert panel.last_day == 8
    assert np.isnan(panel.close[5:8, 0]).all()


def test_a_coin_that_is_listed_has_no_past() -> None:
    panel = Panel({BTC: rising(range(31)), "ETH": rising(range(30)), "NEW": rising([30])})
    assert panel.coins == [BTC, "ETH", "NEW"]
    assert np.isnan(panel.close[:30, 2]).all()
    assert (panel.states[:, 2] == UNKNOWN).all()
    assert assessments(panel)["NEW"].through_ms is None  # ether has no bar on its day
    assert panel.column("OTHER") == -1
