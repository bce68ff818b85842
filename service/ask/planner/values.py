"""Values of measures: one per thing and time, null where not known."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from msgspec.structs import replace

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES
from service.ask.planner.bars import (
    BAR_PRICES,
    DAYS_PER_YEAR,
    KEPT_MS,
    LATE_MS,
    LEAST_RETURNS,
    TO_MS,
    Interval,
    bar_with,
    bars_of,
    change_of,
    check_history,
    correlation,
    days_of,
    drawdowns,
    instant_of,
    interval_of,
    price_at,
    prices_around,
    prices_at,
    span_at,
    span_of,
    volatility,
)
from service.ask.planner.data_reader import FEW, MARKET, NO_VERDICT, DataReader
from service.ask.planner.result import Refused, Scalar, Values, date
from service.ask.query import At, Between, Measure, Now, Time, Window
from service.clock import DAY_MS, parse_iso
from service.market.past_prices import WEEK_MS
from service.table.daily import PastBar, PastState

BENCHMARK: Final = "BTC"

_AVERAGED: Final = frozenset({"price", "volume", "funding", "carry"})
"""Measures that have a mean over a window."""

_PRESENT: Final = frozenset({"confidence", "conviction", "fear_greed", "breadth"})
"""Measures that are computed and known of the present alone."""

_CHANGES: Final[Mapping[tuple[int, str], str]] = {
    (1, "h"): "change_1h",
    (24, "h"): "change_24h",
    (1, "d"): "change_24h",
    (168, "h"): "change_7d",
    (7, "d"): "change_7d",
    (720, "h"): "change_30d",
    (30, "d"): "change_30d",
}
"""Windows of changes that the coin table has a column for."""


async def plain_values_of(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The value of a measure for each thing, in the unit of the measure.

    Args:
        reading: What is read.
        measure: What is measured.
        time: When; a span is the window of a measure that has none of its own.
        ids: Tickers, ids of assets, or the market.

    Raises:
        Refused: Where the measure does not exist for such things or times.
        ServiceError: What a service raises.
    """
    row = MEASURES[measure.name]
    if isinstance(time, At) and time.at_ms > reading.now_ms:
        raise Refused("future", reason="forecast")
    if row.market != (list(ids) == [MARKET]) and measure.name != "regime":
        raise Refused("wrong-subject", label=label_of(measure))
    if measure.mean and measure.name not in _AVERAGED:
        raise Refused("no-aggregate", label=label_of(measure))
    if measure.name in _PRESENT and not isinstance(time, Now):
        raise Refused("not-past", label=label_of(measure))
    return await _COMPUTED.get(measure.name, _column)(reading, measure, time, ids)


def times(value: Scalar, factor: float) -> Scalar:
    """A number times a factor; null where it is not known."""
    return value * factor + 0.0 if isinstance(value, int | float) else None


async def _column(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """A column of the table now; a stored state or number of the past."""
    row, at_ms = MEASURES[measure.name], instant_of(time, reading.now_ms)
    column = f"trend_{measure.frame}" if measure.name == "trend" and measure.frame else row.column
    if column is not None and at_ms == reading.now_ms:
        return reading.column(column, ids)
    if not row.past or reading.has_others(ids):
        raise Refused("not-past", label=label_of(measure))
    if isinstance(time, At) and time.instant_ms is not None:
        if measure.name == "price":
            return dict(await prices_at(reading, ids, at_ms, is_distant=reading.now_ms - at_ms >= WEEK_MS))
        if measure.name == "volume":
            at_ms = time.at_ms + DAY_MS
    if len(ids) > FEW:
        at_ms -= at_ms % DAY_MS  # of many coins only daily closes are read
    return {symbol: await _past(reading, measure, symbol, at_ms) for symbol in ids}


async def _past(reading: DataReader, measure: Measure, symbol: str, at_ms: int) -> Scalar:
    """A past value of a measure that is a column of the table."""
    if measure.name == "price":
        return await price_at(reading, symbol, at_ms)
    if measure.name == "market_cap":
        caps = await reading.market_caps(symbol, at_ms - LATE_MS, at_ms + 1)
        return caps[-1].market_cap if caps else None
    if measure.name == "volume":
        bars = (await reading.daily()).bars(symbol, at_ms - LATE_MS, at_ms - DAY_MS + 1)
        return bars[-1].volume_usd if bars else None
    if measure.name in {"trend", "regime"}:
        state = await _state(reading, measure, symbol, at_ms)
        return None if state is None else state.state
    # Verdicts are judged from stored inputs, at a midnight from the bars of that day.
    known = await reading.history.verdict(symbol, at_ms) if at_ms % DAY_MS else None
    known = known or (await reading.daily()).verdict(symbol, at_ms)
    if known is None or known.score is None:
        return None
    reading.use("history", {}, known.known_ms)
    return known.verdict if measure.name == "verdict" else known.score


async def _state(reading: DataReader, measure: Measure, id_: str, at_ms: int) -> PastState[Any] | None:
    """A trend or regime at an instant, with its first day."""
    daily = await reading.daily()
    if measure.name == "market_regime" or id_ == MARKET:
        return daily.market_regime(at_ms)
    if measure.name == "regime":
        return daily.regime(id_, at_ms)
    return (daily.trend_weekly if measure.frame == "weekly" else daily.trend_daily)(id_, at_ms)


async def since_of(reading: DataReader, measure: Measure, time: Time, id_: str, state: Scalar) -> int | None:
    """Since when a trend or regime has been what it is; null where that is not stored."""
    known = await _state(reading, measure, id_, instant_of(time, reading.now_ms))
    return known.since_ms if known is not None and known.state == state else None


async def _price(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The price at an instant, or the mean of the closes of a span, USD."""
    return await (_mean if measure.mean else _column)(reading, measure, time, ids)


async def _volume(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Of a span all that was traded in it, or the mean of its days; of an instant that of a day, USD."""
    if measure.mean:
        return await _mean(reading, measure, time, ids)
    over = measure.over or time
    if not isinstance(over, Window | Between):
        return await _column(reading, measure, time, ids)
    is_now = instant_of(time, reading.now_ms) == reading.now_ms
    if isinstance(over, Window) and over.count * TO_MS[over.unit] == DAY_MS and is_now:
        return reading.column("volume_24h_usd", ids)
    bars = await _bars(reading, ids, span_at(reading, measure, time))
    return {id_: sum(bar.volume_usd for bar in own) if own else None for id_, own in bars.items()}


async def _bars(reading: DataReader, ids: Sequence[str], span: Interval) -> dict[str, list[PastBar]]:
    check_history(reading, ids, span)
    return {id_: await bars_of(reading, id_, span) for id_ in ids}


async def _mean(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The mean of the closed bars of a span: days, or hours where hours are asked for."""
    if measure.over is None and not isinstance(time, Window | Between):
        raise Refused("no-window", label=label_of(measure))
    span, values = span_at(reading, measure, time, days_of), Values()
    for id_, bars in (await _bars(reading, ids, span)).items():
        closed = [bar for bar in bars if bar.closed]
        whole = closed if span.hourly else _whole(closed, span)
        numbers = [bar.close if measure.name == "price" else bar.volume_usd for bar in whole]
        values[id_] = fmean(numbers) if numbers else None
    return values


def _whole(bars: list[PastBar], span: Interval) -> list[PastBar]:
    """The bars of a span; none where a coin is younger than the span."""
    return bars if span.start_ms <= 0 or (bars and bars[0].open_ms == span.start_ms) else []


async def _change(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Changes of the price, percent."""
    span, end_ms = span_of(measure, time), instant_of(time, reading.now_ms)
    column = _CHANGES.get((span.count, span.unit)) if isinstance(span, Window) else None
    if column is not None and end_ms == reading.now_ms:
        return reading.column(column, ids)
    asked = span_at(reading, measure, time)
    check_history(reading, ids, asked if isinstance(span, Window) else None)
    before, after = await prices_around(reading, ids, span, end_ms)
    return {id_: change_of(after[id_], before[id_]) for id_ in ids}


async def _bar_price(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """A price that the bars of a span have, USD."""
    bars = await _bars(reading, ids, span_at(reading, measure, time, days_of))
    found = {id_: bar_with(measure.name, own) for id_, own in bars.items()}
    return {id_: None if bar is None else getattr(bar, measure.name) for id_, bar in found.items()}


async def _distance(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """How far the price is from the highest or lowest one of a span, percent."""
    bounds = await bounds_of(reading, measure, time, ids)
    at_ms = instant_of(time, reading.now_ms)
    return {id_: change_of(await price_at(reading, id_, at_ms), bounds[id_]) for id_ in ids}


async def bounds_of(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The price that a distance or drawdown is measured from, USD."""
    name = "low" if measure.name == "from_low" else "high"
    return await _bar_price(reading, replace(measure, name=name, over=span_of(measure, time)), time, ids)


async def _drawdown(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """How far the last close of a span is below its highest price, percent."""
    bars = await _bars(reading, ids, span_at(reading, measure, time, days_of))
    return {id_: drawdowns(own)[-1][1] if own else None for id_, own in bars.items()}


async def _closed(
    reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]
) -> tuple[Interval, dict[str, list[PastBar]]]:
    """The closed days of a span and the day before, so that the first has a return.

    Raises:
        Refused: Where the span is too short for a figure of daily returns.
    """
    check_history(reading, ids)
    span, over = span_at(reading, measure, time), span_of(measure, time)
    end_ms = span.end_ms // DAY_MS * DAY_MS
    start_ms = end_ms - over.count * TO_MS[over.unit] if isinstance(over, Window) else span.start_ms
    if end_ms - start_ms < LEAST_RETURNS * DAY_MS:
        raise Refused("too-short", label=label_of(Measure(measure.name)))
    days, daily = Interval(start_ms // DAY_MS * DAY_MS - DAY_MS, end_ms), await reading.daily()
    return days, {id_: daily.bars(id_, days.start_ms, days.end_ms) for id_ in ids}


async def _volatility(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Volatility of the daily returns of a span, percent a year; null of coins that are younger."""
    span, bars = await _closed(reading, measure, time, ids)
    return {id_: volatility(_whole(bars[id_], span)) for id_ in ids}


async def _correlation(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Correlation of daily returns with another coin; null of coins that are younger than the span."""
    other = _other(measure, ids)
    if other == BENCHMARK and measure.over is None and isinstance(time, Now):
        return reading.column("btc_correlation", ids)
    span, bars = await _closed(reading, measure, time, [*ids, other])
    return {id_: correlation(_whole(bars[id_], span), bars[other]) for id_ in ids}


def _other(measure: Measure, ids: Sequence[str]) -> str:
    """The coin that things are measured against.

    Raises:
        Refused: Where a coin is measured against itself: the other one was not named, or is not known.
    """
    other = measure.other or BENCHMARK
    if list(ids) == [other]:
        raise Refused("no-pair")
    return other


async def _strength(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The change of the price less that of another coin, percentage points."""
    other = _other(measure, ids)
    moves = await _change(reading, Measure("change", span_of(measure, time)), time, [*ids, other])
    return {id_: less(moves[id_], moves[other]) for id_ in ids}


def less(value: Scalar, base: Scalar) -> float | None:
    """The difference of two numbers; null where one is not known."""
    return value - base if isinstance(value, int | float) and isinstance(base, int | float) else None


async def _funding(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The present rate, or the mean of the payments of a span: of so many days all their hours, as `signal` does."""
    if isinstance(time, Now) and measure.over is None and not measure.mean:
        return reading.column("funding_apr", ids)
    over, end_ms = span_of(measure, time), instant_of(time, reading.now_ms)
    if measure.over is None and isinstance(time, At) and time.instant_ms is not None:
        over = Window(1, "d", "a day")
    span = span_at(reading, measure, time)._replace(hourly=False)
    if isinstance(over, Window):
        span = Interval(end_ms - over.count * TO_MS[over.unit], end_ms)
    check_history(reading, ids, span)
    if span.start_ms < reading.now_ms - KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - KEPT_MS))
    return {id_: (await reading.funding(id_, span.start_ms, span.end_ms)).mean_apr for id_ in ids}


async def _carry(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """What a side receives in funding, negative where it pays: percent a year.

    Of a position, USD over the span it is held (a day, if none is named), if funding stayed as it is.
    """
    over = measure.over if measure.notional is None else None
    rates = await _funding(reading, Measure("funding", over, mean=measure.mean), time, ids)
    factor: float = 1 if measure.side == "short" else -1
    if measure.notional is not None:
        held = interval_of(measure.over or Window(1, "d", "day"), reading.today_ms)
        factor = factor * measure.notional / 100 * ((held.end_ms - held.start_ms) / DAY_MS / DAYS_PER_YEAR)
    return {id_: times(rate, factor) for id_, rate in rates.items()}


async def _confidence(reading: DataReader, measure: Measure, _time: Time, ids: Sequence[str]) -> Values:
    if reading.has_others(ids):
        raise Refused("wrong-subject", label=label_of(measure))
    judged = await reading.data.verdicts(ids)
    source = ("signal", {"symbol": ids[0]}) if len(ids) == 1 else ("verdicts", {})
    counted = any(verdict.verdict != NO_VERDICT for verdict in judged.values())
    oldest_ms = min((parse_iso(verdict.as_of) for verdict in judged.values()), default=None)
    reading.use(*source, oldest_ms, counted=counted)
    return {id_: verdict.confidence for id_, verdict in judged.items()}


async def _of_market(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """A measure that belongs to the market as a whole."""
    value: Scalar = None
    if measure.name == "conviction":
        value = (await reading.tool("regime", action="active"))["market"]["conviction"]
    elif measure.name == "breadth":
        value = (await reading.tool("market.health", context=1))["breadth_pct"]["UP"]
    elif measure.name == "fear_greed":
        index = reading.data.fear_greed()
        value, at_ms = index or (None, None)
        reading.use("fear-greed", {}, at_ms)
    else:
        regime = (await reading.daily()).market_regime(instant_of(time, reading.now_ms))
        value = None if regime is None else regime.state
    return dict.fromkeys(ids, value)


async def _regime(reading: DataReader, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    return await (_of_market if list(ids) == [MARKET] else _column)(reading, measure, time, ids)


_Compute = Callable[[DataReader, Measure, Time, Sequence[str]], Awaitable[Values]]

_COMPUTED: Final[Mapping[str, _Compute]] = {
    "price": _price,
    "volume": _volume,
    "change": _change,
    **dict.fromkeys(BAR_PRICES, _bar_price),
    "drawdown": _drawdown,
    "from_high": _distance,
    "from_low": _distance,
    "volatility": _volatility,
    "correlation": _correlation,
    "strength": _strength,
    "funding": _funding,
    "carry": _carry,
    "confidence": _confidence,
    "regime": _regime,
    **dict.fromkeys(("conviction", "breadth", "fear_greed", "market_regime"), _of_market),
}
"""Measures that are not simply a column of the table."""
