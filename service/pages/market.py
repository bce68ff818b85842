"""The page at `/`: the market at a glance."""

from asyncio import to_thread
from collections.abc import Mapping, Sequence
from typing import Final

from service.errors import ServiceError
from service.market.observed import State
from service.market.quarantine import WHOLE, Report
from service.pages.breadth import course
from service.pages.coins import listed
from service.pages.page import Page
from service.pages.rooms import Rooms
from service.wire.market import FundingAlerts, MarketHealth
from service.wire.regime import ActiveRegime, RegimeSignals
from service.wire.rwa import RwaAsset, RwaAssets

ALERTS: Final = 14
ASSETS: Final = 24

COINS_NAMED: Final = 5
"""How many quarantined coins a notice names."""


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
            notices=notices(state, rooms.quarantine.now.value),
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


def notices(state: State, report: Report | None, symbol: str | None = None) -> Sequence[str]:
    """What a reader must know before trusting the values of a page.

    Args:
        state: How the last refresh of quotes went.
        report: What failed the plausibility check; null if nothing ever did.
        symbol: The ticker that the page is about; null: all of them.

    Returns:
        Sentences; none if the first venue answers and no value is quarantined.
    """
    told = []
    if state.failure is not None and state.venue is None:
        told.append("The venue does not answer: prices and funding are the last that are known.")
    elif state.failure is not None:
        told.append(f"The venue does not answer; {state.venue} stands in for it.")
    held = [value for value in report.now if symbol is None or value.coin in {symbol, WHOLE}] if report else []
    coins = sorted({value.coin for value in held})
    if WHOLE in coins:
        told.append("The venue's newest answer failed the plausibility check. The last accepted values are shown.")
    elif coins:
        named = ", ".join(coins[:COINS_NAMED]) + (f" and {more} more" if (more := len(coins) - COINS_NAMED) > 0 else "")
        told.append(f"New values of {named} failed the plausibility check. The last accepted ones are shown as stale.")
    return told
