"""What prices are compared with: closed daily bars, and the second venue's values.

The second venue is asked about values that are held back, and once a minute about all others.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from service.clock import DAY_MS, HOUR_MS, SECOND_MS, Clock
from service.market.models import Quote
from service.market.plausibility.quotes import BarReference, SecondQuote, distance, is_price, scale_of
from service.market.plausibility.rules import DISAGREEMENT, OLDEST_MS, SCALE_BARS
from service.market.store import MarketStore
from service.upstream.failures import UpstreamError

READ_EVERY_S: Final = HOUR_MS / SECOND_MS
_SPAN_MS: Final = SCALE_BARS * DAY_MS + OLDEST_MS


class BarReferences:
    """Last close and scale of each coin, read from the store hourly, and on demand for coins without any.

    Args:
        clock: Decides when they are due.
        store: Bars.

    Attributes:
        now: By ticker.
    """

    def __init__(self, clock: Clock, store: MarketStore) -> None:
        self.now: dict[str, BarReference] = {}
        self._clock = clock
        self._store = store
        self._due_s = -READ_EVERY_S
        self._unstored: dict[str, BarReference] = {}

    def forget(self) -> None:
        """Drop everything: another dataset begins."""
        self.now, self._unstored = {}, {}

    def note(self, symbol: str, reference: BarReference | None) -> None:
        """Use a plausible bar that is not stored because bars before it are held back; null ends that.

        Args:
            symbol: Ticker.
            reference: Used where it is newer than the last stored bar.
        """
        if reference is None:
            self._unstored.pop(symbol, None)
        else:
            self._unstored[symbol] = reference

    async def read(self, coins: Mapping[str, str]) -> bool:
        """Read what is due.

        Args:
            coins: Venue symbol by ticker.

        Returns:
            Whether a coin has its first reference, or a newer one that is not stored.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        is_due = self._clock.monotonic() >= self._due_s
        wanted = {symbol: coin for symbol, coin in coins.items() if is_due or symbol not in self.now}
        if is_due:
            self._due_s = self._clock.monotonic() + READ_EVERY_S
        found = await self._read(wanted) if wanted else {}
        current = self.now | found
        found |= {
            symbol: unstored
            for symbol, unstored in self._unstored.items()
            if symbol in coins and (symbol not in current or current[symbol].close_ms < unstored.close_ms)
        }
        is_new = any(symbol not in self.now or symbol not in wanted for symbol in found)
        self.now |= found
        return is_new

    async def _read(self, wanted: Mapping[str, str]) -> dict[str, BarReference]:
        rows = await self._store.closed_bars(list(wanted.values()), since_ms=self._clock.now_ms() - _SPAN_MS)
        silent = [coin for coin in wanted.values() if not rows[coin]]
        rows |= await self._store.closed_bars(silent)
        return {
            symbol: BarReference(bars[-1][4], bars[-1][0] + DAY_MS, scale_of([bar[4] for bar in bars]))
            for symbol, coin in wanted.items()
            if (bars := rows[coin])
        }


ASK_EVERY_S: Final = 14.0
"""The second venue is asked at most once a round to confirm what is held back."""

ASK_SELDOM_S: Final = 60.0
CHECK_EVERY_S: Final = 60.0
"""It is asked at least once a minute to notice a slow drift of one venue. A request weighs 50 of 2,400."""

MOST_IN_VAIN: Final = 20
"""After this many unsuccessful requests about the same coins it is asked once a minute."""


class SecondVenueCheck:
    """Requests the second venue's values once a minute, and more often while something is held back.

    Args:
        clock: Decides when it may be asked again.
        prices: Requests its values by ticker; raises `UpstreamError` on failure.

    Attributes:
        shown: Its last values; empty after a failure.
        was_asked: Whether it was asked at all.
        agreed: Its values when they last agreed with a coin's accepted price, by ticker.
    """

    def __init__(self, clock: Clock, prices: Callable[[], Awaitable[Mapping[str, SecondQuote]]]) -> None:
        self.shown: Mapping[str, SecondQuote] = {}
        self.was_asked = False
        self.agreed: dict[str, SecondQuote] = {}
        self._clock = clock
        self._prices = prices
        self._due_s = self._check_s = 0.0
        self._about: frozenset[str] = frozenset()
        self._in_vain = 0
        self._is_held = False

    async def ask(self, about: frozenset[str]) -> bool:
        """Ask, unless it was asked a moment ago. Returns whether it was asked now.

        Args:
            about: Coins that it could clear.
        """
        self._is_held = bool(about)
        now_s = self._clock.monotonic()
        if not about or now_s < self._due_s:
            return False
        self._in_vain = self._in_vain + 1 if about <= self._about else 0
        self._about = about
        self._due_s = now_s + (ASK_EVERY_S if self._in_vain < MOST_IN_VAIN else ASK_SELDOM_S)
        await self._read()
        return True

    async def check(self) -> None:
        """Ask once a minute while nothing is held back."""
        now_s = self._clock.monotonic()
        if not self._is_held and now_s >= self._check_s:
            self._due_s = now_s + ASK_EVERY_S
            await self._read()

    async def _read(self) -> None:
        self._check_s = self._clock.monotonic() + CHECK_EVERY_S
        try:
            self.shown = await self._prices()
        except UpstreamError:  # logged by the session
            self.shown = {}
        self.was_asked = True

    def forget(self) -> None:
        """Drop everything: another dataset begins. It may be asked at once."""
        self.shown, self.was_asked, self._due_s = {}, False, 0.0
        self.agreed.clear()

    def compare(self, accepted: Mapping[str, Quote]) -> None:
        """Remember its values of coins whose accepted price agrees with it.

        Args:
            accepted: The last accepted quotes by ticker.
        """
        for symbol, shown in self.shown.items():
            price = accepted[symbol].price if symbol in accepted else None
            if price is not None and is_price(shown.price) and distance(price, shown.price) <= DISAGREEMENT:
                self.agreed[symbol] = shown
