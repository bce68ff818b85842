"""Short forms of queries for tests."""

from typing import Any

from service.ask.query import At, Between, Comparator, Measure, Query, Subject, Test, Window
from service.clock import DAY_MS
from tests.ask.planner.world import TODAY_MS

ALL = Subject(scope="all")
MARKET = Subject(scope="market")
SERVICE = Subject(scope="service")
L1 = Subject(scope="category", categories=("Layer 1 (L1)",))
PRICE, FUNDING, VOLUME, VERDICT = Measure("price"), Measure("funding"), Measure("volume"), Measure("verdict")
TREND = Measure("trend", frame="daily")
JUNE = Between(TODAY_MS - 60 * DAY_MS, TODAY_MS - 30 * DAY_MS, "June 2025")
THIS_WEEK = Between(TODAY_MS - 4 * DAY_MS, None, "this week")


def coins(*symbols: str) -> Subject:
    return Subject(coins=symbols)


def days(count: int) -> Window:
    return Window(count, "d", f"{count} days")


def hours(count: int) -> Window:
    return Window(count, "h", f"{count} hours")


def change(over: Window | Between | None = None) -> Measure:
    return Measure("change", over)


def day(ago: int) -> At:
    """A UTC day as a whole."""
    return At(TODAY_MS - ago * DAY_MS, whole_day=True, words=f"{ago} days ago")


def instant(hours_ago: int) -> At:
    return At(TODAY_MS - hours_ago * 3_600_000, whole_day=False, words=f"{hours_ago} hours ago")


def of(subject: Subject, *measures: Measure, **rest: object) -> Query:
    return Query(subject=subject, measures=measures, **rest)  # type: ignore[arg-type]


def where(measure: Measure, op: Comparator, value: float | str | None = None, **rest: Any) -> Test:
    return Test(measure, op, value, **rest)


UP = Test(TREND, "eq", "UP")
