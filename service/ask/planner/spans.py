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

    So many days or hours begin at the close of a bar, the one that is not closed yet counted: as `coin/historical`
    measures changes.
    """
    if isinstance(span, Between):
        end_ms = until_ms if span.end_ms is None else min(span.end_ms, until_ms)
        return Interval(span.start_ms, end_ms, span.start_ms % DAY_MS != 0)
    if span.unit == "d" and span.count > 1:
        return Interval(-(-until_ms // DAY_MS) * DAY_MS - span.count * DAY_MS, until_ms, hourly=False)
    start_ms = -(-until_ms // HOUR_MS) * HOUR_MS - span.count * TO_MS[span.unit]
    return Interval(start_ms, until_ms, hourly=until_ms % DAY_MS != 0)


def days_of(span: Span, until_ms: int) -> Interval:
    """The days of a span: of a window so many closed ones, and the present day so far."""
    found = interval_of(span, until_ms)
    if isinstance(span, Between) or found.hourly:
        return found
    return found._replace(start_ms=until_ms // DAY_MS * DAY_MS - span.count * TO_MS[span.unit])


def span_of(measure: Measure, time: Time, usual_days: int) -> Span:
    """The span over which a measure is taken: its own, else that of the query, else its usual one.

    Of a day that is meant as a whole, measures of one day are taken over that day.
    """
    if measure.over is not None:
        return measure.over
    if isinstance(time, Window | Between):
        return time
    if isinstance(time, At) and time.whole_day and usual_days <= 1:
        return Between(time.at_ms, time.at_ms + DAY_MS, time.words)
    return Window(usual_days, "d", "day" if usual_days == 1 else f"{usual_days} days")
