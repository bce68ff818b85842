"""Breadth over time."""

from service.clock import DAY_MS
from service.market.daily_report.models import BreadthDay, RegimeRun
from service.pages.breadth import SHOWN_DAYS, breadth_chart
from service.pages.svg import WIDTH


def days(*counts: tuple[int, int, int]) -> list[BreadthDay]:
    return [BreadthDay(1_000 + place, *each) for place, each in enumerate(counts)]


def test_fewer_than_two_days_with_coins_are_no_course() -> None:
    assert breadth_chart([], []) is None
    assert breadth_chart(days((0, 0, 0), (1, 0, 0)), []) is None


def test_a_day_is_told_by_its_close_with_counts_and_shares() -> None:
    drawn = breadth_chart(days((1, 1, 2), (3, 0, 1)), [])
    assert drawn is not None
    assert drawn.days[0].at == "1972-09-28T00:00:00.000Z"  # the day after day 1,000, by `date -u -d @$((1001*86400))`
    assert [(day.up, day.hodl, day.down, day.up_pct, day.down_pct) for day in drawn.days] == [
        (1, 1, 2, 25.0, 50.0),
        (3, 0, 1, 75.0, 25.0),
    ]


def test_a_crossing_is_marked_on_the_day_on_which_up_and_down_changed_places() -> None:
    drawn = breadth_chart(days((1, 0, 2), (2, 0, 2), (3, 0, 1), (3, 0, 1), (1, 0, 3)), [])
    assert drawn is not None
    assert [(mark.x, mark.direction) for mark in drawn.marks] == [(WIDTH / 2, "UP over DOWN"), (WIDTH, "DOWN over UP")]
    assert [day.crossed for day in drawn.days] == ["", "", "UP over DOWN", "", "DOWN over UP"]


def test_only_the_last_days_are_shown() -> None:
    drawn = breadth_chart(days(*[(1, 0, 0)] * (SHOWN_DAYS + 5)), [])
    assert drawn is not None
    assert len(drawn.days) == SHOWN_DAYS


def test_regimes_lie_below_where_they_ran_and_those_before_are_left_out() -> None:
    def at(day: int) -> int:
        return day * DAY_MS

    runs = [RegimeRun("risk-off", at(900)), RegimeRun("neutral", at(950)), RegimeRun("risk-on", at(1_003))]
    drawn = breadth_chart(days(*[(1, 0, 0)] * 5), runs)  # closes of days 1,001 to 1,005
    assert drawn is not None
    half = WIDTH / 2
    assert [(band.regime, band.x, band.width) for band in drawn.bands] == [
        ("neutral", 0, half),
        ("risk-on", half, half),
    ]
