"""Sums of money: conversions, ratios, what holdings are worth, and profit or loss."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from service.ask.describe import number
from service.ask.measure_table import Unit
from service.ask.planner.bars import TO_MS, instant_of, price_at, prices_at
from service.ask.planner.data_reader import DataReader
from service.ask.planner.query_context import QueryContext, carry_figures
from service.ask.planner.result import Column, Figure, Figures, Refused, Result, Row, date, found, percent, usd
from service.ask.planner.units import column_of, values_of
from service.ask.query import (
    At,
    Between,
    Convert,
    Holding,
    Measure,
    Now,
    Portfolio,
    Profit,
    Ratio,
    Time,
    ValueOf,
    Window,
)
from service.clock import DAY_MS
from service.market.past_prices import WEEK_MS, instant_before

_DOLLAR: Final = "USD"
_PRICE: Final = Measure("price")


async def _prices(reading: DataReader, units: Sequence[str], time: Time) -> dict[str, float]:
    """USD per unit; 1 for dollars.

    Raises:
        Refused: Where a price is not known.
    """
    coins = [unit for unit in dict.fromkeys(units) if unit != _DOLLAR]
    prices = {_DOLLAR: 1.0}
    for coin, price in (await values_of(reading, _PRICE, time, coins)).items() if coins else ():
        if not isinstance(price, int | float) or price <= 0:
            raise Refused("unknown-value", subject=coin, label="price")
        prices[coin] = float(price)
    return prices


def _held(holding: Holding, asked: QueryContext) -> Figure | str:
    if holding.unit == _DOLLAR:
        return usd(holding.amount)
    return f"{number(holding.amount)} {asked.name(holding.unit)}"


def _name(asked: QueryContext, unit: str) -> str:
    return unit if unit == _DOLLAR else asked.name(unit)


async def convert(asked: QueryContext, operation: Convert) -> Result:
    """What an amount is worth in other units, at prices of the query's time, before any cost."""
    holding, into = operation.holding, operation.into or (_DOLLAR,)
    prices = await _prices(asked.reading, [holding.unit, *into], asked.query.time)
    worth = holding.amount * prices[holding.unit]
    rows = [Row(_name(asked, unit), (worth / prices[unit],)) for unit in into]
    in_dollars = into[0] == _DOLLAR
    return found(
        "convert",
        {
            "holding": _held(holding, asked),
            "value": usd(worth) if in_dollars else Figure(rows[0].values[0], Unit.AMOUNT),
            "unit": "" if in_dollars else f" {rows[0].subject}",
            "worth": "" if _DOLLAR in {into[0], holding.unit} else usd(worth),
            "when": asked.when,
            "verb": asked.verb,
        },
        columns=[Column("amount", Unit.AMOUNT)],
        rows=rows,
    )


async def ratio(asked: QueryContext, _: Ratio) -> Result:
    """The first measure of the first thing divided by that of the second."""
    if len(asked.ids) < 2:  # noqa: PLR2004 - of two
        raise Refused("no-pair")
    (one, other), measure = asked.ids[:2], (asked.main() or [_PRICE])[0]
    values, column = await asked.values(measure, [one, other]), column_of(measure)
    top, bottom = values[one], values[other]
    if not isinstance(top, int | float) or not isinstance(bottom, int | float) or not bottom:
        raise Refused("unknown-value", subject=f"{asked.name(one)} or {asked.name(other)}", label=column.label)
    return found(
        "ratio",
        {
            "subject": asked.name(one),
            "other": asked.name(other),
            "label": column.label,
            "value": Figure(top / bottom, Unit.AMOUNT),
            "own": Figure(top, column.unit),
            "base": Figure(bottom, column.unit),
            "when": asked.when,
            "verb": asked.verb,
        },
    )


async def value_of(asked: QueryContext, operation: ValueOf) -> Result:
    """What holdings are worth together, or what funding would pay or cost a position of that size."""
    holdings = operation.holdings
    prices = await _prices(asked.reading, [holding.unit for holding in holdings], asked.query.time)
    worths = [holding.amount * prices[holding.unit] for holding in holdings]
    carry = next((measure for measure in asked.query.measures if measure.name == "carry"), None)
    if carry is not None:
        return await _carry(asked, carry, holdings[0], worths[0])
    total = sum(worths)
    if not total:
        raise Refused("no-amount")
    parts = sorted(zip(worths, holdings, strict=True), key=lambda part: -part[0])
    units = {"amount": Unit.AMOUNT, "price": Unit.USD, "value": Unit.USD, "share": Unit.SHARE}
    rows = [
        Row(_name(asked, holding.unit), (holding.amount, prices[holding.unit], worth, worth / total * 100))
        for worth, holding in parts
    ]
    one = len(rows) == 1
    return found(
        "worth_one" if one else "worth",
        {
            "value": usd(total),
            "when": asked.when,
            "verb": asked.verb,
            "subject": rows[0].subject,
            "share": Figure(rows[0].values[-1], Unit.SHARE),
            "holding": _held(holdings[0], asked),
        },
        columns=[Column(label, unit) for label, unit in units.items()],
        rows=rows,
        shown=0 if one else len(rows),
    )


async def _carry(asked: QueryContext, measure: Measure, holding: Holding, worth: float) -> Result:
    sides: list[Literal["long", "short"]] = [measure.side] if measure.side else ["long", "short"]
    own = [Measure("carry", measure.over, side=side, notional=worth) for side in sides]
    rows = [
        Row(str(one.side), tuple((await values_of(asked.reading, one, Now(), [holding.unit])).values())) for one in own
    ]
    first = rows[0].values[0]
    if not isinstance(first, int | float):
        raise Refused("unknown-value", subject=holding.unit, label="funding")
    return found(
        "carry",
        {
            **carry_figures(own[0], first),
            "holding": _held(holding, asked),
            "worth": usd(worth),
            "value": Figure(first, Unit.USD_CHANGE),
        },
        columns=[Column("funding received", Unit.USD_CHANGE)],
        rows=rows,
        shown=0 if len(rows) == 1 else 2,
        notes=["estimate"],
    )


class _Made(NamedTuple):
    """What a position has made. `size`: what it was worth at its entry, USD; null where that is not said."""

    entry: float
    price: float
    percent: float
    size: float | None
    opened_ms: int | None

    @property
    def gain(self) -> float:
        """In USD."""
        return (self.size or 0) * self.percent / 100


async def profit(asked: QueryContext, operation: Profit) -> Result:
    """Profit or loss of a position since its entry, without fees and funding."""
    if len(asked.ids) != 1:
        raise Refused("one-coin")
    made = await _made(asked, operation, asked.ids[0])
    figures: Figures = {"amount": Figure(abs(made.percent), Unit.SHARE)}
    if made.size is not None:
        figures = {
            "gain": Figure(made.gain, Unit.USD_CHANGE),
            "amount": usd(abs(made.gain)),
            "holding": _held(operation.holding or Holding(0, _DOLLAR), asked),
            "worth": usd(made.size + made.gain),
        }
    opened, notes = _opened(made)
    return found(
        "profit" if made.size is not None else "profit_percent",
        {
            "subject": asked.name(asked.ids[0]),
            "side": operation.side,
            "entry": usd(made.entry),
            "price": usd(made.price),
            "percent": percent(made.percent),
            "outcome": _outcome(made.percent),
            "when": asked.when,
            **figures,
            **opened,
        },
        notes=notes,
    )


async def portfolio(asked: QueryContext, operation: Portfolio) -> Result:
    """Profit or loss of several positions and their total, without fees and funding.

    The worth of a position is what was put into it plus its profit, of a short as well.
    """
    made = [await _made(asked, one, coin) for one, coin in zip(operation.positions, asked.ids, strict=True)]
    units = {
        "entry": Unit.USD,
        "price": Unit.USD,
        "profit": Unit.USD_CHANGE,
        "change": Unit.PERCENT,
        "worth": Unit.USD,
    }
    rows = [
        Row(
            f"{asked.name(coin)} {one.side}",
            (own.entry, own.price, own.gain, own.percent, (own.size or 0) + own.gain),
        )
        for coin, one, own in zip(asked.ids, operation.positions, made, strict=True)
    ]
    gain, size = sum(own.gain for own in made), sum(own.size or 0 for own in made)
    if not size:
        raise Refused("no-amount")
    opened, notes = _opened(made[0])
    return found(
        "portfolio",
        {
            "outcome": _outcome(gain),
            "gain": Figure(gain, Unit.USD_CHANGE),
            "amount": usd(abs(gain)),
            "percent": percent(gain / size * 100),
            "worth": usd(size + gain),
            "when": asked.when,
            **opened,
        },
        columns=[Column(label, unit) for label, unit in units.items()],
        rows=rows,
        shown=len(rows),
        notes=notes,
    )


def _opened(made: _Made) -> tuple[Figures, list[str]]:
    """When a position was opened, and the notes on it."""
    if made.opened_ms is None:
        return {}, ["no_costs"]
    return {"opened": date(made.opened_ms)}, ["opened", "no_costs"]


async def _made(asked: QueryContext, position: Profit, coin: str) -> _Made:
    price = (await _prices(asked.reading, [coin], asked.query.time))[coin]
    entry, opened_ms, holding = position.entry_price, None, position.holding
    if not entry:
        entry, opened_ms = await _entry(asked, position, coin)
    if holding is not None and holding.unit not in {_DOLLAR, coin}:
        raise Refused("one-coin")
    size = None if holding is None else holding.amount * (1 if holding.unit == _DOLLAR else entry)
    sign = -1 if position.side == "short" else 1
    return _Made(entry, price, sign * (price / entry - 1) * 100, size, opened_ms)


def _outcome(gain: float) -> str:
    return "profit" if gain > 0 else "loss" if gain < 0 else "result"


async def _entry(asked: QueryContext, operation: Profit, coin: str) -> tuple[float, int]:
    """The price when a position was opened and the day of it."""
    since, reading = operation.since, asked.reading
    if since is None:
        raise Refused("no-entry")
    if isinstance(since, Window):
        span_ms = since.count * TO_MS[since.unit]
        at_ms = instant_before(reading.now_ms, span_ms)
        price = (await prices_at(reading, [coin], at_ms, is_distant=span_ms >= WEEK_MS))[coin]
    elif isinstance(since, At) and since.instant_ms is not None:
        at_ms = since.instant_ms
        is_distant = reading.now_ms - at_ms >= WEEK_MS
        price = (await prices_at(reading, [coin], at_ms, is_distant=is_distant))[coin]
    else:
        at_ms = since.start_ms if isinstance(since, Between) else instant_of(since, reading.now_ms)
        price = await price_at(reading, coin, at_ms)
    if price is None or price <= 0:
        first = (await reading.daily()).first_day_ms(coin)
        if first is not None and at_ms < first + DAY_MS:
            raise Refused("before-history", subject=asked.name(coin), first=date(first))
        raise Refused("unknown-value", subject=asked.name(coin), label="price at that time")
    return price, at_ms - 1 if at_ms % DAY_MS == 0 else at_ms
