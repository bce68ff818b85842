"""Ups and downs, trends by their frame, verdicts, regimes, moods; and who pays funding. Pure."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import structs

from service.ask import query as q
from service.ask.parser.condition_tree import OPPOSITE, FoundCondition, measure_of, test_of
from service.ask.parser.lexicon import State
from service.ask.parser.slots import Slots
from service.ask.parser.windows import BOTH_FRAMES, FRAMES, TREND_FRAMES, span_of

_NEAR: Final = 7


def moved(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A direction with what stands behind it: a size, windows, or the time frames of a trend."""
    del before
    direction = slots.as_(at, "direction")
    first = at - 1
    while slots.word(at - 1) == "day" and slots.word(first) in {"day", "single", "one"}:
        first -= 1  # "the biggest single-day drop"
    lead = slots.as_(first, "super")
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
    return least._replace(condition=q.All((least.condition, most.condition)))


def moved_by(slots: Slots, at: int, op: q.Comparator, number: int, used: set[int]) -> FoundCondition:
    """A direction with a size: "down more than 5 % this week", "more than 5 % up"."""
    size = abs(slots.chunks[number].value.value)
    falls = slots.as_(at, "direction") < 0
    to = slots.past(max(used | {at}) + 1)
    over, place = _span_beside(slots, at, to)
    test = q.Test(q.Measure("change", over=over), OPPOSITE[op] if falls else op, -size if falls else size)
    return FoundCondition(test, frozenset(used | {at} | ({place} if place is not None else set())))


def _span_beside(slots: Slots, at: int, to: int) -> tuple[q.Span | None, int | None]:
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


def trends(direction: int) -> q.Condition:
    """Both trends in one direction."""
    return q.All(tuple(trend(direction, frame) for frame in TREND_FRAMES))


def trend(direction: int, frame: str | None) -> q.Test:
    """A trend in a direction."""
    known: Literal["daily", "weekly"] | None = "daily" if frame == "daily" else "weekly" if frame == "weekly" else None
    return q.Test(q.Measure("trend", frame=known), "eq", "UP" if direction > 0 else "DOWN")


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
    tests = tuple(q.Test(q.Measure("change", over=span), "gt" if direction > 0 else "lt", 0.0) for span in spans)
    return FoundCondition(tests[0] if len(tests) == 1 else q.All(tests), frozenset(used))


def more_spans(slots: Slots, at: int) -> list[tuple[int, q.Span]]:
    """Further spans in a row, up to one that belongs to a measure behind it."""
    found: list[tuple[int, q.Span]] = []
    while slots.kind(at) in {"and", "filler", "time"}:
        if slots.kind(at) == "time":
            span = span_of(slots.chunks[at].value)
            if span is None or slots.as_(slots.past(at + 1), "measure") is not None:
                break
            found.append((at, span))
        at += 1
    return found


STATES: Final = frozenset({"trend", "verdict", "regime", "sentiment", "confidence", "market_regime"})
"""Measures whose values are names."""

_WITH_NEUTRAL: Final = frozenset({"regime", "sentiment", "market_regime", "verdict"})
PAYS: Final = frozenset({"pay", "pays", "paying"})
_LEVELS: Final = frozenset({"high", "low", "medium"})
_FRAME_REACH: Final = 5
_TURN_REACH: Final = 4


def paying(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """Who pays whom: "shorts pay longs" is negative funding."""
    del before
    side = slots.as_(at, "side")
    verb = _past_filler(slots, at + 1)
    if side is None or slots.word(verb) not in PAYS:
        return None
    other = _past_filler(slots, verb + 1)
    if slots.kind(other) == "compare" or slots.kind(other) == "number":
        return None  # "longs pay above 20 %": the sign and the size of one rate
    test = q.Test(q.Measure("funding"), "gt" if side == "long" else "lt", 0.0)
    screens = not any(chunk.kind in {"coin", "asset", "number"} or chunk.has("super") for chunk in slots.chunks)
    if screens and slots.kind(other) != "side":
        return FoundCondition(test, frozenset({at, verb}))  # "coins where shorts pay"
    if slots.kind(other) != "side" or slots.as_(other, "side") == side:
        return None
    return FoundCondition(test, frozenset({at, verb, other}))


def _past_filler(slots: Slots, at: int) -> int:
    while slots.kind(at) == "filler" and slots.word(at) not in PAYS:
        at += 1
    return at


def framed(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A trend by its frame alone: "daily is up but weekly is not"."""
    del before
    frame = slots.as_(at, "frame")
    both = frame == BOTH_FRAMES
    if frame not in TREND_FRAMES and not both:
        return None
    to = slots.past(at + 1)
    negated = slots.has(to, "neg")
    used = {at}
    if negated:
        used.add(to)
        to = slots.past(to + 1)
    direction = slots.as_(to, "direction")
    if direction is None or slots.kind(to + 1) in {"compare", "number"}:
        return None
    condition = trends(direction) if both else trend(direction, frame)
    return FoundCondition(q.Not(condition) if negated else condition, frozenset(used | {to}))


def named_state(slots: Slots, measure: q.Measure, at: int) -> tuple[q.Condition, set[int]] | None:
    """The state that a measure is said to be in: "trend is up", "verdict neutral", "confidence high"."""
    state: State | None = slots.as_(at, "state")
    direction = slots.as_(at, "direction")
    if measure.name == "confidence" and slots.word(at) in _LEVELS:
        return q.Test(measure, "eq", slots.word(at)), {at}
    if measure.name == "trend" and direction is not None:
        return trend(direction, measure.frame), {at}
    if state is None or measure.name not in STATES | {"score"}:
        return None
    if measure.name == "trend" and state.value in {"bull", "bear"}:
        return trend(1 if state.value == "bull" else -1, measure.frame), {at}
    if state.value == "neutral" and measure.name in _WITH_NEUTRAL:
        return q.Test(measure, "eq", "neutral"), {at}
    return q.Test(structs.replace(measure, name=state.measure), state.op, state.value), {at}


def more_confidence(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """Another level of confidence: "a confidence of low or medium", "low or medium confidence"."""
    if slots.word(at) not in _LEVELS:
        return None
    earlier = test_of(before[-1].condition) if before else None
    behind = slots.past(at + 1)
    if slots.kind(behind) == "or":
        named: State | None = slots.as_(slots.past(behind + 1), "state")
        joined = named is not None and named.measure == "confidence"
    else:
        joined = earlier is not None and earlier.measure.name == "confidence"
        joined = joined and slots.are(range(before[-1].end, at), "or", "filler")
    return FoundCondition(q.Test(q.Measure("confidence"), "eq", slots.word(at)), frozenset({at})) if joined else None


def in_state(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A state by itself: "in a weekly uptrend", "risk-on", "flipped bullish this week"."""
    state: State | None = slots.as_(at, "state")
    if state is None:
        return None
    measure = q.Measure(state.measure, frame=state.frame)
    behind: q.Measure | None = slots.as_(slots.past(at + 1), "measure")
    if state.value in {"bull", "bear"} and behind == q.Measure("trend"):
        return FoundCondition(trend(1 if state.value == "bull" else -1, None), frozenset({at, slots.past(at + 1)}))
    if state.measure == "trend" and (both := _both_frames(slots, at, state)) is not None:
        return both
    measure, used = _framed_state(slots, at, measure)
    measure, used = _measure_behind(slots, at, state, measure, used)
    earlier = measure_of(before[-1].condition) if before else None
    alone = max(used) == at and slots.as_(slots.past(at + 1), "measure") is None
    if measure == q.Measure("verdict") and state.value == "neutral" and earlier is not None and alone:
        measure = q.Measure(earlier.name) if earlier.name in {"regime", "sentiment"} else measure
    turned = [place for place in range(max(0, at - _TURN_REACH), at) if slots.turns(place)]
    span = slots.past(max(used) + 1)
    if turned and slots.kind(span) == "time" and isinstance(slots.chunks[span].value, q.Window | q.Between):
        return FoundCondition(
            q.Changed(measure, state.value, slots.chunks[span].value), frozenset(used | {turned[0], span})
        )
    if turned and slots.kind(span) == "time":
        return None  # "entered an uptrend yesterday"
    return FoundCondition(q.Test(measure, state.op, state.value), frozenset(used))


def _both_frames(slots: Slots, at: int, state: State) -> FoundCondition | None:
    """A state of both trends: "in a daily and weekly uptrend"."""
    frames = frames_before(slots, at, state.frame)
    both = tuple(q.Test(q.Measure("trend", frame=frame), state.op, state.value) for frame in TREND_FRAMES)
    return FoundCondition(q.All(both), frozenset(frames | {at})) if frames else None


def frames_before(slots: Slots, at: int, also: str | None = None) -> set[int]:
    """The chunks before one that say both frames: "daily and weekly"; none where they say only one."""
    frames = [place for place in range(max(0, at - _FRAME_REACH), at) if slots.kind(place) == "frame"]
    if not frames or not slots.are(range(frames[0], at), "frame", "filler", "and"):
        return set()
    said = {*(slots.chunks[place].value for place in frames), *filter(None, [also])}
    return set(range(frames[0], at)) if said in ({BOTH_FRAMES}, set(TREND_FRAMES)) else set()


def _framed_state(slots: Slots, at: int, measure: q.Measure) -> tuple[q.Measure, set[int]]:
    """A trend with the frame beside it."""
    for beside in (at - 1, at + 1, at - 2):
        frame = slots.chunks[beside].value if slots.kind(beside) == "frame" else None
        if measure.name == "trend" and measure.frame is None and frame in TREND_FRAMES:
            return structs.replace(measure, frame=frame), {at, beside}
    return measure, {at}


def _measure_behind(
    slots: Slots, at: int, state: State, measure: q.Measure, used: set[int]
) -> tuple[q.Measure, set[int]]:
    """A state with its measure behind it: "risk-off regime", "neutral sentiment"."""
    after = slots.past(at + 1)
    named: q.Measure | None = slots.as_(after, "measure")
    if named is None:
        return measure, used
    if named.name == state.measure:
        return measure, used | {after}
    if state.value == "neutral" and named.name in STATES:
        return q.Measure(named.name), used | {after}
    return measure, used
