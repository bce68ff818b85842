"""The risk context and the current values of one coin, computed from stored observations. Pure."""

from typing import Final, NamedTuple

from msgspec import UNSET

from service.clock import MINUTE_MS, iso
from service.market.freshness import CHART, MOOD, QUOTE, Freshness, span_around
from service.market.models import BENCHMARK, CoinChart, CoinView, MarketState, Quote
from service.market.past_prices import SPANS, PastPrices, change_since
from service.market.symbols import unit_of
from service.units import apr_pct
from service.wire.market import PayingSide, RiskContext
from service.wire.sentiment import NO_MOOD, Mood


class RiskAssessment(NamedTuple):
    """A coin's risk context and the span in which it is valid.

    Attributes:
        context: Null if there is neither price nor funding.
        as_of_ms: The older observation time of the two.
        since_ms: Valid from here (inclusive), unless new data come.
        until_ms: Valid until here (exclusive).
    """

    context: RiskContext | None
    as_of_ms: int
    since_ms: int
    until_ms: int


def assess_risk(quote: Quote, chart: CoinChart, state: MarketState, mood: Mood, now_ms: int) -> RiskAssessment:
    """Build the risk context of a coin.

    Args:
        quote: Its newest price and funding.
        chart: Its trends from closed bars.
        state: Result of the last quote refresh: a field that it did not bring is stale whatever its age.
        mood: Its sentiment, with its own stale flag.
        now_ms: The instant at which ages are judged.

    Returns:
        The context and its span.
    """
    transitions = [
        *QUOTE.transitions(quote.price_ms),
        *QUOTE.transitions(quote.funding_ms),
        *CHART.transitions(chart.through_ms),
        *MOOD.transitions(mood.observed_ms),
    ]
    since_ms, until_ms = span_around(now_ms, transitions)
    price_is = QUOTE.judge(quote.price_ms, now_ms)
    funding_is = QUOTE.judge(quote.funding_ms, now_ms)
    observed = [
        at_ms
        for at_ms, judged in ((quote.price_ms, price_is), (quote.funding_ms, funding_is))
        if at_ms is not None and judged is not Freshness.GONE
    ]
    if not observed:
        return RiskAssessment(None, 0, since_ms, until_ms)
    chart_is = CHART.judge(chart.through_ms, now_ms)
    shown_mood = NO_MOOD if MOOD.judge(mood.observed_ms, now_ms) is Freshness.GONE else mood
    stale = {
        "price": price_is is Freshness.STALE or was_missed(quote.price_ms, state),
        "funding_apr": funding_is is Freshness.STALE or was_missed(quote.funding_ms, state),
        "trend_daily": chart_is is Freshness.STALE,
        "trend_weekly": chart_is is Freshness.STALE,
        "sentiment_stance": shown_mood.stale,
        "btc_correlation": chart_is is Freshness.STALE and quote.symbol != BENCHMARK,
    }
    context = _bundle(
        quote,
        None if price_is is Freshness.GONE else quote.price,
        None if funding_is is Freshness.GONE else quote.funding,
        CoinChart() if chart_is is Freshness.GONE else chart,
        shown_mood,
        [field for field, is_stale in stale.items() if is_stale],
    )
    return RiskAssessment(context, min(observed), since_ms, until_ms)


def was_missed(observed_ms: int | None, state: MarketState) -> bool:
    """Whether the newest refresh did not bring this field, from any venue."""
    return state.venue is None or state.quotes_ms is None or observed_ms is None or observed_ms < state.quotes_ms


def _bundle(
    quote: Quote, price: float | None, funding: float | None, chart: CoinChart, mood: Mood, stale: list[str]
) -> RiskContext:
    # Adding zero turns a negative zero, which JSON would show, into zero.
    funding_apr = None if funding is None else apr_pct(funding) + 0.0
    correlation = 1.0 if quote.symbol == BENCHMARK else chart.btc_correlation
    values = {
        "price": price,
        "funding_apr": funding_apr,
        "trend_daily": chart.trend_daily,
        "trend_weekly": chart.trend_weekly,
        "sentiment_stance": mood.stance,
        "btc_correlation": correlation,
    }
    paying, receiving = _sides(funding)
    return RiskContext(
        symbol=quote.symbol,
        price=price,
        funding_apr=funding_apr,
        trend_daily=chart.trend_daily,
        trend_weekly=chart.trend_weekly,
        sentiment_stance=mood.stance,
        btc_correlation=correlation,
        _stale_fields=[field for field, value in values.items() if value is None or field in stale],
        trend_daily_since=_iso(chart.trend_daily_since_ms),
        trend_weekly_since=_iso(chart.trend_weekly_since_ms),
        funding_paying_side=paying,
        funding_receiving_side=receiving,
        carry_if_long=None if funding_apr is None else 0.0 - funding_apr,
        carry_if_short=funding_apr,
        sentiment_summary=mood.summary,
        venue=quote.venue,
        venue_symbol=UNSET if quote.venue_symbol == quote.symbol else quote.venue_symbol,
        contract_size=UNSET if (units := unit_of(quote.venue_symbol)[1]) == 1 else units,
    )


def _sides(funding: float | None) -> tuple[PayingSide | None, PayingSide | None]:
    """The paying and the receiving side; none at a rate of zero."""
    if not funding:
        return None, None
    return ("longs", "shorts") if funding > 0 else ("shorts", "longs")


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


_CENTS: Final = 2


class TimedView(NamedTuple):
    """A coin's view and the span in which it is valid: `since_ms` inclusive, `until_ms` exclusive."""

    coin: CoinView
    since_ms: int
    until_ms: int


_CHANGES: Final = ("1h", "24h", "7d", "30d")


def view_coin(quote: Quote, chart: CoinChart, past: PastPrices, now_ms: int) -> TimedView:
    """Build the current values of a coin. Values past their limit are null.

    Args:
        quote: Its newest price and funding.
        chart: Its trends from closed bars.
        past: Prices that changes are measured from.
        now_ms: The instant at which ages are judged.
    """
    price = quote.price if QUOTE.judge(quote.price_ms, now_ms) is not Freshness.GONE else None
    funding = quote.funding if QUOTE.judge(quote.funding_ms, now_ms) is not Freshness.GONE else None
    charted = chart if CHART.judge(chart.through_ms, now_ms) is not Freshness.GONE else CoinChart()
    minute_ms = now_ms // MINUTE_MS * MINUTE_MS
    ends = [
        *QUOTE.ends(quote.price_ms),
        *QUOTE.ends(quote.funding_ms),
        *CHART.ends(chart.through_ms),
        minute_ms,
        minute_ms + MINUTE_MS,
    ]
    changes = {span: change_since(price, past.before(quote.venue_symbol, now_ms, SPANS[span])) for span in _CHANGES}
    coin = CoinView(
        symbol=quote.symbol,
        venue_symbol=quote.venue_symbol,
        venue=quote.venue,
        price=price,
        price_ms=None if price is None else quote.price_ms,
        volume_usd=quote.volume_usd,
        open_interest_usd=_usd(quote.open_interest, price),
        funding_apr=None if funding is None else apr_pct(funding) + 0.0,
        funding_ms=None if funding is None else quote.funding_ms,
        interval_hours=quote.interval_hours,
        trend_daily=charted.trend_daily,
        trend_daily_since_ms=charted.trend_daily_since_ms,
        trend_weekly=charted.trend_weekly,
        trend_weekly_since_ms=charted.trend_weekly_since_ms,
        btc_correlation=charted.btc_correlation,
        through_ms=charted.through_ms,
        changes_from={span: change.from_ms for span, change in changes.items() if change.from_ms is not None},
        **{f"change_{span}": change.pct for span, change in changes.items()},
    )
    return TimedView(coin, *span_around(now_ms, ends))


def _usd(base: float | None, price: float | None) -> float | None:
    return None if base is None or price is None else round(base * price, _CENTS)
