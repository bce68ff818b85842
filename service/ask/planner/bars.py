"""Measures that are computed from bars: changes, highs and lows, means, volatility, correlation."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Final

from msgspec import structs

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES
from service.ask.planner import series
from service.ask.planner.reading import FEW, Reading
from service.ask.planner.result import Refused, Scalar, Values, date, text
from service.ask.planner.spans import TO_MS, Interval, days_of, instant_of, interval_of, span_of
from service.ask.query import Between, Measure, Now, Span, Time, Window
from service.clock import DAY_MS, HOUR_MS
from service.table.daily import PastBar

BENCHMARK: Final = "BTC"

_COLUMNS: Final[Mapping[tuple[int, str], str]] = {
    (1, "h"): "change_1h",
    (24, "h"): "change_24h",
    (1, "d"): "change_24h",
    (168, "h"): "change_7d",
    (7, "d"): "change_7d",
    (720, "h"): "change_30d",
    (30, "d"): "change_30d",
}
"""Windows of changes that the coin table has a column for."""

BAR_PRICES: Final[Mapping[str, Callable[[PastBar], float]]] = {
    "high": lambda bar: bar.high,
    "low": lambda bar: bar.low,
    "open": lambda bar: bar.open,
    "close": lambda bar: bar.close,
}
"""Measures that are a price of a bar."""

LATE_MS: Final = 2 * DAY_MS
"""Age from which the last known close says nothing of an instant."""

KEPT_MS: Final = 90 * DAY_MS
"""How long hourly bars and payments of funding are kept."""


async def bars_of(reading: Reading, symbol: str, span: Interval) -> list[PastBar]:
    """The bars that open within a span, with the bar of the present day or hour so far where it reaches until now."""
    if span.hourly:
        hours = await reading.hourly(symbol, span.start_ms)
        return [bar for bar in hours if span.start_ms <= bar.open_ms < span.end_ms]
    bars = (await reading.daily()).bars(symbol, span.start_ms, span.end_ms)
    today = await reading.history.today(symbol) if span.end_ms > reading.today_ms else None
    return bars if today is None else [*bars, today]


async def price_at(reading: Reading, symbol: str, at_ms: int) -> float | None:
    """The last close known at an instant: by the hour while hours are stored, else by the day; USD."""
    if at_ms >= reading.now_ms:
        price = reading.column("price", [symbol])[symbol]
        return price if isinstance(price, int | float) else None
    if at_ms % DAY_MS:
        hours = await reading.history.hourly(symbol, at_ms - 2 * HOUR_MS)
        known = [bar for bar in hours if bar.open_ms + HOUR_MS <= at_ms]
        if known:
            reading.use("history", {}, known[-1].open_ms + HOUR_MS)
            return known[-1].close
    return await close_before(reading, symbol, at_ms)


async def close_before(reading: Reading, symbol: str, at_ms: int) -> float | None:
    """The last daily close known at an instant, younger than two days; USD."""
    bars = (await reading.daily()).bars(symbol, at_ms - LATE_MS - DAY_MS, at_ms - DAY_MS + 1)
    return bars[-1].close if bars and at_ms - bars[-1].open_ms - DAY_MS < LATE_MS else None


def span_at(
    reading: Reading, measure: Measure, time: Time, of: Callable[[Span, int], Interval] = interval_of
) -> Interval:
    """The span of a measure at the time of a query.

    Args:
        reading: What is read.
        measure: What is measured.
        time: When.
        of: How windows are counted: `days_of` for what is read from bars.

    Raises:
        Refused: Where it lies in the future.
    """
    found = of(span_of(measure, time, MEASURES[measure.name].usual_days), instant_of(time, reading.now_ms))
    if found.start_ms >= reading.now_ms:
        raise Refused("future", reason="forecast")
    return found


async def mean_of(
    reading: Reading, measure: Measure, time: Time, ids: Sequence[str], read: Callable[[PastBar], float]
) -> Values:
    """The mean of the closed bars of a span: days, or hours where hours are asked for."""
    if measure.over is None and not isinstance(time, Window | Between):
        raise Refused("no-window", label=text(label_of(measure)))
    span = span_at(reading, measure, time, days_of)
    check_history(reading, span, ids)

    async def mean(symbol: str) -> Scalar:
        bars = [bar for bar in await bars_of(reading, symbol, span) if bar.closed]
        whole = bars if span.hourly else _whole(bars, span)
        return fmean(map(read, whole)) if whole else None

    return await reading.each(ids, mean)


async def change(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Changes of the price, percent."""
    span = span_of(measure, time, MEASURES["change"].usual_days)
    column = _COLUMNS.get((span.count, span.unit)) if isinstance(span, Window) else None
    if column is not None and instant_of(time, reading.now_ms) == reading.now_ms:
        return reading.column(column, ids)
    interval = span_at(reading, measure, time)
    check_history(reading, interval, ids)

    async def move(symbol: str) -> Scalar:
        end = await price_at(reading, symbol, interval.end_ms)
        if interval.start_ms == 0:
            bars = (await reading.daily()).bars(symbol)
            return series.percent(end, bars[0].open if bars else None)
        return series.percent(end, await price_at(reading, symbol, interval.start_ms))

    return await reading.each(ids, move)


def check_history(reading: Reading, span: Interval, ids: Sequence[str]) -> None:
    """Refuse hours of many coins, and things without a stored past."""
    if not reading.others.isdisjoint(ids):
        raise Refused("no-asset-history")
    if span.hourly and len(ids) > FEW:
        raise Refused("hours-of-many", instead="Which coins rose most over 24 hours?")
    if span.hourly and span.start_ms < reading.now_ms - KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - KEPT_MS))


async def bar_prices(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Prices that the bars of a span have, USD."""
    span = span_at(reading, measure, time, days_of)
    check_history(reading, span, ids)

    async def bound(symbol: str) -> Scalar:
        bar = await bound_bar(reading, measure, time, symbol)
        return None if bar is None else BAR_PRICES[measure.name](bar)

    return await reading.each(ids, bound)


async def bound_bar(reading: Reading, measure: Measure, time: Time, symbol: str) -> PastBar | None:
    """The bar of a span that has a price: the first with the highest high or lowest low, its first or its last."""
    bars = await bars_of(reading, symbol, span_at(reading, measure, time, days_of))
    if measure.name == "high":
        return max(bars, key=lambda bar: bar.high, default=None)
    if measure.name == "low":
        return min(bars, key=lambda bar: bar.low, default=None)
    return bars[0 if measure.name == "open" else -1] if bars else None


async def distance(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """How far the price is from the highest or lowest one of a span, percent."""
    check_history(reading, span_at(reading, measure, time, days_of), ids)

    async def far(symbol: str) -> Scalar:
        bound = await bound_price(reading, measure, time, symbol)
        return series.percent(await price_at(reading, symbol, instant_of(time, reading.now_ms)), bound)

    return await reading.each(ids, far)


async def bound_price(reading: Reading, measure: Measure, time: Time, symbol: str) -> float | None:
    """The price that a distance or drawdown is measured from, USD."""
    bound = structs.replace(measure, name="low" if measure.name == "from_low" else "high")
    bar = await bound_bar(reading, bound, time, symbol)
    return None if bar is None else BAR_PRICES[bound.name](bar)


async def drawdown(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """How far the last close of a span is below its highest price, percent."""
    span = span_at(reading, measure, time, days_of)
    check_history(reading, span, ids)

    async def fall(symbol: str) -> Scalar:
        found = series.drawdowns(await bars_of(reading, symbol, span))
        return found[-1][1] if found else None

    return await reading.each(ids, fall)


def closed_days(reading: Reading, measure: Measure, time: Time) -> Interval:
    """The closed days of a span and the day before, so that the first has a return.

    Raises:
        Refused: Where the span is too short for a figure of daily returns.
    """
    span = span_at(reading, measure, time)
    end_ms = span.end_ms // DAY_MS * DAY_MS
    over = span_of(measure, time, MEASURES[measure.name].usual_days)
    start_ms = end_ms - over.count * TO_MS[over.unit] if isinstance(over, Window) else span.start_ms
    if end_ms - start_ms < series.LEAST_RETURNS * DAY_MS:
        raise Refused("too-short", label=text(label_of(Measure(measure.name))))
    return Interval(start_ms // DAY_MS * DAY_MS - DAY_MS, end_ms, hourly=False)


async def volatility(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Volatility of the daily returns of a span, percent a year; null of coins that are younger."""
    check_history(reading, Interval(0, 0, hourly=False), ids)
    span, daily = closed_days(reading, measure, time), await reading.daily()
    return {symbol: series.volatility(_whole(daily.bars(symbol, span.start_ms, span.end_ms), span)) for symbol in ids}


def _whole(bars: list[PastBar], span: Interval) -> list[PastBar]:
    """The bars of a span; none where a coin is younger than the span."""
    return bars if span.start_ms <= 0 or (bars and bars[0].open_ms == span.start_ms) else []


async def correlation(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Correlation of daily returns with another coin; null of coins that are younger than the span."""
    other = _other(measure, ids)
    if other == BENCHMARK and measure.over is None and isinstance(time, Now):
        return reading.column("btc_correlation", ids)
    check_history(reading, Interval(0, 0, hourly=False), [*ids, other])
    span, daily = closed_days(reading, measure, time), await reading.daily()
    against = daily.bars(other, span.start_ms, span.end_ms)
    return {
        symbol: series.correlation(_whole(daily.bars(symbol, span.start_ms, span.end_ms), span), against)
        for symbol in ids
    }


def _other(measure: Measure, ids: Sequence[str]) -> str:
    """The coin that things are measured against.

    Raises:
        Refused: Where a coin is measured against itself: the other one was not named, or is not known.
    """
    other = measure.other or BENCHMARK
    if list(ids) == [other]:
        raise Refused("no-pair")
    return other


async def strength(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The change of the price less that of another coin, percentage points."""
    other = _other(measure, ids)
    own = Measure("change", span_of(measure, time, MEASURES["strength"].usual_days))
    found = await change(reading, own, time, [*ids, other])
    base = found[other]
    return {symbol: _less(found[symbol], base) for symbol in ids}


def _less(value: Scalar, base: Scalar) -> Scalar:
    return value - base if isinstance(value, int | float) and isinstance(base, int | float) else None
