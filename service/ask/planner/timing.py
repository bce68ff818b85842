"""Operations over time: extremes with their dates, since when, on how many days, and how a measure went over a span."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from service.analytics.states import days_in_state
from service.ask import query as q
from service.ask.describe import clause_words, label_of
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.bars import (
    BAR_PRICES,
    Interval,
    Points,
    bars_of,
    change_of,
    changes,
    days_of,
    drawdowns,
    instant_of,
    interval_of,
    prices_around,
)
from service.ask.planner.conditions import Truth, holds, joined, measures_in, placed, state_of_day
from service.ask.planner.data_reader import FEW, MARKET, DataReader
from service.ask.planner.query_context import QueryContext
from service.ask.planner.result import Column, Figure, Figures, Refused, Result, Row, Scalar, date, found, percent, usd
from service.ask.planner.units import OWN_COINS, column_of, is_rate, part_of_year, values_of
from service.ask.planner.values import times
from service.ask.query import Between, Condition, Measure, Window
from service.clock import DAY_MS
from service.table.daily import DayStates

_EVER: Final = Between(0, None, "since the first known day")

_REGIMES: Final = frozenset({"regime", "market_regime"})
"""Measures of the market that have days."""

_PRICES: Final = frozenset({"price", *BAR_PRICES})
_BOUND: Final[Mapping[str, str]] = {"gt": "high", "ge": "high", "lt": "low", "le": "low"}
"""Which price of a day decides whether a bound was passed."""

_VERBS: Final = {"since": "has been", "never": "was", "not_now": "was", "last": "was"}
_WHICH: Final = {"max": "highest", "min": "lowest", "first": "first known", "last": "last known"}


async def extreme(asked: QueryContext, operation: q.Extreme) -> Result:
    """The largest, smallest, first or last value of a measure within the time asked for, with its day."""
    if not asked.query.measures:
        raise Refused("no-measure")
    measure, reading, which = asked.query.measures[0], asked.reading, operation.which
    if asked.ids == [MARKET] or reading.has_others(asked.ids):
        raise Refused("no-asset-history")
    span = _span_asked(asked, measure)
    series = {id_: await _points(reading, measure, id_, span, low=which == "min") for id_ in asked.ids}
    series = {id_: points for id_, points in series.items() if points}
    if not series:
        raise await asked.unknown(label_of(measure))
    edge, sign = which in {"first", "last"}, 1 if which in {"first", "min"} else -1

    def key(point: tuple[int, Scalar]) -> float:
        return sign * (point[0] if edge else placed(measure, point[1]))

    chosen = {id_: min(points, key=lambda point: (key(point), point[0])) for id_, points in series.items()}
    order = sorted(chosen, key=lambda id_: (key(chosen[id_]), id_))
    daily = Window(1, "d", "1 day") if measure.name == "change" else None
    named = replace(measure, over=measure.over or daily, mean=False, absolute=False, per=None)
    column = Column(label_of(named), column_of(measure).unit)
    rows = [Row(asked.name(id_), chosen[id_][::-1]) for id_ in order]
    figures: Figures = {}
    first_ms = min(points[0][0] for points in series.values())
    if first_ms >= span.start_ms + DAY_MS:
        figures["first"] = date(first_ms)
    columns, day = [column, Column("day", Unit.DATE)], date(chosen[order[0]][0])
    figures |= {"which": "" if measure.name in {"high", "low"} else _WHICH[which], "day": day}
    figures |= {} if span.start_ms else {"when": " of all known days"}
    return found(
        "extreme",
        asked.headline(columns, rows) | figures,
        columns=columns,
        rows=rows,
        unknown=asked.names(id_ for id_ in asked.ids if id_ not in series),
        notes=["known_since"] if "first" in figures else [],
    )


def _span_asked(asked: QueryContext, measure: Measure) -> Interval:
    """The span of the query, else the window of a measure that is not one of returns, else all that is known."""
    time, now_ms = asked.query.time, asked.reading.now_ms
    if isinstance(time, Window | Between):
        return days_of(time, now_ms)
    if isinstance(time, q.At):
        if not time.whole_day or time.at_ms >= now_ms:
            raise Refused("not-over", label=label_of(measure))
        return Interval(time.at_ms, min(time.at_ms + DAY_MS, now_ms))
    own = measure.over if measure.name in {*_PRICES, "volume", "drawdown", "funding"} else None
    return days_of(own or _EVER, now_ms)


async def _points(reading: DataReader, measure: Measure, symbol: str, span: Interval, *, low: bool = False) -> Points:
    """The values of a measure on each day of a span.

    Args:
        reading: What is read.
        measure: What is measured.
        symbol: Of which coin.
        span: Within which instants.
        low: Whether of a day's prices the low counts instead of the high.

    Raises:
        Refused: Where a measure has no values by the day.
    """
    name = measure.name
    if measure.counted_in not in {None, OWN_COINS, symbol} or (measure.counted_in and name != "volume"):
        raise Refused("not-over", label=label_of(measure))
    if is_rate(measure):
        yearly = await _points(reading, replace(measure, per_hours=None), symbol, span)
        return [(at_ms, times(value, part_of_year(measure))) for at_ms, value in yearly]
    if symbol == MARKET:
        return await _of_market(reading, measure, span)
    if name in _PRICES:
        price = name if name in BAR_PRICES else "low" if low else "high"
        bars = await bars_of(reading, symbol, span)
        return [(bar.open_ms, getattr(bar, price)) for bar in bars if bar.closed or name != "close"]
    if name == "volume":
        closed = [bar for bar in await bars_of(reading, symbol, span) if bar.closed]
        return [(bar.open_ms, bar.volume_usd / (bar.close if measure.counted_in else 1)) for bar in closed]
    if name == "change":
        over = measure.over
        length = over.count if isinstance(over, Window) and over.unit == "d" else 1
        earlier = Interval(span.start_ms - length * DAY_MS, span.end_ms)
        bars = [bar for bar in await bars_of(reading, symbol, earlier) if bar.closed]
        return [point for point in changes(bars, length) if point[0] >= span.start_ms]
    return await _stored(reading, measure, symbol, span)


async def _stored(reading: DataReader, measure: Measure, symbol: str, span: Interval) -> Points:
    name = measure.name
    if name == "funding":
        paid = await reading.funding(symbol, span.start_ms, span.end_ms)
        return [(payment.paid_ms, payment.apr) for payment in paid.payments]
    if name == "market_cap":
        return [(cap.at_ms, cap.market_cap) for cap in await reading.market_caps(symbol, span.start_ms, span.end_ms)]
    if name == "drawdown":
        return drawdowns(await bars_of(reading, symbol, span))
    state: Callable[[DayStates], Scalar] | None = attrgetter("score") if name == "score" else state_of_day(measure)
    if state is None:
        raise Refused("not-past", label=label_of(measure))
    days = (await reading.daily()).states(symbol, span.start_ms, span.end_ms)
    return [(day.day_ms, value) for day in days if (value := state(day)) is not None]


async def _of_market(reading: DataReader, measure: Measure, span: Interval) -> Points:
    """The regimes of the market, by the day at whose end they are known."""
    if measure.name not in _REGIMES:
        raise Refused("wrong-subject", label=label_of(measure))
    daily = await reading.daily()
    first_ms = max(span.start_ms, daily.first_ms or reading.now_ms) // DAY_MS * DAY_MS
    known = ((day, daily.market_regime(day + DAY_MS)) for day in range(first_ms, span.end_ms - DAY_MS + 1, DAY_MS))
    return [(day, regime.state) for day, regime in known if regime is not None]


async def when(asked: QueryContext, operation: q.When) -> Result:
    """Since when conditions hold, or when they last began to: by the ends of known days."""
    if len(asked.ids) > FEW:
        raise Refused("few-only", label="dates")
    condition, now_ms = asked.query.where, asked.reading.now_ms
    extra = asked.query.measures if condition else asked.query.measures[1:]
    first = condition or await _present(asked, asked.ids[0])
    if operation.edge == "first" and condition is not None:
        return await _first_day(asked, condition)
    rows = []
    for symbol in asked.ids:
        days = await _true_days(asked, condition or await _present(asked, symbol), symbol)
        if any(held is not None for _, held in days):
            run = _run(asked.name(symbol), days, _closed_before(asked, asked.query.where))
            rows.append(replace(run, values=run.values + await _then(asked, extra, symbol, run.values[1])))
    if not rows:
        raise Refused("unknown-value", subject=", ".join(asked.names(asked.ids)), label="that")
    units = {"state": Unit.STATE, "began": Unit.DATE, "last day": Unit.DATE, "days": Unit.DAYS}
    columns = [*(Column(label, unit) for label, unit in units.items()), *map(column_of, extra)]
    state, began, last, days_held = rows[0].values[:4]
    kind = "never" if began is None else "not_now" if operation.edge == "since" else "last"
    if state == "holds" and instant_of(asked.query.time, now_ms) == now_ms:
        kind = "since"
    figures: Figures = {"subject": rows[0].subject, "what": clause_words(rows[0].subject, first, _VERBS[kind])}
    if kind == "not_now":
        figures |= await _instead(asked, first)
    if began is not None:
        figures |= {"began": date(began), "last": date(last), "days": Figure(days_held, Unit.DAYS)}
    return found(kind, figures, columns=columns, rows=rows)


async def _instead(asked: QueryContext, condition: Condition) -> Figures:
    """What a state is now that is not what was asked, and since when; empty of other conditions."""
    if not isinstance(condition, q.Test) or condition.op != "eq" or not MEASURES[condition.measure.name].states:
        return {"now": ""}
    symbol = asked.ids[0]
    state = await _newest(asked, condition.measure, symbol)
    run = _run("", await _true_days(asked, state, symbol), _closed_before(asked, state))
    now = clause_words(asked.name(symbol), state, "has been")
    return {"now": now, "now_since": date(run.values[1]), "what": f"It was {condition.value}"}


async def _first_day(asked: QueryContext, condition: Condition) -> Result:
    """The first known day of one coin on which conditions held."""
    if len(asked.ids) != 1:
        raise Refused("one-coin")
    days = [day for day in await _true_days(asked, condition, asked.ids[0]) if day[1] is not None]
    subject = asked.name(asked.ids[0])
    if not days:
        raise Refused("unknown-value", subject=subject, label="that")
    began = next((day_ms for day_ms, held in days if held), None)
    figures: Figures = {} if began is None else {"began": date(began)}
    what, since = clause_words(subject, condition, "was"), date(days[0][0])
    return found("never" if began is None else "first", {"subject": subject, "what": what, "since": since, **figures})


async def _then(asked: QueryContext, measures: Sequence[Measure], symbol: str, day_ms: Scalar) -> tuple[Scalar, ...]:
    """Other measures on the day on which a condition began to hold."""
    if not isinstance(day_ms, int):
        return (None,) * len(measures)
    day = q.At(day_ms, whole_day=True, words="then")
    return tuple([(await values_of(asked.reading, measure, day, [symbol]))[symbol] for measure in measures])


async def _present(asked: QueryContext, symbol: str) -> Condition:
    """The newest known state of the measure asked for, as a condition."""
    if not asked.query.measures:
        raise Refused("no-measure")
    measure = asked.query.measures[0]
    if measure.name not in (_REGIMES if symbol == MARKET else {"trend", "regime", "verdict"}):
        raise Refused("no-changes", label=label_of(measure))
    return await _newest(asked, measure, symbol)


async def _newest(asked: QueryContext, measure: Measure, symbol: str) -> q.Test:
    points = await _points(asked.reading, measure, symbol, days_of(_EVER, asked.reading.now_ms))
    if not points:
        raise Refused("unknown-value", subject=asked.name(symbol), label=label_of(measure))
    return q.Test(measure, "eq", points[-1][1])


async def _true_days(asked: QueryContext, condition: Condition, symbol: str) -> list[tuple[int, Truth]]:
    """On which known days a condition held, oldest first."""
    time = asked.query.time
    span = days_of(time if isinstance(time, Window | Between) else _EVER, asked.reading.now_ms)
    return sorted((await _truth_by_day(asked.reading, condition, symbol, span)).items())


async def _truth_by_day(reading: DataReader, condition: Condition, symbol: str, span: Interval) -> dict[int, Truth]:
    if isinstance(condition, q.Not | q.All | q.Any_):
        items = (condition.item,) if isinstance(condition, q.Not) else condition.items
        parts = [await _truth_by_day(reading, item, symbol, span) for item in items]
        known = [day for day in parts[0] if all(part.get(day) is not None for part in parts)]
        return {day: joined(condition, [part[day] for part in parts]) for day in known}
    if isinstance(condition, q.Changed | q.Ranked) or condition.coin is not None:
        raise Refused("no-changes", label=label_of(condition.measure))
    values = dict(await _by_close(reading, condition.measure, symbol, span))
    bounds: dict[int, Scalar] = dict.fromkeys(values, condition.value)
    if condition.to is not None:
        bounds = dict(await _by_close(reading, condition.to, symbol, span))
    return {day: holds(condition.measure, condition.op, value, bounds.get(day)) for day, value in values.items()}


async def _by_close(reading: DataReader, measure: Measure, symbol: str, span: Interval) -> Points:
    """Values by the day: prices are closes, a state is that of the day before, which is known from its close on."""
    if measure.name == "price":
        return [(bar.open_ms, bar.close) for bar in await bars_of(reading, symbol, span)]
    points = await _points(reading, measure, symbol, span)
    return [(day + DAY_MS, value) for day, value in points] if MEASURES[measure.name].states else points


def _run(name: str, days: Sequence[tuple[int, Truth]], before_ms: int) -> Row:
    """The last run of days on which it held: whether it still holds, its first and last day, its closed days.

    Args:
        name: Subject.
        days: Oldest first.
        before_ms: Days from here on have not closed.
    """
    known = [(day, held) for day, held in days if held is not None]
    end = len(known) - 1
    while end >= 0 and not known[end][1]:
        end -= 1
    if end < 0:
        return Row(name, ("never", None, None, None))
    start = end
    while start > 0 and known[start - 1][1]:
        start -= 1
    closed = [day // DAY_MS for day, _ in known[start : end + 1] if day < before_ms]
    length = days_in_state(closed[0], closed[-1]) if closed else 0
    return Row(name, ("holds" if end == len(known) - 1 else "ended", known[start][0], known[end][0], length))


def _closed_before(asked: QueryContext, condition: Condition | None) -> int:
    """Before when days have closed: a state of the present day is that of the last close, a price is not final yet."""
    states = all(MEASURES[measure.name].states for measure in measures_in(condition))
    return asked.reading.now_ms if states else asked.reading.today_ms


async def check_days(asked: QueryContext) -> Result:
    """On how many days of a span conditions held: prices at any time of a day, states at its end."""
    condition = None if asked.query.where is None else _at_any_time(asked.query.where)
    known, figures = await _days_held(asked, condition, asked.reading.now_ms + 1)
    # A price is above a bound once it was; a state of some days is neither there nor absent.
    part = "Yes" if condition != asked.query.where else "On some days"
    return found("check_days", {"answer": "No" if not any(known) else "Yes" if all(known) else part, **figures})


async def count_days(asked: QueryContext) -> Result:
    """On how many closed days conditions held for a coin: prices at their close, changes from close to close."""
    _, figures = await _days_held(asked, asked.query.where, _closed_before(asked, asked.query.where))
    return found("count_days", figures)


async def _days_held(asked: QueryContext, condition: Condition | None, until_ms: int) -> tuple[Sequence[bool], Figures]:
    """Whether conditions held, for each known day of one coin before an instant, and the figures that say so."""
    if condition is None or asked.query.where is None:
        raise Refused("no-condition")
    if len(asked.ids) != 1 or asked.reading.has_others(asked.ids):
        raise Refused("one-coin")
    subject = asked.name(asked.ids[0])
    days = await _true_days(asked, condition, asked.ids[0])
    known = [held for day_ms, held in days if held is not None and day_ms < until_ms]
    if not known:
        raise Refused("unknown-value", subject=subject, label="that")
    when = " known" if isinstance(asked.query.time, q.Now) else asked.when
    what = clause_words(subject, asked.query.where, "was")
    return known, {"subject": subject, "what": what, "days": sum(known), "of": len(known), "when": when}


def _at_any_time(condition: Condition) -> Condition:
    """A bound of the price as one of the day's high or low."""
    if isinstance(condition, q.Test) and condition.measure.name == "price" and condition.op in _BOUND:
        return replace(condition, measure=Measure(_BOUND[condition.op]))
    return condition


async def course(asked: QueryContext, measure: Measure) -> Result:
    """How a price or a state went over a span: its start and end, its bounds, or the days in each state."""
    symbol, time = asked.ids[0], asked.query.time
    if measure.name != "price" or not isinstance(time, Window | Between):
        return await _spent(asked, measure, symbol)
    interval = interval_of(time, asked.reading.now_ms)
    if interval.start_ms >= asked.reading.now_ms:
        raise Refused("future", reason="forecast")
    bars = await bars_of(asked.reading, symbol, interval)
    if not bars:
        raise await asked.unknown(label_of(measure))
    high, low = max(bars, key=attrgetter("high")), min(bars, key=attrgetter("low"))
    before, after = await prices_around(asked.reading, [symbol], time, asked.reading.now_ms)
    start, end = before[symbol], after[symbol]
    if start is None or end is None:
        raise await asked.unknown(label_of(measure))
    return found(
        "course",
        {
            "subject": asked.name(symbol),
            "start": usd(start),
            "end": usd(end),
            "change": percent(change_of(end, start)),
            "high": usd(high.high),
            "high_day": date(high.open_ms),
            "low": usd(low.low),
            "low_day": date(low.open_ms),
            "when": asked.when,
        },
    )


async def _spent(asked: QueryContext, measure: Measure, symbol: str) -> Result:
    points = await _points(asked.reading, measure, symbol, _span_asked(asked, measure))
    if not points:
        raise await asked.unknown(label_of(measure))
    spent = sorted(Counter(str(state) for _, state in points).items(), key=lambda item: (-item[1], item[0]))
    return found(
        "spent",
        {
            "subject": asked.name(symbol),
            "label": label_of(measure),
            "state": spent[0][0],
            "days": spent[0][1],
            "of": len(points),
            "end": str(points[-1][1]),
            "when": asked.when,
        },
        columns=[Column("days", Unit.COUNT)],
        rows=[Row(state, (days,)) for state, days in spent],
        shown=10,
    )
