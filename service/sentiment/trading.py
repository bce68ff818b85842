"""How coins trade, as stances want it: the market's view of now beside its last days."""

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Final

from service.clock import DAY_MS, HOUR_MS, Clock
from service.market.series import SeriesReader
from service.market.service import MarketService
from service.market.symbols import unit_of
from service.sentiment.stance import Trading
from service.units import Symbol

USUAL_DAYS: Final = 30
"""Days whose mean volume is the usual one."""


class TradingSnapshot:
    """How every coin trades now.

    Args:
        clock: Now.
        coins: How the venue's coins stand.
        series: Their closed days.
        titles: What people call them, by ticker, as far as that is known.
    """

    def __init__(
        self, clock: Clock, coins: MarketService, series: SeriesReader, titles: Callable[[], Mapping[Symbol, str]]
    ) -> None:
        self._clock = clock
        self._coins = coins
        self._series = series
        self._titles = titles
        self._usual: Mapping[str, float] = {}
        self._of: tuple[str, int, int] | None = None

    async def read(self) -> None:
        """Read the usual volumes: once an hour, and whenever the dataset changes or days of more coins have come.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        now_ms = self._clock.now_ms()
        charted = sum(coin.through_ms is not None for coin in self._coins.view().values())
        of = (self._coins.state.origin, now_ms // HOUR_MS, charted)
        if of == self._of:
            return
        self._usual = await self._series.usual_volumes(now_ms - (USUAL_DAYS + 1) * DAY_MS)
        self._of = of

    def now(self) -> Mapping[str, Trading]:
        """Every listed coin by ticker; what is unknown of it is null."""
        titles = {str(symbol): title for symbol, title in self._titles().items()}
        return {
            symbol: Trading(
                title=titles.get(symbol, ""),
                change_24h=coin.change_24h,
                change_7d=coin.change_7d,
                funding_apr=coin.funding_apr,
                volume_ratio=_ratio(coin.volume_usd, self._usual.get(coin.venue_symbol)),
                observed_ms=coin.price_ms,
                units=unit_of(coin.venue_symbol)[1],
            )
            for symbol, coin in self._coins.view().items()
        }


def _ratio(volume: float, usual: float | None) -> float | None:
    """How many times the usual, to four decimals; null where that is as good as nothing."""
    ratio = volume / usual if usual else inf
    return round(ratio, 4) if isfinite(ratio) else None
