"""Spans of questions as instants, at a present inside of an hour."""

from service.ask.planner.spans import days_of, interval_of
from service.ask.query import Between, Window
from service.clock import DAY_MS, HOUR_MS

_DAY_MS = 20_000 * DAY_MS
_NOW_MS = _DAY_MS + 12 * HOUR_MS + HOUR_MS // 2


def test_hours_begin_at_the_close_of_a_bar() -> None:
    found = interval_of(Window(48, "h", "48 hours"), _NOW_MS)
    assert found == (_DAY_MS - 2 * DAY_MS + 13 * HOUR_MS, _NOW_MS, True)


def test_days_are_so_many_closed_ones_and_the_present_day() -> None:
    week, month = Window(7, "d", "7 days"), Between(_DAY_MS - 30 * DAY_MS, _DAY_MS, "a month")
    assert interval_of(week, _NOW_MS).start_ms == _DAY_MS - 6 * DAY_MS
    assert days_of(week, _NOW_MS).start_ms == _DAY_MS - 7 * DAY_MS
    assert days_of(week, _DAY_MS).start_ms == interval_of(week, _DAY_MS).start_ms == _DAY_MS - 7 * DAY_MS
    assert days_of(month, _NOW_MS) == interval_of(month, _NOW_MS)
    hours = Window(5, "h", "5 hours")
    assert days_of(hours, _NOW_MS) == interval_of(hours, _NOW_MS)
