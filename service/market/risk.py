"""The risk context of one coin, made of what was observed: pure, no I/O, no clock."""

from typing import NamedTuple

from msgspec import UNSET

from service.clock import iso
from service.market.freshness import CHART, MOOD, QUOTE, Freshness, span_around
from service.market.observed import BENCHMARK, Chart, Quote, State
from service.units import apr_pct
from service.wire.market import PayingSide, RiskContext
from service.wire.sentiment import NO_MOOD, Mood


class Risk(NamedTuple):
    """A coin's risk context and how long it stands.

    `context` is null where neither price nor funding can be said. `as_of_ms` is the older observation of those said.
    The whole holds from `since_ms` (included) until `until_ms` (excluded), unless new data come.
    """

    context: RiskContext | None
    as_of_ms: int
    since_ms: int
    until_ms: int


def assess_risk(quote: Quote, chart: Chart, state: State, mood: Mood, now_ms: int) -> Risk:
    """Bundle what is known of a coin.

    Args:
        quote: Its newest price and funding.
        chart: What its closed bars say.
        state: How the last refresh of quotes went: a field it did not bring is stale at once, whatever its age.
        mood: Its sentiment; whether that is stale is its room's to say.
        now_ms: The instant to judge ages at.

    Returns:
        The context, and while it holds.
    """
    turns = [
        *QUOTE.turns(quote.price_ms),
        *QUOTE.turns(quote.funding_ms),
        *CHART.turns(chart.through_ms),
        *MOOD.turns(mood.observed_ms),
    ]
    since_ms, until_ms = span_around(now_ms, turns)
    price_is = QUOTE.judge(quote.price_ms, now_ms)
    funding_is = QUOTE.judge(quote.funding_ms, now_ms)
    observed = [
        at_ms
        for at_ms, judged in ((quote.price_ms, price_is), (quote.funding_ms, funding_is))
        if at_ms is not None and judged is not Freshness.GONE
    ]
    if not observed:
        return Risk(None, 0, since_ms, until_ms)
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
        Chart() if chart_is is Freshness.GONE else chart,
        shown_mood,
        [field for field, is_stale in stale.items() if is_stale],
    )
    return Risk(context, min(observed), since_ms, until_ms)


def was_missed(observed_ms: int | None, state: State) -> bool:
    """Whether the newest attempt to refresh did not bring this field, whoever was asked."""
    return state.venue is None or state.quotes_ms is None or observed_ms is None or observed_ms < state.quotes_ms


def _bundle(
    quote: Quote, price: float | None, funding: float | None, chart: Chart, mood: Mood, stale: list[str]
) -> RiskContext:
    # Adding zero turns a negative zero, which JSON would show, into zero.
    funding_apr = None if funding is None else apr_pct(funding) + 0.0
    correlation = 1.0 if quote.symbol == BENCHMARK else chart.btc_correlation
    said = {
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
        _stale_fields=[field for field, value in said.items() if value is None or field in stale],
        trend_daily_since=_iso(chart.trend_daily_since_ms),
        trend_weekly_since=_iso(chart.trend_weekly_since_ms),
        funding_paying_side=paying,
        funding_receiving_side=receiving,
        carry_if_long=None if funding_apr is None else 0.0 - funding_apr,
        carry_if_short=funding_apr,
        sentiment_summary=mood.summary,
        venue=quote.venue,
        venue_symbol=UNSET if quote.venue_symbol == quote.symbol else quote.venue_symbol,
    )


def _sides(funding: float | None) -> tuple[PayingSide | None, PayingSide | None]:
    """Who pays and who receives: longs pay a positive rate; nobody pays a rate of zero."""
    if not funding:
        return None, None
    return ("longs", "shorts") if funding > 0 else ("shorts", "longs")


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)
