"""Conditions, three-valued: true, false, or unknown where a value is not known."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES
from service.ask.planner.reading import MARKET, Reading
from service.ask.planner.result import Refused, Scalar, Values, text
from service.ask.planner.spans import days_of
from service.ask.planner.values import values_of
from service.ask.query import Any_, Changed, Condition, Measure, Not, Ranked, Test, Time
from service.clock import DAY_MS
from service.table.daily import DayStates

Truth = bool | None
"""Null: not known."""

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"lt": lt, "le": le, "gt": gt, "ge": ge, "eq": eq, "ne": ne}

_STATES: Final[Mapping[str, Callable[[DayStates], str | None]]] = {
    "trend": lambda day: day.trend_daily,
    "regime": lambda day: day.regime,
    "verdict": lambda day: None if day.score is None else day.verdict,
}


def state_of_day(measure: Measure) -> Callable[[DayStates], str | None] | None:
    """Reads the state at the end of a stored day; null of measures that have none."""
    return (lambda day: day.trend_weekly) if measure.frame == "weekly" else _STATES.get(measure.name)


async def truths(reading: Reading, condition: Condition, time: Time, ids: Sequence[str]) -> dict[str, Truth]:
    """Whether a condition holds for each thing.

    Raises:
        Refused: Where a measure does not exist for such things or times.
        ServiceError: What a service raises.
    """
    if isinstance(condition, Test):
        return await _test(reading, condition, condition.at or time, ids)
    if isinstance(condition, Changed):
        return await _changed(reading, condition, ids)
    if isinstance(condition, Ranked):
        return await _ranked(reading, condition, time, ids)
    if isinstance(condition, Not):
        found = await truths(reading, condition.item, time, ids)
        return {symbol: None if value is None else not value for symbol, value in found.items()}
    parts = [await truths(reading, item, time, ids) for item in condition.items]
    decisive = isinstance(condition, Any_)
    return {symbol: _joined([part[symbol] for part in parts], decisive=decisive) for symbol in ids}


def measures_in(condition: Condition | None) -> list[Measure]:
    """The measures that a condition looks at, in its order, each once."""
    if condition is None:
        return []
    if isinstance(condition, Test):
        found = [condition.measure, *([condition.to] if condition.to else [])]
    elif isinstance(condition, Changed | Ranked):
        found = [condition.measure]
    elif isinstance(condition, Not):
        found = measures_in(condition.item)
    else:
        found = [measure for item in condition.items for measure in measures_in(item)]
    return [*dict.fromkeys(found)]


def holds(measure: Measure, op: str, value: Scalar, bound: Scalar) -> Truth:
    """Compare two values; states by their order, the best the greatest."""
    if value is None or bound is None:
        return None
    if isinstance(value, str) and isinstance(bound, str):
        places = {state.lower(): -place for place, state in enumerate(MEASURES[measure.name].states)}
        one, other = value.lower(), bound.lower()
        if op in {"eq", "ne"}:
            return _COMPARE[op](one, other)
        return _COMPARE[op](places[one], places[other]) if one in places and other in places else None
    if isinstance(value, str) or isinstance(bound, str):
        raise Refused("not-comparable", label=text(label_of(measure)))
    return _COMPARE[op](value, bound)


def _joined(values: Sequence[Truth], *, decisive: bool) -> Truth:
    if decisive in values:
        return decisive
    return None if None in values else not decisive


async def _test(reading: Reading, test: Test, time: Time, ids: Sequence[str]) -> dict[str, Truth]:
    row = MEASURES[test.measure.name]
    # A condition on the market is the same for every coin.
    of = [MARKET] if row.market else list(ids)
    values = await values_of(reading, test.measure, time, of)
    bounds: Values = dict.fromkeys(of, test.value)
    if test.to is not None:
        bounds = await values_of(reading, test.to, time, of)
    elif test.coin is not None:
        bounds = dict.fromkeys(of, (await values_of(reading, test.measure, time, [test.coin]))[test.coin])
    elif test.total is not None:
        added = await values_of(reading, test.measure, time, await reading.subjects(test.total))
        known = [value for value in added.values() if isinstance(value, int | float)]
        reading.left_out.update(dict.fromkeys(id_ for id_, value in added.items() if value is None))
        bounds = dict.fromkeys(of, sum(known) if known else None)
    found = {symbol: holds(test.measure, test.op, values[symbol], bounds[symbol]) for symbol in of}
    return dict.fromkeys(ids, found[MARKET]) if row.market else found


async def _changed(reading: Reading, condition: Changed, ids: Sequence[str]) -> dict[str, Truth]:
    state = state_of_day(condition.measure)
    if state is None or list(ids) == [MARKET] or not reading.others.isdisjoint(ids):
        raise Refused("no-changes", label=text(label_of(condition.measure)))
    daily, span = await reading.daily(), days_of(condition.within, reading.now_ms)
    wanted = None if condition.to is None else condition.to.lower()

    def changed(symbol: str) -> Truth:
        # A state is known at the end of its day: a change within the span ends on a close within it.
        days = daily.states(symbol, span.start_ms - 2 * DAY_MS, span.end_ms - DAY_MS + 1)
        known = [(day.day_ms + DAY_MS, found) for day in days if (found := state(day)) is not None]
        if len(known) < 2:  # noqa: PLR2004 - one state shows no change
            return None
        return any(
            now != before and at_ms >= span.start_ms and wanted in {None, now.lower()}
            for (_, before), (at_ms, now) in pairwise(known)
        )

    return {symbol: changed(symbol) for symbol in ids}


async def _ranked(reading: Reading, condition: Ranked, time: Time, ids: Sequence[str]) -> dict[str, Truth]:
    of_all = reading.others.isdisjoint(ids) and not condition.own
    everything = reading.coins() if of_all else set(ids)
    values = await values_of(reading, condition.measure, time, sorted(everything.union(ids)))
    order = ordered(values, condition.measure, most=condition.direction == "most")
    first = set(order[: condition.limit])
    return {symbol: None if values[symbol] is None else symbol in first for symbol in ids}


def ordered(values: Values, measure: Measure, *, most: bool) -> list[str]:
    """Things with a known value in its order; those of equal values by ticker. States: the best is the most."""
    sign = -1 if most else 1
    known = (symbol for symbol, value in values.items() if value is not None)
    return sorted(known, key=lambda symbol: (sign * placed(measure, values[symbol]), symbol))


def placed(measure: Measure, value: Scalar) -> float:
    """A value as a number to order by: of states the best is the largest, one that is not listed the smallest."""
    if not isinstance(value, str):
        return float(value or 0)
    states = MEASURES[measure.name].states
    return float(-states.index(value) if value in states else -len(states))
