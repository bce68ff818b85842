"""A window that is said once in a message and holds for all of its rankings and counts. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import structs

from service.ask.parser.found import tests_in
from service.ask.query import (
    All,
    Any_,
    Condition,
    Count,
    Measure,
    Not,
    Now,
    Query,
    Rank,
    Route,
    Share,
    Span,
    Subject,
    Test,
)


def share_window(queries: Sequence[Query]) -> list[Query]:
    """Give the one window that is said to each change that is ranked or tested without one.

    So: "how many memes are up, which is the best and which is the worst over 7 days".
    """
    spans = {one.over for query in queries for one in _changes(query) if one.over is not None}
    if len(queries) == 1 or len(spans) != 1:
        return list(queries)
    return [_over(query, spans.copy().pop()) for query in queries]


def within_breadth(queries: Sequence[Query]) -> list[Query]:
    """Leave out counts of trends beside the breadth, which tells them: "breadth: how many up, how many down"."""
    told = [isinstance(query.operation, Route) and query.operation.topic == "breadth" for query in queries]
    return [query for query in queries if not (any(told) and _counts_trends(query))]


def _counts_trends(query: Query) -> bool:
    test = query.where
    counts = isinstance(query.operation, Count | Share) and query.subject == Subject(scope="all")
    if not counts or not isinstance(test, Test) or not isinstance(query.time, Now):
        return False
    return test.measure.over is None and test.measure.frame != "weekly" and test.value in {"UP", "DOWN", "HODL", 0.0}


def _changes(query: Query) -> Iterator[Measure]:
    yield from (one for one in query.measures if one.name == "change")
    yield from (test.measure for test in tests_in(query.where) if test.measure.name == "change")


def _over(query: Query, span: Span) -> Query:
    """A query whose ranked or tested change is that over a span, where it has none."""
    where = query.where
    if isinstance(where, Test) and where.measure == Measure("change"):
        query = structs.replace(query, where=structs.replace(where, measure=Measure("change", over=span)))
    if isinstance(query.operation, Rank) and query.measures[:1] == (Measure("change"),):
        query = structs.replace(query, measures=(Measure("change", over=span), *query.measures[1:]))
    return query


def over_span(where: Condition, span: Span, *, again: bool = False) -> Condition:
    """A condition whose changes without a window are those over a span; `again`: those with another one, too."""
    if isinstance(where, Test) and where.measure.name == "change" and (again or where.measure.over is None):
        return structs.replace(where, measure=structs.replace(where.measure, over=span))
    if isinstance(where, All | Any_):
        return structs.replace(where, items=tuple(over_span(item, span, again=again) for item in where.items))
    return Not(over_span(where.item, span, again=again)) if isinstance(where, Not) else where
