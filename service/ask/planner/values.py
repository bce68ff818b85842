"""Values of measures: one per thing and time, null where not known."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import structs

from service.ask.describe import label_of
from service.ask.measure_table import MEASURES, MeasureRow, Unit
from service.ask.planner import series
from service.ask.planner.bars import (
    BAR_PRICES,
    KEPT_MS,
    LATE_MS,
    bar_prices,
    bars_of,
    change,
    check_history,
    correlation,
    distance,
    drawdown,
    mean_of,
    price_at,
    span_at,
    strength,
    volatility,
)
from service.ask.planner.reading import FEW, MARKET, NO_VERDICT, Reading
from service.ask.planner.result import Refused, Scalar, Values, date, text
from service.ask.planner.spans import TO_MS, Interval, instant_of, interval_of, span_of
from service.ask.query import At, Between, Measure, Now, Time, Window
from service.clock import DAY_MS, parse_iso
from service.table.daily import PastState

_AVERAGED: Final = frozenset({"price", "volume", "funding", "carry"})
"""Measures that have a mean over a window."""

_PRESENT: Final = frozenset({"confidence", "conviction", "fear_greed", "breadth"})
"""Measures that are computed and known of the present alone."""


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
    if measure.per is not None:
        whole, parts = Measure(measure.per), structs.replace(measure, per=None)
        of = await values_of(reading, whole, time, ids)
        return {id_: _divided(part, of[id_]) for id_, part in (await values_of(reading, parts, time, ids)).items()}
    if measure.absolute:
        found = await values_of(reading, structs.replace(measure, absolute=False), time, ids)
        return {id_: abs(value) if isinstance(value, int | float) else value for id_, value in found.items()}
    row = MEASURES[measure.name]
    if isinstance(time, At) and time.at_ms > reading.now_ms:
        raise Refused("future", reason="forecast")
    if row.market != (list(ids) == [MARKET]) and measure.name != "regime":
        raise Refused("wrong-subject", label=text(label_of(measure)))
    if measure.mean and measure.name not in _AVERAGED:
        raise Refused("no-aggregate", label=text(label_of(measure)))
    if measure.name in _PRESENT and not isinstance(time, Now):
        raise Refused("not-past", label=text(label_of(measure)))
    compute = _COMPUTED.get(measure.name)
    if compute is None:
        found = await _stored(reading, row, measure, time, ids)
    else:
        found = await compute(reading, measure, time, ids)
    if row.quoted:
        return {symbol: _divided(value, reading.lot(symbol)) for symbol, value in found.items()}
    return found


def _divided(value: Scalar, by: Scalar) -> Scalar:
    return value / by if isinstance(value, int | float) and isinstance(by, int | float) and by else None


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
    bars = (await reading.daily()).bars(symbol, at_ms - LATE_MS, at_ms - DAY_MS + 1)
    return bars[-1].volume_usd if bars else None


async def _price(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """The price at an instant, or the mean of the closes of a span, USD."""
    if not measure.mean:
        return await _stored(reading, MEASURES["price"], measure, time, ids)
    return await mean_of(reading, measure, time, ids, lambda bar: bar.close)


async def _volume(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    """Of a span all that was traded in it, or the mean of its days; of an instant that of a day, USD."""
    if measure.mean:
        return await mean_of(reading, measure, time, ids, lambda bar: bar.volume_usd)
    over = measure.over or time
    is_a_day = isinstance(over, Window) and over.count * TO_MS[over.unit] == DAY_MS
    if measure.over is None and not isinstance(time, Window | Between):
        return await _stored(reading, MEASURES["volume"], measure, time, ids)
    if is_a_day and instant_of(time, reading.now_ms) == reading.now_ms:
        return reading.column("volume_24h_usd", ids)
    span = span_at(reading, measure, time)
    check_history(reading, span, ids)

    async def traded(symbol: str) -> Scalar:
        bars = await bars_of(reading, symbol, span)
        return sum(bar.volume_usd for bar in bars) if bars else None

    return await reading.each(ids, traded)


async def _past_cap(reading: Reading, _measure: Measure, symbol: str, at_ms: int) -> Scalar:
    caps = await reading.market_caps(symbol, at_ms - LATE_MS, at_ms + 1)
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


async def since_of(reading: Reading, measure: Measure, time: Time, id_: str, state: Scalar) -> int | None:
    """Since when a trend or regime has been what it is; null where that is not stored."""
    daily, at_ms = await reading.daily(), instant_of(time, reading.now_ms)
    known: PastState[Any] | None
    if measure.name == "market_regime" or id_ == MARKET:
        known = daily.market_regime(at_ms)
    elif measure.name == "regime":
        known = daily.regime(id_, at_ms)
    else:
        known = (daily.trend_weekly if measure.frame == "weekly" else daily.trend_daily)(id_, at_ms)
    return known.since_ms if known is not None and known.state == state else None


async def _funding(reading: Reading, measure: Measure, time: Time, ids: Sequence[str]) -> Values:
    if isinstance(time, Now) and measure.over is None and not measure.mean:
        return reading.column("funding_apr", ids)
    span = _paid_span(reading, measure, time)
    check_history(reading, span, ids)
    if span.start_ms < reading.now_ms - KEPT_MS:
        raise Refused("hours-before", first=date(reading.today_ms - KEPT_MS))

    async def mean(symbol: str) -> Scalar:
        return (await reading.funding(symbol, span.start_ms, span.end_ms)).mean_apr

    return await reading.each(ids, mean)


def _paid_span(reading: Reading, measure: Measure, time: Time) -> Interval:
    """The span of payments: of so many days all their hours, as `signal` counts them."""
    span = span_of(measure, time, MEASURES["funding"].usual_days)
    if not isinstance(span, Window):
        return span_at(reading, measure, time)._replace(hourly=False)
    end_ms = instant_of(time, reading.now_ms)
    return Interval(end_ms - span.count * TO_MS[span.unit], end_ms, hourly=False)


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


async def _confidence(reading: Reading, measure: Measure, _time: Time, ids: Sequence[str]) -> Values:

    if not reading.others.isdisjoint(ids):
        raise Refused("wrong-subject", label=text(label_of(measure)))
    judged = await reading.data.verdicts(ids)
    source = ("signal", {"symbol": ids[0]}) if len(ids) == 1 else ("verdicts", {})
    counted = any(verdict.verdict != NO_VERDICT for verdict in judged.values())
    oldest_ms = min((parse_iso(verdict.as_of) for verdict in judged.values()), default=None)
    reading.use(*source, oldest_ms, counted=counted)
    return {id_: verdict.confidence for id_, verdict in judged.items()}


async def _conviction(reading: Reading, _measure: Measure, _time: Time, ids: Sequence[str]) -> Values:
    active = await reading.tool("regime", action="active")
    return dict.fromkeys(ids, active["market"]["conviction"])


async def _fear_greed(reading: Reading, _measure: Measure, _time: Time, ids: Sequence[str]) -> Values:
    found = reading.data.fear_greed()
    reading.use("fear-greed", {}, None if found is None else found[1])
    return dict.fromkeys(ids, None if found is None else found[0])


async def _breadth(reading: Reading, _measure: Measure, _time: Time, ids: Sequence[str]) -> Values:
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
    "price": _price,
    "change": change,
    **dict.fromkeys(BAR_PRICES, bar_prices),
    "drawdown": drawdown,
    "from_high": distance,
    "from_low": distance,
    "volatility": volatility,
    "correlation": correlation,
    "strength": strength,
    "volume": _volume,
    "funding": _funding,
    "carry": _carry,
    "confidence": _confidence,
    "conviction": _conviction,
    "fear_greed": _fear_greed,
    "breadth": _breadth,
    "market_regime": _market_regime,
    "regime": _regime,
}
"""Measures that are not simply a column of the table."""


def unit_of(measure: Measure) -> Unit:
    """Unit of a measure's values."""
    if measure.per is not None:
        return Unit.RATIO
    if measure.name == "carry" and measure.notional is not None:
        return Unit.USD_CHANGE
    return MEASURES[measure.name].unit
