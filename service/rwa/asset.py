"""One asset as it is told, made of what was observed: pure, no I/O, no clock."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from service.clock import MINUTE_MS, SECOND_MS
from service.market.freshness import CHART, Freshness, Limits, span_around
from service.market.observed import Chart, Quote
from service.rwa.listing import Listed
from service.units import apr_pct, change_pct
from service.wire.rwa import RwaAsset, RwaFunding

QUOTE: Final = Limits(stale=90 * SECOND_MS, gone=10 * MINUTE_MS)
"""Three rounds of half a minute missed; past the contract's ten minutes."""

_WITH_PRICE: Final = ("price", "change_24h", "open_interest_usd")
_WITH_CHART: Final = ("trend_daily", "trend_weekly")
_HELD: Final = {"volume": "volume_24h_usd", "interest": "open_interest_usd", "previous": "change_24h"}
_CENTS: Final = 2


class Told(NamedTuple):
    """An asset's payload and how long it stands.

    `asset` is null where neither price nor funding can be said. `as_of_ms` is when the price was observed, or the
    funding where no price is said. The whole holds from `since_ms` (included) until `until_ms` (excluded), unless new
    data come.
    """

    asset: RwaAsset | None
    as_of_ms: int
    since_ms: int
    until_ms: int


def tell(
    listed: Listed,
    quote: Quote,
    chart: Chart,
    newest_ms: int | None,
    now_ms: int,
    held: AbstractSet[str] = frozenset(),
) -> Told:
    """Say what is known of an asset.

    Args:
        listed: What it is.
        quote: Its newest price and funding.
        chart: What its closed bars say.
        newest_ms: When the newest quotes were observed, null if the last attempt to refresh them failed: what they did
            not bring is stale at once, whatever its age.
        now_ms: The instant to judge ages at.
        held: Fields that fail the plausibility check, by the names of `Findings`: their last accepted values are told.
    """
    turns = [*QUOTE.turns(quote.price_ms), *QUOTE.turns(quote.funding_ms), *CHART.turns(chart.through_ms)]
    since_ms, until_ms = span_around(now_ms, turns)
    price_is, funding_is = QUOTE.judge(quote.price_ms, now_ms), QUOTE.judge(quote.funding_ms, now_ms)
    has_price, has_funding = price_is is not Freshness.GONE, funding_is is not Freshness.GONE
    as_of_ms = quote.price_ms if has_price else quote.funding_ms if has_funding else None
    if as_of_ms is None:
        return Told(None, 0, since_ms, until_ms)
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
    asset = _bundle(
        listed,
        quote,
        quote.price if has_price else None,
        quote.funding if has_funding else None,
        Chart() if chart_is is Freshness.GONE else chart,
        stale,
    )
    return Told(asset, as_of_ms, since_ms, until_ms)


def _bundle(
    listed: Listed, quote: Quote, price: float | None, funding: float | None, chart: Chart, stale: Sequence[str]
) -> RwaAsset:
    hours = quote.interval_hours
    change_24h = change_pct(price, quote.prev_price)
    interest_usd = _interest_usd(quote.open_interest, price)
    unknown = {
        "price": price is None,
        "change_24h": change_24h is None,
        "trend_daily": chart.trend_daily is None,
        "trend_weekly": chart.trend_weekly is None,
        "funding": funding is None,
        "open_interest_usd": interest_usd is None,
        "volume_24h_usd": False,
    }
    # Adding zero turns a negative zero, which JSON would show, into zero.
    rate = None if funding is None else funding * hours + 0.0
    apr = None if funding is None else apr_pct(funding) + 0.0
    return RwaAsset(
        id=listed.id,
        symbol=listed.symbol,
        name=listed.name,
        assetType=listed.type,
        venue=quote.venue,
        price=price,
        change_24h=change_24h,
        trend_daily=chart.trend_daily,
        trend_weekly=chart.trend_weekly,
        funding=RwaFunding(rate, hours, apr),
        open_interest_usd=interest_usd,
        volume_24h_usd=round(quote.volume_usd, _CENTS),
        _stale_fields=[field for field, is_unknown in unknown.items() if is_unknown or field in stale],
    )


def _interest_usd(base: float | None, price: float | None) -> float | None:
    return None if base is None or price is None else round(base * price, _CENTS)
