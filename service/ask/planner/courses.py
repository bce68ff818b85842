"""How a price or a state went over a span, and on how many of its days a condition held."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.ask.describe import condition_words, label_of
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner import series
from service.ask.planner.asked import Asked
from service.ask.planner.bars import bars_of
from service.ask.planner.conditions import measures_in
from service.ask.planner.result import Column, Figure, Found, Refused, Row, Scalar, count, date, text
from service.ask.planner.spans import Interval, interval_of
from service.ask.planner.timing import points_of, span_asked, true_days
from service.ask.query import Between, Condition, Measure, Now, Test, Window

_BOUND: Final[Mapping[str, str]] = {"gt": "high", "ge": "high", "lt": "low", "le": "low"}
"""Which price of a day decides whether a bound was passed."""


async def check_days(asked: Asked) -> Found:
    """On how many days of a span conditions held: prices at any time of a day, states at its end."""
    condition = None if asked.query.where is None else _at_any_time(asked.query.where)
    known, figures = await _days_held(asked, condition, asked.reading.now_ms + 1)
    # A price is above a bound once it was; a state of some days is neither there nor absent.
    part = "Yes" if condition != asked.query.where else "On some days"
    figures["answer"] = text("No" if not any(known) else "Yes" if all(known) else part)
    return Found(kind="check_days", figures=figures)


async def count_days(asked: Asked) -> Found:
    """On how many closed days conditions held for a coin: prices at their close, changes from close to close."""
    states = all(MEASURES[measure.name].states for measure in measures_in(asked.query.where))
    _, figures = await _days_held(asked, asked.query.where, asked.reading.now_ms if states else asked.reading.today_ms)
    return Found(kind="count_days", figures=figures)


async def _days_held(
    asked: Asked, condition: Condition | None, until_ms: int
) -> tuple[Sequence[bool], dict[str, Figure]]:
    """Whether conditions held, for each known day of one coin before an instant, and the figures that say so."""
    if condition is None or asked.query.where is None:
        raise Refused("no-condition")
    if len(asked.ids) != 1 or not asked.reading.others.isdisjoint(asked.ids):
        raise Refused("one-coin")
    subject = text(asked.name(asked.ids[0]))
    days = await true_days(asked, condition, asked.ids[0])
    known = [held for day_ms, held in days if held is not None and day_ms < until_ms]
    if not known:
        raise Refused("unknown-value", subject=subject, label=text("that"))
    return known, {
        "subject": subject,
        "what": text(condition_words(asked.query.where)),
        "days": count(sum(known)),
        "of": count(len(known)),
        "when": text(" known") if isinstance(asked.query.time, Now) else asked.when,
    }


def _at_any_time(condition: Condition) -> Condition:
    """A bound of the price as one of the day's high or low."""
    if isinstance(condition, Test) and condition.measure.name == "price" and condition.op in _BOUND:
        return replace(condition, measure=Measure(_BOUND[condition.op]))
    return condition


async def course(asked: Asked, measure: Measure) -> Found:
    """How a price or a state went over a span: its start and end, its bounds, or the days in each state."""
    symbol, time = asked.ids[0], asked.query.time
    if measure.name != "price" or not isinstance(time, Window | Between):
        return await _spent(asked, measure, symbol, span_asked(asked, measure))
    bars = await bars_of(asked.reading, symbol, interval_of(time, asked.reading.now_ms))
    if not bars:
        raise await asked.unknown(label_of(measure))
    scale = asked.reading.lot(symbol)
    high, low = max(bars, key=lambda bar: bar.high), min(bars, key=lambda bar: bar.low)
    figures = {
        "subject": text(asked.name(symbol)),
        "start": Figure(bars[0].open / scale, Unit.USD),
        "end": Figure(bars[-1].close / scale, Unit.USD),
        "change": Figure(series.percent(bars[-1].close, bars[0].open), Unit.PERCENT),
        "high": Figure(high.high / scale, Unit.USD),
        "high_day": date(high.open_ms),
        "low": Figure(low.low / scale, Unit.USD),
        "low_day": date(low.open_ms),
        "when": asked.when,
    }
    return Found(kind="course", figures=figures)


async def _spent(asked: Asked, measure: Measure, symbol: str, span: Interval) -> Found:
    points = await points_of(asked.reading, measure, symbol, span, low=False)
    if not points:
        raise await asked.unknown(label_of(measure))
    spent: dict[Scalar, int] = {}
    for _, state in points:
        spent[state] = spent.get(state, 0) + 1
    rows = [
        Row(str(state), (days,)) for state, days in sorted(spent.items(), key=lambda item: (-item[1], str(item[0])))
    ]
    figures = {
        "subject": text(asked.name(symbol)),
        "label": text(label_of(measure)),
        "state": text(rows[0].subject),
        "days": Figure(rows[0].values[0], Unit.COUNT),
        "of": Figure(len(points), Unit.COUNT),
        "end": text(str(points[-1][1])),
        "when": asked.when,
    }
    return Found(kind="spent", figures=figures, columns=[Column("days", Unit.COUNT)], rows=rows)
