"""Funding zones."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.funding import DEFAULT_APR, Zone, can_enter, fires, next_zone, percentile
from service.units import apr_pct
from tests.analytics import independent

zones: st.SearchStrategy[Zone | None] = st.sampled_from([None, "hot", "very-hot", "cold", "very-cold"])
percents = st.floats(0, 100)
aprs = st.floats(-500, 500)
rates = st.lists(st.sampled_from([-0.0001, 0.0, 0.0000125, 0.00005, 0.0002]) | st.floats(-0.001, 0.001), min_size=1)


def walked(seen: list[tuple[float, float]], zone: Zone | None = None) -> list[Zone | None]:
    return [zone := next_zone(zone, percent, apr) for percent, apr in seen]


def events(zones: list[Zone | None]) -> list[Zone | None]:
    return [after for before, after in itertools.pairwise([None, *zones]) if fires(before, after)]


def test_the_default_rate_is_the_default_apr() -> None:
    assert apr_pct(0.0000125) == DEFAULT_APR


@given(rates, st.data())
def test_a_percentile_is_the_mid_rank(history: list[float], data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(history) | st.floats(-0.001, 0.001))
    assert percentile(value, sorted(history)) == pytest.approx(independent.percentile(value, history), abs=1e-4)


def test_equal_values_count_half_and_no_history_says_nothing() -> None:
    assert percentile(2.0, [1.0, 2.0, 2.0, 3.0]) == 50.0
    assert percentile(3.0, [1.0, 2.0]) == 100.0
    assert percentile(0.0, [1.0, 2.0]) == 0.0
    assert percentile(1.0, [1.0, 1.0]) == 50.0
    assert percentile(1.0, []) is None


@pytest.mark.promise("alerts.hysteresis")
@pytest.mark.parametrize(
    ("zone", "percent", "apr", "expected"),
    [
        (None, 97, 22, "hot"),
        (None, 96.9, 22, None),
        (None, 99, 21.9, None),
        (None, 99.5, 44, "very-hot"),
        (None, 99.5, 43.8, "hot"),
        (None, 99.4, 300, "hot"),
        ("hot", 75, 10.96, "hot"),
        ("hot", 74.9, 50, None),
        ("hot", 95, 10.95, None),
        ("hot", 99.5, 44, "very-hot"),
        ("hot", 99.5, 40, "hot"),
        ("very-hot", 90, 21.91, "very-hot"),
        ("very-hot", 89.9, 30, "hot"),
        ("very-hot", 99, 21.9, "hot"),
        ("very-hot", 74, 30, None),
        (None, 3, -10.96, "cold"),
        (None, 3.1, -10.96, None),
        (None, 1, -10.95, None),
        (None, 0.5, -21.91, "very-cold"),
        (None, 0.5, -21.9, "cold"),
        (None, 0.6, -100, "cold"),
        ("cold", 25, -0.01, "cold"),
        ("cold", 25.1, -1, None),
        ("cold", 5, 0, None),
        ("very-cold", 10, -10.96, "very-cold"),
        ("very-cold", 10.1, -20, "cold"),
        ("very-cold", 1, -10.95, "cold"),
        ("very-cold", 26, -20, None),
        ("very-hot", 0.4, -50, "very-cold"),
        ("cold", 98, 30, "hot"),
        ("hot", 95, 12, "hot"),
        ("cold", 95, 12, None),
    ],
)
def test_zones_by_hand(zone: Zone | None, percent: float, apr: float, expected: Zone | None) -> None:
    assert next_zone(zone, percent, apr) == expected


@given(zones, percents, aprs)
def test_what_is_entered_is_kept_on_the_same_values(zone: Zone | None, percent: float, apr: float) -> None:
    entered = next_zone(zone, percent, apr)
    assert next_zone(entered, percent, apr) == entered


@pytest.mark.promise("alerts.hysteresis")
@given(
    st.sampled_from([97.0, 99.5, 3.0, 0.5]),
    st.lists(st.floats(-2.4, 2.4), min_size=2),
    st.sampled_from([-300.0, 300.0]),
)
def test_a_percentile_that_hovers_around_a_threshold_fires_once(
    threshold: float, drift: list[float], apr: float
) -> None:
    seen = walked([(threshold + by, apr) for by in drift])
    sides = {zone.removeprefix("very-") for zone in seen if zone}
    assert len(sides) <= 1
    changes = [pair for pair in itertools.pairwise(seen) if pair[0] != pair[1]]
    assert len(changes) <= 1
    assert len(events(seen)) <= 2  # at most hot, and then very-hot


@given(
    st.sampled_from([2 * DEFAULT_APR, 4 * DEFAULT_APR, -DEFAULT_APR, -2 * DEFAULT_APR]),
    st.lists(st.floats(-10.9, 10.9), min_size=2),
)
def test_an_apr_that_hovers_around_a_threshold_changes_the_zone_once(threshold: float, drift: list[float]) -> None:
    for percent in (0.0, 100.0):
        seen = walked([(percent, threshold + by) for by in drift])
        assert sum(before != after for before, after in itertools.pairwise(seen)) <= 1


@given(st.floats(-60, 60) | st.sampled_from([-21.9, -10.95, 0.0, 21.9, 43.8]))
def test_a_rate_can_enter_a_zone_if_it_does_at_one_of_the_two_ends_of_its_history(apr: float) -> None:
    assert can_enter(apr) == any(next_zone(None, percent, apr) is not None for percent in (0.0, 100.0))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, "hot", True),
        (None, None, False),
        ("hot", None, False),
        ("hot", "hot", False),
        ("hot", "very-hot", True),
        ("very-hot", "hot", False),
        ("very-hot", "cold", True),
        ("cold", "very-cold", True),
        ("very-cold", "cold", False),
        ("cold", "hot", True),
    ],
)
def test_an_event_is_an_entry_and_not_a_fall_into_the_milder_zone(
    before: Zone | None, after: Zone | None, expected: bool
) -> None:
    assert fires(before, after) is expected
