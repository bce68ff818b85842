"""Times of questions as instants, the bars between them, and figures of bars.

Bars of windows of days begin at a midnight UTC, those of windows of hours at a full hour; changes are measured between
prices at the instants themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, log, sqrt
from operator import attrgetter
from typing import Final, NamedTuple

from service.ask.measure_table import MEASURES
from service.ask.planner.data_reader import FEW, DataReader
from service.ask.planner.result import Refused, Scalar, date
from service.ask.query import At, Between, Measure, Span, Time, Window
from service.clock import DAY_MS, HOUR_MS
from service.market.past_prices import WEEK_MS, instant_before
from service.table.daily import PastBar

TO_MS: Final = {"h": HOUR_MS, "d": DAY_MS}
BAR_PRICES: Final = ("high", "low", "open", "close")
"""Measures that are a price of a bar."""

LATE_MS: Final = 2 * DAY_MS
"""Age from which the last known close says nothing of an instant."""

KEPT_MS: Final = 90 * DAY_MS
"""How long hourly bars and payments of funding are kept."""

LEAST_RETURNS: Final = 10
"""Daily returns under which volatility and correlation say nothing."""

DAYS_PER_YEAR: Final = 365

Points = list[tuple[int, Scalar]]
"""Days (epoch milliseconds of their open) and values, oldest first."""


class Interval(NamedTuple):
    """From `start_ms` to `end_ms`, epoch milliseconds; `hourly`: hourly bars are needed to measure it."""

    start_ms: int
    end_ms: int
    hourly: bool = False


def instant_of(time: Time, now_ms: int) -> int:
    """The instant whose knowledge counts: the end of a day or span meant as a whole, the present at the latest."""
    if isinstance(time, At):
        end_ms = time.at_ms + DAY_MS if time.whole_day else time.at_ms
        return min(end_ms if time.instant_ms is None else time.instant_ms, now_ms)
    if isinstance(time, Between) and time.end_ms is not None:
        return min(time.end_ms, now_ms)
    return now_ms


def interval_of(span: Span, until_ms: int) -> Interval:
    """The instants of a span that ends at `until_ms` at the latest.

    So many days or hours begin at the close of a bar, the one that is not closed yet counted. Changes are measured
    between instants.
    """
    if isinstance(span, Between):
        end_ms = until_ms if span.end_ms is None else min(span.end_ms, until_ms)
        return Interval(span.start_ms, end_ms, span.start_ms % DAY_MS != 0)
    if span.unit == "d" and span.count > 1:
        return Interval(-(-until_ms // DAY_MS) * DAY_MS - span.count * DAY_MS, until_ms)
    start_ms = -(-until_ms // HOUR_MS) * HOUR_MS - span.count * TO_MS[span.unit]
    return Interval(start_ms, until_ms, until_ms % DAY_MS != 0)


def days_of(span: Span, until_ms: int) -> Interval:
    """The days of a span: of a window so many closed ones, and the present day so far."""
    interval = interval_of(span, until_ms)
    if isinstance(span, Between) or interval.hourly:
        return interval
    return interval._replace(start_ms=until_ms // DAY_MS * DAY_MS - span.count * TO_MS[span.unit])


def span_of(measure: Measure, time: Time) -> Span:
    """The span over which a measure is taken: its own, else that of the query, else its usual one.

    Of a day that is meant as a whole, measures of one day are taken over that day.
    """
    days = MEASURES[measure.name].usual_days
    if measure.over is not None:
        return measure.over
    if isinstance(time, Window | Between):
        return time
    if isinstance(time, At) and time.whole_day and days <= 1:
        return Between(time.at_ms, time.at_ms + DAY_MS, time.words)
    return Window(days, "d", "a day" if days == 1 else f"{days} days")


def span_at(
    reading: DataReader, measure: Measure, time: Time, of: Callable[[Span, int], Interval] = interval_of
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
    interval = of(span_of(measure, time), instant_of(time, reading.now_ms))
    if interval.start_ms >= reading.now_ms:
        raise Refused("future", reason="forecast")
    return interval


def check_history(reading: DataReader, ids: Sequence[str], span: Interval | None = None) -> None:
    """Refuse hours of many coins, and things without a stored past."""
    if reading.has_others(ids):
        raise Refused("no-asset-history")
    if span is not None and span.hourly and len(ids) > FEW:
        raise Refused("hours-of-many", instead="Which coins rose most over 24 hours?")
    if span is not None and span.hourly and span.start_ms < reading.now_ms - KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - KEPT_MS))


async def bars_of(reading: DataReader, symbol: str, span: Interval) -> list[PastBar]:
    """The bars that open within a span, with the bar of the present day or hour so far where it reaches until now."""
    if span.hourly:
        hours = await reading.hourly(symbol, span.start_ms)
        return [bar for bar in hours if span.start_ms <= bar.open_ms < span.end_ms]
    bars = (await reading.daily()).bars(symbol, span.start_ms, span.end_ms)
    today = await reading.history.today(symbol) if span.end_ms > reading.today_ms else None
    return bars if today is None else [*bars, today]


def bar_with(price: str, bars: Sequence[PastBar]) -> PastBar | None:
    """The bar of a span that has a price: the first with the highest high or lowest low, its first or its last."""
    if not bars:
        return None
    if price in {"high", "low"}:
        return (max if price == "high" else min)(bars, key=attrgetter(price))
    return bars[0 if price == "open" else -1]


async def prices_at(
    reading: DataReader, ids: Sequence[str], at_ms: int, *, is_distant: bool = True
) -> dict[str, float | None]:
    """The price now, or the last one known at an instant of the past, a day older at most; USD.

    Args:
        reading: What is read.
        ids: Tickers.
        at_ms: The instant.
        is_distant: Whether a past price may be a day older than the instant; else an hour.

    """
    if at_ms >= reading.now_ms:
        prices = reading.column("price", ids)
        return {id_: price if isinstance(price, int | float) else None for id_, price in prices.items()}
    found = await reading.prices(ids, at_ms, is_distant=is_distant)
    return {id_: found.get(id_) for id_ in ids}


async def price_at(reading: DataReader, symbol: str, at_ms: int) -> float | None:
    """The price of one coin now or at an instant: of the hour before, at a midnight of the day before.

    Raises:
        Refused: Where the instant is not a midnight and lies before the stored hours.
    """
    if at_ms % DAY_MS and at_ms < reading.now_ms - KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - KEPT_MS))
    return (await prices_at(reading, [symbol], at_ms, is_distant=at_ms % DAY_MS == 0))[symbol]


async def prices_around(
    reading: DataReader, ids: Sequence[str], span: Span, end_ms: int
) -> tuple[Mapping[str, float | None], Mapping[str, float | None]]:
    """The prices at the start and at the end of a span, USD; a window ends at `end_ms`, and a span then at the latest.

    A span that began before any stored day begins with the first open.
    """
    is_distant = True
    if isinstance(span, Window):
        span_ms = span.count * TO_MS[span.unit]
        is_distant = span_ms >= WEEK_MS
        start_ms = instant_before(end_ms, span_ms) if end_ms == reading.now_ms else end_ms - span_ms
    else:
        start_ms, end_ms, hourly = interval_of(span, end_ms)
        is_distant = not hourly or end_ms - start_ms >= WEEK_MS or start_ms < reading.now_ms - KEPT_MS
    after = await prices_at(reading, ids, end_ms, is_distant=is_distant)
    if start_ms:
        return await prices_at(reading, ids, start_ms, is_distant=is_distant), after
    daily = await reading.daily()
    return {id_: bars[0].open if (bars := daily.bars(id_)) else None for id_ in ids}, after


def log_returns(bars: Sequence[PastBar]) -> dict[int, float]:
    """Daily log returns by the open of the later day; only between days that follow each other."""
    closes = {bar.open_ms: bar.close for bar in bars}
    return {
        day: log(close / closes[day - DAY_MS])
        for day, close in closes.items()
        if closes.get(day - DAY_MS) and close > 0
    }


def volatility(bars: Sequence[PastBar]) -> float | None:
    """Sample standard deviation of daily log returns, times the root of 365: percent a year."""
    moves = [*log_returns(bars).values()]
    if len(moves) < LEAST_RETURNS:
        return None
    variance = sum(move * move for move in _centred(moves)) / (len(moves) - 1)
    return sqrt(variance * DAYS_PER_YEAR) * 100


def correlation(one: Sequence[PastBar], other: Sequence[PastBar]) -> float | None:
    """Pearson correlation of the daily log returns on days that both have, -1 to 1."""
    first, second = log_returns(one), log_returns(other)
    days = sorted(first.keys() & second.keys())
    if len(days) < LEAST_RETURNS:
        return None
    x, y = _centred([first[day] for day in days]), _centred([second[day] for day in days])
    spread = sqrt(sum(value * value for value in x) * sum(value * value for value in y))
    if spread == 0:
        return None
    return max(-1.0, min(1.0, sum(a * b for a, b in zip(x, y, strict=True)) / spread))


def drawdowns(bars: Sequence[PastBar]) -> Points:
    """How far each close is below the highest price until then, percent, never positive."""
    peak, points = 0.0, Points()
    for bar in bars:
        peak = max(peak, bar.high)
        points.append((bar.open_ms, min(0.0, (bar.close / peak - 1) * 100)))
    return points


def changes(bars: Sequence[PastBar], days: int) -> Points:
    """Changes of the close over so many days, percent, by the open of the last of them."""
    closes = {bar.open_ms: bar.close for bar in bars}
    moves = ((day, change_of(close, closes.get(day - days * DAY_MS))) for day, close in closes.items())
    return [(day, move) for day, move in moves if move is not None]


def change_of(now: Scalar, before: Scalar) -> float | None:
    """The change in percent; null where either is not known or the earlier one is zero."""
    if not isinstance(now, int | float) or not isinstance(before, int | float) or not before:
        return None
    change = (now / before - 1) * 100
    return change + 0.0 if isfinite(change) else None


def _centred(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [value - mean for value in values]
