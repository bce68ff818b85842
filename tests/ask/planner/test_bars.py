"""Figures of bars that never move, have gaps, or are no numbers; and spans of questions as instants."""

from service.ask.planner.bars import change_of, changes, correlation, days_of, interval_of, log_returns, volatility
from service.ask.query import Between, Window
from service.clock import DAY_MS, HOUR_MS
from service.table.daily import PastBar

_DAY_MS = 20_000 * DAY_MS
_NOW_MS = _DAY_MS + 12 * HOUR_MS + HOUR_MS // 2


def test_prices_that_never_move_have_no_correlation_and_no_volatility() -> None:
    flat = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0, 1.0) for day in range(30)]
    assert correlation(flat, flat) is None
    assert volatility(flat) == 0.0


def test_a_missing_day_gives_no_return() -> None:
    bars = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0 + day, 1.0) for day in (0, 1, 3, 4)]
    assert [*log_returns(bars)] == [DAY_MS, 4 * DAY_MS]
    assert [day for day, _ in changes(bars, 1)] == [DAY_MS, 4 * DAY_MS]


def test_a_change_that_is_no_number_is_not_known() -> None:
    assert change_of(1e308, 1e-308) is None
    assert change_of(5.0, 0.0) is None


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
