"""Windows of measures: the time or frame beside a measure, and a window that holds for a whole message. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import structs

from service.ask.measure_table import MEASURES
from service.ask.parser.chunks import Chunk
from service.ask.parser.found import mapped, tests_in
from service.ask.query import (
    At,
    Between,
    Condition,
    Count,
    Measure,
    Now,
    Query,
    Rank,
    Route,
    Share,
    Span,
    Subject,
    Test,
    Time,
    Window,
)
from service.clock import DAY_MS

WINDOWED: Final = frozenset(row.name for row in MEASURES.values() if row.windowed)
"""Measures whose window a time names."""

FRAMES: Final = {
    "daily": Window(24, "h", "24 hours"),
    "weekly": Window(7, "d", "7 days"),
    "hourly": Window(1, "h", "1 hour"),
    "monthly": Window(30, "d", "30 days"),
}
BOTH_FRAMES: Final = "both"
TREND_FRAMES: Final = ("daily", "weekly")
A_DAY: Final = (Window(1, "d", "1 day"), Window(24, "h", "24 hours"))
"""Windows of one day."""

_MOVES: Final = frozenset({"change", "strength"})
_ROLLS: Final = {"today": Window(24, "h", "24 hours"), "this week": Window(7, "d", "7 days")}
_SAME: Final = {
    ("today", 1), ("this week", 7), ("last week", 7), ("this month", 30), ("last month", 30), ("this year", 365),
    ("last year", 365),
}  # fmt: skip
"""Calendar spans and the days of a window that says the same beside them."""


def says_same(time: Time, window: Time) -> bool:
    """Whether a time says the same as a window beside it: "last month (30d)", "24 hours" and "1 day"."""
    if isinstance(time, Between) and isinstance(window, Between):
        return (time.start_ms, time.end_ms) == (window.start_ms, window.end_ms)
    if not isinstance(window, Window):
        return False
    if isinstance(time, Window):
        return _days(time) == _days(window)
    return (getattr(time, "words", ""), _days(window)) in _SAME


def _days(window: Window) -> float:
    return window.count / 24 if window.unit == "h" else window.count


def span_of(time: Time) -> Span | None:
    """A time as a span: a day is that day, an instant none."""
    if isinstance(time, Window | Between):
        return time
    if isinstance(time, At) and time.whole_day:
        return Between(time.at_ms, time.at_ms + DAY_MS, time.words)
    return None


def qualify(measure: Measure, chunk: Chunk) -> tuple[Measure, bool]:
    """A measure with a window or frame, and whether it takes it."""
    if chunk.kind == "frame":
        if measure.name == "trend" and chunk.value in TREND_FRAMES:
            return structs.replace(measure, frame=chunk.value), True
        if measure.name in WINDOWED and measure.over is None and chunk.value in FRAMES:
            return structs.replace(measure, over=FRAMES[chunk.value]), True
        return measure, False
    if measure.over is not None or measure.name not in WINDOWED | {"funding"}:
        return measure, False
    span = span_of(chunk.value)
    if span is None or (measure.name == "funding" and isinstance(chunk.value, At)):
        return measure, False
    return structs.replace(measure, over=span, mean=measure.name == "funding"), True


def rolled(measure: Measure) -> Span | None:
    """The window of a change as it is meant: of "today" that of 24 hours, from a day to a day from close to close."""
    over = measure.over if measure.name in _MOVES else None
    if isinstance(over, Between) and " to " in over.words:
        return structs.replace(over, start_ms=over.start_ms + DAY_MS)  # from close to close
    return measure.over if over is None else _ROLLS.get(over.words, over)


def rolled_condition(where: Condition) -> Condition:
    """A condition with the windows of its changes as they are meant."""
    return mapped(
        where, lambda test: structs.replace(test, measure=structs.replace(test.measure, over=rolled(test.measure)))
    )


def share_window(queries: Sequence[Query]) -> list[Query]:
    """Give the one window that is said to each change that is ranked or tested without one.

    So: "how many memes are up, which is the best and which is the worst over 7 days".
    """
    spans = {one.over for query in queries for one in _changes(query) if one.over is not None}
    if len(queries) == 1 or len(spans) != 1:
        return list(queries)
    return [_over(query, spans.copy().pop()) for query in queries]


def within_breadth(queries: Sequence[Query]) -> list[Query]:
    """Leave out counts of trends beside the breadth, which tells them: "breadth: how many up, how many down"."""
    told = [isinstance(query.operation, Route) and query.operation.topic == "breadth" for query in queries]
    return [query for query in queries if not (any(told) and _counts_trends(query))]


def _counts_trends(query: Query) -> bool:
    test = query.where
    counts = isinstance(query.operation, Count | Share) and query.subject == Subject(scope="all")
    if not counts or not isinstance(test, Test) or not isinstance(query.time, Now):
        return False
    return test.measure.over is None and test.measure.frame != "weekly" and test.value in {"UP", "DOWN", "HODL", 0.0}


def _changes(query: Query) -> Iterator[Measure]:
    yield from (one for one in query.measures if one.name == "change")
    yield from (test.measure for test in tests_in(query.where) if test.measure.name == "change")


def _over(query: Query, span: Span) -> Query:
    """A query whose ranked or tested change is that over a span, where it has none."""
    query = structs.replace(query, where=query.where and over_span(query.where, span))
    if isinstance(query.operation, Rank) and query.measures[:1] == (Measure("change"),):
        query = structs.replace(query, measures=(Measure("change", over=span), *query.measures[1:]))
    return query


def over_span(where: Condition, span: Span, *, again: bool = False) -> Condition:
    """A condition whose changes without a window are those over a span; `again`: those with another one, too."""

    def over(test: Test) -> Test:
        changes = test.measure.name == "change" and (again or test.measure.over is None)
        return structs.replace(test, measure=structs.replace(test.measure, over=span)) if changes else test

    return mapped(where, over)
