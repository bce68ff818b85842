"""Windows of measures: the time or the chart's time frame beside a measure. Pure."""

from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.query import At, Between, Measure, Span, Time, Window
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
