"""From the pieces of one clause to typed queries. Pure.

A clause is read in a fixed order: who it is about, its conditions, its operation, its measures, its time. Each step
marks the pieces it takes; what is left decides whether the clause can be answered.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.conditions import WINDOWED, Found, Scanner, join, qualify, span_of, test_of
from service.ask.parser.lexicon import Super
from service.ask.parser.money import read_money
from service.ask.parser.operations import read_operation
from service.ask.parser.rewrites import mark_drawdowns, mark_other, merge_times, read_sides
from service.ask.parser.slots import BITCOIN, Slots
from service.ask.parser.subjects import read_subject
from service.ask.parser.topics import read_topic
from service.ask.query import (
    Aggregate,
    All,
    At,
    Between,
    Check,
    Compare,
    Condition,
    Count,
    Exists,
    Extreme,
    List,
    Measure,
    Now,
    Operation,
    Query,
    Rank,
    Record,
    Route,
    Screen,
    Share,
    Subject,
    Test,
    Time,
    Value,
    When,
    Window,
)


def read_clause(chunks: Sequence[Chunk], words: Sequence[str]) -> tuple[list[Query], set[int]]:
    """Read a clause.

    Args:
        chunks: Its pieces.
        words: For each of them what is written, mended, lower case.

    Returns:
        Its queries, and the pieces that were used. No query where it asks for nothing.
    """
    slots = Slots(chunks, words, set())
    for reader in (read_money, read_topic, _general):
        queries = reader(slots)
        if queries:
            return queries, slots.used
    return [], slots.used


def _general(slots: Slots) -> list[Query]:
    mark_drawdowns(slots)
    merge_times(slots)
    found = _conditions(slots)
    for one in found:
        slots.used |= one.used
    mark_other(slots)
    subject = read_subject(slots)
    where = join(found, [slots.has_or(one.start) for one in found])
    read_sides(slots, subject)
    if len(subject.coins) > 1:
        slots.used |= set(slots.free(lambda chunk: chunk.as_("compare") == "between"))
    operation, extra = read_operation(slots, subject, where, found)
    times = slots.free(lambda chunk: chunk.kind == "time")
    measures, time = _timed(slots, _measures(slots), times, operation)
    if extra is not None:
        where = (
            extra
            if where is None
            else join([Found(where, frozenset(), 0, 0), Found(extra, frozenset(), 0, 0)], [False, False])
        )
    if isinstance(operation, Record):
        where = None
    queries = _compose(slots, subject, measures, time, where, operation)
    return [*queries, *_opposite(slots, queries), *_other_times(slots, queries)]


def _other_times(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """The same at other times: "price 7 days ago vs today", "last week, last month, today"."""
    rest = slots.free(lambda chunk: chunk.kind == "time")
    now = [at for at, words in enumerate(slots.words) if words in {"now", "right now", "currently"}]
    if (
        len(queries) != 1
        or not isinstance(queries[0].operation, Value | Check | Compare)
        or isinstance(queries[0].time, Now)
    ):
        return []
    if not rest and not (now and slots.asks("compare")):
        return []
    slots.used |= set(rest)
    slots.take_asks("compare")
    times: list[Time] = [
        Now() if getattr(slots.chunks[at].value, "words", "") == "today" else slots.chunks[at].value for at in rest
    ]
    return [_at(queries[0], time) for time in times or [Now()]]


def _at(query: Query, time: Time) -> Query:
    """A query at another time: of measures over a span that span is replaced."""
    span = None if isinstance(time, Now) else span_of(time)
    if span is not None and any(measure.over is not None for measure in query.measures):
        return structs.replace(
            query,
            measures=tuple(structs.replace(one, over=span) if one.over is not None else one for one in query.measures),
        )
    return structs.replace(query, time=time)


def _opposite(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """The same from the other end: "the best and the worst", "biggest movers"."""
    if len(queries) != 1 or not isinstance(queries[0].operation, Rank | Extreme | Compare):
        return []
    operation = queries[0].operation
    rest = slots.free(lambda chunk: chunk.has("super"))
    if not rest and not slots.both:
        return []
    if rest:
        value: Super = slots.chunks[rest[0]].as_("super")
        if isinstance(operation, Rank | Compare) and value.direction == operation.direction:
            return []
        slots.used.add(rest[0])
    if isinstance(operation, Extreme):
        return [structs.replace(queries[0], operation=Extreme("min" if operation.which == "max" else "max"))]
    turned = "least" if operation.direction == "most" else "most"
    return [structs.replace(queries[0], operation=structs.replace(operation, direction=turned))]


def _conditions(slots: Slots) -> list[Found]:
    found = Scanner(slots.chunks, slots.words).all()
    named = any(chunk.kind in {"coin", "asset"} for chunk in slots.chunks)
    several = any(chunk.kind in {"set", "category"} for chunk in slots.chunks)
    opposite = len(found) > 1 and any(slots.has_or(one.start) for one in found[1:]) and named and not several
    if opposite and slots.words and _alternatives([one.condition for one in found]):
        measures = [test for one in found if (test := test_of(one.condition)) is not None]
        measure = next((test for test in measures if test.measure.over is not None), measures[0] if measures else None)
        frames = slots.free(lambda chunk: chunk.kind == "frame" and chunk.value in {"daily", "weekly"})
        if measure is not None and measure.measure.name == "change" and frames:
            slots.used.add(frames[0])
            trend = Measure("trend", frame=slots.chunks[frames[0]].value)
            measure = structs.replace(measure, measure=trend)
        if measure is not None:
            # "Bullish or bearish", "up or down": the value is asked for.
            taken = {at for one in found for at in one.used}
            slots.used |= taken
            slots.chunks = [
                structs.replace(chunk, kind="measure", value=measure.measure, words=())
                if at == found[0].start
                else chunk
                for at, chunk in enumerate(slots.chunks)
            ]
            slots.used.discard(found[0].start)
            return []
    if (
        named
        and not several
        and found
        and not slots.is_question()
        and not slots.asks("count", "share", "when", "since")
    ):
        # "How much is SOL up this week": a value, no condition.
        kept = []
        for one in found:
            condition = one.condition
            if (
                isinstance(condition, Test)
                and condition.measure.name == "change"
                and condition.value == 0.0
                and slots.asks("list", "why")
            ):
                slots.chunks = [
                    structs.replace(chunk, kind="measure", value=condition.measure, words=())
                    if at == one.start
                    else chunk
                    for at, chunk in enumerate(slots.chunks)
                ]
                slots.used |= one.used - {one.start}
            else:
                kept.append(one)
        return kept
    return found


def _alternatives(conditions: Sequence[Condition]) -> bool:
    tests = [test_of(condition) for condition in conditions]
    return all(test is not None for test in tests) and len({test.measure.name for test in tests if test}) == 1


def _measures(slots: Slots) -> tuple[tuple[int, Measure], ...]:
    """The measures named, with their places; frames beside a trend are taken."""
    found: list[tuple[int, Measure]] = []
    for at, chunk in enumerate(slots.chunks):
        if at in slots.used:
            continue
        if (
            slots.words[at] in {"now", "rn", "right now"}
            and at
            and slots.kind(at - 1) == "coin"
            and at + 1 < len(slots.chunks)
        ):
            found.append((at, Measure("price")))
            continue
        if slots.words[at] in {"both timeframes", "both trends", "both time frames"}:
            slots.used.add(at)
            found += [(at, Measure("trend", frame="daily")), (at, Measure("trend", frame="weekly"))]
            continue
        measure = chunk.value if chunk.kind == "measure" and not chunk.words else chunk.as_("measure")
        following = slots.kind(at + 1)
        if (
            slots.words[at] == "by"
            and following == "time"
            and (span := span_of(slots.chunks[at + 1].value)) is not None
            and at + 1 not in slots.used
            and slots.kind(at + 2) != "measure"
        ):
            measure = Measure("change", over=span)
            slots.used.add(at + 1)
        if (
            slots.words[at] == "at"
            and at
            and slots.kind(at - 1) in {"coin", "asset"}
            and following in {"", "and", "or"}
        ):
            measure = Measure("price")
        if measure is None:
            continue
        slots.used.add(at)
        for beside in (at - 1, at + 1):
            timed = measure.name in {"high", "low"} and any(other.kind == "time" for other in slots.chunks)
            if slots.kind(beside) == "frame" and beside not in slots.used and not timed:
                measure, taken = qualify(measure, slots.chunks[beside])
                if taken:
                    slots.used.add(beside)
        found.append((at, measure))
    return tuple(found)


def _timed(
    slots: Slots, measures: Sequence[tuple[int, Measure]], times: Sequence[int], operation: Operation
) -> tuple[tuple[Measure, ...], Time]:
    """Give each time to the measure it stands beside; the rest is the query's."""
    left = list(times)
    done: list[Measure] = []
    for place, (at, measure) in enumerate(measures):
        windowed = measure.name in WINDOWED
        spans = [time for time in left if span_of(slots.chunks[time].value) is not None]
        if windowed and measure.over is None and spans and not isinstance(operation, Extreme | When):
            following = measures[place + 1][0] if place + 1 < len(measures) else len(slots.chunks)
            joined = (
                place > 0
                and done
                and done[-1].over is not None
                and all(slots.kind(between) in {"and", "filler"} for between in range(measures[place - 1][0] + 1, at))
            )
            if joined and not any(time == at - 1 or time == at + 1 for time in spans):
                done.append(structs.replace(measure, over=done[-1].over))
                continue
            chosen = next((time for time in spans if time == at - 1), None)
            chosen = chosen if chosen is not None else next((time for time in spans if at < time < following), None)
            chosen = chosen if chosen is not None else spans[0]
            over = span_of(slots.chunks[chosen].value)
            done.append(structs.replace(measure, over=over))
            slots.used.add(chosen)
            if len(spans) > 1 or place + 1 == len(measures):
                left.remove(chosen)
        else:
            done.append(measure)
    left = [time for time in left if time not in slots.used]
    if any(measure.name == "volume" for measure in done):
        day = [
            time for time in left if slots.chunks[time].value in {Window(24, "h", "24 hours"), Window(1, "d", "1 day")}
        ]
        slots.used |= set(day)
        left = [time for time in left if time not in day]
    if done and done[-1].name in WINDOWED and done[-1].over is not None:
        # "24h, 7d and 30d change": one measure for each window.
        for beside in list(left):
            span = span_of(slots.chunks[beside].value)
            if span is not None and isinstance(slots.chunks[beside].value, Window | Between):
                done.append(structs.replace(done[-1], over=span))
                slots.used.add(beside)
                left.remove(beside)
    time = slots.one_time(left)
    return _filled(done, time), time


def _filled(measures: Sequence[Measure], time: Time) -> tuple[Measure, ...]:
    """Measures in the query's span: of the price the change over it, of funding its mean."""
    filled: list[Measure] = []
    for measure in measures:
        if measure.name == "funding" and measure.over is None and isinstance(time, Window | Between):
            filled.append(structs.replace(measure, over=time, mean=True))
        else:
            filled.append(measure)
    return tuple(dict.fromkeys(filled))


_OF_MARKET: Final = frozenset({"fear_greed", "breadth", "market_regime"})


def _compose(
    slots: Slots,
    subject: Subject,
    measures: tuple[Measure, ...],
    time: Time,
    where: Condition | None,
    operation: Operation,
) -> list[Query]:
    """Put the slots together; a subject that nothing is asked about is described."""
    slots.take_asks("list", "overview", "compare", "rank", "any", "all")
    slots.take("set", "among", "and", "or")
    if isinstance(operation, Extreme):
        measures = _extreme_measures(measures)
    correlated = [place for place, measure in enumerate(measures) if measure.name in {"correlation", "strength"}]
    if correlated and len(subject.coins) > 1 and not slots.against:
        other = BITCOIN if BITCOIN in subject.coins and len(subject.coins) == 2 else subject.coins[-1]
        measures = tuple(
            structs.replace(measure, other=other) if place in correlated else measure
            for place, measure in enumerate(measures)
        )
        subject = structs.replace(subject, coins=tuple(coin for coin in subject.coins if coin != other))
        operation = Value() if isinstance(operation, Compare) and operation.direction is None else operation
    if subject.scope == "coins" and not subject.coins and not subject.assets:
        if any(measure.name in {"fear_greed", "breadth", "market_regime"} for measure in measures):
            subject = structs.replace(subject, scope="market")
        elif where is not None or isinstance(
            operation, Rank | Count | Share | Exists | List | Aggregate | Screen | Record
        ):
            subject = structs.replace(subject, scope="all")
        elif measures and {measure.name for measure in measures} <= {"regime", "trend", "sentiment"}:
            subject = structs.replace(subject, scope="market")
        else:
            return []
    if subject.scope == "market" and isinstance(where, Test) and where.measure.name == "regime":
        where = structs.replace(where, measure=Measure("market_regime"))
    if any(measure.name == "drawdown" for measure in measures) or (
        _far(slots) and any(m.name == "high" for m in measures)
    ):
        measures = tuple(
            structs.replace(measure, name="drawdown") for measure in measures if measure.name != "high" or _far(slots)
        )[:1]
    if subject.scope == "market":
        measures = tuple(structs.replace(m, name="market_regime") if m.name == "regime" else m for m in measures)
    if isinstance(operation, Value) and subject.scope == "all" and measures:
        operation = Rank("most", 10)
    if (
        subject.scope == "category"
        and isinstance(operation, Value)
        and measures
        and measures[0].name not in {"sentiment"}
    ):
        operation = Rank("most", 10)
    span = time if isinstance(time, Window | Between) else None
    if (
        isinstance(operation, Value | Compare)
        and not measures
        and span is not None
        and (subject.coins or subject.assets)
    ):
        measures, time = (Measure("change", over=span),), Now()
    if (
        isinstance(operation, Rank)
        and not measures
        and (test := test_of(where) if where is not None else None) is not None
    ):
        measures = (test.measure,)
    if isinstance(operation, Rank) and not measures:
        measures = (Measure("change"),)
    if (
        isinstance(operation, Rank)
        and isinstance(time, Window | Between)
        and measures[0].name in WINDOWED | {"funding"}
    ):
        measures = (structs.replace(measures[0], over=time, mean=measures[0].name == "funding"), *measures[1:])
        time = Now()
    if isinstance(operation, Rank) and isinstance(time, Window | Between) and measures[0].name == "price":
        measures, time = (Measure("change", over=time),), Now()
    if isinstance(operation, Value) and len(measures) == 1 and measures[0].name == "change" and isinstance(time, At):
        over = span_of(time)
        measures, time = (structs.replace(measures[0], over=over),), Now()
    if (
        isinstance(operation, Value)
        and subject.coins
        and Measure("verdict") in measures
        and Measure("score") not in measures
    ):
        at = measures.index(Measure("verdict")) + 1
        measures = (*measures[:at], Measure("score"), *measures[at:])
    if (
        isinstance(operation, Value)
        and len(subject.coins) == len(measures) == 1
        and not subject.assets
        and where is None
    ):
        one = measures[0]
        if one.name in {"high", "low"} and isinstance(time, Now):
            # A high is told with its day.
            operation = Extreme("max" if one.name == "high" else "min")
            measures, time = (Measure(one.name),), one.over or Now()
    if (
        isinstance(operation, Value)
        and subject.scope == "market"
        and measures == (Measure("breadth"),)
        and where is None
    ):
        operation, measures = Route("breadth"), ()
    query = Query(subject=subject, measures=measures, time=time, where=where, operation=operation)
    if (
        isinstance(operation, Compare)
        and operation.direction
        and len(subject.coins) == 2
        and not subject.assets
        and len(measures) == 1
        and slots.is_question()
    ):  # noqa: PLR2004
        # "Did ETH outperform BTC?" asks for yes or no.
        first, second = subject.coins
        test = Test(measures[0], "gt" if operation.direction == "most" else "lt", coin=second)
        return [Query(subject=structs.replace(subject, coins=(first,)), time=time, where=test, operation=Check())]
    weekly = where is not None and "weekly" in repr(where)
    if isinstance(operation, Rank) and measures and measures[0].name == "streak" and weekly:
        slots.used.clear()  # only streaks of the daily trend are known
        return []
    if parts := _contradicting(where):
        if not isinstance(operation, Count | Share):
            slots.used.clear()
            return []
        return [structs.replace(query, where=part) for part in parts]
    if (
        subject.scope == "all"
        and isinstance(operation, Value)
        and not measures
        and where is None
        and not slots.asks("list")
    ):
        return []
    if subject.coins and subject.assets:
        coins = structs.replace(query, subject=structs.replace(subject, assets=()))
        return [coins, structs.replace(query, subject=structs.replace(subject, scope="assets", coins=()))]
    return [query]


def _contradicting(where: Condition | None) -> tuple[Condition, ...]:
    """Tests that cannot hold together, to be counted one by one: "how many gained and how many lost"."""
    if not isinstance(where, All):
        return ()
    tests = [test for item in where.items if (test := test_of(item)) is not None]
    if (
        len(tests) != len(where.items)
        or len({test.measure.name for test in tests}) != 1
        or tests[0].measure.name in {"price"}
    ):
        return ()
    if len({test.measure.over for test in tests} - {None}) > 1:
        return ()
    if all(test.op == "eq" and test.measure.frame == tests[0].measure.frame for test in tests) and len(
        {test.value for test in tests}
    ) == len(tests):
        return where.items
    opposite = {("gt", "lt"), ("lt", "gt")}
    if len(tests) == 2 and (tests[0].op, tests[1].op) in opposite and tests[0].value == tests[1].value == 0.0:  # noqa: PLR2004
        over = tests[0].measure.over or tests[1].measure.over
        return tuple(structs.replace(test, measure=structs.replace(test.measure, over=over)) for test in tests)
    return ()


def _far(slots: Slots) -> bool:
    return any(words.startswith("how far") for words in slots.words)


def _extreme_measures(measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    return measures or (Measure("price"),)
