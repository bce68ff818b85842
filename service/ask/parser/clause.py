"""From the pieces of one clause to typed queries. Pure.

A clause is read in a fixed order: its conditions, who it is about, its operation, its measures, its time. Each step
marks the pieces it takes; what is left decides whether the clause can be answered.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.compose import compose
from service.ask.parser.conditions import find_conditions, join
from service.ask.parser.found import FoundCondition, test_of, tests_in
from service.ask.parser.market import of_days
from service.ask.parser.measures import read_measures, with_times
from service.ask.parser.money import read_money
from service.ask.parser.operations import read_operation
from service.ask.parser.rewrites import (
    mark_absolute,
    mark_closes,
    mark_drawdowns,
    mark_growth,
    mark_highest,
    mark_majority,
    mark_moved_more,
    mark_other,
    mark_other_changes,
    mark_position_costs,
    mark_rates,
    mark_ratios,
    mark_reached,
    merge_times,
    read_sides,
)
from service.ask.parser.segments import RANKED
from service.ask.parser.slots import PRESENT, Slots
from service.ask.parser.states import STATES
from service.ask.parser.subjects import read_subject
from service.ask.parser.topics import read_topic
from service.ask.parser.windows import over_span, span_of
from service.ask.query import (
    Aggregate,
    At,
    Between,
    Check,
    Compare,
    Condition,
    Extreme,
    Measure,
    Not,
    Now,
    Operation,
    Query,
    Rank,
    Ratio,
    Record,
    Test,
    Time,
    Value,
    When,
    Window,
)
from service.clock import DAY_MS, iso

_DAY_HOURS: Final = 24


def read_clause(chunks: Sequence[Chunk], words: Sequence[str]) -> tuple[list[Query], set[int]]:
    """Read a clause.

    Args:
        chunks: Its pieces.
        words: For each of them what is written, mended, lower case.

    Returns:
        Its queries, and the pieces that were used. No query where it asks for nothing.
    """
    slots = Slots(chunks, words, set())
    for reader in (read_money, read_topic, _read_query):
        queries = reader(slots)
        if queries:
            return queries, slots.used
    return [], slots.used


def _read_query(slots: Slots) -> list[Query]:
    mark_closes(slots)
    mark_drawdowns(slots)
    mark_growth(slots)
    mark_other_changes(slots)
    mark_majority(slots)
    mark_highest(slots)
    mark_reached(slots)
    mark_moved_more(slots)
    merge_times(slots)
    mark_rates(slots)
    mark_ratios(slots)
    mark_absolute(slots)
    found = _conditions(slots)
    for one in found:
        slots.used |= one.used
    mark_other(slots)
    subject = read_subject(slots)
    if subject.excluded:
        found = [_left_out(slots, one) for one in found]
    where = _over_last_span(slots, found, join(found, [slots.has_or(one.start) for one in found]))
    mark_position_costs(slots)
    read_sides(slots, subject)
    if len(subject.coins) > 1:
        slots.used |= set(slots.free(lambda chunk: chunk.as_("compare") == "between"))
    operation = read_operation(slots, subject, where)
    _imply_change(slots, operation, where)
    times = slots.free(lambda chunk: chunk.kind == "time")
    measures, time = with_times(slots, read_measures(slots), times, operation)
    if isinstance(operation, Record) and {test.measure.name for test in tests_in(where)} <= {"verdict"}:
        where = None
    query = Query(subject=subject, measures=measures, time=time, where=where, operation=operation)
    composed = compose(slots, of_days(slots, query))
    if _in_other_coin(slots, composed) or any(_is_untold(one) for one in composed):
        slots.used.clear()
        return []
    queries = [part for one in composed for part in _with_close(slots, one)]
    return [*_checked(slots, queries), *queries, *_opposite(slots, queries), *_other_times(slots, queries)]


def _in_other_coin(slots: Slots, queries: Sequence[Query]) -> bool:
    """Whether one coin is to be told in another: "ETH's return in BTC". Only a price is."""
    behind = (at for at, words in enumerate(slots.words) if words == "in" and slots.kind(at + 1) == "coin")
    other = next(behind, None)
    compared = any(
        isinstance(one.operation, Value | Compare | Extreme) and len(one.subject.coins) > 1 for one in queries
    )
    if other is None or not compared:
        return False
    first = next((at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"), other)
    return first < other and not any(
        slots.kind(at) in {"and", "or"} or slots.chunks[at].gap for at in range(first + 1, other)
    )


def _is_untold(query: Query) -> bool:
    """Whether a state is asked for that is not known: the trend of hours, the sum of trends."""
    names = {one.name for one in (*query.measures, *(test.measure for test in tests_in(query.where)))}
    hours = isinstance(query.time, Window) and query.time.unit == "h" and query.time.count < _DAY_HOURS
    summed = isinstance(query.operation, Aggregate) and any(one.name in STATES for one in query.measures)
    return summed or (hours and not STATES.isdisjoint(names))


def _over_last_span(slots: Slots, found: Sequence[FoundCondition], where: Condition | None) -> Condition | None:
    """The window behind a list of conditions is that of each: "change above 5 % and negative funding over 7 days"."""
    last = len(slots.chunks) - 1
    span = span_of(slots.chunks[last].value) if slots.kind(last) == "time" else None
    if where is None or span is None or last not in found[-1].used:
        return where
    return over_span(where, span)


def _imply_change(slots: Slots, operation: Operation, where: Condition | None) -> None:
    """The best and the worst are those by their change where a measure is only told beside it: "and its funding"."""
    first = next((at for at, chunk in enumerate(slots.chunks) if chunk.has("super")), None)
    named = [at for at in slots.free(lambda chunk: chunk.has("measure")) if slots.measure(at) is not None]
    if first is None or not named or where is not None or not isinstance(operation, Rank):
        return
    if all(slots.adds(first, at) for at in named):
        slots.read_as(first, Measure("change"))


def _with_close(slots: Slots, query: Query) -> list[Query]:
    """What stands beside a high, low or change of a past day is of that day: "yesterday's high, volume and close".

    Of a longer time only the close is told, at its end: it has many prices, verdicts and so on.
    """
    spans = {one.over for one in query.measures if isinstance(one.over, Between) and one.over.end_ms is not None}
    others = tuple(one for one in query.measures if one.over is None)
    if len(spans) != 1 or not others or not isinstance(query.operation, Value) or query.time != Now():
        return [query]
    span = spans.pop()
    if _says_now(slots) or span.end_ms is None:
        return [query]
    day_ms, closes = span.end_ms - DAY_MS, any("clos" in words or words == "ohlc" for words in slots.words)
    if day_ms != span.start_ms and not (closes and others == (Measure("price"),)):
        slots.used.clear()
        return []
    day = At(day_ms, whole_day=True, words=span.words if day_ms == span.start_ms else iso(day_ms)[:10])
    return [
        structs.replace(query, measures=tuple(one for one in query.measures if one.over is not None)),
        structs.replace(query, measures=others, time=day),
    ]


def _says_now(slots: Slots) -> bool:
    return any(
        words.startswith("current") or words.endswith("at the moment") or words in PRESENT for words in slots.words[1:]
    )


def _left_out(slots: Slots, found: FoundCondition) -> FoundCondition:
    """A condition that stands after "or" behind what is left out is left out, too: "not BTC, ETH or any below 5 %"."""
    at = found.start - 1
    while slots.kind(at) == "filler" or slots.word(at).startswith(("any", "with")):
        at -= 1
    if slots.kind(at) != "or" or slots.kind(at - 1) not in {"coin", "category"}:
        return found
    slots.used.add(at)
    return found._replace(condition=Not(found.condition))


def _checked(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """Of "is it in an uptrend, since when?" yes or no is asked first."""
    since = [query for query in queries if query.where is not None and query.operation == When("since")]
    return [structs.replace(query, operation=Check()) for query in since] if slots.is_question() else []


def _other_times(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """The same at other times: "price 7 days ago vs today", "last week, last month, today"."""
    if len(queries) != 1 or not isinstance(queries[0].operation, Value | Check | Compare | Ratio):
        return []
    now = _says_now(slots)
    means = [one for one in queries[0].measures if one.mean]
    if means and now:
        present = (structs.replace(one, over=None, mean=False) for one in means)
        return [structs.replace(queries[0], measures=tuple(dict.fromkeys(present)), time=Now())]
    if isinstance(queries[0].time, Now):
        return []
    rest = slots.free(lambda chunk: chunk.kind == "time")
    past = isinstance(queries[0].time, At) and not isinstance(queries[0].operation, Check)
    if not rest and not (now and (slots.asks("compare") or past)):
        return []
    slots.used |= set(rest)
    slots.take_asks("compare")
    values = [slots.chunks[at].value for at in rest]
    times: list[Time] = [Now() if getattr(value, "words", "") == "today" else value for value in values]
    times += [Now()] if now and Now() not in times else []
    return [structs.replace(queries[0], time=time) for time in times]


def _has_own(slots: Slots, at: int) -> bool:
    """Whether something is ranked on both sides of a superlative: "highest volume and lowest funding among L1s"."""
    named = [place for place, chunk in enumerate(slots.chunks) if chunk.kind in RANKED and chunk.words]
    return any(place < at for place in named) and any(place > at for place in named)


def _opposite(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """The same from the other end: "the best and the worst", "biggest movers"."""
    if len(queries) != 1 or not isinstance(queries[0].operation, Rank | Extreme | Compare):
        return []
    operation = queries[0].operation
    rest = slots.free(lambda chunk: (value := chunk.as_("super")) is not None and not value.orders)
    rest = [at for at in rest if slots.word(at + 1) != "first"]
    if not rest and not slots.both:
        return []
    if rest:
        before = range(1, rest[0] + 1)
        joins = (slots.kind(at) in {"and", "or"} and slots.word(at) != "with" for at in before)
        joined = any(joins) or any("," in slots.chunks[at].gap for at in before)
        if not joined or (isinstance(operation, Rank) and _has_own(slots, rest[0])):
            return []
        slots.used.add(rest[0])
        if slots.word(rest[0] - 1) == "to":
            return []  # "from cheapest to most expensive": an order
    if isinstance(operation, Extreme):
        return [structs.replace(queries[0], operation=Extreme("min" if operation.which == "max" else "max"))]
    turned = structs.replace(operation, direction="least" if operation.direction == "most" else "most")
    return [structs.replace(queries[0], operation=turned)]


def _conditions(slots: Slots) -> list[FoundCondition]:
    """The conditions of a clause, without those whose value is asked for."""
    found = find_conditions(slots)
    named = any(chunk.kind in {"coin", "asset"} for chunk in slots.chunks)
    several = any(chunk.kind in {"set", "category"} for chunk in slots.chunks)
    if any(chunk.kind == "set" and chunk.value == "market" for chunk in slots.chunks):
        regimes = {test.measure.name for one in found for test in tests_in(one.condition)} == {"regime"}
        named, several = named or regimes, several and not regimes  # "is the market risk-on or risk-off?"
    how_much = any(words.startswith("how much") for words in slots.words)
    if several or not (named or how_much):
        return found
    if len(found) > 1 and any(slots.has_or(one.start) for one in found[1:]):
        tests = [test for one in found if (test := test_of(one.condition)) is not None]
        names = {test.measure.name for test in tests}
        if len(tests) == len(found) and (len(names) == 1 or _are_trends(slots, tests)):
            _ask_alternative(slots, found, tests)
            return []
    filters = any(words.startswith("which of") for words in slots.words)
    asked = slots.asks("list", "why") and not (filters or slots.is_question())
    asked = asked and not slots.asks("count", "share", "when", "since")
    return [one for one in found if not (asked and _ask_change(slots, one))]


def _are_trends(slots: Slots, tests: Sequence[Test]) -> bool:
    """Whether "up or down" is said of a trend."""
    said = any(test.measure.frame for test in tests) or any("trend" in words.split() for words in slots.words)
    plain = all(test.value in {"UP", "DOWN", 0.0} and not test.measure.over for test in tests)
    return said and plain and {test.measure.name for test in tests} == {"trend", "change"}


def _ask_alternative(slots: Slots, found: Sequence[FoundCondition], tests: Sequence[Test]) -> None:
    """Of "bullish or bearish", "up or down" the value is asked for."""
    said = (test.measure for test in tests if test.measure.over is not None or test.measure.name == "trend")
    measure = next(said, tests[0].measure)
    slots.used |= {at for one in found for at in one.used}
    slots.read_as(found[0].start, measure)


def _ask_change(slots: Slots, found: FoundCondition) -> bool:
    """Of "how much is SOL up this week" the change is asked for; whether it is one."""
    test = found.condition
    if not isinstance(test, Test) or test.measure.name != "change" or test.value != 0.0:
        return False
    slots.used |= found.used
    slots.read_as(found.start, test.measure)
    return True
