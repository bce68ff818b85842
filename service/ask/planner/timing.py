"""Operations over time: extremes with their dates, since when and when last, and how a measure went over a span."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from service.ask.describe import condition_words, label_of
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner import series
from service.ask.planner.asked import Asked
from service.ask.planner.bars import BAR_PRICES, bars_of
from service.ask.planner.conditions import Truth, holds, placed, state_of_day
from service.ask.planner.reading import FEW, MARKET, Reading
from service.ask.planner.result import Column, Figure, Found, Refused, Row, Scalar, date, text
from service.ask.planner.spans import Interval, days_of, instant_of
from service.ask.planner.values import unit_of, values_of
from service.ask.query import (
    All,
    Any_,
    At,
    Between,
    Changed,
    Condition,
    Extreme,
    Measure,
    Not,
    Ranked,
    Span,
    Test,
    When,
    Window,
)
from service.clock import DAY_MS
from service.table.daily import DayStates

Points = list[tuple[int, Scalar]]
"""Days (epoch milliseconds of their open) and values, oldest first."""

_EVER: Final = Between(0, None, "since the first known day")

_REGIMES: Final = frozenset({"regime", "market_regime"})
"""Measures of the market that have days."""

_PRICES: Final = frozenset(row.name for row in MEASURES.values() if row.quoted)


async def extreme(asked: Asked, operation: Extreme) -> Found:
    """The largest, smallest, first or last value of a measure within the time asked for, with its day."""
    measure, reading = _main(asked), asked.reading
    span = span_asked(asked, measure)
    found: dict[str, tuple[int, Scalar]] = {}
    first_ms = reading.now_ms
    for symbol in asked.ids:
        points = await points_of(reading, measure, symbol, span, low=operation.which == "min")
        if points:
            found[symbol] = _chosen(points, operation, measure)
            first_ms = min(first_ms, points[0][0])
    if not found:
        raise await asked.unknown(label_of(measure))
    order = _in_order(found, operation, measure)
    label = label_of(Measure(measure.name, measure.over or _daily(measure), measure.other, measure.frame))
    columns = [Column(label, unit_of(measure)), Column("day", Unit.DATE)]
    rows = [_dated(asked, symbol, measure, *found[symbol]) for symbol in order]
    words = {"max": "highest", "min": "lowest", "first": "first known", "last": "last known"}
    when = asked.when if span.start_ms else text(" of all known days")
    figures = {
        "subject": text(rows[0].subject),
        "which": text("" if measure.name in {"high", "low"} else words[operation.which]),
        "label": text(label),
        "value": Figure(rows[0].values[0], columns[0].unit),
        "day": date(found[order[0]][0]),
        "when": when,
        "verb": asked.verb,
    }
    is_late = first_ms >= span.start_ms + DAY_MS
    if is_late:
        figures["first"] = date(first_ms)
    return Found(
        kind="extreme",
        figures=figures,
        columns=columns,
        rows=rows,
        shown=0 if len(rows) == 1 else 10,
        unknown=[asked.name(symbol) for symbol in asked.ids if symbol not in found],
        notes=["known_since"] if is_late else [],
    )


def _main(asked: Asked) -> Measure:
    if not asked.query.measures:
        raise Refused("no-measure")
    measure = asked.query.measures[0]
    if asked.ids == [MARKET] or not asked.reading.others.isdisjoint(asked.ids):
        raise Refused("no-asset-history")
    return measure


def _daily(measure: Measure) -> Window | None:
    return Window(1, "d", "1 day") if measure.name == "change" else None


def span_asked(asked: Asked, measure: Measure) -> Interval:
    """The span of the query, else the window of a measure that is not one of returns, else all that is known."""
    time, now_ms = asked.query.time, asked.reading.now_ms
    if isinstance(time, Window | Between):
        return days_of(time, now_ms)
    if isinstance(time, At):
        if not time.whole_day or time.at_ms >= now_ms:
            raise Refused("not-over", label=text(label_of(measure)))
        return Interval(time.at_ms, min(time.at_ms + DAY_MS, now_ms), hourly=False)
    own: Span | None = measure.over if measure.name in {*_PRICES, "volume", "drawdown", "funding"} else None
    return days_of(own or _EVER, now_ms)


async def points_of(reading: Reading, measure: Measure, symbol: str, span: Interval, *, low: bool) -> Points:
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
    name, length = measure.name, _length(measure)
    if symbol == MARKET:
        return await _of_market(reading, measure, span)
    if name in _PRICES:
        bars = await bars_of(reading, symbol, span)
        read = BAR_PRICES.get(name, BAR_PRICES["low" if low else "high"])
        return [(bar.open_ms, read(bar)) for bar in bars if bar.closed or name != "close"]
    if name == "volume":
        return [(bar.open_ms, bar.volume_usd) for bar in await bars_of(reading, symbol, span) if bar.closed]
    if name == "change":
        earlier = Interval(span.start_ms - length * DAY_MS, span.end_ms, hourly=False)
        bars = [bar for bar in await bars_of(reading, symbol, earlier) if bar.closed]
        return [point for point in series.changes(bars, length) if point[0] >= span.start_ms]
    return await _stored(reading, measure, symbol, span)


def _length(measure: Measure) -> int:
    over = measure.over
    return over.count if isinstance(over, Window) and over.unit == "d" else 1


async def _stored(reading: Reading, measure: Measure, symbol: str, span: Interval) -> Points:
    if measure.name == "funding":
        paid = await reading.funding(symbol, span.start_ms, span.end_ms)
        return [(payment.paid_ms, payment.apr) for payment in paid.payments]
    if measure.name == "market_cap":
        return [(cap.at_ms, cap.market_cap) for cap in await reading.market_caps(symbol, span.start_ms, span.end_ms)]
    if measure.name == "drawdown":
        return list(series.drawdowns(await bars_of(reading, symbol, span)))
    state: Callable[[DayStates], Scalar] | None = state_of_day(measure)
    if measure.name == "score":
        state = attrgetter("score")
    if state is None:
        raise Refused("not-past", label=text(label_of(measure)))
    days = (await reading.daily()).states(symbol, span.start_ms, span.end_ms)
    return [(day.day_ms, found) for day in days if (found := state(day)) is not None]


async def _of_market(reading: Reading, measure: Measure, span: Interval) -> Points:
    """The regimes of the market, by the day at whose end they are known."""
    if measure.name not in _REGIMES:
        raise Refused("wrong-subject", label=text(label_of(measure)))
    daily = await reading.daily()
    first_ms = max(span.start_ms, daily.first_ms or reading.now_ms) // DAY_MS * DAY_MS
    known = ((day, daily.market_regime(day + DAY_MS)) for day in range(first_ms, span.end_ms - DAY_MS + 1, DAY_MS))
    return [(day, regime.state) for day, regime in known if regime is not None]


def _chosen(points: Points, operation: Extreme, measure: Measure) -> tuple[int, Scalar]:
    if operation.which in {"first", "last"}:
        return points[0 if operation.which == "first" else -1]
    sign = 1 if operation.which == "max" else -1
    return max(points, key=lambda point: (sign * placed(measure, point[1]), -point[0]))


def _in_order(found: Mapping[str, tuple[int, Scalar]], operation: Extreme, measure: Measure) -> list[str]:
    if operation.which in {"first", "last"}:
        sign = 1 if operation.which == "first" else -1
        return sorted(found, key=lambda symbol: (sign * found[symbol][0], symbol))
    sign = -1 if operation.which == "max" else 1
    return sorted(found, key=lambda symbol: (sign * placed(measure, found[symbol][1]), symbol))


def _dated(asked: Asked, symbol: str, measure: Measure, day_ms: int, value: Scalar) -> Row:
    if measure.name in _PRICES and isinstance(value, int | float):
        value /= asked.reading.lot(symbol)
    return Row(asked.name(symbol), (value, day_ms))


async def when(asked: Asked, operation: When) -> Found:
    """Since when conditions hold, or when they last began to: by the ends of known days."""
    if len(asked.ids) > FEW:
        raise Refused("few-only", label=text("dates"))
    condition = asked.query.where
    extra = asked.query.measures if condition else asked.query.measures[1:]
    first = condition or await _present(asked, asked.ids[0])
    if operation.edge == "first" and condition is not None:
        return await _first_day(asked, condition)
    rows = []
    for symbol in asked.ids:
        days = await true_days(asked, condition or await _present(asked, symbol), symbol)
        if any(held is not None for _, held in days):
            run = _run(asked.name(symbol), days, whole=symbol != MARKET)
            rows.append(replace(run, values=run.values + await _then(asked, extra, symbol, run.values[1])))
    if not rows:
        raise Refused("unknown-value", subject=text(", ".join(map(asked.name, asked.ids))), label=text("that"))
    units = {"state": Unit.STATE, "began": Unit.DATE, "last day": Unit.DATE, "days": Unit.DAYS}
    columns = [Column(label, unit) for label, unit in units.items()]
    columns += [Column(label_of(measure), unit_of(measure)) for measure in extra]
    state, began, last, days_held = rows[0].values[:4]
    figures = {"subject": text(rows[0].subject), "what": text(condition_words(first))}
    if began is None:
        return Found(kind="never", figures=figures, columns=columns, rows=rows, shown=0 if len(rows) == 1 else 10)
    figures |= {
        "began": Figure(began, Unit.DATE),
        "last": Figure(last, Unit.DATE),
        "days": Figure(days_held, Unit.DAYS),
    }
    is_past = instant_of(asked.query.time, asked.reading.now_ms) < asked.reading.now_ms
    kind = "not_now" if operation.edge == "since" else "last"
    if state == "holds" and not is_past:
        kind = "since"
    return Found(kind=kind, figures=figures, columns=columns, rows=rows, shown=0 if len(rows) == 1 else 10)


async def _first_day(asked: Asked, condition: Condition) -> Found:
    """The first known day of one coin on which conditions held."""
    if len(asked.ids) != 1:
        raise Refused("one-coin")
    days = [day for day in await true_days(asked, condition, asked.ids[0]) if day[1] is not None]
    subject = text(asked.name(asked.ids[0]))
    if not days:
        raise Refused("unknown-value", subject=subject, label=text("that"))
    figures = {"subject": subject, "what": text(condition_words(condition)), "since": date(days[0][0])}
    began = next((day_ms for day_ms, held in days if held), None)
    if began is None:
        return Found(kind="never", figures=figures)
    return Found(kind="first", figures=figures | {"began": date(began)})


async def _then(asked: Asked, measures: Sequence[Measure], symbol: str, day_ms: Scalar) -> tuple[Scalar, ...]:
    """Other measures on the day on which a condition began to hold."""
    if not isinstance(day_ms, int):
        return (None,) * len(measures)
    day = At(day_ms, whole_day=True, words="then")
    return tuple([(await values_of(asked.reading, measure, day, [symbol]))[symbol] for measure in measures])


async def _present(asked: Asked, symbol: str) -> Condition:
    """The newest known state of the measure asked for, as a condition."""
    if not asked.query.measures:
        raise Refused("no-measure")
    measure = asked.query.measures[0]
    if measure.name not in (_REGIMES if symbol == MARKET else {"trend", "regime", "verdict"}):
        raise Refused("no-changes", label=text(label_of(measure)))
    points = await points_of(asked.reading, measure, symbol, days_of(_EVER, asked.reading.now_ms), low=False)
    if not points:
        raise Refused("unknown-value", subject=text(asked.name(symbol)), label=text(label_of(measure)))
    return Test(measure, "eq", points[-1][1])


async def true_days(asked: Asked, condition: Condition, symbol: str) -> list[tuple[int, Truth]]:
    """On which known days a condition held, oldest first."""
    time, now_ms = asked.query.time, asked.reading.now_ms
    span = days_of(time if isinstance(time, Window | Between) else _EVER, now_ms)
    return sorted((await _truth_by_day(asked.reading, condition, symbol, span)).items())


async def _truth_by_day(reading: Reading, condition: Condition, symbol: str, span: Interval) -> dict[int, Truth]:
    if isinstance(condition, Not):
        found = await _truth_by_day(reading, condition.item, symbol, span)
        return {day: None if value is None else not value for day, value in found.items()}
    if isinstance(condition, All | Any_):
        parts = [await _truth_by_day(reading, item, symbol, span) for item in condition.items]
        days = set().union(*parts)
        join = all if isinstance(condition, All) else any
        return {
            day: join(part[day] for part in parts) for day in days if all(part.get(day) is not None for part in parts)
        }
    if isinstance(condition, Changed | Ranked) or condition.coin is not None:
        raise Refused("no-changes", label=text(label_of(condition.measure)))
    values = dict(await _by_close(reading, condition.measure, symbol, span))
    bounds: dict[int, Scalar] = dict.fromkeys(values, condition.value)
    if condition.to is not None:
        bounds = dict(await _by_close(reading, condition.to, symbol, span))
    return {day: holds(condition.measure, condition.op, value, bounds.get(day)) for day, value in values.items()}


async def _by_close(reading: Reading, measure: Measure, symbol: str, span: Interval) -> Points:
    """Values by the day: prices are closes, a state is that of the day before, which is known from its close on."""
    scale = reading.lot(symbol)
    if measure.name == "price":
        return [(bar.open_ms, bar.close / scale) for bar in await bars_of(reading, symbol, span)]
    points = await points_of(reading, measure, symbol, span, low=False)
    if measure.name in _PRICES:
        return [(day, value / scale) for day, value in points if isinstance(value, float)]
    return [(day + DAY_MS, value) for day, value in points] if MEASURES[measure.name].states else points


def _run(name: str, days: Sequence[tuple[int, Truth]], *, whole: bool) -> Row:
    """The last run of days on which it held: whether it still holds, its first and last day, its length in days.

    `whole`: the first day counts, as in streaks of coins; the age of the market's regime counts from its end.
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
    length = (known[end][0] - known[start][0]) // DAY_MS + int(whole)
    return Row(name, ("holds" if end == len(known) - 1 else "ended", known[start][0], known[end][0], length))
