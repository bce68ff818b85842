"""The measures that a clause names, each with its window. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.slots import Slots
from service.ask.parser.states import STATES, frames_before
from service.ask.parser.windows import A_DAY, BOTH_FRAMES, TREND_FRAMES, WINDOWED, qualify, span_of

_NOW: Final = frozenset({"now", "rn", "right now"})
_TURNING: Final = tuple(q.Measure(name) for name in sorted(STATES))
_OVER: Final = frozenset({"over", "during", "across", "within", "throughout"})
_MAY_SPAN: Final = frozenset({"volume"})

Placed = tuple[int, q.Measure]
"""A measure and the chunk that names it."""


def read_measures(slots: Slots) -> list[Placed]:
    """The measures named, with their places; frames beside a trend are taken."""
    found: list[Placed] = []
    for at in range(len(slots.chunks)):
        if at in slots.used:
            continue
        if slots.as_(at, "frame") == BOTH_FRAMES:
            slots.used.add(at)
            found = [(place, one) for place, one in found if one != q.Measure("trend")]
            found += [(at, q.Measure("trend", frame=frame)) for frame in TREND_FRAMES]
        elif (measure := _unspoken(slots, at)) is not None:
            slots.used.add(at)
            found.append((at, measure))
        elif _is_turn(slots, at):
            slots.used |= {at} if slots.asks("when") else set()
        elif (measure := slots.measure(at)) is not None:
            slots.used.add(at)
            frames = frames_before(slots, at) if measure == q.Measure("trend") else set()
            slots.used |= frames
            both = [(at, q.Measure("trend", frame=frame)) for frame in TREND_FRAMES]
            found += both if frames else [(at, _framed(slots, at, measure))]
            found += [(at, word.value) for word in slots.several(at)]
    return found


def _is_turn(slots: Slots, at: int) -> bool:
    """Whether a change is one of the state before it: "when did its trend change?"."""
    return slots.as_(at, "measure") == q.Measure("change") and slots.as_(at - 1, "measure") in _TURNING


def _unspoken(slots: Slots, at: int) -> q.Measure | None:
    """A measure that is meant by where a plain word stands: "BTC now and …", "what is BTC at"."""
    word, beside = slots.word(at), slots.kind(at - 1)
    if word in _NOW and beside == "coin" and at + 1 < len(slots.chunks):
        return q.Measure("price")
    if word == "at" and beside in {"coin", "asset"} and slots.kind(at + 1) in {"", "and", "or"}:
        return q.Measure("price")
    if word == "last" and _is_last_price(slots, at):
        return q.Measure("price")
    return None


def _is_last_price(slots: Slots, at: int) -> bool:
    """Whether "last" is a measure in a list or before a coin: "last and daily trend", "last on BTC"."""
    to = at + 1
    while slots.word(to) in {"on", "of", "for"}:
        to += 1
    begins = at == 0 or slots.kind(at - 1) in {"coin", "asset", "and", "ask"} or bool(slots.chunks[at].gap)
    ends = slots.kind(to) in {"coin", "asset", "and", ""} or bool(slots.chunks[to].gap)
    return begins and ends


def _framed(slots: Slots, at: int, measure: q.Measure) -> q.Measure:
    """A measure with the frame beside it; of a high or low beside a time it is how often it is known."""
    if measure.name in {"high", "low"} and any(chunk.kind == "time" for chunk in slots.chunks):
        return measure
    frames = slots.free(lambda chunk: chunk.kind == "frame")
    far = frames if measure.name == "trend" and measure.frame is None and len(frames) == 1 else []
    for beside in (at - 1, at + 1, *far):
        if slots.kind(beside) == "frame" and beside not in slots.used:
            measure, taken = qualify(measure, slots.chunks[beside])
            if taken:
                slots.used.add(beside)
    return measure


def with_times(
    slots: Slots, measures: Sequence[Placed], times: Sequence[int], operation: q.Operation
) -> tuple[tuple[q.Measure, ...], q.Time]:
    """Give each time to the measure it stands beside; the rest is the query's."""
    left = list(times)
    done: list[q.Measure] = []
    for place, (at, measure) in enumerate(measures):
        spans = [time for time in left if span_of(slots.chunks[time].value) is not None]
        if measure.name not in WINDOWED or measure.over or not spans or isinstance(operation, q.Extreme | q.When):
            done.append(measure)
            continue
        joined = bool(done) and slots.are(range(measures[place - 1][0] + 1, at), "and", "filler")
        if joined and done[-1].over is not None and not {at - 1, at + 1} & set(spans):
            done.append(structs.replace(measure, over=done[-1].over))
            continue
        following = measures[place + 1][0] if place + 1 < len(measures) else len(slots.chunks)
        chosen = _nearest(spans, at, following)
        done.append(structs.replace(measure, over=span_of(slots.chunks[chosen].value)))
        slots.used.add(chosen)
        if len(spans) > 1 or place + 1 == len(measures):
            left.remove(chosen)
    left = [time for time in left if time not in slots.used]
    if (
        isinstance(operation, q.Value | q.Compare)
        and done
        and not any(one.name in WINDOWED or one.name in _MAY_SPAN for one in done)
    ):
        moves = _listed_windows(slots, left)
        done, left = [*moves.values(), *done], [time for time in left if time not in moves]
    left = _without_day(slots, done, left)
    left = _each_window(slots, done, left)
    time = slots.one_time(left)
    return tuple(dict.fromkeys(done)) if isinstance(operation, q.Extreme | q.When) else _mean_funding(done, time), time


def _listed_windows(slots: Slots, left: Sequence[int]) -> dict[int, q.Measure]:
    """Windows in a list beside measures that have none are changes: "7d, 30d, trend"."""
    spans = [at for at in left if isinstance(slots.chunks[at].value, q.Window)]
    listed = len(spans) > 1 and all("," in slots.chunks[at].gap or ":" in slots.chunks[at].gap for at in spans)
    slots.used |= set(spans) if listed else set()
    return {at: q.Measure("change", over=slots.chunks[at].value) for at in spans} if listed else {}


def _nearest(spans: Sequence[int], at: int, following: int) -> int:
    """The span of a measure: just before it, else behind it up to the next measure, else the first."""
    before = (time for time in spans if time == at - 1)
    behind = (time for time in spans if at < time < following)
    return next(before, next(behind, spans[0]))


def _without_day(slots: Slots, measures: Sequence[q.Measure], left: Sequence[int]) -> list[int]:
    """The times without a day beside the volume, which is that of a day."""
    if not any(measure.name == "volume" for measure in measures):
        return list(left)
    days = {time for time in left if slots.chunks[time].value in A_DAY}
    slots.used |= days
    return [time for time in left if time not in days]


def _each_window(slots: Slots, measures: list[q.Measure], left: Sequence[int]) -> list[int]:
    """Of "24h, 7d and 30d change" one measure for each window; what is left after that."""
    spans = [time for time in left if isinstance(slots.chunks[time].value, q.Window | q.Between)]
    windowed = [one for one in measures if one.name in WINDOWED and one.over is not None]
    if not windowed and len(spans) > 1 and measures and measures[-1].name == "funding":
        first = spans.pop(0)
        measures[-1] = structs.replace(measures[-1], over=slots.chunks[first].value, mean=True)
        slots.used.add(first)
        windowed = measures
    if not windowed:
        return list(left)
    whole = [time for time in spans if _is_of_whole(slots, time)]
    spans = [time for time in spans if time not in whole]
    if len(windowed) == len(measures):
        left = [time for time in left if time not in whole]
    measures += [structs.replace(windowed[-1], over=slots.chunks[time].value) for time in spans]
    slots.used |= set(spans)
    return [time for time in left if time not in slots.used]


def _is_of_whole(slots: Slots, at: int) -> bool:
    """Whether a span is no window in a list, but one of a measure that has its own: "daily change over 30 days"."""
    before = at - 1
    while slots.kind(before) == "filler" and not slots.chunks[before + 1].gap:
        before -= 1
    listed = slots.kind(before) in {"and", "or", "time", "frame"} or bool(slots.chunks[before + 1].gap)
    return not listed and slots.word(at).split()[0] in _OVER


def _mean_funding(measures: Sequence[q.Measure], time: q.Time) -> tuple[q.Measure, ...]:
    """Funding in the query's span is its mean over it."""
    return tuple(
        dict.fromkeys(
            structs.replace(one, over=time, mean=True)
            if one.name == "funding" and one.over is None and isinstance(time, q.Window | q.Between)
            else one
            for one in measures
        )
    )
