"""The second venue, Binance: stands in while Hyperliquid fails, and confirms its values.

A contract is found by ticker, and used only if its price agrees with the last known one.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, Clock
from service.market.models import BarBatch, Quote
from service.market.plausibility.quotes import SecondQuote, are_many, is_same_asset
from service.market.plausibility.rules import RejectReason
from service.market.sources.binance import Binance, Contract, MarkPrice
from service.upstream.failures import UpstreamError
from service.upstream.session import UpstreamSession


class SecondVenueApi(Protocol):
    """A venue that can stand in."""

    @property
    def name(self) -> str:
        """Name of the venue in answers (`binance`)."""

    async def prices(self) -> Mapping[str, SecondQuote]:
        """Price and funding of all its coins by ticker, to compare with; a ticker may be another asset's.

        Raises:
            UpstreamError: If there is no valid answer.
        """

    async def quotes(self, known: Mapping[str, Quote]) -> Sequence[Quote]:
        """Price and funding of the coins it has.

        Args:
            known: The last quotes of all coins by ticker; its prices must agree with them.

        Returns:
            Those quotes with this venue's values, all of one time. Venue symbols stay the first venue's.

        Raises:
            UpstreamError: If there is no valid answer.
        """

    async def daily_bars(self, symbol: str, start_ms: int) -> BarBatch | None:
        """Closed daily bars of a coin; null if it does not have the coin.

        Args:
            symbol: Ticker.
            start_ms: Open time of the first bar wanted.

        Raises:
            UpstreamError: If there is no valid answer.
        """


FALLBACK_VENUE: Final = "binance"

OLDEST_PRICE_MS: Final = DAY_MS
"""Older prices cannot identify an asset."""

MATCH_VALID_MS: Final = HOUR_MS
"""A contract that matched stays the same asset for this long, however far prices move."""

_OK: Final = 200
_log: Final = logging.getLogger("verdict.market")


class PriceMatcher:
    """Decides whether a contract is on the asset of its ticker: its price must agree with the last known one.

    Args:
        clock: Age of the known price.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._others: set[str] = set()
        self._matched_ms: dict[str, int] = {}

    def matches(self, asset: str, price: float | None, price_ms: int | None, contract: str, theirs: float) -> bool:
        """Whether the last known price identifies the contract. A mismatch is logged once.

        Args:
            asset: Its ticker, for the log.
            price: The last known price, USD, of any matched venue.
            price_ms: Time of that price.
            contract: The other venue's symbol.
            theirs: Its price, USD.
        """
        now_ms = self._clock.now_ms()
        if price is None or price_ms is None or price_ms < now_ms - OLDEST_PRICE_MS:
            return False
        if is_same_asset(price, theirs):
            self._matched_ms[contract] = now_ms
            return True
        if now_ms - self._matched_ms.get(contract, 0) <= MATCH_VALID_MS:
            return True
        if contract not in self._others:
            self._others.add(contract)
            extra = {"asset": asset, "contract": contract, "price": price, "theirs": theirs}
            _log.warning("Contract ignored: another asset has the same ticker.", extra=extra)
        return False


class BinanceFallback:
    """Provides quotes and bars of the coins that Binance has too.

    Args:
        session: Open session to the venue.
        clock: Time source.
    """

    name = FALLBACK_VENUE

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._source = Binance(session, clock)
        self._matcher = PriceMatcher(clock)
        self._same: dict[str, Contract] = {}

    async def prices(self) -> dict[str, SecondQuote]:
        """Price and funding of every coin contract by ticker, to compare with; it may be another asset.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        contracts = coins_of(await self._source.contracts())
        marks = await self._source.marks()
        return {
            symbol: second_of(contract, marks.rows[contract.symbol], marks.observed_ms)
            for symbol, contract in contracts.items()
            if contract.symbol in marks.rows
        }

    async def quotes(self, known: Mapping[str, Quote]) -> list[Quote]:
        """Price and funding of the coins it has.

        Args:
            known: The last quotes of all coins by ticker; its prices must agree with them.

        Returns:
            Those quotes with this venue's values, all of one time.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        contracts = coins_of(await self._source.contracts())
        marks = await self._source.marks()
        found, others = [], 0
        for symbol, quote in known.items():
            contract = contracts.get(symbol)
            mark = marks.rows.get(contract.symbol) if contract else None
            if contract is None or mark is None:
                continue
            if not self._matcher.matches(symbol, quote.price, quote.price_ms, contract.symbol, mark.price):
                self._same.pop(symbol, None)
                others += quote.price is not None
                continue
            self._same[symbol] = contract
            found.append(fallback_quote(quote, contract, mark, marks.observed_ms))
        if are_many(others, others + len(found)):
            raise UpstreamError(self.name, _OK, f"quarantined: {RejectReason.COINS_LEAPING}".encode())
        return found

    async def daily_bars(self, symbol: str, start_ms: int) -> BarBatch | None:
        """Closed daily bars of a coin; null if the last quotes did not match it.

        Args:
            symbol: Canonical ticker.
            start_ms: Open time of the first bar wanted.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        contract = self._same.get(symbol)
        return await self._source.bars(contract.symbol, "1d", start_ms) if contract else None


def fallback_quote(quote: Quote, contract: Contract, mark: MarkPrice, observed_ms: int) -> Quote:
    """A quote with the other venue's values.

    Price, funding, the price a day before, and the day's volume are comparable between venues. Open interest is not,
    so it is null meanwhile.
    """
    shown = replace(
        quote,
        volume_usd=quote.volume_usd if mark.volume_usd is None else mark.volume_usd,
        price=mark.price,
        price_ms=observed_ms,
        open_interest=None,
        prev_price=mark.prev_price,
        venue=FALLBACK_VENUE,
    )
    if mark.funding is None:
        return shown
    hourly = mark.funding / contract.interval_hours
    return replace(shown, funding=hourly, funding_ms=observed_ms, interval_hours=contract.interval_hours)


def second_of(contract: Contract, mark: MarkPrice, observed_ms: int) -> SecondQuote:
    """The other venue's values of a contract, to compare with; funding per hour."""
    funding = None if mark.funding is None else mark.funding / contract.interval_hours
    return SecondQuote(mark.price, funding, observed_ms, mark.volume_usd)


def coins_of(contracts: Mapping[str, Contract]) -> dict[str, Contract]:
    """Perpetuals on coins by our ticker: `BTCUSDT` is BTC, `1000PEPEUSDT` is PEPE."""
    return {
        contract.base.upper(): contract
        for contract in contracts.values()
        if contract.kind == "PERPETUAL" and contract.underlying == "COIN"
    }
