"""Follow-ups: a clause that edits the slots of the query before it. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.clause import read_clause
from service.ask.parser.windows import WINDOWED, span_of
from service.ask.query import (
    All,
    Check,
    Compare,
    Condition,
    Convert,
    Count,
    Extreme,
    List,
    Measure,
    Now,
    Profit,
    Query,
    Rank,
    Record,
    Route,
    Screen,
    Share,
    Subject,
    Test,
    Value,
    ValueOf,
)

_LEADING: Final = re.compile(
    r"(?:and|what about|how about|ok|now|only|just|same|instead|also|but|or|then|over|by|in|for|since|why|with|without"
    r"|excluding|except|those|of those|which of|vs|versus|compared)\b"
)
_REFERRING: Final = re.compile(
    r"\b(am i|which one|ones|only|it|its|them|they|their|those|these|that one|that|same|both|one)\b"
)
_SHORT: Final = 4
"""Pieces of a clause that names something and asks nothing: "ETH too?"."""

_STANDS_ALONE: Final = frozenset({"market", "service", "wallets", "shows"})


class Edited(Struct, frozen=True):
    """The queries of a follow-up, and the pieces of its clause that were used."""

    queries: list[Query]
    used: set[int]


def follow(
    part: Sequence[Chunk], words: Sequence[str], before: Sequence[Query], read: Sequence[Query], used: set[int]
) -> Edited | None:
    """Read a clause as a follow-up.

    Args:
        part: The clause.
        words: Its words.
        before: The queries before it.
        read: What it was read as by itself.
        used: The pieces that reading took.

    Returns:
        Null where it stands by itself.
    """
    if not before or not part:
        return None
    if not read:
        return _completed(part, words, before[-1])
    edited = _edited(part, words, before[-1], read[0])
    if edited is None:
        inner = _in_context(read[0], before[-1], part)
        edited = inner if inner != read[0] else None
    return None if edited is None else Edited([edited, *read[1:]], used)


def _edited(part: Sequence[Chunk], words: Sequence[str], last: Query, query: Query) -> Query | None:
    """The last query with the slots of a clause that could be read by itself; null where it stands by itself."""
    text = " ".join(words)
    leading, refers = _LEADING.match(text) is not None, _REFERRING.search(text) is not None
    if (
        isinstance(last.operation, ValueOf | Profit | Convert)
        and refers
        and {one.name for one in query.measures} <= {"price"}
    ):
        return last
    query = _in_context(query, last, part)
    subject = query.subject
    if subject.coins or subject.assets or subject.categories or subject.scope in _STANDS_ALONE:
        named_only = isinstance(query.operation, Value) and not query.measures
        return _renamed(last, query) if named_only and (leading or len(words) <= _SHORT) else None
    if subject.scope != "all" or any(chunk.kind == "set" for chunk in part):
        return None
    if isinstance(query.operation, Rank) and not _names_measure(part) and last.measures:
        keeps = isinstance(last.operation, Rank) and last.operation.limit > 1 and query.operation.direction == "most"
        direction = (
            last.operation.direction if keeps and isinstance(last.operation, Rank) else query.operation.direction
        )
        return structs.replace(last, operation=Rank(direction, query.operation.limit))
    lists = isinstance(last.operation, List) and isinstance(query.operation, List) and query.where is not None
    if lists and not any(word.kind == "ask" for chunk in part for word in chunk.words):
        return structs.replace(last, where=_both(last.where, query.where))
    if not (refers or leading):
        # "…, and is the change positive?": a clause without a set is about what was named before it.
        named = last.subject.coins or last.subject.assets
        asks = any(
            word.kind == "ask" and word.value in {"any", "count", "share", "all", "none"}
            for chunk in part
            for word in chunk.words
        )
        if not named or asks or isinstance(query.operation, Rank | Screen | Record | Route):
            return None
        check = Check() if isinstance(query.operation, List) else query.operation
        return structs.replace(query, subject=last.subject, operation=check)
    if isinstance(last.operation, Profit):
        return last
    if refers and isinstance(last.operation, Rank) and last.operation.limit == 1:
        # "The worst performer? … how much did it lose?": the same ranking, with what is asked of its first.
        more = tuple(measure for measure in query.measures if measure not in last.measures)
        return structs.replace(last, measures=(*last.measures, *more))
    if leading and _same_measure(query.where, last.where):
        return structs.replace(last, where=query.where)
    if refers and query.where is not None and last.subject.scope != "coins":
        return structs.replace(query, subject=last.subject, where=_both(last.where, query.where))
    if leading:
        changes = isinstance(query.operation, Count | Rank | Share)
        return structs.replace(
            last,
            measures=_with_spans(query.measures, last.measures) or last.measures,
            where=_both(last.where, query.where),
            operation=query.operation if changes else last.operation,
            time=last.time if isinstance(query.time, Now) else query.time,
        )
    return structs.replace(query, subject=last.subject)


def _in_context(query: Query, last: Query, part: Sequence[Chunk]) -> Query:
    """A query whose "neutral" is the neutral of the measure asked about before, and whose trend is of what was named."""
    where = query.where
    before = last.where.measure.name if isinstance(last.where, Test) else ""
    if (
        isinstance(where, Test)
        and (where.measure.name, where.value) == ("verdict", "neutral")
        and before in {"regime", "sentiment"}
    ):
        query = structs.replace(query, where=structs.replace(where, measure=Measure(before)))
    named = any(chunk.kind == "set" for chunk in part)
    if query.subject.scope == "market" and not named and (last.subject.coins or last.subject.assets):
        query = structs.replace(query, subject=last.subject)
    elif query.subject.scope == "market" and not named and isinstance(last.operation, Rank):
        query = structs.replace(query, subject=Subject(scope="all"))
    return query


def _renamed(last: Query, query: Query) -> Query | None:
    """The last query about other things: "and SOL?", "only L2s"."""
    if query.subject.scope == "coins" and last.subject.scope in {"coins", "assets", "market"}:
        return structs.replace(last, subject=query.subject)
    if query.subject.scope == "category":
        base = last.subject if last.subject.scope in {"all", "category"} else query.subject
        return structs.replace(
            last, subject=structs.replace(base, scope="category", categories=query.subject.categories)
        )
    return None


def _completed(part: Sequence[Chunk], words: Sequence[str], last: Query) -> Edited | None:
    """A clause that says too little by itself: a measure, a time, a size, "why", "since when", "only those …"."""
    numbers = [chunk for chunk in part if chunk.kind == "number"]
    if isinstance(last.operation, Rank) and len(numbers) == 1:
        if all(chunk.kind in {"number", "filler", "ask", "and", "set"} for chunk in part):
            operation = structs.replace(last.operation, limit=int(numbers[0].value.value))
            return Edited([structs.replace(last, operation=operation)], set(range(len(part))))
    if isinstance(last.operation, Profit | ValueOf) and any(chunk.as_("holding") == "profit" for chunk in part):
        return Edited([last], {at for at, chunk in enumerate(part) if chunk.kind in {"holding", "ask"}})
    stand_in = Chunk("coin", last.subject.coins or ("BTC",), part[-1].end, part[-1].end + 1, gap=",")
    read, used = read_clause([*part, stand_in], [*words, "it"])
    used.discard(len(part))
    if not read:
        return None
    query = read[0]
    return _framed(part, last, query, used) or _merged(
        last, query, used, refers=_REFERRING.search(" ".join(words)) is not None
    )


def _framed(part: Sequence[Chunk], last: Query, query: Query, used: set[int]) -> Edited | None:
    """The other trend: "and the weekly one?"."""
    frame = next((chunk.value for chunk in part if chunk.kind == "frame" and chunk.value in {"daily", "weekly"}), None)
    if frame is None or query.measures or query.where is not None:
        return None
    measures = tuple(structs.replace(one, frame=frame) if one.name == "trend" else one for one in last.measures)
    where = last.where
    if isinstance(where, Test) and where.measure.name == "trend":
        where = structs.replace(where, measure=structs.replace(where.measure, frame=frame))
    if measures == last.measures and where == last.where:
        return None
    taken = {at for at, chunk in enumerate(part) if chunk.kind == "frame"}
    return Edited([structs.replace(last, measures=measures, where=where)], used | taken)


def _merged(last: Query, query: Query, used: set[int], *, refers: bool) -> Edited | None:
    if isinstance(last.operation, ValueOf | Profit | Convert) and {one.name for one in query.measures} == {"price"}:
        return Edited([last], used)
    if isinstance(query.operation, Value) and not query.measures and query.where is None:
        return _retimed(last, query, used)
    if isinstance(query.operation, Value) and query.measures and isinstance(last.operation, Rank | Compare | Extreme):
        more = tuple(one for one in query.measures if one not in last.measures)
        return Edited([structs.replace(last, measures=(*last.measures, *more) if refers else query.measures)], used)
    if isinstance(query.operation, Check) and last.subject.scope in {"all", "category"}:
        return Edited([structs.replace(last, where=_both(last.where, query.where))], used)
    measures = query.measures or last.measures
    time = last.time if isinstance(query.time, Now) else query.time
    return Edited([structs.replace(query, subject=last.subject, measures=measures, time=time)], used)


def _retimed(last: Query, query: Query, used: set[int]) -> Edited | None:
    """The last query at another time: "over 7 days?", "and a week ago?"."""
    if isinstance(query.time, Now):
        return None
    span = span_of(query.time)
    measures = tuple(
        structs.replace(one, over=span) if span is not None and (one.over is not None or one.name in WINDOWED) else one
        for one in last.measures
    )
    if any(measure.over is not None for measure in measures):
        return Edited([structs.replace(last, measures=measures)], used)
    return Edited([structs.replace(last, time=query.time)], used)


def _names_measure(part: Sequence[Chunk]) -> bool:
    """Whether a clause names what is measured."""
    supers = [chunk.as_("super") for chunk in part]
    return any(chunk.as_("measure") is not None for chunk in part) or any(one and one.measure for one in supers)


def _same_measure(one: Condition | None, other: Condition | None) -> bool:
    return isinstance(one, Test) and isinstance(other, Test) and one.measure.name == other.measure.name


def _with_spans(measures: tuple[Measure, ...], before: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Measures with the window that the same measure had before."""
    spans = {measure.name: measure.over for measure in before}
    return tuple(structs.replace(one, over=spans.get(one.name)) if one.over is None else one for one in measures)


def _both(one: Condition | None, other: Condition | None) -> Condition | None:
    """Both conditions; the one where there is only one."""
    if one is None or other is None:
        return other if one is None else one
    return All((one, other))
