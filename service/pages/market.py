"""The page at `/`: a question box, the market in six figures, the table of all coins, and the market in detail."""

from asyncio import to_thread
from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.errors import ServiceError
from service.pages.breadth import breadth_chart
from service.pages.coins import TITLES, coin_lists
from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage
from service.pages.route_client import RouteResult
from service.pages.snapshot import MOST_COINS, notices, tiles
from service.wire.coins import Coins
from service.wire.market import FundingAlerts, MarketHealth
from service.wire.regime import ActiveRegime, RegimeSignals
from service.wire.rwa import RwaAsset, RwaAssets

ALERTS: Final = 14
ASSETS: Final = 24

EXAMPLES: Final = (
    "How is SOL doing?",
    "Five biggest losers this week",
    "Should I long BTC?",
    "funding above 20 % and daily uptrend",
    "Is the market risk-on?",
)
"""Questions that a reader can ask by one click."""


class MarketPage:
    """Shows the market.

    Args:
        dependencies: What it reads.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies

    async def show(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """Show it; each part that is not known says so."""
        return await self._dependencies.cache.page("market", self._make)

    async def _make(self) -> HtmlPage:
        dependencies, ask = self._dependencies, self._dependencies.routes.try_ask
        concluded, state = dependencies.conclusions.current.value, dependencies.coins.state
        now_ms = dependencies.clock.now_ms()
        health = await ask("market.health", MarketHealth, context=1)
        table = await ask("coins", Coins, limit=MOST_COINS)
        assets = await self._assets()
        context: dict[str, Any] = {
            "now_ms": now_ms,
            "health": health,
            "regime": await ask("regime", ActiveRegime, action="active"),
            "signals": await ask("regime", RegimeSignals, action="signals"),
            "alerts": await ask("funding.alerts", FundingAlerts, limit=ALERTS),
            "assets": [asset.data for asset in assets],
            "assets_ms": min((asset.as_of_ms for asset in assets if asset.as_of_ms is not None), default=None),
            "breadth": None if concluded is None else breadth_chart(concluded.breadth, concluded.runs),
            "notices": notices(state, dependencies.quarantine.current.value),
            "quotes_ms": state.quotes_ms,
            "columns": TITLES,
            "examples": EXAMPLES,
        }
        fear_greed, history = dependencies.fear_greed(), dependencies.history.loaded

        def make() -> HtmlPage:
            coins = coin_lists([] if isinstance(table, ServiceError) else table.data.coins, history)
            figures = tiles(coins, health, fear_greed)
            return dependencies.templates.page("market.html", coins=coins, tiles=figures, **context)

        return await to_thread(make)  # hundreds of rows: the event loop must not wait for them

    async def _assets(self) -> Sequence[RouteResult[RwaAsset]]:
        """The most traded real-world assets, without those that fail."""
        ask = self._dependencies.routes.try_ask
        found = await ask("rwa.assets", RwaAssets, top=ASSETS)
        if isinstance(found, ServiceError):
            return []
        assets = [await ask("rwa.symbol", RwaAsset, symbol=asset.symbol) for asset in found.data.assets]
        return [asset for asset in assets if not isinstance(asset, ServiceError)]
