"""Windows of measures: the time or the chart's time frame beside a measure. Pure."""

from typing import Final

from msgspec import structs

from service.ask.measure_table import MEASURES
from service.ask.parser.chunks import Chunk
from service.ask.parser.found import mapped
from service.ask.query import At, Between, Condition, Measure, Span, Time, Window
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
