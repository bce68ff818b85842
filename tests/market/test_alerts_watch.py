"""One coin's funding, watched: against a machine written down independently, with a plain list and no cleverness."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS
from service.market.alerts.watch import FundingWatch, ZoneChange
from service.market.models import PaymentRow
from tests.market.zones import expected_changes

START = 20_000 * DAY_MS
DEFAULT = 0.0000125
WEEK = 7 * 24


def paid(rates: Sequence[float], start_ms: int = START) -> list[PaymentRow]:
    return [(start_ms + hour * HOUR_MS, rate, 1.0) for hour, rate in enumerate(rates)]


def changes(rates: Sequence[float], through_ms: int = 0) -> list[ZoneChange]:
    return list(FundingWatch(None, through_ms).pay(paid(rates)))


def calm(hours: int = WEEK) -> list[float]:
    """Rates that all differ a little, around the default."""
    return [DEFAULT + (hour * 37 % 101 - 50) * 1e-9 for hour in range(hours)]


rates = st.floats(-0.0003, 0.0003) | st.sampled_from([DEFAULT, 0.0, -DEFAULT, 2 * DEFAULT, 0.000_01, 0.000_002_5])
walks = st.lists(rates, min_size=WEEK - 2, max_size=WEEK + 40)


def test_a_rate_that_is_rare_and_dear_enters_a_zone_with_its_figures() -> None:
    (change,) = changes([*calm(), 0.0001])
    assert change == ZoneChange(START + WEEK * HOUR_MS, None, "very-hot", 87.6, 100.0, 1.0)


def test_a_rate_that_is_rare_but_no_dearer_than_the_default_enters_none() -> None:
    assert changes([*[1e-6 + hour * 1e-10 for hour in range(WEEK)], DEFAULT]) == []


def test_with_less_than_a_week_of_payments_nothing_is_said() -> None:
    assert changes([*calm(WEEK - 1), 0.0001]) == []


def test_a_rate_is_ranked_among_those_before_it_and_not_with_itself() -> None:
    (change,) = changes([*calm(), 0.0001])
    assert change.percentile == 100.0


def test_what_is_older_than_thirty_days_no_longer_counts() -> None:
    watch = FundingWatch(None, 0)
    ever_hot = [0.0001 + hour * 1e-9 for hour in range(30 * 24)]
    list(watch.pay(paid(ever_hot)))
    watch.zone = None
    end_ms = START + 30 * DAY_MS
    list(watch.pay(paid(calm(30 * 24), end_ms)))
    (change,) = watch.judge(end_ms + 30 * DAY_MS, 80.0, 1.0)
    assert (change.after, change.percentile) == ("very-hot", 100.0)


def test_payments_until_it_last_looked_are_ranked_within_and_not_judged() -> None:
    hot = [*calm(), 0.0001, 0.0001]
    assert changes(hot, through_ms=START + (WEEK + 1) * HOUR_MS) == []
    watch = FundingWatch("very-hot", START + (WEEK + 1) * HOUR_MS)
    list(watch.pay(paid(hot)))
    assert [change.before for change in watch.judge(START + (WEEK + 2) * HOUR_MS, 10.95, 1.0)] == ["very-hot"]


def test_payments_that_are_told_twice_count_once() -> None:
    watch = FundingWatch(None, 0)
    once = paid([*calm(), 0.0001])
    assert len(list(watch.pay(once))) == 1
    assert list(watch.pay(once)) == []
    assert watch.newest_ms == once[-1][0]
    assert len(watch._ranked) == len(once)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(walks)
def test_every_change_equals_an_independent_machine(walk: list[float]) -> None:
    found = changes(walk)
    assert [(c.at_ms, c.before, c.after, c.apr, c.percentile) for c in found] == list(expected_changes(paid(walk)))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(walks, st.integers(0, 30))
def test_nothing_later_enters_what_was_found(walk: list[float], less: int) -> None:
    shorter = walk[: len(walk) - less]
    end_ms = START + len(shorter) * HOUR_MS
    assert changes(shorter) == [change for change in changes(walk) if change.at_ms < end_ms]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(walks, st.integers(0, WEEK + 40))
def test_stopping_and_starting_again_with_the_zone_changes_nothing(walk: list[float], at: int) -> None:
    rows = paid(walk)
    first = FundingWatch(None, 0)
    before = list(first.pay(rows[:at]))
    after = list(FundingWatch(first.zone, first.through_ms).pay(rows))
    assert before + after == changes(walk)


@pytest.mark.promise("alerts.hysteresis")
@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1.0), min_size=1, max_size=200), st.sampled_from([1, -1]))
def test_a_rate_that_hovers_around_a_threshold_fires_once(steps: list[float], side: int) -> None:
    """Anywhere between the quarter it must leave and the rank of what is stricter."""
    watch = FundingWatch(None, START + 30 * DAY_MS)
    list(watch.pay(paid([side * (hour * 1e-7) for hour in range(24 * 30)])))
    at_ms = START + 30 * DAY_MS - HOUR_MS
    entry_apr = side * 720 * 1e-7 * 0.98 * 8760 * 100
    found = [*watch.judge(at_ms, entry_apr, 1.0)]
    for minute, step in enumerate(steps):
        found += watch.judge(at_ms + minute, entry_apr * (1 - step * 0.22), 1.0)
    assert [(change.before, change.after) for change in found] == [(None, "hot" if side > 0 else "cold")]


@pytest.mark.promise("alerts.hysteresis")
@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(10.96, 43.8), min_size=1, max_size=200))
def test_a_rate_that_hovers_around_twice_the_default_fires_once_however_rare_it_is(aprs: list[float]) -> None:
    watch = FundingWatch(None, START + 30 * DAY_MS)
    list(watch.pay(paid([hour * 1e-9 for hour in range(24 * 30)])))
    at_ms = START + 30 * DAY_MS - HOUR_MS
    found = [change for minute, apr in enumerate([22.0, *aprs]) for change in watch.judge(at_ms + minute, apr, 1.0)]
    assert [(change.before, change.after) for change in found] == [(None, "hot")]


def test_payments_that_are_taken_at_once_and_not_judged_count_as_if_they_came_one_by_one() -> None:
    rates = [*calm(30 * 24), *[0.0001, DEFAULT, 0.0001] * 8]
    rows = paid(rates)
    through_ms = rows[29 * 24][0]
    at_once, one_by_one = FundingWatch(None, through_ms), FundingWatch(None, through_ms)
    expected = [change for row in rows for change in one_by_one.pay([row])]
    assert expected
    assert list(at_once.pay(rows)) == expected
    assert list(at_once.pay(rows)) == []
    assert (at_once.newest_ms, at_once.through_ms, at_once.zone) == (rows[-1][0], rows[-1][0], one_by_one.zone)
