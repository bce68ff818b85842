"""Runs typed queries."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from service.access.caller import Caller
from service.ask import query as q
from service.ask.describe import describe, label_of, spanned
from service.ask.planner import listings, money, reasons, sets, timing
from service.ask.planner.conditions import measures_in
from service.ask.planner.data_reader import Data, DataReader
from service.ask.planner.query_context import QueryContext, has_span
from service.ask.planner.result import Refused, Result, text
from service.market.symbols import unit_of

_COURSED: Final = frozenset({"price", "trend", "regime", "verdict", "market_regime"})
"""Measures of which the course over a span is told."""

_OF_SETS: Final = (q.List, q.Rank, q.Position, q.Count, q.Share, q.Exists, q.Aggregate, q.Compare)


async def _value(asked: QueryContext, operation: q.Value) -> Result:
    query = asked.query
    spanned = isinstance(query.time, q.Window | q.Between) and query.where is None
    spanned = spanned and not asked.reading.has_others(asked.ids) and query.subject.scope not in {"all", "category"}
    if spanned and len(asked.ids) == 1 and len(query.measures) == 1:
        (measure,) = query.measures
        if measure.name in _COURSED and not measure.mean:
            return await timing.course(asked, measure)
    return await sets.value(asked, operation)


async def _check(asked: QueryContext, operation: q.Check) -> Result:
    measures = measures_in(asked.query.where)
    is_span = isinstance(asked.query.time, q.Window | q.Between)
    if is_span and measures and not any(has_span(measure) for measure in measures if measure.name != "close"):
        return await timing.check_days(asked)
    return await sets.check(asked, operation)


async def _counted(asked: QueryContext, operation: q.Count) -> Result:
    return await (timing.count_days(asked) if asked.query.counts_days else sets.counted(asked, operation))


_OPERATIONS: Final[Mapping[type, Callable[[QueryContext, Any], Awaitable[Result]]]] = {
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


def _check_span(query: q.Query) -> None:
    """Refuse a span that no measure of a query is taken over.

    Raises:
        Refused: Where it would be dropped.
    """
    measures = [*query.measures, *measures_in(query.where)]
    is_span = isinstance(query.time, q.Window | q.Between) and isinstance(query.operation, _OF_SETS)
    if is_span and not query.counts_days and measures and not any(map(has_span, measures)):
        raise Refused("not-over", label=label_of(measures[0]))


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
        reading, title = DataReader(self._data, caller), describe(query)
        try:
            asked = QueryContext(reading, spanned(query), await reading.subjects(query.subject))
            _check_span(asked.query)
            found = await _OPERATIONS[type(query.operation)](asked, query.operation)
        except Refused as refused:
            return replace(refused.result, title=title)
        view = self._data.view()
        coins = [view[symbol] for symbol in sorted({*query.subject.coins} & {*asked.ids} & {*view})]
        thousands = [coin for coin in coins if unit_of(coin.venue_symbol)[1] > 1]
        if thousands:
            traded = ", ".join(f"{coin.symbol} is traded as {coin.venue_symbol}" for coin in thousands)
            found = replace(found, figures={**found.figures, "traded": text(traded)}, notes=(*found.notes, "traded"))
        return replace(
            found,
            title=title,
            unknown=tuple(dict.fromkeys([*found.unknown, *asked.names(reading.left_out)])),
            as_of_ms=reading.as_of_ms,
            stale=tuple(reading.stale),
            sources=tuple(reading.sources),
            counted=reading.counted,
        )
