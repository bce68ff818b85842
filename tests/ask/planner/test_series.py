"""Figures of series that never move, have gaps, or are no numbers."""

from service.ask.planner import series
from service.clock import DAY_MS
from service.table.daily import PastBar


def test_prices_that_never_move_have_no_correlation_and_no_volatility() -> None:
    flat = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0, 1.0) for day in range(30)]
    assert series.correlation(flat, flat) is None
    assert series.volatility(flat) == 0.0


def test_a_missing_day_gives_no_return() -> None:
    bars = [PastBar(day * DAY_MS, 5.0, 5.0, 5.0, 5.0 + day, 1.0) for day in (0, 1, 3, 4)]
    assert [*series.log_returns(series.closes_by_day(bars))] == [DAY_MS, 4 * DAY_MS]
    assert [day for day, _ in series.changes(bars, 1)] == [DAY_MS, 4 * DAY_MS]


def test_a_change_that_is_no_number_is_not_known() -> None:
    assert series.percent(1e308, 1e-308) is None
    assert series.percent(5.0, 0.0) is None
