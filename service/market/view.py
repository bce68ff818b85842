"""A coin as the other desks see it: pure, no I/O, no clock."""

from typing import Final, NamedTuple

from service.market.freshness import CHART, QUOTE, Freshness, span_around
from service.market.observed import Chart, CoinView, Quote
from service.units import apr_pct, change_pct

_CENTS: Final = 2


class Seen(NamedTuple):
    """A coin's view and how long it stands: from `since_ms` (included) until `until_ms` (excluded)."""

    coin: CoinView
    since_ms: int
    until_ms: int


def view_coin(quote: Quote, chart: Chart, now_ms: int) -> Seen:
    """Leave out what is past its limit.

    Args:
        quote: A coin's newest price and funding.
        chart: What its closed bars say.
        now_ms: The instant to judge ages at.
    """
    price = quote.price if QUOTE.judge(quote.price_ms, now_ms) is not Freshness.GONE else None
    funding = quote.funding if QUOTE.judge(quote.funding_ms, now_ms) is not Freshness.GONE else None
    charted = chart if CHART.judge(chart.through_ms, now_ms) is not Freshness.GONE else Chart()
    ends = [*QUOTE.ends(quote.price_ms), *QUOTE.ends(quote.funding_ms), *CHART.ends(chart.through_ms)]
    coin = CoinView(
        symbol=quote.symbol,
        venue_symbol=quote.venue_symbol,
        venue=quote.venue,
        price=price,
        price_ms=None if price is None else quote.price_ms,
        change_24h=change_pct(price, quote.prev_price),
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
    )
    return Seen(coin, *span_around(now_ms, ends))


def _usd(base: float | None, price: float | None) -> float | None:
    return None if base is None or price is None else round(base * price, _CENTS)
