"""Which coin each ticker of the venue is at CoinGecko, kept up with whatever that has just shown."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, Clock
from service.market.categories.gecko import UPSTREAM as GECKO
from service.market.categories.gecko import GeckoCoins, known_coins
from service.market.categories.identity import identify, wanted_tickers
from service.market.observed import CoinView
from service.market.plausibility import is_worth_moved
from service.market.plausibility_rules import WORTH_HELD_MS, Reason
from service.market.quarantine import Quarantine
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
        quarantine: Where it is told what is held back.
    """

    def __init__(
        self,
        clock: Clock,
        drawer: Drawer[GeckoCoins],
        view: Callable[[], Mapping[str, CoinView]],
        quarantine: Quarantine,
    ) -> None:
        self._clock = clock
        self._drawer = drawer
        self._view = view
        self._quarantine = quarantine
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
        found = self._identify(origin, self._hold_back(origin, seen))
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

    def _hold_back(self, origin: str, seen: Sequence[GeckoCoin]) -> list[GeckoCoin]:
        """What was seen, with the last row of each coin whose figures leap, until that is too old."""
        kept = {row.id: row for row in seen}
        for symbol, last in self.known(origin).items():
            row = kept.get(last.id, last)
            is_recent = row.seen_ms - last.seen_ms <= WORTH_HELD_MS
            if is_recent and is_worth_moved(_worth(row), _worth(last)):
                self._quarantine.hold(GECKO, symbol, "worth", Reason.WORTH_MOVED, row.seen_ms)
                kept[last.id] = last
            else:
                self._quarantine.release(symbol, "worth")
        return list(kept.values())

    def _identify(self, origin: str, seen: Sequence[GeckoCoin]) -> dict[str, GeckoCoin]:
        since_ms = self._clock.now_ms() - _DEAD_MS
        alive = [row for row in seen if row.seen_ms > since_ms]
        known = {
            # What it was worth when it was last followed is no claim against one that is followed now.
            symbol: row if row.seen_ms > since_ms else replace(row, market_cap=None)
            for symbol, row in self.known(origin).items()
        }
        return identify(self._view().values(), alive, known)


def _worth(row: GeckoCoin) -> tuple[float | None, float | None, float | None]:
    return row.price, row.market_cap, row.volume_usd
