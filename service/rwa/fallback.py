"""Binance's `TRADIFI_PERPETUAL` contracts as fallback for real-world assets."""

from collections.abc import Callable, Mapping
from typing import Final

from service.clock import Clock
from service.market.fallback import FALLBACK_VENUE, PriceMatcher, fallback_quote, second_of
from service.market.models import Quote
from service.market.plausibility.quotes import SecondQuote, are_many
from service.market.plausibility.rules import RejectReason
from service.market.sources.binance import Binance, Contract
from service.rwa.documents import AssetListing, ListedAsset
from service.upstream.failures import UpstreamError
from service.upstream.session import UpstreamSession
from service.wire.rwa import AssetType

_OK: Final = 200
_ISO_4217: Final[Mapping[str, str]] = {"GOLD": "XAU", "SILVER": "XAG", "PLATINUM": "XPT", "PALLADIUM": "XPD"}
"""Metals are traded under their currency codes."""

_UNDERLYING: Final[Mapping[AssetType, str]] = {
    "equity": "EQUITY",
    "etf": "EQUITY",
    "metal": "COMMODITY",
    "commodity": "COMMODITY",
}
"""Binance's name of each type that it has."""


class TradifiFallback:
    """Provides quotes of the assets that Binance has too.

    Args:
        session: Open session to the venue.
        clock: Time source.
        listing: The current listing.
    """

    name = FALLBACK_VENUE

    def __init__(self, session: UpstreamSession, clock: Clock, listing: Callable[[], AssetListing | None]) -> None:
        self._source = Binance(session, clock)
        self._matcher = PriceMatcher(clock)
        self._listing = listing

    async def prices(self) -> dict[str, SecondQuote]:
        """Price and funding of the listed assets that it has, by ticker, to compare with.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        contracts = await self._source.contracts()
        marks = await self._source.marks()
        found = {asset.symbol: contract_of(asset, contracts) for asset in (self._listing() or AssetListing()).assets}
        return {
            symbol: second_of(contract, marks.rows[contract.symbol], marks.observed_ms)
            for symbol, contract in found.items()
            if contract and contract.symbol in marks.rows
        }

    async def quotes(self, known: Mapping[str, Quote]) -> list[Quote]:
        """Price and funding of the assets it has.

        Args:
            known: The last quotes by ticker; its prices must agree with them.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        contracts = await self._source.contracts()
        marks = await self._source.marks()
        found, others = [], 0
        for asset in (self._listing() or AssetListing()).assets:
            contract, quote = contract_of(asset, contracts), known.get(asset.symbol)
            mark = marks.rows.get(contract.symbol) if contract else None
            if contract is None or quote is None or mark is None:
                continue
            if self._matcher.matches(asset.id, quote.price, quote.price_ms, contract.symbol, mark.price):
                found.append(fallback_quote(quote, contract, mark, marks.observed_ms))
            else:
                others += quote.price is not None
        if are_many(others, others + len(found)):
            raise UpstreamError(self.name, _OK, f"quarantined: {RejectReason.COINS_LEAPING}".encode())
        return found


def contract_of(asset: ListedAsset, contracts: Mapping[str, Contract]) -> Contract | None:
    """The contract on an asset, by ticker or currency code, and by type: `xyz:GOLD` is `XAUUSDT`, a commodity.

    Args:
        asset: A listed asset.
        contracts: By the venue's symbol.
    """
    kind = _UNDERLYING.get(asset.type)
    for base in (asset.symbol, _ISO_4217.get(asset.symbol)):
        contract = contracts.get(f"{base}USDT")
        if contract and contract.kind == "TRADIFI_PERPETUAL" and contract.underlying == kind:
            return contract
    return None
