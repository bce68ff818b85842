"""Ups and downs: "up today", "down more than 5 % this week", "up on the daily and the weekly". Pure."""

from collections.abc import Sequence
from typing import Final, Literal

from service.ask.parser.found import OPPOSITE, FoundCondition
from service.ask.parser.slots import Slots
from service.ask.parser.windows import BOTH_FRAMES, FRAMES, TREND_FRAMES, span_of
from service.ask.query import All, Comparator, Condition, Measure, Span, Test

_NEAR: Final = 7


def moved(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A direction with what stands behind it: a size, windows, or the time frames of a trend."""
    del before
    direction = slots.as_(at, "direction")
    lead = slots.as_(at - 1, "super")
    if direction is None or (lead is not None and lead.measure is None):
        return None
    to = slots.past(at + 1)
    op, number = slots.as_(to, "compare"), slots.past(to + 1)
    if op == "between":
        return moved_between(slots, at, number, to)
    if op is not None and slots.kind(number) == "number" and slots.chunks[number].value.unit in {"%", None}:
        return moved_by(slots, at, op, number, {to, number})
    if slots.kind(to) == "number" and slots.chunks[to].value.unit == "%":
        bound = slots.or_more(to + 1)
        return moved_by(slots, at, "le" if bound < 0 else "ge", to, {to, to + 1, to + 2} if bound else {to})
    return _trends(slots, at, direction) or _trend_behind(slots, at, direction) or _over(slots, at, direction, to)


def moved_between(slots: Slots, at: int, number: int, begin: int) -> FoundCondition | None:
    """A size between two others: "up between 5 % and 10 % today"."""
    last = slots.past(number + 2)
    if slots.kind(number) != "number" or slots.kind(last) != "number":
        return None
    used = set(range(begin, last + 1))
    low, high = sorted((number, last), key=lambda place: abs(slots.chunks[place].value.value))
    least, most = moved_by(slots, at, "ge", low, used), moved_by(slots, at, "le", high, used)
    return least._replace(condition=All((least.condition, most.condition)))


def moved_by(slots: Slots, at: int, op: Comparator, number: int, used: set[int]) -> FoundCondition:
    """A direction with a size: "down more than 5 % this week", "more than 5 % up"."""
    size = abs(slots.chunks[number].value.value)
    falls = slots.as_(at, "direction") < 0
    to = slots.past(max(used | {at}) + 1)
    over, place = _span_beside(slots, at, to)
    test = Test(Measure("change", over=over), OPPOSITE[op] if falls else op, -size if falls else size)
    return FoundCondition(test, frozenset(used | {at} | ({place} if place is not None else set())))


def _span_beside(slots: Slots, at: int, to: int) -> tuple[Span | None, int | None]:
    """The span behind a direction or just before it, and its chunk."""
    place = next((place for place in (to, at - 1) if slots.kind(place) in {"time", "frame"}), None)
    if place is None:
        return None, None
    value = slots.chunks[place].value
    over = FRAMES.get(value) if slots.kind(place) == "frame" else span_of(value)
    return over, None if over is None else place


def _trends(slots: Slots, at: int, direction: int) -> FoundCondition | None:
    """Both trends: "up on both the daily and the weekly"."""
    frames: dict[int, str] = {}
    to = at + 1
    while slots.kind(to) in {"filler", "and", "frame", "ask"}:
        if slots.kind(to) == "frame" and slots.chunks[to].value not in {"hourly", "monthly"}:
            frames[to] = slots.chunks[to].value
        to += 1
    if set(frames.values()) not in ({BOTH_FRAMES}, set(TREND_FRAMES)):
        return None
    return FoundCondition(trends(direction), frozenset(range(at, max(frames) + 1)))


def trends(direction: int) -> Condition:
    """Both trends in one direction."""
    return All(tuple(trend(direction, frame) for frame in TREND_FRAMES))


def trend(direction: int, frame: str | None) -> Test:
    """A trend in a direction."""
    known: Literal["daily", "weekly"] | None = "daily" if frame == "daily" else "weekly" if frame == "weekly" else None
    return Test(Measure("trend", frame=known), "eq", "UP" if direction > 0 else "DOWN")


def _trend_behind(slots: Slots, at: int, direction: int) -> FoundCondition | None:
    """A direction of a trend named behind it: "are up in their weekly trend"."""
    named = slots.near(at, lambda place: (m := slots.as_(place, "measure")) is not None and m.name == "trend", _NEAR)
    if named is None or any(slots.kind(place) in {"time", "number", "coin"} for place in range(at, named)):
        return None
    frames = [place for place in range(at, named + 2) if slots.kind(place) == "frame"]
    used = {at}
    if slots.past(at + 1) >= named - 1:
        used |= {place for place in range(at, named + 1) if slots.kind(place) in {"frame", "measure"}}
    return FoundCondition(trend(direction, slots.chunks[frames[0]].value if frames else None), frozenset(used))


def _over(slots: Slots, at: int, direction: int, to: int) -> FoundCondition:
    """Up or down over spans: "up today", "green on 24h, 7d and 30d", "daily up"."""
    over, place = _span_beside(slots, at, to)
    spans, used = [over], {at}
    if place is not None:
        used.add(place)
        if slots.kind(place) == "frame" and slots.chunks[place].value in TREND_FRAMES:
            return FoundCondition(trend(direction, slots.chunks[place].value), frozenset(used))
        if place > at:
            for behind, span in more_spans(slots, place + 1):
                spans.append(span)
                used.add(behind)
    tests = tuple(Test(Measure("change", over=span), "gt" if direction > 0 else "lt", 0.0) for span in spans)
    return FoundCondition(tests[0] if len(tests) == 1 else All(tests), frozenset(used))


def more_spans(slots: Slots, at: int) -> list[tuple[int, Span]]:
    """Further spans in a row, up to one that belongs to a measure behind it."""
    found: list[tuple[int, Span]] = []
    while slots.kind(at) in {"and", "filler", "time"}:
        if slots.kind(at) == "time":
            span = span_of(slots.chunks[at].value)
            if span is None or slots.as_(slots.past(at + 1), "measure") is not None:
                break
            found.append((at, span))
        at += 1
    return found
