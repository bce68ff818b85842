"""Windows of measures: the time or frame beside a measure, and a window that holds for a whole message. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import structs

from service.ask import query as q
from service.ask.measure_table import MEASURES
from service.ask.parser.chunks import Chunk
from service.ask.parser.condition_tree import mapped, tests_in
from service.clock import DAY_MS

WINDOWED: Final = frozenset(row.name for row in MEASURES.values() if row.windowed)
"""Measures whose window a time names."""

FRAMES: Final = {
    "daily": q.Window(24, "h", "24 hours"),
    "weekly": q.Window(7, "d", "7 days"),
    "hourly": q.Window(1, "h", "1 hour"),
    "monthly": q.Window(30, "d", "30 days"),
}
BOTH_FRAMES: Final = "both"
TREND_FRAMES: Final = ("daily", "weekly")
A_DAY: Final = (q.Window(1, "d", "1 day"), q.Window(24, "h", "24 hours"))
"""Windows of one day."""

_MOVES: Final = frozenset({"change", "strength"})
_COMPACT: Final = re.compile(r"(?:on )?(?:the )?(\d+-?(?:h|hr|d|w|wk|week|m|mo))")
_TIME_FRAMES: Final = {"1d": "daily", "1w": "weekly", "1wk": "weekly", "1-week": "weekly"}
_OF_RETURNS: Final = frozenset({"volatility", "correlation"})
"""Measures of daily returns, to which a short frame is no window: "weekly volatility" may be one of weekly returns."""

_SHORT_FRAMES: Final = frozenset({"daily", "weekly", "hourly"})
_ROLLS: Final = {"today": q.Window(24, "h", "24 hours"), "this week": q.Window(7, "d", "7 days")}
_SAME: Final = {
    ("today", 1), ("this week", 7), ("last week", 7), ("this month", 30), ("last month", 30), ("this year", 365),
    ("last year", 365),
}  # fmt: skip
"""Calendar spans and the days of a window that says the same beside them."""


def says_same(time: q.Time, window: q.Time) -> bool:
    """Whether a time says the same as a window beside it: "last month (30d)", "24 hours" and "1 day"."""
    if time == window:
        return True
    if isinstance(time, q.Between) and isinstance(window, q.Between):
        return (time.start_ms, time.end_ms) == (window.start_ms, window.end_ms)
    if not isinstance(window, q.Window):
        return False
    if isinstance(time, q.Window):
        return _days(time) == _days(window)
    return (getattr(time, "words", ""), _days(window)) in _SAME


def _days(window: q.Window) -> float:
    return window.count / 24 if window.unit == "h" else window.count


def span_of(time: q.Time) -> q.Span | None:
    """A time as a span: a day is that day, an instant none."""
    if isinstance(time, q.Window | q.Between):
        return time
    if isinstance(time, q.At) and time.whole_day:
        return q.Between(time.at_ms, time.at_ms + DAY_MS, time.words)
    return None


def span_since(then: q.At) -> q.Span:
    """The span from an instant until now: "48 hours ago" as the last 48 hours."""
    count, _, unit = then.words.partition(" ")
    if then.words.endswith(" ago") and count.isdigit():
        return q.Window(int(count), "h" if unit.startswith("hour") else "d", then.words.removesuffix(" ago"))
    if then.whole_day:
        return q.Between(then.at_ms + DAY_MS, None, f"since the close of {then.words}")
    return q.Between(then.at_ms, None, f"since {then.words}")


def qualify(measure: q.Measure, chunk: Chunk) -> tuple[q.Measure, bool]:
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
    if span is None or (measure.name == "funding" and isinstance(chunk.value, q.At)):
        return measure, False
    return structs.replace(measure, over=span, mean=measure.name == "funding"), True


def frame_of(chunks: Sequence[Chunk], words: Sequence[str], at: int) -> tuple[Literal["frame", "blocked"], str] | None:
    """What a time frame is beside a measure: one of a trend, written as on charts, or one that none is known of.

    Args:
        chunks: The pieces of a message.
        words: Their words.
        at: The place of what may be a time frame.

    Returns:
        Its kind and name; null where it is read as any other time.
    """
    written = _COMPACT.fullmatch(words[at])
    if chunks[at].kind == "frame" and words[at] in _SHORT_FRAMES:
        following = chunks[at + 1].as_("measure") if at + 1 < len(chunks) and not chunks[at + 1].gap else None
        return ("blocked", words[at]) if following is not None and following.name in _OF_RETURNS else None
    if chunks[at].kind != "time" or written is None:
        return None
    beside = [measure.name for step in (-1, 1) if (measure := _measure_beside(chunks, words, at, step)) is not None]
    if beside != ["trend"]:
        return None
    frame = _TIME_FRAMES.get(written[1])
    return ("blocked", written[1]) if frame is None else ("frame", frame)


def _measure_beside(chunks: Sequence[Chunk], words: Sequence[str], at: int, step: int) -> q.Measure | None:
    """The next measure on one side of a time frame, across the coins it is of and other time frames."""
    to = at + step
    while 0 <= to < len(chunks) and not chunks[max(to, to - step)].gap:
        measure: q.Measure | None = chunks[to].as_("measure")
        if measure is not None:
            return None if chunks[to - step].kind in {"and", "or"} else measure
        frame = chunks[to].kind == "frame" or _COMPACT.fullmatch(words[to]) is not None
        if not frame and chunks[to].kind not in {"coin", "and", "or"} and words[to] not in {"of", "for"}:
            return None
        to += step
    return None


def rolled(measure: q.Measure) -> q.Span | None:
    """The window of a change as it is meant: of "today" that of 24 hours, from a day to a day from close to close.

    Between two times ago it is that between these instants.
    """
    over = measure.over if measure.name in _MOVES else None
    if isinstance(over, q.Between) and over.instants is not None:
        return q.Between(*over.instants, over.words)
    if isinstance(over, q.Between) and " to " in over.words:
        return structs.replace(over, start_ms=over.start_ms + DAY_MS)  # from close to close
    return measure.over if over is None else _ROLLS.get(over.words, over)


def rolled_condition(where: q.Condition) -> q.Condition:
    """A condition with the windows of its changes as they are meant."""
    return mapped(
        where, lambda test: structs.replace(test, measure=structs.replace(test.measure, over=rolled(test.measure)))
    )


def share_window(queries: Sequence[q.Query]) -> list[q.Query]:
    """Give the one window that is said to each change that is ranked or tested without one.

    So: "how many memes are up, which is the best and which is the worst over 7 days".
    """
    spans = {one.over for query in queries for one in _changes(query) if one.over is not None}
    if len(queries) == 1 or len(spans) != 1:
        return list(queries)
    return [_over(query, spans.copy().pop()) for query in queries]


def within_breadth(queries: Sequence[q.Query]) -> list[q.Query]:
    """Leave out counts of trends beside the breadth, which tells them: "breadth: how many up, how many down"."""
    told = [isinstance(query.operation, q.Route) and query.operation.topic == "breadth" for query in queries]
    return [query for query in queries if not (any(told) and _counts_trends(query))]


def _counts_trends(query: q.Query) -> bool:
    test = query.where
    counts = isinstance(query.operation, q.Count | q.Share) and query.subject == q.Subject(scope="all")
    if not counts or not isinstance(test, q.Test) or not isinstance(query.time, q.Now):
        return False
    return test.measure.over is None and test.measure.frame != "weekly" and test.value in {"UP", "DOWN", "HODL", 0.0}


def _changes(query: q.Query) -> Iterator[q.Measure]:
    yield from (one for one in query.measures if one.name == "change")
    yield from (test.measure for test in tests_in(query.where) if test.measure.name == "change")


def _over(query: q.Query, span: q.Span) -> q.Query:
    """A query whose ranked or tested change is that over a span, where it has none."""
    query = structs.replace(query, where=query.where and over_span(query.where, span))
    if isinstance(query.operation, q.Rank) and query.measures[:1] == (q.Measure("change"),):
        query = structs.replace(query, measures=(q.Measure("change", over=span), *query.measures[1:]))
    return query


def over_span(where: q.Condition, span: q.Span, *, again: bool = False) -> q.Condition:
    """A condition whose changes without a window are those over a span; `again`: those with another one, too."""

    def over(test: q.Test) -> q.Test:
        changes = test.measure.name == "change" and (again or test.measure.over is None)
        return structs.replace(test, measure=structs.replace(test.measure, over=span)) if changes else test

    return mapped(where, over)
