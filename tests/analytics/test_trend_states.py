"""What charts say together, and the runs of it, by hand."""

import numpy as np
import pytest

from service.analytics.states import UNKNOWN
from service.analytics.trend_states import combined_states, runs

LETTERS = {"U": 1, "H": 0, "D": -1, ".": UNKNOWN}


@pytest.mark.parametrize(
    ("directions", "charts", "expected"),
    [
        ((1, 1, 1), (True, True, True), 1),
        ((-1, -1, -1), (True, True, True), -1),
        ((1, 1, -1), (True, True, True), 0),
        ((1, 0, 1), (True, True, True), UNKNOWN),
        ((1, 0, 1), (True, False, True), 1),
        ((-1, 0, -1), (True, False, True), -1),
        ((-1, 0, 1), (True, False, True), 0),
        ((0, 0, 0), (True, False, False), UNKNOWN),
        ((1, 0, 0), (True, False, False), 1),
    ],
)
def test_a_coin_is_up_above_all_its_lines_and_down_below_all(
    directions: tuple[int, ...], charts: tuple[bool, ...], expected: int
) -> None:
    state = combined_states(np.array(directions, np.int8)[:, None], np.array(charts)[:, None])
    assert state.tolist() == [expected]


@pytest.mark.parametrize(
    ("states", "start", "newest"),
    [
        ("", [], []),
        ("UUDD", [0, 0, 2, 2], [0, 1, 2, 3]),
        ("..UU", [-1, -1, 2, 2], [-1, -1, 2, 3]),
        ("U..U", [0, 0, 0, 0], [0, 0, 0, 3]),
        ("U..D", [0, 0, 0, 3], [0, 0, 0, 3]),
        ("UHU.", [0, 1, 2, 2], [0, 1, 2, 2]),
    ],
)
def test_a_bar_without_a_state_neither_ends_a_run_nor_begins_one(
    states: str, start: list[int], newest: list[int]
) -> None:
    found = runs(np.array([[LETTERS[state]] for state in states], np.int8).reshape(-1, 1))
    assert found.start[:, 0].tolist() == start
    assert found.newest[:, 0].tolist() == newest
