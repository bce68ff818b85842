"""Matches the venue's coins with CoinGecko's. Many coins share a ticker, so the price must agree too."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, Clock
from service.market.categories.documents import UPSTREAM as GECKO
from service.market.categories.documents import GeckoCoins, known_coins
from service.market.models import CoinView
from service.market.plausibility.quarantine import Quarantine
from service.market.plausibility.quotes import is_worth_moved
from service.market.plausibility.rules import WORTH_HELD_MS, RejectReason
from service.market.sources.coingecko import GeckoCoin
from service.storage.documents import Document

AGREEING: Final = 0.10
"""Maximum price difference of the same coin, as a part of the venue's price."""

EQUAL: Final = 0.02
"""Usual maximum: perpetual and spot rarely differ by more than 0.01, and other coins are rarely this near."""

PARTED: Final = 0.30
"""Prices of one coin never differ by more, however fast they move between two requests."""


def wanted_tickers(coins: Iterable[CoinView]) -> frozenset[str]:
    """CoinGecko tickers, upper case, of the venue's coins."""
    return frozenset(coin.symbol for coin in coins)


def identify(
    coins: Iterable[CoinView],
    seen: Sequence[GeckoCoin],
    known: Mapping[str, GeckoCoin],
) -> dict[str, GeckoCoin]:
    """Match each of the venue's coins with one of CoinGecko's.

    Same ticker, and a price within 10 % of the venue's; those within 2 % first, then the largest
    market cap, because wrapped coins have the same price. A known match stays while its price is within 30 %, so a jump
    between two requests does not lose it; only a coin within 2 % can replace it.

    Args:
        coins: Current values of the venue's coins.
        seen: Coins that CoinGecko has just shown; need not be all.
        known: Ticker of the venue → its last match.

    Returns:
        Ticker of the venue → match. Coins without a match are missing.
    """
    by_ticker: dict[str, list[GeckoCoin]] = {}
    for row in seen:
        by_ticker.setdefault(row.ticker, []).append(row)
    found: dict[str, GeckoCoin] = {}
    for coin in coins:
        chosen = _choose(coin.price, by_ticker.get(coin.symbol, []), known.get(coin.symbol))
        if chosen is not None:
            found[coin.symbol] = chosen
    return found


def _choose(price: float | None, seen: Sequence[GeckoCoin], known: GeckoCoin | None) -> GeckoCoin | None:
    shown = next((row for row in seen if known is not None and row.id == known.id), None)
    held = shown or known
    if price is None:
        return held
    if shown is not None and shown.price is not None and _apart(price, shown) > PARTED:
        held = None
    claims = [row for row in seen if _apart(price, row) <= EQUAL]
    if held is None:
        claims = claims or [row for row in seen if _apart(price, row) <= AGREEING]
    elif shown is None:
        claims.append(held)
    return max(claims, key=lambda row: row.market_cap or 0.0, default=held)


def _apart(price: float, row: GeckoCoin) -> float:
    """Difference of CoinGecko's price from the venue's, as a part of the latter; 1 if unknown."""
    return 1.0 if row.price is None else abs(row.price / price - 1)


_DEAD_MS: Final = DAY_MS
"""A coin without a newer price at CoinGecko is not traded; its old price does not identify it."""

_log: Final = logging.getLogger("verdict.market")


class CoinRegister:
    """The stored matches, updated with what CoinGecko shows.

    Args:
        clock: Judges ages.
        document: The matches.
        view: Current values of the venue's coins.
        quarantine: Receives values that are held back.
    """

    def __init__(
        self,
        clock: Clock,
        document: Document[GeckoCoins],
        view: Callable[[], Mapping[str, CoinView]],
        quarantine: Quarantine,
    ) -> None:
        self._clock = clock
        self._document = document
        self._view = view
        self._quarantine = quarantine
        self._missed: frozenset[str] = frozenset()

    def known(self, origin: str) -> dict[str, GeckoCoin]:
        """Ticker → coin; empty if another dataset is stored."""
        return known_coins(self._document.current) if self._document.current.origin == origin else {}

    def wanted(self) -> frozenset[str]:
        """CoinGecko tickers of the venue's coins."""
        return wanted_tickers(self._view().values())

    def by_volume(self, origin: str) -> list[str]:
        """Ids of the matched coins, the most traded first."""
        known, view = self.known(origin), self._view()
        traded = sorted((coin for coin in view.values() if coin.symbol in known), key=lambda coin: -coin.volume_usd)
        return [known[coin.symbol].id for coin in traded]

    async def refresh(self, origin: str, seen: Sequence[GeckoCoin]) -> None:
        """Update the matches with the largest coins.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        found = self._identify(origin, self._hold_back(origin, seen))
        await self._document.put(origin, GeckoCoins(found), max(row.seen_ms for row in seen))
        missed = frozenset(self._view()) - frozenset(found)
        if missed - self._missed:
            _log.debug("No CoinGecko coin matches these coins.", extra={"coins": sorted(missed - self._missed)})
        self._missed = missed

    async def note(self, origin: str, seen: Sequence[GeckoCoin]) -> None:
        """Look for matches among other coins, which are not among the largest.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        known, found = self.known(origin), self._identify(origin, seen)
        if {symbol: row.id for symbol, row in found.items()} != {symbol: row.id for symbol, row in known.items()}:
            await self._document.put(origin, GeckoCoins(found), self._document.current.observed_ms)

    def _hold_back(self, origin: str, seen: Sequence[GeckoCoin]) -> list[GeckoCoin]:
        """The rows, with the last accepted row of each coin whose figures leap, until that is too old."""
        current = {row.id: row for row in seen}
        for symbol, last in self.known(origin).items():
            row = current.get(last.id, last)
            is_recent = row.seen_ms - last.seen_ms <= WORTH_HELD_MS
            if is_recent and is_worth_moved(_market_cap(row), _market_cap(last)):
                self._quarantine.hold(GECKO, symbol, "worth", RejectReason.WORTH_MOVED, row.seen_ms)
                current[last.id] = last
            else:
                self._quarantine.release(symbol, "worth")
        return list(current.values())

    def _identify(self, origin: str, seen: Sequence[GeckoCoin]) -> dict[str, GeckoCoin]:
        since_ms = self._clock.now_ms() - _DEAD_MS
        alive = [row for row in seen if row.seen_ms > since_ms]
        known = {
            # An outdated market cap must not win against a current one.
            symbol: row if row.seen_ms > since_ms else replace(row, market_cap=None)
            for symbol, row in self.known(origin).items()
        }
        return identify(self._view().values(), alive, known)


def _market_cap(row: GeckoCoin) -> tuple[float | None, float | None, float | None]:
    return row.price, row.market_cap, row.volume_usd
