"""How coins trade, as stances want it: the market's view of now beside its last days."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, Clock
from service.market.room import Market
from service.sentiment.stance import Trading

WEEK_DAYS: Final = 7
USUAL_DAYS: Final = 30
"""Days whose mean volume is the usual one."""


class Days(Struct, frozen=True):
    """A coin's last days, USD: what it closed at a week ago, and what is traded of it on a usual day."""

    week_ago: float | None
    usual_volume: float | None


class Tape:
    """How every coin trades now.

    Args:
        clock: Now.
        market: The venue's coins, their names, and their closed days.
    """

    def __init__(self, clock: Clock, market: Market) -> None:
        self._clock = clock
        self._market = market
        self._days: Mapping[str, Days] = {}
        self._of: tuple[str, int] | None = None

    async def read(self) -> None:
        """Read the last days, once an hour and whenever another history is told.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        now_ms = self._clock.now_ms()
        of = (self._market.coins.state.origin, now_ms // HOUR_MS)
        if of == self._of:
            return
        store, week_ms = self._market.store, now_ms // DAY_MS * DAY_MS - (WEEK_DAYS + 1) * DAY_MS
        closes = await store.closed_bars(since_ms=week_ms)
        volumes = await store.usual_volumes(now_ms - (USUAL_DAYS + 1) * DAY_MS)
        self._days = {
            coin: Days(rows[0][4] if rows[0][0] == week_ms else None, volumes.get(coin))
            for coin, rows in closes.items()
        }
        self._of = of

    def now(self) -> Mapping[str, Trading]:
        """Every listed coin by ticker; what is unknown of it is null."""
        titles = {str(symbol): title for symbol, title in self._market.categories.titles().items()}
        return {
            symbol: Trading(
                title=titles.get(symbol, ""),
                change_24h=coin.change_24h,
                change_7d=_change_pct(coin.price, days.week_ago),
                funding_apr=coin.funding_apr,
                volume_ratio=_ratio(coin.volume_usd, days.usual_volume),
                observed_ms=coin.price_ms,
            )
            for symbol, coin in self._market.coins.view().items()
            for days in (self._days.get(coin.venue_symbol, _UNKNOWN),)
        }


_UNKNOWN: Final = Days(None, None)


def _change_pct(price: float | None, before: float | None) -> float | None:
    return None if price is None or not before else round((price / before - 1) * 100, 4)


def _ratio(volume: float, usual: float | None) -> float | None:
    return round(volume / usual, 4) if usual else None
