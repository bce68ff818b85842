"""One asset's payload from stored observations. Pure, no I/O, no clock."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from service.clock import DAY_MS, MINUTE_MS, SECOND_MS
from service.market.freshness import CHART, AgeLimits, Freshness, span_around
from service.market.models import CoinChart, Quote
from service.market.past_prices import PastPrices, SpanChange, change_since, instants_of
from service.rwa.documents import ListedAsset
from service.units import apr_pct
from service.wire.rwa import RwaAsset, RwaFunding

QUOTE: Final = AgeLimits(stale=90 * SECOND_MS, gone=10 * MINUTE_MS)
"""Stale after three missed rounds of 30 s; null after the contract's ten minutes."""

_WITH_PRICE: Final = ("price", "change_24h", "open_interest_usd")
_WITH_CHART: Final = ("trend_daily", "trend_weekly")
_HELD: Final = {"volume": "volume_24h_usd", "interest": "open_interest_usd"}
_CENTS: Final = 2


class TimedAsset(NamedTuple):
    """An asset's payload and the span in which it is valid.

    Attributes:
        asset: Null if there is neither price nor funding.
        as_of_ms: Time of the price, or of the funding if there is no price.
        since_ms: Valid from here (inclusive), unless new data come.
        until_ms: Valid until here (exclusive).
    """

    asset: RwaAsset | None
    as_of_ms: int
    since_ms: int
    until_ms: int


def assess_asset(
    listed: ListedAsset,
    quote: Quote,
    chart: CoinChart,
    past: PastPrices,
    newest_ms: int | None,
    now_ms: int,
    held: AbstractSet[str] = frozenset(),
) -> TimedAsset:
    """Build an asset's payload.

    Args:
        listed: The asset.
        quote: Its newest price and funding.
        chart: Its trends from closed bars.
        past: Prices that changes are measured from.
        newest_ms: Time of the newest quotes, null if the last refresh failed: fields that it did not bring are stale
            whatever their age.
        now_ms: The instant at which ages are judged.
        held: Fields that fail the plausibility check, by the names of `FieldReasons`: they show the last accepted
            value.
    """
    transitions = [
        *QUOTE.transitions(quote.price_ms),
        *QUOTE.transitions(quote.funding_ms),
        *CHART.transitions(chart.through_ms),
        now_ms // MINUTE_MS * MINUTE_MS,
        now_ms // MINUTE_MS * MINUTE_MS + MINUTE_MS,
    ]
    since_ms, until_ms = span_around(now_ms, transitions)
    price_is, funding_is = QUOTE.judge(quote.price_ms, now_ms), QUOTE.judge(quote.funding_ms, now_ms)
    has_price, has_funding = price_is is not Freshness.GONE, funding_is is not Freshness.GONE
    as_of_ms = quote.price_ms if has_price else quote.funding_ms if has_funding else None
    if as_of_ms is None:
        return TimedAsset(None, 0, since_ms, until_ms)
    chart_is = CHART.judge(chart.through_ms, now_ms)
    missed_price = price_is is not Freshness.FRESH or quote.price_ms != newest_ms
    missed_funding = funding_is is not Freshness.FRESH or quote.funding_ms != newest_ms
    stale = [
        *(_WITH_PRICE if missed_price else ()),
        *(("funding",) if missed_funding else ()),
        *(("volume_24h_usd",) if missed_price and missed_funding else ()),
        *(name for field, name in _HELD.items() if field in held),
        *(_WITH_CHART if chart_is is Freshness.STALE else ()),
    ]
    price = quote.price if has_price else None
    asset = _bundle(
        listed,
        quote,
        price,
        change_since(price, past.before(listed.id, now_ms, DAY_MS)),
        quote.funding if has_funding else None,
        CoinChart() if chart_is is Freshness.GONE else chart,
        stale,
    )
    return TimedAsset(asset, as_of_ms, since_ms, until_ms)


def _bundle(
    listed: ListedAsset,
    quote: Quote,
    price: float | None,
    day: SpanChange,
    funding: float | None,
    chart: CoinChart,
    stale: Sequence[str],
) -> RwaAsset:
    hours = quote.interval_hours
    interest_usd = _interest_usd(quote.open_interest, price)
    unknown = {
        "price": price is None,
        "change_24h": day.pct is None,
        "trend_daily": chart.trend_daily is None,
        "trend_weekly": chart.trend_weekly is None,
        "funding": funding is None,
        "open_interest_usd": interest_usd is None,
        "volume_24h_usd": False,
    }
    # Adding zero avoids a negative zero in JSON.
    rate = None if funding is None else funding * hours + 0.0
    apr = None if funding is None else apr_pct(funding) + 0.0
    return RwaAsset(
        id=listed.id,
        symbol=listed.symbol,
        name=listed.name,
        assetType=listed.type,
        venue=quote.venue,
        price=price,
        change_24h=day.pct,
        trend_daily=chart.trend_daily,
        trend_weekly=chart.trend_weekly,
        funding=RwaFunding(rate, hours, apr),
        open_interest_usd=interest_usd,
        volume_24h_usd=round(quote.volume_usd, _CENTS),
        changes_from=instants_of({"24h": day.from_ms}),
        _stale_fields=[field for field, is_unknown in unknown.items() if is_unknown or field in stale],
    )


def _interest_usd(base: float | None, price: float | None) -> float | None:
    return None if base is None or price is None else round(base * price, _CENTS)
