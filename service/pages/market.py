"""The page at `/`: the market at a glance."""

from asyncio import to_thread
from collections.abc import Mapping, Sequence
from typing import Final

from service.errors import ServiceError
from service.market.observed import State
from service.pages.breadth import course
from service.pages.coins import listed
from service.pages.page import Page
from service.pages.rooms import Rooms
from service.wire.market import FundingAlerts, MarketHealth
from service.wire.regime import ActiveRegime, RegimeSignals
from service.wire.rwa import RwaAsset, RwaAssets

ALERTS: Final = 14
ASSETS: Final = 24


class MarketView:
    """Shows the market.

    Args:
        rooms: Whom it asks.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def show(self, _segment: str, _query: Mapping[str, str]) -> Page:
        """Show it; what a room cannot say is said to be missing."""
        return await self._rooms.lately.page("market", self._make)

    async def _make(self) -> Page:
        rooms, ask = self._rooms, self._rooms.asker.try_ask
        concluded, state, now_ms = rooms.conclusions.now.value, rooms.coins.state, rooms.clock.now_ms()
        return await to_thread(  # every coin is a row or three: many of them would hold everybody else up
            rooms.templates.page,
            "market.html",
            now_ms=now_ms,
            health=await ask("market.health", MarketHealth, context=1),
            regime=await ask("regime", ActiveRegime, action="active"),
            signals=await ask("regime", RegimeSignals, action="signals"),
            alerts=await ask("funding.alerts", FundingAlerts, limit=ALERTS),
            assets=await self._assets(),
            breadth=None if concluded is None else course(concluded.breadth, concluded.runs),
            coins=listed(rooms.coins.view(), state, now_ms),
            trouble=trouble(state),
            quotes_ms=state.quotes_ms,
        )

    async def _assets(self) -> Sequence[RwaAsset]:
        """The most traded real-world assets; those of which nothing can be said are left out."""
        found = await self._rooms.asker.try_ask("rwa.assets", RwaAssets, top=ASSETS)
        if isinstance(found, ServiceError):
            return []
        told = [
            await self._rooms.asker.try_ask("rwa.symbol", RwaAsset, symbol=asset.symbol) for asset in found.data.assets
        ]
        return [asset.data for asset in told if not isinstance(asset, ServiceError)]


def trouble(state: State) -> str:
    """What is to be said of the first venue: nothing, unless it does not answer."""
    if state.failure is None:
        return ""
    if state.venue is None:
        return "The venue does not answer: prices and funding are the last that are known."
    return f"The venue does not answer; {state.venue} stands in for it."
