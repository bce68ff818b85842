"""Runs typed queries."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from service.access.caller import Caller
from service.ask import query as q
from service.ask.describe import describe, label_of, name_of, spanned
from service.ask.planner import courses, listings, money, reasons, sets, timing
from service.ask.planner.asked import Asked, has_span
from service.ask.planner.conditions import measures_in
from service.ask.planner.reading import Data, Reading
from service.ask.planner.result import Found, Refused, Result, text

_Run = Callable[[Asked, Any], Awaitable[Found]]

_COURSED: Final = frozenset({"price", "trend", "regime", "verdict", "market_regime"})
"""Measures of which the course over a span is told."""


async def _value(asked: Asked, operation: q.Value) -> Found:
    query = asked.query
    spanned = isinstance(query.time, q.Window | q.Between) and query.where is None
    spanned = spanned and asked.reading.others.isdisjoint(asked.ids) and query.subject.scope not in {"all", "category"}
    means = {measure.name for measure in query.measures if measure.mean}
    if spanned and len(asked.ids) == 1 and len(query.measures) == 1 and query.measures[0].name in _COURSED - means:
        return await courses.course(asked, query.measures[0])
    return await sets.value(asked, operation)


async def _check(asked: Asked, operation: q.Check) -> Found:
    measures = measures_in(asked.query.where)
    is_span = isinstance(asked.query.time, q.Window | q.Between)
    if is_span and measures and not any(has_span(measure) for measure in measures if measure.name != "close"):
        return await courses.check_days(asked)
    return await sets.check(asked, operation)


async def _counted(asked: Asked, operation: q.Count) -> Found:
    return await (courses.count_days(asked) if asked.query.counts_days else sets.counted(asked, operation))


_OPERATIONS: Final[Mapping[type, _Run]] = {
    q.Value: _value,
    q.Check: _check,
    q.List: sets.list_all,
    q.Rank: sets.rank,
    q.Position: sets.position,
    q.Count: _counted,
    q.Share: sets.counted,
    q.Exists: sets.counted,
    q.Aggregate: sets.aggregate,
    q.Compare: sets.compare,
    q.Extreme: timing.extreme,
    q.When: timing.when,
    q.Convert: money.convert,
    q.Ratio: money.ratio,
    q.ValueOf: money.value_of,
    q.Profit: money.profit,
    q.Portfolio: money.portfolio,
    q.Why: reasons.why,
    q.Screen: reasons.screen,
    q.Record: reasons.record,
    q.Explain: reasons.explain,
    q.Route: listings.listing,
}
"""How each operation is answered."""


_OF_SETS: Final = (q.List, q.Rank, q.Position, q.Count, q.Share, q.Exists, q.Aggregate, q.Compare)


def _check_span(query: q.Query) -> None:
    """Refuse a span that no measure of a query is taken over.

    Raises:
        Refused: Where it would be dropped.
    """
    measures = [*query.measures, *measures_in(query.where)]
    is_span = isinstance(query.time, q.Window | q.Between) and isinstance(query.operation, _OF_SETS)
    if is_span and not query.counts_days and measures and not any(has_span(measure) for measure in measures):
        raise Refused("not-over", label=text(label_of(measures[0])))


class Planner:
    """Answers typed queries.

    Args:
        data: Where they read.
    """

    def __init__(self, data: Data) -> None:
        self._data = data

    async def run(self, query: q.Query, caller: Caller | None) -> Result:
        """Answer one query.

        Args:
            query: What is asked.
            caller: Who asks, for what is told of their account; null: nobody known.

        Returns:
            What was found; `refusal` says why nothing was. It costs nothing then.

        Raises:
            ServiceError: What a service raises: `UNKNOWN_SYMBOL`, `UNKNOWN_CATEGORY`, `UNAVAILABLE`, `AUTH_REQUIRED`
                and failures of upstreams.
        """
        reading = Reading(self._data, caller)
        reading.per_coin = frozenset(query.subject.per_coin)
        title = describe(query)
        try:
            asked = Asked(reading, spanned(query), await reading.subjects(query.subject))
            _check_span(asked.query)
            found = await _OPERATIONS[type(query.operation)](asked, query.operation)
        except Refused as refused:
            figures = dict(refused.figures)
            return Result(kind=refused.kind, title=title, figures=figures, refusal=refused.refusal)
        per_coin = reading.per_coin.intersection(asked.ids)
        traded = ", ".join(f"{name_of(symbol, per_coin)} is traded as k{symbol[1:]}" for symbol in sorted(per_coin))
        return Result(
            kind=found.kind,
            title=title,
            figures={**found.figures, **({"traded": text(traded)} if traded else {})},
            columns=tuple(found.columns),
            rows=tuple(found.rows),
            shown=found.shown,
            total=found.total,
            unknown=tuple(dict.fromkeys([*found.unknown, *map(asked.name, reading.left_out)])),
            notes=(*found.notes, *(["traded"] if traded else [])),
            as_of_ms=reading.as_of_ms,
            stale=tuple(reading.stale),
            sources=tuple(reading.sources),
            counted=reading.counted,
        )
