"""Windows of measures: the time or the chart's time frame beside a measure. Pure."""

from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.query import All, Any_, At, Between, Condition, Measure, Not, Span, Test, Time, Window
from service.clock import DAY_MS

WINDOWED: Final = frozenset({"change", "high", "low", "drawdown", "volatility", "correlation", "strength"})
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


def rolled_condition(where: Condition | None) -> Condition | None:
    """A condition with the windows of its changes as they are meant."""
    if isinstance(where, Test):
        return structs.replace(where, measure=structs.replace(where.measure, over=rolled(where.measure)))
    if isinstance(where, All | Any_):
        items = (rolled_condition(item) for item in where.items)
        return structs.replace(where, items=tuple(item for item in items if item is not None))
    if isinstance(where, Not):
        item = rolled_condition(where.item)
        return where if item is None else Not(item)
    return where
