"""A window that is said once in a message and holds for all of its rankings and counts. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import structs

from service.ask.query import All, Any_, Condition, Measure, Not, Query, Rank, Span, Test


def share_window(queries: Sequence[Query]) -> list[Query]:
    """Give the one window that is said to each change that is ranked or tested without one.

    So: "how many memes are up, which is the best and which is the worst over 7 days".
    """
    spans = {one.over for query in queries for one in _changes(query) if one.over is not None}
    if len(queries) == 1 or len(spans) != 1:
        return list(queries)
    return [_over(query, spans.copy().pop()) for query in queries]


def _changes(query: Query) -> Iterator[Measure]:
    yield from (one for one in query.measures if one.name == "change")
    yield from (test.measure for test in tests_of(query.where) if test.measure.name == "change")


def tests_of(where: Condition | None) -> Iterator[Test]:
    """Every test within a condition."""
    if isinstance(where, Test):
        yield where
    elif isinstance(where, All | Any_):
        for item in where.items:
            yield from tests_of(item)
    elif isinstance(where, Not):
        yield from tests_of(where.item)


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
