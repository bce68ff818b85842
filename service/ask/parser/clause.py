"""From the pieces of one clause to typed queries. Pure.

A clause is read in a fixed order: its conditions, who it is about, its operation, its measures, its time. Each step
marks the pieces it takes; what is left decides whether the clause can be answered.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask import query as q
from service.ask.parser.chunks import RANKED, Chunk
from service.ask.parser.compose import compose
from service.ask.parser.condition_tree import FoundCondition, test_of, tests_in
from service.ask.parser.conditions import find_conditions, join
from service.ask.parser.market import of_days
from service.ask.parser.measures import read_measures, with_times
from service.ask.parser.money import read_money
from service.ask.parser.operations import read_operation
from service.ask.parser.rewrites import REWRITES, THAN, mark_other, mark_position_costs, read_sides
from service.ask.parser.slots import PRESENT, Slots, read_subject
from service.ask.parser.states import STATES
from service.ask.parser.topics import read_topic
from service.ask.parser.windows import over_span, span_of, span_since
from service.clock import DAY_MS, iso

_DAY_HOURS: Final = 24
_COINS: Final = frozenset({"coin", "coins", "token", "tokens"})


def read_clause(chunks: Sequence[Chunk], words: Sequence[str]) -> tuple[list[q.Query], set[int]]:
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


def _read_query(slots: Slots) -> list[q.Query]:
    for rewrite in REWRITES:
        rewrite(slots)
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
    if isinstance(operation, q.Record) and {test.measure.name for test in tests_in(where)} <= {"verdict"}:
        where = None
    query = q.Query(subject=subject, measures=measures, time=time, where=where, operation=operation)
    composed = compose(slots, of_days(slots, query))
    if _in_other_coin(slots, composed) or any(_is_untold(one) or _drops_set(slots, one) for one in composed):
        slots.used.clear()
        return []
    queries = [part for one in composed for part in _with_close(slots, one)]
    read = [*_checked(slots, queries), *queries, *_opposite(slots, queries), *_other_times(slots, queries)]
    return [_checked_over(query) for query in read]


def _checked_over(query: q.Query) -> q.Query:
    """A check of changes over a window tests the changes over this window."""
    if not isinstance(query.operation, q.Check) or not isinstance(query.time, q.Window) or query.where is None:
        return query
    if {test.measure for test in tests_in(query.where)} != {q.Measure("change")}:
        return query
    return structs.replace(query, where=over_span(query.where, query.time), time=q.Now())


def _in_other_coin(slots: Slots, queries: Sequence[q.Query]) -> bool:
    """Whether one coin is to be told in another: "ETH's return in BTC". Only a price is."""
    behind = (at for at, words in enumerate(slots.words) if words == "in" and slots.kind(at + 1) == "coin")
    other = next(behind, None)
    compared = any(
        isinstance(one.operation, q.Value | q.Compare | q.Extreme) and len(one.subject.coins) > 1 for one in queries
    )
    if other is None or not compared:
        return False
    first = next((at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"), other)
    return first < other and not any(
        slots.kind(at) in {"and", "or"} or slots.chunks[at].gap for at in range(first + 1, other)
    )


def _is_untold(query: q.Query) -> bool:
    """Whether a state is asked for that is not known: the trend of hours, the sum of trends."""
    names = {one.name for one in (*query.measures, *(test.measure for test in tests_in(query.where)))}
    hours = isinstance(query.time, q.Window) and query.time.unit == "h" and query.time.count < _DAY_HOURS
    summed = isinstance(query.operation, q.Aggregate) and any(one.name in STATES for one in query.measures)
    return summed or (hours and not STATES.isdisjoint(names))


def _drops_set(slots: Slots, query: q.Query) -> bool:
    """Whether a category is named beside coins that are not its members: "verdict of ARB and of memes"."""
    if query.subject.scope != "coins" or isinstance(query.operation, q.Position):
        return False
    sets = [at for at, words in enumerate(slots.words) if not _COINS.isdisjoint(words.split())]
    named = {*query.subject.coins}
    coins = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin" and named.intersection(chunk.value)]
    if sets and coins and any(slots.has(at, "direction") or slots.has(at, "state") for at in range(sets[0], coins[0])):
        return True  # "which coins fell while BTC rose"
    if not query.subject.categories:
        return False
    for at, chunk in enumerate(slots.chunks):
        to = at + 1
        while slots.kind(to) in {"filler", "set"}:
            to += 1
        if chunk.kind == "category" and (slots.kind(to) != "coin" or slots.chunks[to].gap not in {"", ":", "("}):
            return True  # in "privacy coins ZEC and XMR" the category only says what the coins are
    return False


def _over_last_span(slots: Slots, found: Sequence[FoundCondition], where: q.Condition | None) -> q.Condition | None:
    """The window behind a list of conditions is that of each: "change above 5 % and negative funding over 7 days"."""
    last = len(slots.chunks) - 1
    span = span_of(slots.chunks[last].value) if slots.kind(last) == "time" else None
    if where is None or span is None or last not in found[-1].used:
        return where
    return over_span(where, span)


def _imply_change(slots: Slots, operation: q.Operation, where: q.Condition | None) -> None:
    """The best and the worst are those by their change where a measure is only told beside it: "and its funding"."""
    first = next((at for at, chunk in enumerate(slots.chunks) if chunk.has("super")), None)
    named = [at for at in slots.free(lambda chunk: chunk.has("measure")) if slots.measure(at) is not None]
    if first is None or not named or where is not None or not isinstance(operation, q.Rank):
        return
    if all(slots.adds(first, at) for at in named):
        slots.read_as(first, q.Measure("change"))


def _with_close(slots: Slots, query: q.Query) -> list[q.Query]:
    """What stands beside a high, low or change of a past day is of that day: "yesterday's high, volume and close".

    Of a longer time only the close is told, at its end: it has many prices, verdicts and so on.
    """
    spans = {one.over for one in query.measures if isinstance(one.over, q.Between) and one.over.end_ms is not None}
    others = tuple(one for one in query.measures if one.over is None)
    if len(spans) != 1 or not others or not isinstance(query.operation, q.Value) or query.time != q.Now():
        return [query]
    span = spans.pop()
    if _says_now(slots) or span.end_ms is None:
        return [query]
    day_ms, closes = span.end_ms - DAY_MS, any("clos" in words or words == "ohlc" for words in slots.words)
    if day_ms != span.start_ms and not (closes and others == (q.Measure("price"),)):
        slots.used.clear()
        return []
    day = q.At(day_ms, whole_day=True, words=span.words if day_ms == span.start_ms else iso(day_ms)[:10])
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
    return found._replace(condition=q.Not(found.condition))


def _checked(slots: Slots, queries: Sequence[q.Query]) -> list[q.Query]:
    """Of "is it in an uptrend, since when?" yes or no is asked first."""
    since = [query for query in queries if query.where is not None and query.operation == q.When("since")]
    return [structs.replace(query, operation=q.Check()) for query in since] if slots.is_question() else []


def _other_times(slots: Slots, queries: Sequence[q.Query]) -> list[q.Query]:
    """The same at other times: "price 7 days ago vs today", "last week, last month, today"."""
    if len(queries) != 1 or not isinstance(queries[0].operation, q.Value | q.Check | q.Compare | q.Ratio):
        return []
    first = next((at for at, chunk in enumerate(slots.chunks) if chunk.kind == "time"), 0)
    now = _says_now(slots) or (slots.word(first - 1) in THAN and not isinstance(queries[0].operation, q.Check))
    means = [one for one in queries[0].measures if one.mean]
    if means and now:
        present = (structs.replace(one, over=None, mean=False) for one in means)
        return [structs.replace(queries[0], measures=tuple(dict.fromkeys(present)), time=q.Now())]
    if isinstance(queries[0].time, q.Now):
        return []
    rest = slots.free(lambda chunk: chunk.kind == "time")
    past = isinstance(queries[0].time, q.At) and not isinstance(queries[0].operation, q.Check)
    if not rest and not (now and (slots.asks("compare") or past)):
        return []
    values = [slots.chunks[at].value for at in rest]
    times: list[q.Time] = [q.Now() if getattr(value, "words", "") == "today" else value for value in values]
    times += [q.Now()] if now and q.Now() not in times else []
    priced = queries[0].measures == (q.Measure("price"),)
    if priced and q.Now() in times and any(isinstance(one, q.Window | q.Between) for one in (queries[0].time, *times)):
        return []  # "price last week and today": a span has many prices
    slots.used |= set(rest)
    compared = bool(slots.asks("compare"))
    slots.take_asks("compare")
    others = [structs.replace(queries[0], time=time) for time in times]
    if priced and compared and times == [q.Now()] and isinstance(queries[0].time, q.At):
        moved = q.Measure("change", over=span_since(queries[0].time))
        others = [structs.replace(others[0], measures=(*others[0].measures, moved))]
    return others


def _has_own(slots: Slots, at: int) -> bool:
    """Whether something is ranked on both sides of a superlative: "highest volume and lowest funding among L1s"."""
    named = [place for place, chunk in enumerate(slots.chunks) if chunk.kind in RANKED and chunk.words]
    return any(place < at for place in named) and any(place > at for place in named)


def _opposite(slots: Slots, queries: Sequence[q.Query]) -> list[q.Query]:
    """The same from the other end: "the best and the worst", "biggest movers"."""
    if len(queries) != 1 or not isinstance(queries[0].operation, q.Rank | q.Extreme | q.Compare):
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
        if not joined or (isinstance(operation, q.Rank) and _has_own(slots, rest[0])):
            return []
        slots.used.add(rest[0])
        if slots.word(rest[0] - 1) == "to":
            return []  # "from cheapest to most expensive": an order
    if isinstance(operation, q.Extreme):
        return [structs.replace(queries[0], operation=q.Extreme("min" if operation.which == "max" else "max"))]
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


def _are_trends(slots: Slots, tests: Sequence[q.Test]) -> bool:
    """Whether "up or down" is said of a trend."""
    said = any(test.measure.frame for test in tests) or any("trend" in words.split() for words in slots.words)
    plain = all(test.value in {"UP", "DOWN", 0.0} and not test.measure.over for test in tests)
    return said and plain and {test.measure.name for test in tests} == {"trend", "change"}


def _ask_alternative(slots: Slots, found: Sequence[FoundCondition], tests: Sequence[q.Test]) -> None:
    """Of "bullish or bearish", "up or down" the value is asked for."""
    said = (test.measure for test in tests if test.measure.over is not None or test.measure.name == "trend")
    measure = next(said, tests[0].measure)
    slots.used |= {at for one in found for at in one.used}
    slots.read_as(found[0].start, measure)


def _ask_change(slots: Slots, found: FoundCondition) -> bool:
    """Of "how much is SOL up this week" the change is asked for; whether it is one."""
    test = found.condition
    if not isinstance(test, q.Test) or test.measure.name != "change" or test.value != 0.0:
        return False
    slots.used |= found.used
    slots.read_as(found.start, test.measure)
    return True
