"""Market data: coins, categories, breadth, regime, risk and funding alerts."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from service.lookup.coins import LookupService
from service.lookup.factory import Lookups
from service.lookup.finder import Finder
from service.lookup.overview import OverviewService
from service.lookup.prices import PriceService
from service.market.alerts.service import AlertService
from service.market.categories.service import CategoryService
from service.market.daily_report.service import BreadthService, RegimeService
from service.market.historical import HistoricalService
from service.market.service import MarketService
from service.narratives.service import NarrativeService
from service.routes.call import Bound, Call, Endpoint, WaitingRoute
from service.sentiment.service import SentimentService
from service.sentiment.views import SentimentViews
from service.table.coins import CoinTable
from service.wire.coins import CoinsQuery, LookupQuery, OfCoinId, OfCoinName, OfContract, ResolveQuery
from service.wire.envelope import Answer
from service.wire.queries import (
    AlertsQuery,
    BaselinesQuery,
    HealthQuery,
    HistoricalQuery,
    NoParameters,
    OfCategory,
    OfSymbol,
    PricesQuery,
    RegimeQuery,
    SentimentQuery,
)


def coins(table: CoinTable, call: Call[CoinsQuery, None]) -> Answer:
    """GET /api/cli/coins.

    Raises:
        ServiceError: UNKNOWN_SYMBOL or UNKNOWN_CATEGORY with candidates; BAD_REQUEST for `cursor`; UPSTREAM_4XX,
            UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return table.coins(call.parameters)


async def historical(service: HistoricalService, call: Call[HistoricalQuery, None]) -> Answer:
    """GET /api/cli/coin/historical/{symbol}.

    Read price and funding history of one coin from the store.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE if there are no bars.
    """
    return await service.historical(call.parameters)


def risk(market: MarketService, sentiment: SentimentService, call: Call[OfSymbol, None]) -> Answer:
    """GET /api/cli/coin/risk/{symbol}.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX or UPSTREAM_5XX while there is no data.
    """
    return market.risk(call.parameters.symbol, sentiment.mood)


def coin_lookup(lookups: LookupService, call: Call[LookupQuery, None]) -> Answer:
    """GET /api/cli/coin/lookup.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return lookups.by_symbol(call.parameters.symbol)


def coin_by_id(lookups: LookupService, call: Call[OfCoinId, None]) -> Answer:
    """GET /api/cli/coin/by-id/{id}.

    Raises:
        ServiceError: As `coin_lookup`.
    """
    return lookups.by_id(call.parameters.id)


def coin_by_name(lookups: LookupService, call: Call[OfCoinName, None]) -> Answer:
    """GET /api/cli/coin/by-name/{name}.

    Raises:
        ServiceError: As `coin_lookup`.
    """
    return lookups.by_name(call.parameters.name)


def coin_by_contract(lookups: LookupService, call: Call[OfContract, None]) -> Answer:
    """GET /api/cli/coin/by-contract/{address}.

    Raises:
        ServiceError: BAD_REQUEST for an unknown chain; NOT_FOUND for an unknown contract; UPSTREAM_4XX, UPSTREAM_5XX or
            UNAVAILABLE while there is no data.
    """
    return lookups.by_contract(call.parameters)


def resolve(finder: Finder, call: Call[ResolveQuery, None]) -> Answer:
    """GET /api/cli/resolve.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while no coin is known.
    """
    return finder.resolve(call.parameters)


def category_info(categories: CategoryService, call: Call[OfCategory, None]) -> Answer:
    """GET /api/cli/category/info/{name}.

    Raises:
        ServiceError: UNKNOWN_CATEGORY with candidates; UPSTREAM_4XX or UPSTREAM_5XX while there is no data.
    """
    return categories.info(call.parameters.name)


def category_sentiment(sentiment: SentimentService, call: Call[OfCategory, None]) -> Answer:
    """GET /api/cli/category/sentiment/{name}.

    Raises:
        ServiceError: UNKNOWN_CATEGORY with candidates; UPSTREAM_4XX or UPSTREAM_5XX while there is no data;
            UNAVAILABLE before the first conclusions.
    """
    return sentiment.category(call.parameters.name)


def market_prices(prices: PriceService, call: Call[PricesQuery, None]) -> Answer:
    """GET /api/cli/market/prices.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates if no ticker is known; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE
            while there is no price.
    """
    return prices.prices(call.parameters)


def market_baselines(prices: PriceService, call: Call[BaselinesQuery, None]) -> Answer:
    """GET /api/cli/market/baselines.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates if no ticker is known; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE
            while no coin or no bar is known.
    """
    return prices.baselines(call.parameters)


def market_global(overview: OverviewService, _: Call[NoParameters, None]) -> Answer:
    """GET /api/cli/market/global.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there are no figures.
    """
    return overview.overview()


def coin_sentiment(views: SentimentViews, call: Call[OfSymbol, None]) -> Answer:
    """GET /api/cli/coin/sentiment/{symbol}.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return views.coin(call.parameters.symbol)


async def sentiment(views: SentimentViews, narratives: NarrativeService, call: Call[SentimentQuery, None]) -> Answer:
    """GET /api/cli/sentiment.

    Raises:
        ServiceError: UNKNOWN_SYMBOL, UNKNOWN_CATEGORY or NOT_FOUND (a narrative) with candidates; UPSTREAM_4XX,
            UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    query = call.parameters
    if query.action == "narratives":
        return await narratives.attention()
    if query.action == "narrative" and query.name is not None:
        return await narratives.narrative(query.name)
    return views.view(query)


async def list_narratives(narratives: NarrativeService, _: Call[NoParameters, None]) -> Answer:
    """GET /api/cli/narratives.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return await narratives.narratives()


def sentiment_routes(
    views: SentimentViews, narratives: NarrativeService, known: Callable[[Any], object]
) -> Mapping[str, Bound]:
    """Offer id → endpoint of the routes of sentiment.

    Args:
        views: Sentiment of the market, coins and categories.
        narratives: Narratives.
        known: Raises for an unknown symbol.
    """
    return {
        "coin.sentiment": partial(coin_sentiment, views),
        "sentiment": WaitingRoute(partial(sentiment, views, narratives), known),
        "narratives": partial(list_narratives, narratives),
    }


def market_health(breadth: BreadthService, call: Call[HealthQuery, None]) -> Answer:
    """GET /api/cli/market/health.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return breadth.health(call.parameters.context)


def market_crossing(breadth: BreadthService, _: Call[NoParameters, None]) -> Answer:
    """GET /api/cli/market/crossing.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return breadth.crossing()


def regime(regimes: RegimeService, call: Call[RegimeQuery, None]) -> Answer:
    """GET /api/cli/regime.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return regimes.regime(call.parameters.action, call.parameters.symbol)


async def funding_alerts(alerts: AlertService, call: Call[AlertsQuery, None]) -> Answer:
    """GET /api/cli/funding/alerts.

    Read a page of events from the store.

    Raises:
        ServiceError: BAD_REQUEST for `since` or `cursor`; UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or
            UNAVAILABLE while there is no data.
    """
    return await alerts.alerts(call.parameters)


def bound_lookups(lookups: Lookups) -> Mapping[str, Endpoint]:
    """Offer id → endpoint, of the routes that find coins and quote many of them."""
    return {
        "coin.lookup": partial(coin_lookup, lookups.coins),
        "coin.by-id": partial(coin_by_id, lookups.coins),
        "coin.by-name": partial(coin_by_name, lookups.coins),
        "coin.by-contract": partial(coin_by_contract, lookups.coins),
        "resolve": partial(resolve, lookups.finder),
        "market.prices": partial(market_prices, lookups.prices),
        "market.baselines": partial(market_baselines, lookups.prices),
        "market.global": partial(market_global, lookups.overview),
    }
