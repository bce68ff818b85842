"""Sums of money: conversions, ratios, what holdings are worth, and profit or loss."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from service.ask.describe import label_of, number
from service.ask.measure_table import Unit
from service.ask.planner.asked import Asked
from service.ask.planner.bars import price_at
from service.ask.planner.reading import Reading
from service.ask.planner.result import Column, Figure, Found, Refused, Row, Scalar, date, text, usd
from service.ask.planner.spans import instant_of, interval_of
from service.ask.planner.values import unit_of, values_of
from service.ask.query import Between, Convert, Holding, Measure, Now, Portfolio, Profit, Ratio, Time, ValueOf, Window
from service.clock import DAY_MS

_DOLLAR: Final = "USD"
_PRICE: Final = Measure("price")


async def _prices(reading: Reading, units: Sequence[str], time: Time) -> dict[str, float]:
    """USD per unit; 1 for dollars.

    Raises:
        Refused: Where a price is not known.
    """
    coins = [unit for unit in dict.fromkeys(units) if unit != _DOLLAR]
    found = await values_of(reading, _PRICE, time, coins) if coins else {}
    prices = {_DOLLAR: 1.0}
    for coin, price in found.items():
        if not isinstance(price, int | float) or price <= 0:
            raise Refused("unknown-value", subject=text(coin), label=text("price"))
        prices[coin] = float(price)
    return prices


def _held(holding: Holding, asked: Asked) -> Figure:
    if holding.unit == _DOLLAR:
        return usd(holding.amount)
    return text(f"{number(holding.amount)} {asked.name(holding.unit)}")


async def convert(asked: Asked, operation: Convert) -> Found:
    """What an amount is worth in other units, at prices of the query's time, before any cost."""
    holding, into = operation.holding, operation.into or (_DOLLAR,)
    prices = await _prices(asked.reading, [holding.unit, *into], asked.query.time)
    worth = holding.amount * prices[holding.unit]
    rows = [Row(_name(asked, unit), (worth / prices[unit],)) for unit in into]
    first = usd(worth) if into[0] == _DOLLAR else Figure(rows[0].values[0], Unit.AMOUNT)
    figures = {
        "holding": _held(holding, asked),
        "value": first,
        "unit": text("" if into[0] == _DOLLAR else f" {rows[0].subject}"),
        "worth": usd(worth) if _DOLLAR not in {into[0], holding.unit} else text(""),
        "when": asked.when,
        "verb": asked.verb,
    }
    columns = [Column("amount", Unit.AMOUNT)]
    return Found(kind="convert", figures=figures, columns=columns, rows=rows, shown=0 if len(rows) == 1 else 10)


async def ratio(asked: Asked, _: Ratio) -> Found:
    """The first measure of the first thing divided by that of the second."""
    if len(asked.ids) < 2:  # noqa: PLR2004 - of two
        raise Refused("no-pair")
    one, other = asked.ids[:2]
    measure = (asked.main() or [_PRICE])[0]
    values = await asked.values(measure, [one, other])
    top, bottom = values[one], values[other]
    if not isinstance(top, int | float) or not isinstance(bottom, int | float) or not bottom:
        names = f"{asked.name(one)} or {asked.name(other)}"
        raise Refused("unknown-value", subject=text(names), label=text(label_of(measure)))
    figures = {
        "subject": text(asked.name(one)),
        "other": text(asked.name(other)),
        "label": text(label_of(measure)),
        "value": Figure(top / bottom, Unit.AMOUNT),
        "own": Figure(top, unit_of(measure)),
        "base": Figure(bottom, unit_of(measure)),
        "when": asked.when,
        "verb": asked.verb,
    }
    return Found(kind="ratio", figures=figures)


async def value_of(asked: Asked, operation: ValueOf) -> Found:
    """What holdings are worth together, or what funding would pay or cost a position of that size."""
    prices = await _prices(asked.reading, [holding.unit for holding in operation.holdings], asked.query.time)
    worths = [holding.amount * prices[holding.unit] for holding in operation.holdings]
    carries = [measure for measure in asked.query.measures if measure.name == "carry"]
    if carries:
        return await _carry(asked, carries[0], operation.holdings[0], worths[0])
    columns = [Column("amount", Unit.AMOUNT), Column("price", Unit.USD), Column("value", Unit.USD)]
    columns += [Column("share", Unit.SHARE)]
    total = sum(worths)
    if not total:
        raise Refused("no-amount")
    parts = sorted(zip(worths, operation.holdings, strict=True), key=lambda part: -part[0])
    rows = [
        Row(_name(asked, holding.unit), (holding.amount, prices[holding.unit], worth, worth / total * 100))
        for worth, holding in parts
    ]
    figures = {"value": usd(total), "when": asked.when, "verb": asked.verb, "winner": text(rows[0].subject)}
    figures["share"] = Figure(rows[0].values[-1], Unit.SHARE)
    figures["holding"] = text(", ".join(str(_held(holding, asked).value) for holding in operation.holdings[:1]))
    kind = "worth_one" if len(rows) == 1 else "worth"
    return Found(kind=kind, figures=figures, columns=columns, rows=rows, shown=0 if len(rows) == 1 else len(rows))


def _name(asked: Asked, unit: str) -> str:
    return unit if unit == _DOLLAR else asked.name(unit)


async def _carry(asked: Asked, measure: Measure, holding: Holding, worth: float) -> Found:
    sides: list[Literal["long", "short"]] = [measure.side] if measure.side else ["long", "short"]
    rows, columns = [], [Column("funding received", Unit.USD_CHANGE)]
    for side in sides:
        own = Measure("carry", measure.over, side=side, notional=worth)
        values = await values_of(asked.reading, own, Now(), [holding.unit])
        rows.append(Row(side, (values[holding.unit],)))
    if rows[0].values[0] is None:
        raise Refused("unknown-value", subject=text(holding.unit), label=text("funding"))
    figures = {
        "holding": _held(holding, asked),
        "worth": usd(worth),
        "side": text(sides[0]),
        "value": Figure(rows[0].values[0], Unit.USD_CHANGE),
        "over": text(measure.over.words if measure.over else "a day"),
    }
    return Found(
        kind="carry", figures=figures, columns=columns, rows=rows, shown=0 if len(rows) == 1 else 2, notes=["estimate"]
    )


async def profit(asked: Asked, operation: Profit) -> Found:
    """Profit or loss of a position since its entry, without fees and funding."""
    if len(asked.ids) != 1:
        raise Refused("one-coin")
    coin = asked.ids[0]
    made = await _made(asked, operation, coin)
    figures = {
        "subject": text(asked.name(coin)),
        "side": text(operation.side),
        "entry": usd(made.entry),
        "price": usd(made.price),
        "percent": Figure(made.percent, Unit.PERCENT),
        "outcome": text(_outcome(made.percent)),
        "when": asked.when,
    }
    if made.opened_ms is not None:
        figures["opened"] = date(made.opened_ms)
    kind = "profit_percent"
    if made.size is not None:
        figures["gain"] = Figure(made.gain, Unit.USD_CHANGE)
        figures["holding"] = _held(operation.holding or Holding(0, _DOLLAR), asked)
        figures["worth"] = usd(made.size + made.gain)
        kind = "profit"
    return Found(kind=kind, figures=figures, notes=["opened", "no_costs"] if "opened" in figures else ["no_costs"])


async def portfolio(asked: Asked, operation: Portfolio) -> Found:
    """Profit or loss of several positions and their total, without fees and funding.

    The worth of a position is what was put into it plus its profit, of a short as well.
    """
    made = [await _made(asked, one, coin) for one, coin in zip(operation.positions, asked.ids, strict=True)]
    columns = [Column("entry", Unit.USD), Column("price", Unit.USD), Column("profit", Unit.USD_CHANGE)]
    columns += [Column("change", Unit.PERCENT), Column("worth", Unit.USD)]
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
    figures = {
        "outcome": text(_outcome(gain)),
        "gain": Figure(gain, Unit.USD_CHANGE),
        "percent": Figure(gain / size * 100, Unit.PERCENT),
        "worth": usd(size + gain),
        "when": asked.when,
    }
    opened_ms = made[0].opened_ms
    if opened_ms is not None:
        figures["opened"] = date(opened_ms)
    notes = ["no_costs"] if opened_ms is None else ["opened", "no_costs"]
    return Found(kind="portfolio", figures=figures, columns=columns, rows=rows, shown=len(rows), notes=notes)


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


async def _made(asked: Asked, position: Profit, coin: str) -> _Made:
    price = (await _prices(asked.reading, [coin], asked.query.time))[coin]
    entry, opened_ms = position.entry_price, None
    if not entry:
        entry, opened_ms = await _entry(asked, position, coin)
    sign = -1 if position.side == "short" else 1
    return _Made(entry, price, sign * (price / entry - 1) * 100, _size(position.holding, entry, coin), opened_ms)


def _outcome(gain: float) -> str:
    return "profit" if gain > 0 else "loss" if gain < 0 else "result"


def _size(holding: Holding | None, entry: float, coin: str) -> float | None:
    """What a position was worth at its entry, USD."""
    if holding is None:
        return None
    if holding.unit not in {_DOLLAR, coin}:
        raise Refused("one-coin")
    return holding.amount if holding.unit == _DOLLAR else holding.amount * entry


async def _entry(asked: Asked, operation: Profit, coin: str) -> tuple[float, int]:
    """The price when a position was opened and the day of it."""
    since, reading = operation.since, asked.reading
    if since is None:
        raise Refused("no-entry")
    if isinstance(since, Window | Between):
        at_ms = interval_of(since, reading.now_ms).start_ms
    else:
        at_ms = instant_of(since, reading.now_ms)
    price: Scalar = await price_at(reading, coin, at_ms)
    if not isinstance(price, int | float) or price <= 0:
        first = (await reading.daily()).first_day_ms(coin)
        if first is not None and at_ms < first + DAY_MS:
            raise Refused("before-history", subject=text(asked.name(coin)), first=date(first))
        raise Refused("unknown-value", subject=text(asked.name(coin)), label=text("price at that time"))
    return price / reading.lot(coin), at_ms - 1 if at_ms % DAY_MS == 0 else at_ms
