"""Conditions in a clause: "funding above 20 %", "in a weekly uptrend", "down more than 5 % this week". Pure."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import structs

from service.ask.parser.chunks import Chunk, Quantity
from service.ask.parser.lexicon import State
from service.ask.query import (
    All,
    Any_,
    At,
    Between,
    Changed,
    Comparator,
    Condition,
    Measure,
    Not,
    Ranked,
    Span,
    Test,
    Time,
    Window,
)

WINDOWED: Final = frozenset({"change", "high", "low", "drawdown", "volatility", "correlation", "strength"})
"""Measures whose window a time names."""

_FRAMES: Final = {
    "daily": Window(24, "h", "24 hours"),
    "weekly": Window(7, "d", "7 days"),
    "hourly": Window(1, "h", "1 hour"),
    "monthly": Window(30, "d", "30 days"),
}
_OPPOSITE: Final[dict[Comparator, Comparator]] = {
    "gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne",
}  # fmt: skip
_STATES: Final = frozenset({"trend", "verdict", "regime", "sentiment", "confidence", "market_regime"})
_TURNED: Final = frozenset(
    [
        "flipped",
        "turned",
        "flip",
        "flips",
        "turning",
        "flipping",
        "switched",
        "changed",
        "moved",
        "went",
        "crossed",
        "entered",
        "became",
        "become",
        "broke",
        "started",
    ]
)
_LARGE: Final = 1e6
_PAYS: Final = frozenset({"pay", "pays", "paying", "paid"})
_WITHIN: Final = frozenset({"in", "of", "among", "from", "for", "within", "amongst"})


class Found(NamedTuple):
    """A condition, the chunks it takes (`used`), and where it ends."""

    condition: Condition
    used: frozenset[int]
    start: int
    end: int


class Scanner:
    """Finds the conditions of a clause.

    Args:
        chunks: The clause.
        words: For each chunk its words as written, lower case.
    """

    def __init__(self, chunks: Sequence[Chunk], words: Sequence[str]) -> None:
        self._chunks = chunks
        self._words = words

    def all(self, start: int = 0) -> list[Found]:
        """Every condition, in order; none overlaps another."""
        found: list[Found] = []
        at = start
        while at < len(self._chunks):
            one = self._at(at, found)
            if one is None:
                at += 1
            else:
                found.append(one)
                at = one.end
        return found

    def _at(self, at: int, before: Sequence[Found]) -> Found | None:
        used: set[int] = set()
        start = at
        negated = False
        if self._chunks[at].has("neg") or self._chunks[at].has("except"):
            negated, at = True, self._past(at + 1)
            used.add(start)
            if at < len(self._chunks) and any(w.value in {"any", "all"} for w in self._chunks[at].words):
                at = self._past(at + 1)
            if at >= len(self._chunks):
                return None
        found = (
            self._paying(at)
            or self._ranked(at)
            or self._since_then(at)
            or self._framed(at)
            or self._comparative(at)
            or self._measured(at)
            or self._compared(at, before)
            or self._signed(at)
            or self._state(at, before)
            or self._directed(at)
        )
        if found is None:
            return None
        condition: Condition = Not(found.condition) if negated else found.condition
        return Found(condition, found.used | used, start, found.end)

    def _past(self, at: int) -> int:
        """The next chunk that is no filler."""
        while at < len(self._chunks) and (self._chunks[at].kind == "filler" or self._words[at] in _TURNED):
            at += 1
        return at

    def _kind(self, at: int) -> str:
        return self._chunks[at].kind if 0 <= at < len(self._chunks) else ""

    def _measured(self, at: int) -> Found | None:
        """A measure, and how it compares: "funding is above 20 %", "trend is up", "verdict neutral"."""
        name = self._chunks[at].as_("measure")
        if name is None:
            return None
        measure: Measure = name
        used = {at}
        measure, used, to = self._qualified(measure, used, at)
        negated = False
        if to < len(self._chunks) and self._chunks[to].has("neg"):
            negated = True
            used.add(to)
            to = self._past(to + 1)
        if to >= len(self._chunks):
            return None
        found = self._comparison(measure, to, used) or self._named_state(measure, to, used)
        if found is None:
            return None
        return found._replace(condition=Not(found.condition)) if negated else found

    def _paying(self, at: int) -> Found | None:
        """Who pays whom: "shorts pay longs" is negative funding."""
        side = self._chunks[at].as_("side")
        verb = self._past_plain(at + 1)
        if side is None or verb >= len(self._chunks) or self._words[verb] not in _PAYS:
            return None
        other = self._past_plain(verb + 1)
        if self._kind(other) != "side" or self._chunks[other].as_("side") == side:
            return None
        test = Test(Measure("funding"), "gt" if side == "long" else "lt", 0.0)
        return Found(test, frozenset({at, verb, other}), at, other + 1)

    def _since_then(self, at: int) -> Found | None:
        """Against an earlier price: "below their price of 30 days ago", "above where they were a week ago"."""
        op = self._chunks[at].as_("compare")
        to = next(
            (place for place in range(at + 1, min(at + 7, len(self._chunks))) if self._kind(place) == "time"), None
        )
        if op not in {"gt", "lt"} or to is None or not isinstance(self._chunks[to].value, At):
            return None
        between = set(" ".join(self._words[at + 1 : to]).split())
        if not between & {"its", "their", "where", "price", "level"} or any(
            self._kind(place) == "number" for place in range(at + 1, to)
        ):
            return None
        then: At = self._chunks[to].value
        count, _, unit = then.words.partition(" ")
        over: Span = Between(then.at_ms, None, f"since {then.words}")
        if then.words.endswith(" ago") and count.isdigit():
            over = Window(int(count), "h" if unit.startswith("hour") else "d", then.words.removesuffix(" ago"))
        used = frozenset(
            {at, to, *(place for place in range(at, to) if self._chunks[place].as_("measure") is not None)}
        )
        return Found(Test(Measure("change", over=over), op, 0.0), used, at, to + 1)

    def _framed(self, at: int) -> Found | None:
        """A trend by its frame alone: "daily is up but weekly is not"."""
        frame = self._chunks[at].as_("frame")
        both = self._words[at] in {"both timeframes", "both trends", "both frames"}
        if frame not in {"daily", "weekly"} and not both:
            return None
        to = self._past(at + 1)
        negated = to < len(self._chunks) and self._chunks[to].has("neg")
        used = {at}
        if negated:
            used.add(to)
            to = self._past(to + 1)
        direction = self._chunks[to].as_("direction") if to < len(self._chunks) else None
        if direction is None or self._kind(to + 1) in {"compare", "number"}:
            return None
        if both:
            trends = tuple(
                Test(Measure("trend", frame=one), "eq", "UP" if direction > 0 else "DOWN")
                for one in ("daily", "weekly")
            )
            return Found(All(trends), frozenset(used | {to}), at, to + 1)
        test = Test(Measure("trend", frame=frame), "eq", "UP" if direction > 0 else "DOWN")
        return Found(Not(test) if negated else test, frozenset(used | {to}), at, to + 1)

    def _frames_after(self, at: int) -> list[tuple[int, Any]]:
        """Frames behind a direction, joined by "and": "up on both the daily and the weekly"."""
        found: list[tuple[int, Any]] = []
        to = at + 1
        while self._kind(to) in {"filler", "and", "frame", "ask"} and to < len(self._chunks):
            if self._kind(to) == "frame" and self._chunks[to].value in {"daily", "weekly"}:
                found.append((to, self._chunks[to].value))
            to += 1
        return found

    def _past_plain(self, at: int) -> int:
        while at < len(self._chunks) and self._chunks[at].kind == "filler" and self._words[at] not in _PAYS:
            at += 1
        return at

    def _ranked(self, at: int) -> Found | None:
        """Part of a ranking: "in the top 10 by market cap", where more is asked of these coins."""
        value = self._chunks[at].as_("super")
        if value is None or value.measure is not None or self._kind(at + 1) != "number" or not at:
            return None
        before = self._words[at - 1].split()
        earlier = self._words[at - 2].split() if at > 1 else []
        if not _WITHIN & set(before + (earlier if before == ["the"] else [])):
            return None
        used = {at, at + 1}
        to = at + 2
        while to < len(self._chunks) and self._kind(to) in {"set", "filler", "category"} and self._words[to] != "by":
            if self._kind(to) == "set":
                used.add(to)
            to += 1
        measure = Measure("market_cap")
        if to < len(self._chunks) and self._words[to] == "by" and to + 1 < len(self._chunks):
            name = self._chunks[to + 1].as_("measure")
            if name is not None:
                measure = name
                used |= {to, to + 1}
        limit = int(self._chunks[at + 1].value.value)
        return Found(Ranked(measure, value.direction, limit), frozenset(used), at, max(used) + 1)

    def _comparative(self, at: int) -> Found | None:
        """Against a coin: "a higher 7-day return than BTC", "outperformed ETH this month", "more volume than SOL"."""
        value = self._chunks[at].as_("super")
        if value is None or (at and self._chunks[at - 1].kind == "number"):
            return None
        op: Comparator = "gt" if value.direction == "most" else "lt"
        than = next(
            (place for place in range(at + 1, min(at + 7, len(self._chunks))) if self._words[place] == "than"), None
        )
        if than is not None:
            to = self._past(than + 1)
            names = [place for place in range(at + 1, than) if self._chunks[place].as_("measure") is not None]
            if self._kind(to) not in {"coin", "number"} or (not names and value.measure is None):
                return None
            name = self._chunks[names[0]].as_("measure") if names else Measure(value.measure)
            used = {at, than, to, *names[:1]}
            measure, used, _ = self._qualified(name, used, names[0] if names else at)
            if self._kind(to) == "number":
                return Found(Test(measure, op, self._chunks[to].value.value), frozenset(used), at, to + 1)
            measure, used = self._later_span(measure, used, to + 1)
            return Found(Test(measure, op, coin=self._chunks[to].value[0]), frozenset(used), at, max(used) + 1)
        to = self._past(at + 1)
        if (
            value.measure == "change"
            and self._words[at].startswith(("outperform", "underperform", "beat"))
            and self._kind(to) == "coin"
        ):
            if any(self._kind(place) == "coin" for place in range(at)):
                return None
            measure, used = self._later_span(Measure("change"), {at, to}, to + 1)
            return Found(Test(measure, op, coin=self._chunks[to].value[0]), frozenset(used), at, max(used) + 1)
        return None

    def _later_span(self, measure: Measure, used: set[int], at: int) -> tuple[Measure, set[int]]:
        """A measure with the span that stands behind, if it has none."""
        at = self._past(at)
        if self._kind(at) in {"time", "frame"} and measure.over is None:
            measure, taken = qualify(measure, self._chunks[at])
            if taken:
                return measure, used | {at}
        return measure, used

    def _qualified(self, measure: Measure, used: set[int], at: int) -> tuple[Measure, set[int], int]:
        """A measure with the window or frame beside it: "7d change", "change over 7 days", "weekly trend"."""
        for beside in (at - 1, at - 2):
            if self._kind(beside) in {"time", "frame"} and all(
                self._kind(step) == "filler" for step in range(beside + 1, at)
            ):
                measure, taken = qualify(measure, self._chunks[beside])
                if taken:
                    used.add(beside)
                    break
        to = self._past(at + 1)
        for _ in range(2):
            if self._kind(to) in {"time", "frame"}:
                measure, taken = qualify(measure, self._chunks[to])
                if taken:
                    used.add(to)
                    to = self._past(to + 1)
            if self._kind(to) in {"coin", "asset", "category"}:
                behind = self._past(to + 1)
                level = (
                    measure.name == "confidence"
                    and behind < len(self._words)
                    and self._words[behind] in {"high", "low"}
                )
                if level or self._kind(behind) in {"compare", "sign", "state", "direction", "neg", "time", "frame"}:
                    to = behind
        return measure, used, to

    def _comparison(self, measure: Measure, at: int, used: set[int]) -> Found | None:
        chunk = self._chunks[at]
        op = chunk.as_("compare")
        if op == "between":
            return self._between(measure, at, used)
        if op is not None:
            to = self._past(at + 1)
            if self._kind(to) == "number":
                return self._tested(measure, op, to, used | {at})
            if self._kind(to) == "coin":
                return Found(
                    Test(measure, op, coin=self._chunks[to].value[0]), frozenset(used | {at, to}), min(used), to + 1
                )
            other = self._chunks[to].as_("measure") if to < len(self._chunks) else None
            if other is not None:
                return Found(Test(measure, op, to=other), frozenset(used | {at, to}), min(used), to + 1)
            return None
        sign = chunk.as_("sign")
        if sign is not None and measure.name not in _STATES:
            return Found(Test(measure, "gt" if sign > 0 else "lt", 0.0), frozenset(used | {at}), min(used), at + 1)
        if chunk.kind == "number" and self._or_more(at + 1):
            bound: Comparator = "ge" if self._or_more(at + 1) > 0 else "le"
            return Found(
                Test(measure, bound, chunk.value.value), frozenset(used | {at, at + 1, at + 2}), min(used), at + 3
            )
        return None

    def _or_more(self, at: int) -> int:
        """1 for "or more" after a number, -1 for "or less", else 0."""
        words = " ".join(self._words[at : at + 2])
        if words in {"or more", "or higher", "or above", "or greater", "or better", "or over"}:
            return 1
        return -1 if words in {"or less", "or lower", "or below", "or under", "or fewer"} else 0

    def _tested(self, measure: Measure, op: Comparator, at: int, used: set[int]) -> Found:
        return Found(Test(measure, op, self._chunks[at].value.value), frozenset(used | {at}), min(used), at + 1)

    def _between(self, measure: Measure, at: int, used: set[int]) -> Found | None:
        first = self._past(at + 1)
        joint = first + 1
        last = self._past(joint + 1)
        if self._kind(first) != "number" or self._kind(last) != "number":
            return None
        low, high = sorted((self._chunks[first].value.value, self._chunks[last].value.value))
        both = All((Test(measure, "ge", low), Test(measure, "le", high)))
        return Found(both, frozenset(used | set(range(at, last + 1))), min(used), last + 1)

    def _named_state(self, measure: Measure, at: int, used: set[int]) -> Found | None:
        state: State | None = self._chunks[at].as_("state")
        direction = self._chunks[at].as_("direction")
        if measure.name == "confidence" and self._words[at] in {"high", "low", "medium"}:
            return Found(Test(measure, "eq", self._words[at]), frozenset(used | {at}), min(used), at + 1)
        if measure.name == "trend" and direction is not None:
            test = Test(measure, "eq", "UP" if direction > 0 else "DOWN")
            return Found(test, frozenset(used | {at}), min(used), at + 1)
        if state is None or measure.name not in _STATES | {"score"}:
            return None
        if measure.name == "trend" and state.value in {"bull", "bear"}:
            test = Test(measure, "eq", "UP" if state.value == "bull" else "DOWN")
        elif state.value == "neutral" and measure.name in {"regime", "sentiment", "market_regime", "verdict"}:
            test = Test(measure, "eq", "neutral")
        else:
            test = Test(structs.replace(measure, name=state.measure), state.op, state.value)
        return Found(test, frozenset(used | {at}), min(used), at + 1)

    def _compared(self, at: int, before: Sequence[Found]) -> Found | None:
        """A comparison before its measure, or of what the condition before measured: "over 20 % funding"."""
        op = self._chunks[at].as_("compare")
        to = self._past(at + 1)
        if op is None or to >= len(self._chunks) or (self._kind(to) != "number" and op != "between"):
            return None
        if op == "between":
            last = next(
                (place for place in range(to + 1, min(to + 4, len(self._chunks))) if self._kind(place) == "number"),
                None,
            )
            if self._kind(to) != "number" or last is None:
                return None
        else:
            last = to
        after = self._past(last + 1)
        name = self._chunks[after].as_("measure") if after < len(self._chunks) else None
        direction = self._chunks[after].as_("direction") if after < len(self._chunks) else None
        frame = self._chunks[after] if self._kind(after) in {"time", "frame"} else None
        quantity: Quantity = self._chunks[to].value
        used = {at, to, last}
        if name is None and frame is not None and self._past(after + 1) < len(self._chunks):
            behind = self._past(after + 1)
            name = self._chunks[behind].as_("measure")
            if name is not None:
                used |= {after, behind}
                name, _ = qualify(name, frame)
                after = behind
        elif name is not None:
            used.add(after)
        if name is None and direction is not None:
            return self._directed(after, op=op, number=to, also=used)
        if (
            before
            and isinstance(before[-1].condition, Test)
            and before[-1].condition.coin is not None
            and at
            and self._words[at - 1] == "by"
        ):
            return None  # "beats BTC by more than …"
        falling = False
        if name is None and before and not self._between_words(before[-1].end, at):
            name = _measure_of(before[-1].condition)
            falling = (
                isinstance(before[-1].condition, Test)
                and before[-1].condition.op in {"lt", "le"}
                and isinstance(before[-1].condition.value, float)
                and before[-1].condition.value < 0
            )
            name = structs.replace(name, over=None) if name is not None and name.over is not None else name
            after = last
        if name is None:
            name = Measure("change") if quantity.unit == "%" else None
            if quantity.unit is None and (quantity.scaled or any(chunk.kind == "coin" for chunk in self._chunks)):
                name = Measure("price")
            if quantity.unit == "USD" and not quantity.scaled and quantity.value < _LARGE:
                name = Measure("price")
            after = last
        if name is None:
            return None
        measure, used, end = self._qualified(name, used, after)
        if op == "between":
            low, high = sorted((quantity.value, self._chunks[last].value.value))
            both = All((Test(measure, "ge", low), Test(measure, "le", high)))
            return Found(both, frozenset(used | set(range(to, last))), at, max(after + 1, max(used) + 1))
        del end
        if falling:
            return Found(Test(measure, _OPPOSITE[op], -quantity.value), frozenset(used), at, max(used) + 1)
        return Found(Test(measure, op, quantity.value), frozenset(used), at, max(used) + 1)

    def _between_words(self, start: int, end: int) -> bool:
        """Whether anything but joining words stands between."""
        return any(self._kind(place) not in {"and", "or", "filler"} for place in range(start, end))

    def _signed(self, at: int) -> Found | None:
        """A sign before its measure: "negative funding", "positive 7d return"."""
        sign = self._chunks[at].as_("sign")
        if sign is None:
            return None
        used = {at}
        to = self._past(at + 1)
        span_at = to
        if self._kind(to) in {"time", "frame"}:
            to = self._past(to + 1)
            if (to >= len(self._chunks) or self._chunks[to].as_("measure") is None) and (
                span := span_of(self._chunks[span_at].value) if self._kind(span_at) == "time" else None
            ):
                test = Test(Measure("change", over=span), "gt" if sign > 0 else "lt", 0.0)
                return Found(test, frozenset({at, span_at}), at, span_at + 1)
        name = self._chunks[to].as_("measure") if to < len(self._chunks) else None
        if name is None or name.name in _STATES - {"sentiment"}:
            return None
        used.add(to)
        measure, used, _ = self._qualified(name, used, to)
        return Found(Test(measure, "gt" if sign > 0 else "lt", 0.0), frozenset(used), at, max(used) + 1)

    def _state(self, at: int, before: Sequence[Found]) -> Found | None:
        """A state by itself: "in a weekly uptrend", "risk-on", "flipped bullish this week"."""
        state: State | None = self._chunks[at].as_("state")
        if state is None:
            return None
        used = {at}
        measure = Measure(state.measure, frame=state.frame)
        frames = [place for place in range(max(0, at - 5), at) if self._kind(place) == "frame"]
        joined = (
            all(self._kind(place) in {"frame", "filler", "and"} for place in range(frames[0], at)) if frames else False
        )
        beside_frames = {self._chunks[place].value for place in frames} | ({measure.frame} if measure.frame else set())
        if state.measure == "trend" and joined and beside_frames == {"daily", "weekly"}:
            both = tuple(
                Test(structs.replace(measure, frame=frame), state.op, state.value) for frame in ("daily", "weekly")
            )
            return Found(All(both), frozenset({at, *range(frames[0], at)}), frames[0], at + 1)
        for beside in (at - 1, at + 1, at - 2):
            if self._kind(beside) == "frame" and state.measure == "trend" and measure.frame is None:
                frame = self._chunks[beside].value
                if frame in {"daily", "weekly"}:
                    measure = structs.replace(measure, frame=frame)
                    used.add(beside)
        after = self._past(at + 1)
        if after < len(self._chunks) and self._chunks[after].as_("measure") is not None:
            named: Measure = self._chunks[after].as_("measure")
            if named.name == state.measure:
                used.add(after)
            elif state.value == "neutral" and named.name in _STATES:
                measure = Measure(named.name)
                used.add(after)
        earlier = _measure_of(before[-1].condition) if before else None
        if (
            (measure.name, state.value) == ("verdict", "neutral")
            and earlier is not None
            and earlier.name in {"regime", "sentiment"}
        ):
            measure = Measure(earlier.name)
        end = max(used) + 1
        turned = next((place for place in range(max(0, at - 4), at) if _TURNED & set(self._words[place].split())), None)
        span_at = self._past(end)
        if (
            turned is not None
            and self._kind(span_at) == "time"
            and isinstance(self._chunks[span_at].value, Window | Between)
        ):
            used |= {turned, span_at}
            changed = Changed(measure, state.value if state.op == "eq" else state.value, self._chunks[span_at].value)
            return Found(changed, frozenset(used), at, span_at + 1)
        return Found(Test(measure, state.op, state.value), frozenset(used), at, end)

    def _directed(
        self, at: int, op: Comparator | None = None, number: int | None = None, also: set[int] | None = None
    ) -> Found | None:
        """Up or down: "up today", "down more than 5 % this week", "more than 5 % up", "daily up"."""
        direction = self._chunks[at].as_("direction")
        if direction is None:
            return None
        used = {at, *(also or ())}
        to = self._past(at + 1)
        if op is None and to < len(self._chunks) and self._chunks[to].as_("compare") is not None:
            behind = self._past(to + 1)
            if self._kind(behind) == "number" and self._chunks[behind].value.unit in {"%", None}:
                op, number = self._chunks[to].as_("compare"), behind
                used |= {to, behind}
                to = self._past(behind + 1)
        elif op is None and self._kind(to) == "number" and self._chunks[to].value.unit == "%":
            more = self._or_more(to + 1)
            op, number = ("le" if more < 0 else "ge"), to
            used.add(to)
            if more:
                used |= {to + 1, to + 2}
            to = self._past(max(used) + 1)
        if at and self._chunks[at - 1].has("super") and self._chunks[at - 1].as_("super").measure is None:
            return None
        frames = self._frames_after(at)
        if op is None and len({frame for _, frame in frames}) > 1:
            trends = tuple(
                Test(Measure("trend", frame=frame), "eq", "UP" if direction > 0 else "DOWN") for _, frame in frames
            )
            places = {place for place, _ in frames}
            return Found(All(trends), frozenset({at, *range(at, max(places) + 1)}), at, max(places) + 1)
        trend_at = next(
            (
                place
                for place in range(at + 1, min(at + 7, len(self._chunks)))
                if (m := self._chunks[place].as_("measure")) is not None and m.name == "trend"
            ),
            None,
        )
        if (
            op is None
            and trend_at is not None
            and not any(self._kind(place) in {"time", "number", "coin"} for place in range(at, trend_at))
        ):
            frame = next(
                (
                    self._chunks[place].value
                    for place in range(at, min(trend_at + 2, len(self._chunks)))
                    if self._kind(place) == "frame"
                ),
                None,
            )
            trend = Measure("trend", frame=frame if frame in {"daily", "weekly"} else None)
            direct = self._past(at + 1)
            taken = {at} | (
                {place for place in range(at, trend_at + 1) if self._kind(place) in {"frame", "measure"}}
                if direct >= trend_at - 1
                else set()
            )
            return Found(Test(trend, "eq", "UP" if direction > 0 else "DOWN"), frozenset(taken), at, max(taken) + 1)
        over: Span | None = None
        frame_at = next((place for place in (to, at - 1) if self._kind(place) in {"time", "frame"}), None)
        if frame_at is not None:
            chunk = self._chunks[frame_at]
            if chunk.kind == "frame" and op is None and chunk.value in {"daily", "weekly"}:
                test = Test(Measure("trend", frame=chunk.value), "eq", "UP" if direction > 0 else "DOWN")
                return Found(test, frozenset(used | {frame_at}), min(at, frame_at), max(at, frame_at) + 1)
            over = _FRAMES[chunk.value] if chunk.kind == "frame" else span_of(chunk.value)
            if over is not None:
                used.add(frame_at)
        more_spans: list[Span] = []
        if over is not None and frame_at is not None and frame_at > at and number is None:
            following = frame_at + 1
            while self._kind(following) in {"and", "filler", "time"} and following < len(self._chunks):
                if self._kind(following) == "time":
                    behind = self._past(following + 1)
                    if behind < len(self._chunks) and self._chunks[behind].as_("measure") is not None:
                        break
                    if (span := span_of(self._chunks[following].value)) is None:
                        break
                    more_spans.append(span)
                    used.add(following)
                following += 1
        value = 0.0 if number is None else abs(self._chunks[number].value.value)
        comparator: Comparator = "gt" if op is None else op
        if direction < 0:
            value, comparator = -value if value else 0.0, _OPPOSITE[comparator]
        tests = tuple(Test(Measure("change", over=span), comparator, value) for span in (over, *more_spans))
        joined: Condition = tests[0] if len(tests) == 1 else All(tests)
        return Found(joined, frozenset(used), min(used), max(used) + 1)


def qualify(measure: Measure, chunk: Chunk) -> tuple[Measure, bool]:
    """A measure with a window or frame, and whether it takes it."""
    if chunk.kind == "frame":
        if measure.name == "trend" and chunk.value in {"daily", "weekly"}:
            return structs.replace(measure, frame=chunk.value), True
        if measure.name in WINDOWED and measure.over is None:
            return structs.replace(measure, over=_FRAMES[chunk.value]), True
        return measure, False
    if measure.over is None and (measure.name in WINDOWED or measure.name == "funding"):
        span = span_of(chunk.value)
        if span is not None and (measure.name != "funding" or isinstance(chunk.value, Window | Between)):
            return structs.replace(measure, over=span, mean=measure.name == "funding"), True
    return measure, False


def span_of(time: Time) -> Span | None:
    """A time as a span: a day is that day, an instant none."""
    if isinstance(time, Window | Between):
        return time
    if isinstance(time, At) and time.whole_day:
        return Between(time.at_ms, time.at_ms + 86_400_000, time.words)
    return None


def _measure_of(condition: Condition) -> Measure | None:
    if isinstance(condition, Test):
        return condition.measure
    return _measure_of(condition.item) if isinstance(condition, Not) else None


def join(found: Sequence[Found], ors: Sequence[bool]) -> Condition | None:
    """Join conditions: `ors[i]` says whether "or" stands before the i-th. "Or" binds less than "and"."""
    if not found:
        return None
    groups: list[list[Condition]] = [[]]
    for one, is_or in zip(found, ors, strict=True):
        if is_or and groups[-1]:
            groups.append([])
        groups[-1].append(one.condition)
    joined = [group[0] if len(group) == 1 else All(tuple(group)) for group in groups]
    return joined[0] if len(joined) == 1 else Any_(tuple(joined))


def test_of(condition: Condition) -> Test | None:
    """The one test of a condition; None of several."""
    if isinstance(condition, Not):
        return test_of(condition.item)
    return condition if isinstance(condition, Test) else None
