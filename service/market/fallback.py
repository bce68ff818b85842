"""Binance in Hyperliquid's place: the same coins, found by ticker and unit, and believed only where prices agree."""

import logging
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, Clock
from service.market.observed import History, Quote
from service.market.plausibility import Second, are_many, is_same_asset
from service.market.plausibility_rules import Reason
from service.market.sources.binance import Binance, Contract, Mark
from service.upstream.failure import UpstreamError
from service.upstream.session import UpstreamSession

FALLBACK_VENUE: Final = "binance"

OLDEST_KNOWN_MS: Final = DAY_MS
"""An older price vouches for nobody."""

VOUCHED_FOR_MS: Final = HOUR_MS
"""A contract that was vouched for stays the same asset for so long, however far prices move meanwhile."""

_OK: Final = 200
_THOUSAND: Final = "1000"
_log: Final = logging.getLogger("verdict.market")


class Vouching:
    """Whether a contract is on the asset its ticker says: by agreement with the last price known of that asset.

    Args:
        clock: How old that price is.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._others: set[str] = set()
        self._vouched_ms: dict[str, int] = {}

    def holds(self, asset: str, price: float | None, price_ms: int | None, contract: str, theirs: float) -> bool:
        """Whether the last known price vouches for the contract. Another asset is logged once.

        Args:
            asset: Its ticker, for the log.
            price: The last one known, USD, whoever told it: a venue that was vouched for vouches in turn.
            price_ms: When that was.
            contract: The other venue's symbol.
            theirs: Its price, USD.
        """
        now_ms = self._clock.now_ms()
        if price is None or price_ms is None or price_ms < now_ms - OLDEST_KNOWN_MS:
            return False
        if is_same_asset(price, theirs):
            self._vouched_ms[contract] = now_ms
            return True
        if now_ms - self._vouched_ms.get(contract, 0) <= VOUCHED_FOR_MS:
            return True
        if contract not in self._others:
            self._others.add(contract)
            said = {"asset": asset, "contract": contract, "price": price, "theirs": theirs}
            _log.warning("the same ticker, another asset", extra=said)
        return False


class BinanceFallback:
    """Answers for the coins that Binance has too.

    Args:
        session: Open session to the venue.
        clock: All of its time.
    """

    name = FALLBACK_VENUE

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._source = Binance(session, clock)
        self._vouching = Vouching(clock)
        self._same: dict[str, Contract] = {}

    async def prices(self) -> dict[str, Second]:
        """Price and funding of every coin contract by ticker, which may be another asset's: to compare with.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
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
            known: The last quotes of all coins by ticker: what their prices must agree with.

        Returns:
            Those quotes, with what this venue shows, all of one time.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        contracts = coins_of(await self._source.contracts())
        marks = await self._source.marks()
        found, others = [], 0
        for symbol, quote in known.items():
            contract = contracts.get(symbol)
            mark = marks.rows.get(contract.symbol) if contract else None
            if contract is None or mark is None:
                continue
            if not self._vouching.holds(symbol, quote.price, quote.price_ms, contract.symbol, mark.price):
                self._same.pop(symbol, None)
                others += quote.price is not None
                continue
            self._same[symbol] = contract
            found.append(stand_in(quote, contract, mark, marks.observed_ms))
        if are_many(others, others + len(found)):
            raise UpstreamError(self.name, _OK, f"quarantined: {Reason.COINS_LEAPING}".encode())
        return found

    async def daily_bars(self, symbol: str, start_ms: int) -> History | None:
        """Closed daily bars of a coin; null where the last round of quotes did not find it to be the same.

        Args:
            symbol: Canonical ticker.
            start_ms: Open of the first bar wanted.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        contract = self._same.get(symbol)
        return await self._source.bars(contract.symbol, "1d", start_ms) if contract else None


def stand_in(quote: Quote, contract: Contract, mark: Mark, observed_ms: int) -> Quote:
    """A quote with what the other venue shows in its place.

    What is comparable between venues stands in: price, funding, the price a day before, and the day's volume, which is
    then that venue's. Open interest is not: what is held elsewhere is another quantity, so it is unknown meanwhile.
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


def second_of(contract: Contract, mark: Mark, observed_ms: int) -> Second:
    """What the other venue shows of a contract, to compare with; funding by the hour."""
    funding = None if mark.funding is None else mark.funding / contract.interval_hours
    return Second(mark.price, funding, observed_ms, mark.volume_usd)


def coins_of(contracts: Mapping[str, Contract]) -> dict[str, Contract]:
    """The perpetuals on coins by our ticker, same unit: `BTCUSDT` is BTC, `1000PEPEUSDT` KPEPE, a thousand PEPE."""
    return {
        _ticker(contract.base): contract
        for contract in contracts.values()
        if contract.kind == "PERPETUAL" and contract.underlying == "COIN"
    }


def _ticker(base: str) -> str:
    rest = base.removeprefix(_THOUSAND)
    return (f"K{rest}" if rest != base and rest[:1].isalpha() else base).upper()
