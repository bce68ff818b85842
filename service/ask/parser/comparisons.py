"""Comparisons with a number, another measure, an earlier price or another coin. Pure.

Each reader tries one form at a chunk: `(slots, at, conditions before it)` to a condition, or None.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.measure_table import MEASURES, Unit
from service.ask.parser.chunks import Quantity
from service.ask.parser.condition_tree import OPPOSITE, FoundCondition, measure_of, test_of, tests_in
from service.ask.parser.slots import Slots
from service.ask.parser.states import PAYS, STATES, frames_before, more_spans, moved_between, moved_by, named_state
from service.ask.parser.windows import TREND_FRAMES, WINDOWED, qualify, span_of, span_since

_NEAR: Final = 7
"""How many chunks a comparison and what it compares with may lie apart."""

_NO_PRICE: Final = 1e6
"""Amounts above this are never the price of a coin."""

_DAILY: Final = frozenset({"daily", "24h", "24 hour", "24 hours", "1d", "1 day"})
"""Words that add nothing before the volume, which is always that of a day."""

_WITHIN: Final = frozenset({
    "in", "of", "on", "among", "from", "for", "within", "amongst", "except", "excluding", "outside", "besides",
    "without",
})  # fmt: skip
_SIZES: Final = frozenset({"biggest", "largest", "smallest"})
_ASKED: Final = frozenset({"count", "share", "any", "all", "none"})
_OTHERS: Final = frozenset({"other", "others", "rest", "altcoins", "alts"})
_UNITS: Final = frozenset({"hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years"})
_DOES: Final = ("better", "stronger", "worse", "weaker")
_BEATS: Final = ("outperform", "underperform", "beat")
_NOT_OF: Final[Mapping[str | None, frozenset[Unit]]] = {
    "%": frozenset({Unit.USD}),
    "USD": frozenset({Unit.PERCENT, Unit.PERCENT_A_YEAR, Unit.SPREAD, Unit.SHARE, Unit.POINTS}),
}
"""Units of measures that a number with a unit is never one of."""


def measured(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A measure, and how it compares: "funding is above 20 %", "trend is up", "verdict neutral"."""
    del before
    name = slots.as_(at, "measure")
    if name is None:
        return None
    measure, used, to = qualified(slots, name, at)
    negated = slots.has(to, "neg") or slots.has(to, "except")
    if negated:
        used.add(to)
        to = slots.past(to + 1)
    read = _comparison(slots, measure, to) or named_state(slots, measure, to)
    if read is None:
        return None
    condition, taken = read
    if isinstance(condition, q.Test) and measure.over is None and measure.name in WINDOWED:
        condition, taken = _spanned(slots, condition, taken)
    if (frames := frames_before(slots, at)) and isinstance(condition, q.Test) and condition.measure.name == "trend":
        both = (structs.replace(condition, measure=structs.replace(measure, frame=one)) for one in TREND_FRAMES)
        condition, taken = q.All(tuple(both)), taken | frames
    return FoundCondition(q.Not(condition) if negated else condition, frozenset(used | taken))


def _spanned(slots: Slots, test: q.Test, taken: set[int]) -> tuple[q.Test, set[int]]:
    """A test with the window behind its number, unless that belongs to a measure: "change above 5 % over 7 days"."""
    at = slots.past(max(taken) + 1)
    if slots.kind(at) != "time" or slots.chunks[at].gap or slots.as_(slots.past(at + 1), "measure") is not None:
        return test, taken
    measure, later = _later_span(slots, test.measure, at)
    return structs.replace(test, measure=measure), taken | later


def _comparison(slots: Slots, measure: q.Measure, at: int) -> tuple[q.Condition, set[int]] | None:
    op, sign = slots.as_(at, "compare"), slots.as_(at, "sign")
    if op is not None:
        return _between(slots, measure, at) if op == "between" else _against(slots, measure, op, at)
    if sign is not None and measure.name not in STATES:
        return q.Test(measure, "gt" if sign > 0 else "lt", 0.0), {at}
    bound = slots.or_more(at + 1)
    if slots.kind(at) == "number" and bound:
        return _tested(measure, "ge" if bound > 0 else "le", slots.chunks[at].value, {at, at + 1, at + 2})
    return None


def _against(slots: Slots, measure: q.Measure, op: q.Comparator, at: int) -> tuple[q.Condition, set[int]] | None:
    """With a number, a coin, or another measure of the same coin."""
    to = slots.past(at + 1)
    if slots.word(to) == "zero":
        return _tested(measure, op, Quantity(0.0, None), {at, to})
    if slots.kind(to) == "number":
        counts = slots.word(to + 1) in _UNITS or slots.word(to - 1) == "last"  # "over 9000 days" is no comparison
        return None if counts else _tested(measure, op, slots.chunks[to].value, {at, to})
    if (total := _total(slots, at + 1)) is not None:
        return q.Test(measure, op, total=total[0]), {at, *total[1]}
    if slots.kind(to) == "coin" and not slots.chunks[to].gap:
        measure = q.Measure("score") if measure.name == "verdict" else measure  # "rated better than SOL"
        return _against_coins(slots, q.Test(measure, op), at, to)
    other = slots.as_(to, "measure")
    named = any(chunk.kind in {"coin", "asset"} for chunk in slots.chunks)
    if other is None or (slots.word(at) == "over" and named and not slots.is_question()):
        return None  # "open interest over market cap" of a coin is a ratio
    return q.Test(measure, op, to=other), {at, to}


def _total(slots: Slots, at: int) -> tuple[q.Subject, set[int]] | None:
    """Coins that are taken together: "all others combined", "XRP's and DOGE's put together"."""
    end = next((place for place in slots.asks("sum") if place > at), None)
    if end is None or not slots.are(range(at, end), "coin", "set", "filler", "and"):
        return None
    used = set(range(at, end + 1))
    coins = tuple(coin for place in range(at, end) if slots.kind(place) == "coin" for coin in slots.chunks[place].value)
    own = next((chunk.value for chunk in slots.chunks[:at] if chunk.kind == "coin"), ())
    others = any(not _OTHERS.isdisjoint(slots.word(place).split()) for place in range(at, end))
    if coins:
        return q.Subject(coins=coins), used
    return (q.Subject(scope="all", excluded=tuple(own)), used) if others and own else None


def _against_coins(slots: Slots, test: q.Test, at: int, to: int) -> tuple[q.Condition, set[int]] | None:
    """With one coin or each of several: "above that of BTC and ETH"; None for one of several."""
    tests, used = [structs.replace(test, coin=slots.chunks[to].value[0])], {at, to}
    while slots.kind(to + 1) in {"and", "or", "coin"}:
        to += 1
        if slots.kind(to) == "or" and slots.kind(to + 1) == "coin":
            return None
        if slots.kind(to) == "coin":
            tests.append(structs.replace(test, coin=slots.chunks[to].value[0]))
            used.add(to)
    return _all(tests), used


def _tested(
    measure: q.Measure, op: q.Comparator, quantity: Quantity, used: set[int]
) -> tuple[q.Condition, set[int]] | None:
    if measure.name in STATES:
        return None
    if MEASURES[measure.name].unit in _NOT_OF.get(quantity.unit, frozenset()):
        return None
    if measure.name == "price" and quantity.value > _NO_PRICE:
        return None  # "worth more than 2 billion dollars"
    if measure.name == "drawdown" and quantity.value > 0:
        return q.Test(measure, OPPOSITE[op], -quantity.value), used  # "a drawdown of more than 20 %"
    return q.Test(measure, op, quantity.value), used


def _between(slots: Slots, measure: q.Measure, at: int) -> tuple[q.Condition, set[int]] | None:
    first = slots.past(at + 1)
    last = slots.past(first + 2)
    if slots.kind(first) != "number" or slots.kind(last) != "number":
        return None
    low, high = sorted((slots.chunks[first].value.value, slots.chunks[last].value.value))
    return q.All((q.Test(measure, "ge", low), q.Test(measure, "le", high))), set(range(at, last + 1))


def compared(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A comparison written before its measure: "over 20 % funding"; without one, of the condition before it."""
    op = slots.as_(at, "compare")
    number = slots.past(at + 1)
    last = slots.past(number + 2) if op == "between" else number
    so_many = slots.word(last + 1) == "of" and slots.kind(slots.past(last + 1)) == "coin"  # "two of BTC, ETH and SOL"
    if op is None or so_many or slots.kind(number) != "number" or slots.kind(last) != "number":
        return None
    after = slots.past(last + 1)
    measure, used = _measure_after(slots, after)
    if measure is None and slots.as_(after, "direction") is not None:
        among = op == "between"
        return moved_between(slots, after, number, at) if among else moved_by(slots, after, op, number, {at, number})
    earlier = test_of(before[-1].condition) if before else None
    if earlier is not None and earlier.coin is not None and slots.word(at - 1) == "by":
        return None  # "beats BTC by more than …"
    falls = False
    taken_before = before[-1].used if before else frozenset()
    if measure is None and slots.as_(at - 1, "measure") is not None and at - 1 not in taken_before:
        return None  # "volume above 20 %": of the measure beside it that is not so
    if measure is None:
        measure = _measure_before(slots, before, at)
        falls = measure is not None and earlier is not None and _is_fall(earlier)
        measure = measure or _implied(slots, slots.chunks[number].value)
        measure, used = _qualified_after(slots, measure, last)
    read = None if measure is None else _comparison(slots, measure, at)
    if measure is None or read is None:
        return None
    condition, taken = read
    if falls:
        condition = q.Test(measure, OPPOSITE[op], -slots.chunks[number].value.value)
    return FoundCondition(condition, frozenset(used | taken))


def _qualified_after(slots: Slots, measure: q.Measure | None, number: int) -> tuple[q.Measure | None, set[int]]:
    """A measure that is not written, with the window behind the number, else with its own."""
    if measure is None or measure.name == "funding":
        return measure, set()
    later, used, _ = qualified(slots, structs.replace(measure, over=None), number)
    return measure if later.over is None else later, used


def _measure_after(slots: Slots, at: int) -> tuple[q.Measure | None, set[int]]:
    """The measure at a chunk, or behind the window at it: "over 20 % funding", "above 5 % 7-day return"."""
    behind = slots.past(at + 1)
    if slots.kind(at) in {"time", "frame"} and (name := slots.as_(behind, "measure")) is not None:
        measure, taken = qualify(name, slots.chunks[at])
        return measure, {at, behind} if taken or slots.word(at) in _DAILY else {behind}
    name = slots.as_(at, "measure")
    if name is None:
        return None, set()
    measure, used, _ = qualified(slots, name, at)
    return measure, used


def _measure_before(slots: Slots, before: Sequence[FoundCondition], at: int) -> q.Measure | None:
    """What the condition just before measures, where only joining words stand between."""
    if not before or any(slots.kind(place) not in {"and", "or", "filler"} for place in range(before[-1].end, at)):
        return None
    return measure_of(before[-1].condition)


def _is_fall(test: q.Test) -> bool:
    return test.op in {"lt", "le"} and isinstance(test.value, float) and test.value < 0


def _implied(slots: Slots, quantity: Quantity) -> q.Measure | None:
    """What a number without a measure is compared with: a percentage the change, an amount of a coin its price."""
    if quantity.unit == "%":
        if PAYS.isdisjoint(slots.words):
            return q.Measure("change")
        shorts = any(chunk.as_("side") == "short" for chunk in slots.chunks)
        return None if shorts else q.Measure("funding")  # "longs pay above 20 %"
    named = any(chunk.kind == "coin" for chunk in slots.chunks)
    if quantity.unit is None and (quantity.scaled or named):
        return q.Measure("price")
    if quantity.unit == "USD" and not quantity.scaled and quantity.value < _NO_PRICE:
        return q.Measure("price")
    return None


def signed(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """A sign before its measure: "negative funding", "positive 7d return"."""
    del before
    sign = slots.as_(at, "sign")
    if sign is None or slots.word(at - 1) in {"most", "least"}:
        return None  # "the most negative" is a superlative
    op: q.Comparator = "gt" if sign > 0 else "lt"
    window = slots.past(at + 1)
    timed = slots.kind(window) in {"time", "frame"}
    to = slots.past(window + 1) if timed else window
    name = slots.as_(to, "measure")
    if name is None and slots.kind(window) == "time" and (span := span_of(slots.chunks[window].value)):
        return FoundCondition(q.Test(q.Measure("change", over=span), op, 0.0), frozenset({at, window}))
    if name is None or name.name in STATES - {"sentiment"}:
        return None
    measure, used, _ = qualified(slots, name, to)
    return FoundCondition(q.Test(measure, op, 0.0), frozenset(used | {at}))


def earlier_price(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """Against an earlier price: "below their price of 30 days ago", "above where they were a week ago"."""
    del before
    op = slots.as_(at, "compare")
    to = slots.near(at, lambda place: slots.kind(place) == "time", _NEAR)
    if op not in {"gt", "lt"} or to is None or not isinstance(slots.chunks[to].value, q.At):
        return None
    between = set(" ".join(slots.words[at + 1 : to]).split())
    numbers = any(slots.kind(place) == "number" for place in range(at + 1, to))
    others = any((one := slots.as_(place, "measure")) and one.name != "price" for place in range(at + 1, to))
    if numbers or others or not between & {"its", "their", "where", "price", "level", "was", "were"}:
        return None
    over = span_since(slots.chunks[to].value)
    named = {place for place in range(at, to) if slots.as_(place, "measure") is not None}
    return FoundCondition(q.Test(q.Measure("change", over=over), op, 0.0), frozenset({at, to} | named))


def part_of_ranking(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """Part of a ranking, where more is asked of it: "in the top 10 by volume", "trend of the 5 with most funding"."""
    del before
    value = slots.as_(at, "super")
    if value is None or value.measure is not None:
        return None
    number = _how_many(slots, at)
    if number is None and (slots.word(at) not in _SIZES or not any(one.has("measure") for one in slots.chunks[:at])):
        return None
    begins = at if number is None else min(at, number)
    lead = slots.word(begins - 2).split() if slots.word(begins - 1) == "the" else []
    if not begins or not _WITHIN & {*slots.word(begins - 1).split(), *lead}:
        return None
    used = {at} if number is None else {at, number}
    used |= {place for place in range(begins, at) if slots.kind(place) == "set"}
    to = max(used) + 1
    while slots.kind(to) in {"set", "filler", "category"} and slots.word(to) != "by":
        if slots.kind(to) == "set":
            used.add(to)
        to += 1
    measure = q.Measure("change" if begins < at and slots.word(at) not in _SIZES else "market_cap")
    beside = to == at + 1 and slots.measure(to) is not None
    if beside or (slots.word(to) == "by" and slots.measure(to + 1) is not None):
        name = to if beside else to + 1
        measure = slots.as_(name, "measure")
        used |= {to, name}
    limit = 1 if number is None else int(slots.chunks[number].value.value)
    own = any(slots.kind(place) == "category" for place in range(begins, to))
    return FoundCondition(q.Ranked(measure, value.direction, limit, own), frozenset(used))


def _how_many(slots: Slots, at: int) -> int | None:
    """The number of a superlative: behind it, or before it where something is asked of what it counts."""
    if slots.kind(at + 1) == "number":
        return at + 1
    number = at - 1
    while number > 0 and (slots.kind(number) in {"set", "filler", "category"} or slots.word(number) == "with"):
        number -= 1
    asked = any(chunk.has("measure") or chunk.as_("ask") in _ASKED for chunk in slots.chunks[:number])
    asked = asked or any(chunk.has("super") for chunk in slots.chunks[at + 1 :])
    return number if slots.kind(number) == "number" and asked else None


def than_a_coin(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    """Against a coin: "a higher 7-day return than BTC", "outperformed ETH this month", "more volume than SOL"."""
    del before
    value = slots.as_(at, "super")
    plain = slots.word(at).startswith(_DOES) and slots.first("measure") is None
    does: q.Comparator | None = slots.as_(at, "compare") if plain else None  # "did BTC do better than ETH?"
    if does is None and (value is None or slots.kind(at - 1) == "number"):
        return None
    op: q.Comparator = does or ("gt" if value.direction == "most" else "lt")
    than = slots.near(at, lambda place: slots.word(place) == "than", _NEAR)
    if than is not None and does is None:
        return _than(slots, at, than, op, value.measure)
    to = slots.past(at + 1)
    beats = does is None and value.measure == "change" and slots.word(at).startswith(_BEATS)
    beats = beats and not any(slots.kind(place) == "coin" for place in range(at))
    if slots.kind(to) != "coin" or not (beats or does):
        return None
    behind = slots.past(to + 1)
    measure, used = _later_span(slots, q.Measure("change"), behind + (slots.word(behind) == "both"))
    tests = [q.Test(measure, op, coin=slots.chunks[to].value[0])]
    for behind, span in more_spans(slots, max(used) + 1) if used else ():
        tests.append(structs.replace(tests[0], measure=structs.replace(measure, over=span)))
        used.add(behind)
    return FoundCondition(_all(tests), frozenset(used | {at, to}))


def _than(slots: Slots, at: int, than: int, op: q.Comparator, implied: str | None) -> FoundCondition | None:
    to = slots.past(than + 1)
    named = slots.near(at, lambda place: slots.as_(place, "measure") is not None, than - at)
    if slots.kind(to) not in {"coin", "number"} or (named is None and implied is None):
        return None
    name = q.Measure(str(implied)) if named is None else slots.as_(named, "measure")
    measure, used, _ = qualified(slots, name, at if named is None else named)
    used |= {at, than, to}
    if slots.kind(to) == "number":
        return FoundCondition(q.Test(measure, op, slots.chunks[to].value.value), frozenset(used))
    against = _against_coins(slots, q.Test(measure, op), than, to)
    if against is None:
        return None
    condition, coins = against
    measure, later = _later_span(slots, measure, max(coins) + 1)
    tests = (structs.replace(test, measure=measure) for test in tests_in(condition))
    return FoundCondition(condition if not later else _all(tests), frozenset(used | coins | later))


def _all(tests: Iterable[q.Test]) -> q.Condition:
    first, *others = tests
    return q.All((first, *others)) if others else first


def _later_span(slots: Slots, measure: q.Measure, at: int) -> tuple[q.Measure, set[int]]:
    """A measure with the span that stands behind, if it has none."""
    at = slots.past(at)
    if slots.kind(at) in {"time", "frame"} and measure.over is None:
        measure, taken = qualify(measure, slots.chunks[at])
        return measure, {at} if taken else set()
    return measure, set()


def qualified(slots: Slots, measure: q.Measure, at: int) -> tuple[q.Measure, set[int], int]:
    """A measure with the window or frame beside it ("7d change", "change over 7 days"); its chunks; what follows."""
    used = {at}
    for beside in (at - 1, at - 2):
        if slots.kind(beside) in {"time", "frame"} and slots.are(range(beside + 1, at), "filler"):
            measure, taken = qualify(measure, slots.chunks[beside])
            if taken:
                used.add(beside)
                break
    to = slots.past(at + 1)
    for _ in range(2):
        if slots.kind(to) in {"time", "frame"}:
            measure, taken = qualify(measure, slots.chunks[to])
            if taken:
                used.add(to)
                to = slots.past(to + 1)
        if slots.kind(to) in {"coin", "asset", "category"}:
            behind = slots.past(to + 1)
            level = measure.name == "confidence" and slots.word(behind) in {"high", "low"}
            if level or slots.kind(behind) in {"compare", "sign", "state", "direction", "neg", "time", "frame"}:
                to = behind
    return measure, used, to
