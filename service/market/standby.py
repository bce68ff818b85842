"""The port to a second venue, which answers for the coins it has while the first one fails."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from service.market.observed import History, Quote
from service.market.plausibility import Second


class Fallback(Protocol):
    """A venue that stands in."""

    @property
    def name(self) -> str:
        """What the venue is called in answers (`binance`)."""

    async def prices(self) -> Mapping[str, Second]:
        """Price and funding of all that it has by ticker, to compare with; a ticker may be another asset's.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """

    async def quotes(self, known: Mapping[str, Quote]) -> Sequence[Quote]:
        """Price and funding of the coins it has.

        Args:
            known: The last quotes of all coins, by ticker: what is shown must agree with them to be the same asset.

        Returns:
            Those quotes, their venue symbols the first venue's still, with what this venue shows, all of one time.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """

    async def daily_bars(self, symbol: str, start_ms: int) -> History | None:
        """Closed daily bars of a coin; null where it does not have that coin.

        Args:
            symbol: Ticker.
            start_ms: Open of the first bar wanted.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
