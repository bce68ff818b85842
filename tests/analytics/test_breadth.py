"""Breadth: counts, shares, crossings, velocity, extremes."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.breadth import EXTREME_PCT, Breadth, crossings, extremes, velocity
from service.analytics.market import MarketAnalytics
from tests.analytics import independent
from tests.market.recordings import history, needs_recordings

counts = st.integers(0, 500)
some = st.builds(Breadth, st.just(0), counts, counts, counts)


def days(*nets: int, hodl: int = 5) -> list[Breadth]:
    return [Breadth(day, 10 + max(net, 0), hodl, 10 - min(net, 0)) for day, net in enumerate(nets)]


def crossed(nets: Sequence[int]) -> list[tuple[int, int, str]]:
    return [(found.previous.day, found.current.day, found.direction) for found in crossings(days(*nets))]


@pytest.mark.parametrize(
    ("nets", "expected"),
    [
        ([], []),
        ([3], []),
        ([3, 2, 1], []),
        ([3, -1], [(0, 1, "DOWN over UP")]),
        ([-3, 1], [(0, 1, "UP over DOWN")]),
        ([3, 0, 2], []),
        ([3, 0, 0, -2], [(0, 3, "DOWN over UP")]),
        ([0, 0, 2, 1], []),
        ([1, -1, 0, -1, 1], [(0, 1, "DOWN over UP"), (3, 4, "UP over DOWN")]),
    ],
)
def test_a_crossing_is_a_change_of_sign_and_ties_are_stepped_over(
    nets: list[int], expected: list[tuple[int, int, str]]
) -> None:
    assert crossed(nets) == expected


@given(st.lists(st.integers(-3, 3)), st.data())
def test_the_crossings_of_the_first_days_are_the_first_crossings(nets: list[int], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(nets)))
    before = crossed(nets[:stop])
    assert crossed(nets)[: len(before)] == before


@given(st.lists(st.sampled_from([-2, -1, 1, 2])), st.data())
def test_a_tie_put_anywhere_changes_no_crossing(nets: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(nets)))
    assert [found[2] for found in crossed([*nets[:at], 0, *nets[at:]])] == [found[2] for found in crossed(nets)]


@given(some)
def test_shares_are_within_a_unit_of_the_exact_ones_and_add_up_to_a_hundred(breadth: Breadth) -> None:
    shares = breadth.shares_pct
    if not breadth.universe:
        assert set(shares.values()) == {0.0}
        return
    assert sum(Decimal(str(share)) for share in shares.values()) == 100
    for state, share in shares.items():
        assert share == pytest.approx(100 * breadth.counts[state] / breadth.universe, abs=1e-4)


def test_thirds_add_up_to_a_hundred() -> None:
    assert Breadth(0, 1, 1, 1).shares_pct == {"UP": 33.3334, "HODL": 33.3333, "DOWN": 33.3333}


def test_net_is_up_less_down_of_the_whole_universe() -> None:
    breadth = Breadth(0, 5, 3, 2)
    assert (breadth.universe, breadth.net, breadth.net_pct) == (10, 3, 30.0)
    assert Breadth(0, 0, 0, 0).net_pct == 0.0


@pytest.mark.promise("health.extreme")
@pytest.mark.parametrize(
    ("breadth", "expected"),
    [
        (Breadth(0, 6, 2, 2), [("UP", 60.0)]),
        (Breadth(0, 599, 200, 201), []),
        (Breadth(0, 0, 7, 3), [("HODL", 70.0)]),
        (Breadth(0, 0, 0, 1), [("DOWN", 100.0)]),
        (Breadth(0, 599_999, 200_000, 200_001), []),
        (Breadth(0, 0, 0, 0), []),
    ],
)
def test_an_extreme_is_at_least_sixty_per_cent_in_one_state(
    breadth: Breadth, expected: list[tuple[str, float]]
) -> None:
    assert extremes(breadth) == expected
    assert EXTREME_PCT == 60


def test_velocity_is_the_change_of_net_over_five_days() -> None:
    moved = [Breadth(day, 50 + 2 * day, 0, 50 - 2 * day) for day in range(6)]
    assert velocity(moved) == 4.0
    assert velocity(moved[:5]) is None
    assert velocity([Breadth(0, 0, 0, 0), *moved[1:]]) is None
    assert velocity([*moved[:5], Breadth(5, 0, 0, 0)]) is None


@pytest.mark.promise("crossing.definition")
@pytest.mark.recorded
@needs_recordings
def test_breadth_and_crossings_of_the_recordings_equal_those_made_of_ta_lib_states() -> None:
    market = MarketAnalytics(history())
    theirs = independent.breadths(history())
    ours = {date.fromordinal(719_163 + found.day): found.counts for found in market.breadths if found.universe}
    assert ours == theirs
    assert len(ours) > 850
    assert max(sum(count.values()) for count in ours.values()) == 116
    expected = independent.crossings(theirs)
    assert [
        (date.fromordinal(719_163 + found.previous.day), date.fromordinal(719_163 + found.current.day), found.direction)
        for found in market.crossings()
    ] == expected
    assert len(expected) > 20
