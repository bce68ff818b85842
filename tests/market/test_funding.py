"""Funding by its definitions: payments stand on the venue's schedule, and means weigh them by the hours they cover."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.funding import aprs_of_bars, mean_apr, mean_rate, on_schedule, scheduled
from service.market.models import PaymentRow
from tests.fakes.clock import START_MS
from tests.market.recordings import coins, funding, needs_recordings

MIDNIGHT = START_MS // DAY_MS * DAY_MS
LATE_MS = 20 * MINUTE_MS

rates = st.sampled_from([-0.0001, 0.0, 0.0000125, 0.00003]) | st.floats(-0.01, 0.01)
lateness = st.integers(-LATE_MS, LATE_MS)


def hourly(count: int, rate: float = 0.00001, last_ms: int = MIDNIGHT) -> list[PaymentRow]:
    return [(last_ms - back * HOUR_MS, rate, 1.0) for back in reversed(range(count))]


def exact(rows: Sequence[tuple[float, float]]) -> float:
    """Percent a year of rates an hour and their hours, in exact fractions."""
    paid = sum((Fraction(rate) * Fraction(hours) for rate, hours in rows), Fraction(0))
    return round(float(paid / sum(Fraction(hours) for _, hours in rows) * 876_000), 4)


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        ([0, 2], [(0, 0.00001), (2, 0.00001)]),
        ([0], [(0, 0.00001)]),
        ([0, 3, 6, 9], [(0, 0.00001), (3, 0.00001), (6, 0.00001), (9, 0.00001)]),
        ([5, 4, 1], [(1, 0.00001), (4, 0.00001), (5, 0.00001)]),
        ([0, 8, 16, 24], [(0, 0.00001), (8, 0.00001), (16, 0.00001), (24, 0.00001)]),
        ([], []),
    ],
)
def test_a_missed_payment_is_a_gap_and_does_not_make_the_others_longer(
    stamps: list[int], expected: list[tuple[int, float]]
) -> None:
    rows = on_schedule([(MIDNIGHT + hour * HOUR_MS + 76, 0.00001) for hour in stamps], 1.0)
    assert rows == [(MIDNIGHT + hour * HOUR_MS, rate, 1.0) for hour, rate in expected]


@pytest.mark.parametrize(
    ("late_ms", "hour"),
    [
        (15 * MINUTE_MS, 0),
        (LATE_MS, 0),
        (-LATE_MS, 0),
        (LATE_MS + 1, None),
        (HOUR_MS // 2, None),
        (HOUR_MS - LATE_MS - 1, None),
        (HOUR_MS - LATE_MS, 1),
        (-1, 0),
    ],
)
def test_a_payment_stands_at_the_hour_that_its_stamp_is_within_twenty_minutes_of(
    late_ms: int, hour: int | None
) -> None:
    assert scheduled(MIDNIGHT + late_ms, 1.0) == (None if hour is None else MIDNIGHT + hour * HOUR_MS)


@pytest.mark.parametrize(
    ("stamp_h", "late_ms", "due_h"),
    [(0, 900_000, 0), (8, -60_000, 8), (16, 0, 16), (24, 1, 24), (4, 0, None), (1, 0, None), (7, 0, None)],
)
def test_a_venue_that_pays_every_eight_hours_has_its_own_schedule(
    stamp_h: int, late_ms: int, due_h: int | None
) -> None:
    rows = on_schedule([(MIDNIGHT + stamp_h * HOUR_MS + late_ms, 0.0008)], 8.0)
    assert rows == ([] if due_h is None else [(MIDNIGHT + due_h * HOUR_MS, 0.0001, 8.0)])


def test_a_second_payment_of_an_hour_is_left_out() -> None:
    stamped = [(MIDNIGHT + 15 * MINUTE_MS, 0.3), (MIDNIGHT - 5 * MINUTE_MS, 0.1), (MIDNIGHT, 0.2)]
    assert on_schedule(stamped, 1.0) == [(MIDNIGHT, 0.1, 1.0)]


def test_a_payment_of_midnight_that_is_late_belongs_to_the_day_that_ended() -> None:
    rows = on_schedule([(MIDNIGHT + 15 * MINUTE_MS, 0.00002), (MIDNIGHT + HOUR_MS, 0.00001)], 1.0)
    day = [*hourly(23, last_ms=MIDNIGHT - HOUR_MS), rows[0]]
    assert mean_apr([*day, rows[1]], MIDNIGHT - DAY_MS, MIDNIGHT) == exact([(rate, 1.0) for _, rate, _ in day])
    assert list(aprs_of_bars(rows, DAY_MS, MIDNIGHT + HOUR_MS)) == [MIDNIGHT]


@given(st.dictionaries(st.integers(0, 400), st.tuples(rates, lateness), max_size=60))
def test_whatever_is_missed_each_payment_stands_at_its_hour_with_its_rate(paid: dict[int, tuple[float, int]]) -> None:
    rows = on_schedule([(MIDNIGHT + hour * HOUR_MS + late, rate) for hour, (rate, late) in paid.items()], 1.0)
    assert rows == [(MIDNIGHT + hour * HOUR_MS, paid[hour][0], 1.0) for hour in sorted(paid)]


@pytest.mark.parametrize(
    ("hours", "count", "known"),
    [
        (24, 24, True),
        (24, 23, True),
        (24, 22, False),
        (168, 161, True),
        (168, 160, False),
        (168, 24, False),
        (8, 7, True),
        (8, 6, False),
        (1, 1, True),
        (1, 0, False),
    ],
)
def test_a_mean_over_a_window_needs_23_of_each_24_of_its_hours(hours: int, count: int, known: bool) -> None:
    rows = hourly(count)
    assert mean_apr(rows, MIDNIGHT - hours * HOUR_MS, MIDNIGHT) == (8.76 if known else None)


@given(st.lists(st.tuples(rates, st.sampled_from([1, 8])), min_size=1, max_size=90), st.integers(0, HOUR_MS - 1))
def test_payments_weigh_as_much_as_the_hours_that_they_cover(paid: list[tuple[float, int]], within_ms: int) -> None:
    rows, at_ms = [], MIDNIGHT
    for rate, hours in paid:
        at_ms += hours * HOUR_MS
        rows.append((at_ms, rate, float(hours)))
    expected = exact([(rate, hours) for _, rate, hours in rows])
    outside = [(MIDNIGHT, 0.5, 1.0), *rows, (at_ms + HOUR_MS, 0.5, 1.0)]
    assert mean_apr(outside, MIDNIGHT, at_ms + within_ms) == pytest.approx(expected, abs=1.01e-4)


def test_the_day_that_still_runs_has_the_mean_of_its_hours_so_far_and_a_closed_one_with_gaps_has_none() -> None:
    rows = [*hourly(12, 0.00002, MIDNIGHT), *hourly(5, 0.00001, MIDNIGHT + 5 * HOUR_MS)]
    assert aprs_of_bars(rows, DAY_MS, MIDNIGHT + 5 * HOUR_MS + MINUTE_MS) == {MIDNIGHT: 8.76}
    assert aprs_of_bars(rows, DAY_MS, MIDNIGHT + 9 * HOUR_MS) == {}
    assert len(aprs_of_bars(rows, HOUR_MS, MIDNIGHT + 9 * HOUR_MS)) == len(rows)


@pytest.mark.recorded
@needs_recordings
def test_means_of_recorded_payments_equal_plain_arithmetic() -> None:
    checked = unknown = 0
    for coin in coins():
        recorded = funding(coin)
        rows = on_schedule([(row["time"], float(row["fundingRate"])) for row in recorded], 1.0)
        by_hour = {round(row["time"] / HOUR_MS): float(row["fundingRate"]) for row in recorded}
        assert [(at // HOUR_MS, rate, hours) for at, rate, hours in rows] == [
            (hour, rate, 1.0) for hour, rate in by_hour.items()
        ]
        of_bars = aprs_of_bars(rows, DAY_MS, rows[-1][0]) if rows else {}
        by_day = defaultdict(list)
        for row in rows:
            by_day[(row[0] - 1) // DAY_MS].append(row)
        for day in {(hour - 1) // 24 for hour in list(by_hour)[:-1]}:
            of_day = [by_hour[hour] for hour in range(day * 24 + 1, day * 24 + 25) if hour in by_hour]
            if (day + 1) * 24 > max(by_hour):
                continue
            mean = sum(of_day) / len(of_day) * 876_000 if len(of_day) >= 23 else None
            found = mean_rate(by_day[day], day * DAY_MS, (day + 1) * DAY_MS)
            checked += 1
            if mean is None or found is None:
                unknown += 1
                assert mean is found is of_bars.get(day * DAY_MS)
            else:
                assert abs(found * 876_000 - mean) < 1e-9, (coin, day)
                assert abs(of_bars[day * DAY_MS] - mean) < 0.5001e-4, (coin, day)
    assert checked > 20_000
    assert unknown > 30
