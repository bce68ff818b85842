"""Which coin each ticker of the venue is at CoinGecko, kept up with whatever that has just shown."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, Clock
from service.market.categories.gecko import GeckoCoins, known_coins
from service.market.categories.identity import identify, wanted_tickers
from service.market.observed import CoinView
from service.market.shelf import Drawer
from service.market.sources.coingecko import GeckoCoin

_DEAD_MS: Final = DAY_MS
"""A coin that CoinGecko has no newer price of is not traded; what it once cost says nothing of who it is."""

_log: Final = logging.getLogger("verdict.market")


class Register:
    """The register of coins.

    Args:
        clock: What is too old.
        drawer: Where it is kept.
        view: The venue's coins as they stand now.
    """

    def __init__(self, clock: Clock, drawer: Drawer[GeckoCoins], view: Callable[[], Mapping[str, CoinView]]) -> None:
        self._clock = clock
        self._drawer = drawer
        self._view = view
        self._missed: frozenset[str] = frozenset()

    def known(self, origin: str) -> dict[str, GeckoCoin]:
        """Ticker → coin; nothing while another history is kept."""
        return known_coins(self._drawer.now) if self._drawer.now.origin == origin else {}

    def wanted(self) -> frozenset[str]:
        """CoinGecko's tickers of the venue's coins."""
        return wanted_tickers(self._view().values())

    def by_volume(self, origin: str) -> list[str]:
        """Ids of the coins that are known, the most traded at the venue first."""
        known, view = self.known(origin), self._view()
        traded = sorted((coin for coin in view.values() if coin.symbol in known), key=lambda coin: -coin.volume_usd)
        return [known[coin.symbol].id for coin in traded]

    async def refresh(self, origin: str, seen: Sequence[GeckoCoin]) -> None:
        """Take over what CoinGecko has just shown of the largest coins.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        found = self._identify(origin, seen)
        await self._drawer.put(origin, GeckoCoins(found), max(row.seen_ms for row in seen))
        missed = frozenset(self._view()) - frozenset(found)
        if missed - self._missed:
            _log.info("coins that CoinGecko is not known to have", extra={"coins": sorted(missed - self._missed)})
        self._missed = missed

    async def note(self, origin: str, seen: Sequence[GeckoCoin]) -> None:
        """Find coins of ours among others, which the largest did not hold.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        known, found = self.known(origin), self._identify(origin, seen)
        if {symbol: row.id for symbol, row in found.items()} != {symbol: row.id for symbol, row in known.items()}:
            await self._drawer.put(origin, GeckoCoins(found), self._drawer.now.observed_ms)

    def _identify(self, origin: str, seen: Sequence[GeckoCoin]) -> dict[str, GeckoCoin]:
        since_ms = self._clock.now_ms() - _DEAD_MS
        alive = [row for row in seen if row.seen_ms > since_ms]
        known = {
            # What it was worth when it was last followed is no claim against one that is followed now.
            symbol: row if row.seen_ms > since_ms else replace(row, market_cap=None)
            for symbol, row in self.known(origin).items()
        }
        return identify(self._view().values(), alive, known)
