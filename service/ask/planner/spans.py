"""From the time of a question to instants: what is meant by "30 days", "June" or "yesterday".

Windows of days begin at a midnight UTC, so daily closes measure them; windows of hours are measured by hourly bars.
"""

from typing import Final, NamedTuple

from service.ask.query import At, Between, Measure, Span, Time, Window
from service.clock import DAY_MS, HOUR_MS

TO_MS: Final = {"h": HOUR_MS, "d": DAY_MS}


class Interval(NamedTuple):
    """From `start_ms` to `end_ms`, epoch milliseconds; `hourly`: hourly bars are needed to measure it."""

    start_ms: int
    end_ms: int
    hourly: bool


def instant_of(time: Time, now_ms: int) -> int:
    """The instant whose knowledge counts: the end of a day or span meant as a whole, the present at the latest."""
    if isinstance(time, At):
        return min(time.at_ms + DAY_MS if time.whole_day else time.at_ms, now_ms)
    if isinstance(time, Between) and time.end_ms is not None:
        return min(time.end_ms, now_ms)
    return now_ms


def interval_of(span: Span, until_ms: int) -> Interval:
    """The instants of a span that ends at `until_ms` at the latest.

    So many days are so many daily bars, the one that is not closed yet among them: as `coin/historical` counts.
    """
    if isinstance(span, Between):
        end_ms = until_ms if span.end_ms is None else min(span.end_ms, until_ms)
        return Interval(span.start_ms, end_ms, span.start_ms % DAY_MS != 0)
    if span.unit == "d" and span.count > 1:
        return Interval(-(-until_ms // DAY_MS) * DAY_MS - span.count * DAY_MS, until_ms, hourly=False)
    return Interval(until_ms - span.count * TO_MS[span.unit], until_ms, hourly=until_ms % DAY_MS != 0)


def span_of(measure: Measure, time: Time, usual_days: int) -> Span:
    """The span over which a measure is taken: its own, else that of the query, else its usual one."""
    if measure.over is not None:
        return measure.over
    if isinstance(time, Window | Between):
        return time
    if isinstance(time, At) and time.whole_day:
        return Between(time.at_ms, time.at_ms + DAY_MS, time.words)
    return Window(usual_days, "d", "day" if usual_days == 1 else f"{usual_days} days")
