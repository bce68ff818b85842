"""How long a position that was triggered is held."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.plan import NO_REASON, REASONS, hold_triggered
from tests.analytics.backtest import independent

ROWS = 25

Told = list[tuple[int, str | None]]


def followed(
    triggers: Sequence[int],
    longs_go: Sequence[int] | None = None,
    shorts_go: Sequence[int] | None = None,
    there: Sequence[int] | None = None,
    horizon: int = 5,
) -> Told:
    """One coin's days as `(side, reason)`."""
    rows = len(triggers)
    never = np.zeros((rows, 1), np.bool_)
    side, reason = hold_triggered(
        np.array(triggers, np.int8).reshape(-1, 1),
        (
            never if longs_go is None else np.array(longs_go, np.bool_)[:, None],
            never if shorts_go is None else np.array(shorts_go, np.bool_)[:, None],
        ),
        ~never if there is None else np.array(there, np.bool_)[:, None],
        horizon,
        "funding-normal",
    )
    return [
        (int(now), None if why == NO_REASON else REASONS[why])
        for now, why in zip(side[:, 0], reason[:, 0], strict=True)
    ]


days = st.integers(0, ROWS)


@pytest.mark.slow
@settings(deadline=None)
@given(st.data(), days, st.integers(1, 6))
def test_any_triggers_are_held_as_a_slow_reading_of_the_rule_holds_them(
    data: st.DataObject, rows: int, horizon: int
) -> None:
    def flags(odds: int) -> list[bool]:
        return data.draw(st.lists(st.integers(0, odds).map(lambda n: n == 0), min_size=rows, max_size=rows))

    triggers = data.draw(st.lists(st.sampled_from([0, 0, 1, -1]), min_size=rows, max_size=rows))
    longs_go, shorts_go, out = flags(4), flags(4), flags(9)
    there = [not flag for flag in out]
    expected = independent.episodes(triggers, {1: longs_go, -1: shorts_go}, there, horizon, "funding-normal")
    assert followed(triggers, longs_go, shorts_go, there, horizon) == expected


def test_a_position_lasts_from_its_trigger_until_its_side_is_let_go() -> None:
    assert followed([0, 1, 0, 0], longs_go=[1, 0, 0, 1], shorts_go=[1, 1, 1, 0]) == [
        (0, None),
        (1, None),
        (1, None),
        (0, "funding-normal"),
    ]


def test_a_trigger_that_goes_on_does_not_make_a_position_younger_and_one_that_ran_out_waits_to_be_let_go() -> None:
    told = followed([-1] * 8, shorts_go=[0, 0, 0, 0, 0, 1, 0, 0], horizon=3)
    assert [side for side, _ in told] == [-1, -1, -1, 0, 0, 0, -1, -1]
    assert told[3] == (0, "time")
    assert [why for _, why in told if why] == ["time"]


def test_the_other_trigger_turns_a_position_in_one_day() -> None:
    assert followed([1, -1, 0]) == [(1, None), (-1, "funding-normal"), (-1, None)]


def test_a_coin_that_leaves_the_universe_is_left_and_not_taken_up_again_without_a_trigger() -> None:
    told = followed([1, 0, 0, 0, 1], there=[1, 1, 0, 1, 1])
    assert told == [(1, None), (1, None), (0, "universe-left"), (0, None), (1, None)]


def test_a_trigger_outside_the_universe_is_nothing() -> None:
    assert followed([1, 0], there=[0, 1]) == [(0, None), (0, None)]


def test_a_rule_that_lets_go_on_the_last_day_is_told_before_the_time() -> None:
    assert followed([1, 0, 0], longs_go=[0, 0, 1], horizon=2)[2] == (0, "funding-normal")
    assert followed([1, 0, 0], horizon=2)[2] == (0, "time")
