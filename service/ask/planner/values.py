"""Values of measures: one per thing and time, null where not known."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES, MeasureRow, Unit
from service.ask.planner import series
from service.ask.planner.reading import FEW, MARKET, Reading
from service.ask.planner.result import Refused, Scalar, date, text
from service.ask.planner.spans import TO_MS, Interval, instant_of, interval_of, span_of
from service.ask.query import At, Between, Measure, Now, Time, Window
from service.clock import DAY_MS, HOUR_MS
from service.table.daily import PastBar

Values = dict[str, Scalar]

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

_LATE_MS: Final = 2 * DAY_MS
"""Age from which the last known close says nothing of an instant."""

_KEPT_MS: Final = 90 * DAY_MS
"""How long hourly bars and payments of funding are kept."""

_PER_COIN: Final = frozenset({"price", "high", "low"})
"""Measures that are divided by a thousand where one coin is meant and a thousand are traded."""

_THOUSAND: Final = 1_000


async def values_of(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The value of a measure for each thing.

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
        raise Refused("wrong-subject", label=text(label_of(measure)))
    compute = _COMPUTED.get(measure.name)
    if compute is None:
        found = await _stored(reading, row, measure, time, ids)
    else:
        found = await compute(reading, measure, time, ids)
    if measure.name in _PER_COIN:
        return {symbol: _scaled(reading, symbol, value) for symbol, value in found.items()}
    return found


def _scaled(reading: Reading, symbol: str, value: Scalar) -> Scalar:
    return value / _THOUSAND if symbol in reading.per_coin and isinstance(value, int | float) else value


async def bars_of(reading: Reading, symbol: str, span: Interval) -> list[PastBar]:
    """The bars that open within a span, with the bar of the present day or hour so far where it reaches until now."""
    if span.hourly:
        hours = await reading.history.hourly(symbol, span.start_ms)
        reading.use("history", {}, hours[-1].open_ms + HOUR_MS if hours else None)
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
    """The last daily close known at an instant, at most two days old; USD."""
    bars = (await reading.daily()).bars(symbol, at_ms - _LATE_MS - DAY_MS, at_ms - DAY_MS + 1)
    return bars[-1].close if bars and at_ms - bars[-1].open_ms - DAY_MS < _LATE_MS else None


def span_at(reading: Reading, measure: Measure, time: Time) -> Interval:
    """The span of a measure at the time of a query.

    Raises:
        Refused: Where it lies in the future.
    """
    found = interval_of(span_of(measure, time, MEASURES[measure.name].usual_days), instant_of(time, reading.now_ms))
    if found.start_ms >= reading.now_ms:
        raise Refused("future", reason="forecast")
    return found


async def _stored(reading: Reading, row: MeasureRow, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """A column of the table now; a stored state or number of the past."""
    column = f"trend_{measure.frame}" if measure.name == "trend" and measure.frame else row.column
    if column is not None and instant_of(time, reading.now_ms) == reading.now_ms:
        return reading.column(column, ids)
    if not row.past or not reading.others.isdisjoint(ids):
        raise Refused("not-past", label=text(label_of(measure)))
    at_ms = instant_of(time, reading.now_ms)
    if len(ids) > FEW:
        at_ms -= at_ms % DAY_MS  # of many coins only daily closes are read

    async def past(symbol: str) -> Scalar:
        return await _PAST[measure.name](reading, measure, symbol, at_ms)

    return await reading.each(ids, past)


async def _past_price(reading: Reading, _measure: Measure, symbol: str, at_ms: int) -> Scalar:
    return await price_at(reading, symbol, at_ms)


async def _past_volume(reading: Reading, _measure: Measure, symbol: str, at_ms: int) -> Scalar:
    bars = (await reading.daily()).bars(symbol, at_ms - _LATE_MS, at_ms - DAY_MS + 1)
    return bars[-1].volume_usd if bars else None


async def _volume(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Of a span all that was traded in it, of an instant that of a day, USD."""
    over = measure.over or time
    is_a_day = isinstance(over, Window) and over.count * TO_MS[over.unit] == DAY_MS
    if measure.over is None and not isinstance(time, Window | Between):
        return await _stored(reading, MEASURES["volume"], measure, time, ids)
    if is_a_day and instant_of(time, reading.now_ms) == reading.now_ms:
        return reading.column("volume_24h_usd", ids)
    span = span_at(reading, measure, time)
    _check(reading, span, ids)

    async def traded(symbol: str) -> Scalar:
        bars = await bars_of(reading, symbol, span)
        return sum(bar.volume_usd for bar in bars) if bars else None

    return await reading.each(ids, traded)


async def _past_cap(reading: Reading, _measure: Measure, symbol: str, at_ms: int) -> Scalar:
    caps = await reading.history.market_caps(symbol, at_ms - _LATE_MS, at_ms + 1)
    reading.use("history", {}, caps[-1].at_ms if caps else None)
    return caps[-1].market_cap if caps else None


async def _past_state(reading: Reading, measure: Measure, symbol: str, at_ms: int) -> Scalar:
    daily = await reading.daily()
    read = daily.trend_weekly if measure.frame == "weekly" else daily.trend_daily
    known = (daily.regime if measure.name == "regime" else read)(symbol, at_ms)
    return None if known is None else known.state


async def _past_verdict(reading: Reading, measure: Measure, symbol: str, at_ms: int) -> Scalar:
    """Judged from stored inputs, at a midnight from the bars of that day."""
    known = await reading.history.verdict(symbol, at_ms) if at_ms % DAY_MS else None
    known = known or (await reading.daily()).verdict(symbol, at_ms)
    if known is None or known.score is None:
        return None
    reading.use("history", {}, known.known_ms)
    return known.verdict if measure.name == "verdict" else known.score


_Past = Callable[[Reading, Measure, str, int], Awaitable[Scalar]]

_PAST: Final[Mapping[str, _Past]] = {
    "price": _past_price,
    "volume": _past_volume,
    "market_cap": _past_cap,
    "trend": _past_state,
    "regime": _past_state,
    "verdict": _past_verdict,
    "score": _past_verdict,
}
"""How a past value of a measure that is a column of the table is read."""


async def _change(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    span = span_of(measure, time, MEASURES["change"].usual_days)
    column = _COLUMNS.get((span.count, span.unit)) if isinstance(span, Window) else None
    if column is not None and instant_of(time, reading.now_ms) == reading.now_ms:
        return reading.column(column, ids)
    return await _moves(reading, span_at(reading, measure, time), ids)


async def _moves(reading: Reading, span: Interval, ids: Sequence[str]) -> Values:
    """Changes of the price over a span, percent."""
    _check(reading, span, ids)

    async def move(symbol: str) -> Scalar:
        end = await price_at(reading, symbol, span.end_ms)
        if span.start_ms == 0:
            bars = (await reading.daily()).bars(symbol)
            return series.percent(end, bars[0].open if bars else None)
        return series.percent(end, await price_at(reading, symbol, span.start_ms))

    return await reading.each(ids, move)


def _check(reading: Reading, span: Interval, ids: Sequence[str]) -> None:
    """Refuse hours of many coins, and things without a stored past."""
    if not reading.others.isdisjoint(ids):
        raise Refused("no-asset-history")
    if span.hourly and len(ids) > FEW:
        raise Refused("hours-of-many", instead="Which coins rose most over 24 hours?")
    if span.hourly and span.start_ms < reading.now_ms - _KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - _KEPT_MS))


async def _extreme_price(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    span = span_at(reading, measure, time)
    _check(reading, span, ids)

    async def bound(symbol: str) -> Scalar:
        bars = await bars_of(reading, symbol, span)
        if not bars:
            return None
        return max(bar.high for bar in bars) if measure.name == "high" else min(bar.low for bar in bars)

    return await reading.each(ids, bound)


async def _drawdown(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    span = span_at(reading, measure, time)
    _check(reading, span, ids)

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


async def _volatility(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    _check(reading, Interval(0, 0, hourly=False), ids)
    span, daily = closed_days(reading, measure, time), await reading.daily()
    return {symbol: series.volatility(daily.bars(symbol, span.start_ms, span.end_ms)) for symbol in ids}


async def _correlation(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    other = measure.other or BENCHMARK
    if other == BENCHMARK and measure.over is None and isinstance(time, Now):
        return reading.column("btc_correlation", ids)
    _check(reading, Interval(0, 0, hourly=False), [*ids, other])
    span, daily = closed_days(reading, measure, time), await reading.daily()
    against = daily.bars(other, span.start_ms, span.end_ms)
    return {symbol: series.correlation(daily.bars(symbol, span.start_ms, span.end_ms), against) for symbol in ids}


async def _strength(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    other = measure.other or BENCHMARK
    own = Measure("change", span_of(measure, time, MEASURES["strength"].usual_days))
    found = await _change(reading, own, time, [*ids, other])
    base = found[other]
    return {symbol: _less(found[symbol], base) for symbol in ids}


def _less(value: Scalar, base: Scalar) -> Scalar:
    return value - base if isinstance(value, int | float) and isinstance(base, int | float) else None


async def _funding(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    if isinstance(time, Now) and measure.over is None and not measure.mean:
        return reading.column("funding_apr", ids)
    span = span_at(reading, measure, time)
    _check(reading, span, ids)
    if span.start_ms < reading.now_ms - _KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - _KEPT_MS))

    async def mean(symbol: str) -> Scalar:
        paid = await reading.history.funding(symbol, span.start_ms, span.end_ms)
        reading.use("history", {}, paid.payments[-1].paid_ms if paid.payments else None)
        return paid.mean_apr

    return await reading.each(ids, mean)


async def _carry(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """What a side receives in funding, negative where it pays: percent a year.

    Of a position, USD over the span it is held (a day, if none is named), if funding stayed as it is.
    """
    over = measure.over if measure.notional is None else None
    found = await _funding(reading, Measure("funding", over, mean=measure.mean), time, ids)
    share = 1 if measure.side == "short" else -1
    if measure.notional is not None:
        held = interval_of(measure.over or Window(1, "d", "day"), reading.today_ms)
        years = (held.end_ms - held.start_ms) / DAY_MS / series.DAYS_PER_YEAR
        return {id_: _times(value, share * measure.notional / 100 * years) for id_, value in found.items()}
    return {id_: _times(value, share) for id_, value in found.items()}


def _times(value: Scalar, factor: float) -> Scalar:
    return value * factor + 0.0 if isinstance(value, int | float) else None


async def _confidence(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    if not isinstance(time, Now):
        raise Refused("not-past", label=text(label_of(measure)))
    if len(ids) > FEW:
        raise Refused("few-only", label=text(label_of(measure)))

    async def confidence(symbol: str) -> Scalar:
        judged: str = (await reading.tool("signal", symbol=symbol))["confidence"]
        return judged

    return await reading.each(ids, confidence)


async def _fear_greed(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    if not isinstance(time, Now):
        raise Refused("not-past", label=text(label_of(measure)))
    found = reading.data.fear_greed()
    reading.use("fear-greed", {}, None if found is None else found[1])
    return dict.fromkeys(ids, None if found is None else found[0])


async def _breadth(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    if not isinstance(time, Now):
        raise Refused("not-past", label=text(label_of(measure)))
    health = await reading.tool("market.health", context=1)
    return dict.fromkeys(ids, health["breadth_pct"]["UP"])


async def _market_regime(reading: Reading, _measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    known = (await reading.daily()).market_regime(instant_of(time, reading.now_ms))
    return dict.fromkeys(ids, None if known is None else known.state)


async def _regime(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    if list(ids) == [MARKET]:
        return await _market_regime(reading, measure, time, ids)
    return await _stored(reading, MEASURES["regime"], measure, time, ids)


_Compute = Callable[[Reading, Measure, Time, Sequence[str]], Awaitable[Values]]

_COMPUTED: Final[Mapping[str, _Compute]] = {
    "change": _change,
    "high": _extreme_price,
    "low": _extreme_price,
    "drawdown": _drawdown,
    "volatility": _volatility,
    "correlation": _correlation,
    "strength": _strength,
    "volume": _volume,
    "funding": _funding,
    "carry": _carry,
    "confidence": _confidence,
    "fear_greed": _fear_greed,
    "breadth": _breadth,
    "market_regime": _market_regime,
    "regime": _regime,
}
"""Measures that are not simply a column of the table."""


def unit_of(measure: Measure) -> Unit:
    """Unit of a measure's values."""
    if measure.name == "carry" and measure.notional is not None:
        return Unit.USD_CHANGE
    return MEASURES[measure.name].unit
