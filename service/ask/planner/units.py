"""Values of measures in the unit asked for: a ratio, a size, an amount in coins, a rate per another time."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES, Unit
from service.ask.planner.bars import DAYS_PER_YEAR
from service.ask.planner.data_reader import DataReader
from service.ask.planner.result import Column, Refused, Scalar, Values
from service.ask.planner.values import plain_values_of, times
from service.ask.query import Between, Measure, Time, Window
from service.clock import DAY_MS, HOUR_MS

OWN_COINS: Final = "coins"
"""The unit of an amount that is given in the coin it is one of."""


async def values_of(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The value of a measure for each thing.

    Args:
        reading: What is read.
        measure: What is measured, and in which unit.
        time: When; a span is the window of a measure that has none of its own.
        ids: Tickers, ids of assets, or the market.

    Raises:
        Refused: Where the measure does not exist for such things, times or units.
        ServiceError: What a service raises.
    """
    if measure.per is not None:
        whole = await values_of(reading, Measure(measure.per), time, ids)
        parts = await values_of(reading, replace(measure, per=None), time, ids)
        return {id_: divided(part, whole[id_]) for id_, part in parts.items()}
    if measure.absolute:
        signed = await values_of(reading, replace(measure, absolute=False), time, ids)
        return {id_: abs(value) if isinstance(value, int | float) else value for id_, value in signed.items()}
    if measure.counted_in is not None:
        return await _counted(reading, measure, time, ids)
    yearly = await plain_values_of(reading, measure, time, ids)
    return {id_: times(value, part_of_year(measure)) for id_, value in yearly.items()} if is_rate(measure) else yearly


async def _counted(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Amounts of US dollars in coins, at the price of the same time.

    Raises:
        Refused: Over a span, whose prices differ.
    """
    if measure.mean or isinstance(measure.over or time, Window | Between):
        raise Refused("not-over", label=label_of(measure))
    amounts = await plain_values_of(reading, measure, time, ids)
    coins = {id_: id_ if measure.counted_in == OWN_COINS else str(measure.counted_in) for id_ in ids}
    prices = await plain_values_of(reading, Measure("price"), time, list(dict.fromkeys(coins.values())))
    return {id_: divided(amount, prices[coins[id_]]) for id_, amount in amounts.items()}


def column_of(measure: Measure) -> Column:
    """What a measure is called, and its unit."""
    unit = MEASURES[measure.name].unit
    if measure.per is not None:
        unit = Unit.RATIO
    elif measure.counted_in is not None:
        unit = Unit.AMOUNT
    elif is_rate(measure):
        unit = Unit.RATE
    elif measure.name == "carry" and measure.notional is not None:
        unit = Unit.USD_CHANGE
    return Column(label_of(measure), unit)


def is_rate(measure: Measure) -> bool:
    """Whether a rate is given per another time than a year. What a position costs is a sum of money."""
    return measure.per_hours is not None and measure.notional is None


def part_of_year(measure: Measure) -> float:
    """The part of a year that a rate is given for."""
    return 1.0 if measure.per_hours is None else measure.per_hours * HOUR_MS / (DAYS_PER_YEAR * DAY_MS)


def divided(value: Scalar, by: Scalar) -> Scalar:
    """A value divided by another; null where one is not known or the divisor is zero."""
    return value / by if isinstance(value, int | float) and isinstance(by, int | float) and by else None
