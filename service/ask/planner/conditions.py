"""Conditions, three-valued: true, false, or unknown where a value is not known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES
from service.ask.planner.bars import days_of
from service.ask.planner.data_reader import MARKET, DataReader
from service.ask.planner.result import Refused, Scalar, Values
from service.ask.planner.units import values_of
from service.ask.query import All, Any_, Changed, Condition, Measure, Not, Ranked, Test, Time, Window
from service.clock import DAY_MS
from service.table.daily import DayStates

Truth = bool | None
"""Null: not known."""

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"lt": lt, "le": le, "gt": gt, "ge": ge, "eq": eq, "ne": ne}

_MOVES: Final = (Measure("change"), Measure("change", Window(24, "h", "24 hours")))
_STATES: Final[Mapping[str, Callable[[DayStates], str | None]]] = {
    "trend": lambda day: day.trend_daily,
    "regime": lambda day: day.regime,
    "verdict": lambda day: None if day.score is None else day.verdict,
}


def state_of_day(measure: Measure) -> Callable[[DayStates], str | None] | None:
    """Reads the state at the end of a stored day; null of measures that have none."""
    return (lambda day: day.trend_weekly) if measure.frame == "weekly" else _STATES.get(measure.name)


async def truths(reading: DataReader, condition: Condition, time: Time, ids: Sequence[str]) -> dict[str, Truth]:
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
    items = (condition.item,) if isinstance(condition, Not) else condition.items
    parts = [await truths(reading, item, time, ids) for item in items]
    return {symbol: joined(condition, [part[symbol] for part in parts]) for symbol in ids}


def joined(condition: Not | All | Any_, parts: Sequence[Truth]) -> Truth:
    """What follows from the truth of a condition's items: one decides, or all are known."""
    if isinstance(condition, Not):
        return None if parts[0] is None else not parts[0]
    decisive = isinstance(condition, Any_)
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def measures_in(condition: Condition | None) -> list[Measure]:
    """The measures that a condition looks at, in its order, each once."""
    return [*dict.fromkeys(_measures(condition))] if condition is not None else []


def _measures(condition: Condition) -> Iterable[Measure]:
    if isinstance(condition, Test):
        yield condition.measure
        if condition.to:
            yield condition.to
    elif isinstance(condition, Changed | Ranked):
        yield condition.measure
    else:
        for item in (condition.item,) if isinstance(condition, Not) else condition.items:
            yield from _measures(item)


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
        raise Refused("not-comparable", label=label_of(measure))
    return _COMPARE[op](value, bound)


async def _test(reading: DataReader, test: Test, time: Time, ids: Sequence[str]) -> dict[str, Truth]:
    of_market = MEASURES[test.measure.name].market
    # A condition on the market is the same for every coin.
    of = [MARKET] if of_market else list(ids)
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
    found = {id_: holds(test.measure, test.op, values[id_], bounds[id_]) for id_ in of}
    return dict.fromkeys(ids, found[MARKET]) if of_market else found


async def _changed(reading: DataReader, condition: Changed, ids: Sequence[str]) -> dict[str, Truth]:
    state = state_of_day(condition.measure)
    if state is None or list(ids) == [MARKET] or reading.has_others(ids):
        raise Refused("no-changes", label=label_of(condition.measure))
    daily, span = await reading.daily(), days_of(condition.within, reading.now_ms)
    wanted = None if condition.to is None else condition.to.lower()

    def changed(symbol: str) -> Truth:
        # A state is known at the end of its day: a change within the span ends on a close within it.
        days = daily.states(symbol, span.start_ms - 2 * DAY_MS, span.end_ms - DAY_MS + 1)
        known = [(day.day_ms + DAY_MS, found) for day in days if (found := state(day)) is not None]
        if len(known) < 2:  # noqa: PLR2004 - one state shows no change
            return None
        if any(
            now != before and at_ms >= span.start_ms and wanted in {None, now.lower()}
            for (_, before), (at_ms, now) in pairwise(known)
        ):
            return True
        return None if known[0][0] >= span.start_ms and wanted == known[0][1].lower() else False

    return {symbol: changed(symbol) for symbol in ids}


async def _ranked(reading: DataReader, condition: Ranked, time: Time, ids: Sequence[str]) -> dict[str, Truth]:
    of_all = not (reading.has_others(ids) or condition.own)
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


def trend_meant(where: Condition | None) -> Test | None:
    """The trend that "up" or "down" may also mean where no window is named."""
    if not isinstance(where, Test) or where.measure not in _MOVES or where.value != 0.0:
        return None
    return Test(Measure("trend"), "eq", "UP" if where.op == "gt" else "DOWN")


def first_bound(where: Condition | None) -> Test | None:
    """The first bound where nothing but bounds of numbers are the conditions, all at the query's time."""
    items = where.items if isinstance(where, All) else (where,)
    bounds = [one for one in items if isinstance(one, Test) and _is_bound(one)]
    return bounds[0] if len(bounds) == len(items) else None


def _is_bound(test: Test) -> bool:
    of_coins = test.at is None and not MEASURES[test.measure.name].market
    return of_coins and test.op not in {"eq", "ne"} and not isinstance(test.value, str)
