"""The second venue as a witness: what it shows of values that are held back, and once a minute of all others."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from service.clock import Clock
from service.market.observed import Quote
from service.market.plausibility import Second, distance, is_price
from service.market.plausibility_rules import DISAGREEMENT
from service.upstream.failure import UpstreamError

ASK_EVERY_S: Final = 14.0
"""The second venue is asked at most once a round whether it confirms what is held back."""

ASK_SELDOM_S: Final = 60.0
CHECK_EVERY_S: Final = 60.0
"""It is asked at least once a minute, so that a slow drift of one venue is noticed. An answer weighs 50 of 2,400."""

MOST_IN_VAIN: Final = 20
"""After so many times in vain for the same coins it is asked once a minute."""


class SecondVenue:
    """Asks the second venue once a minute, and more often while something is held back.

    Args:
        clock: When it may be asked again.
        prices: Asks it what it shows, by ticker; raises `UpstreamError` where it fails.

    Attributes:
        shown: What it showed last; nothing where it failed.
        was_asked: Whether it was asked at all.
        agreed: What it showed when it last agreed with the accepted price of a coin, by ticker.
    """

    def __init__(self, clock: Clock, prices: Callable[[], Awaitable[Mapping[str, Second]]]) -> None:
        self.shown: Mapping[str, Second] = {}
        self.was_asked = False
        self.agreed: dict[str, Second] = {}
        self._clock = clock
        self._prices = prices
        self._due_s = self._check_s = 0.0
        self._about: frozenset[str] = frozenset()
        self._in_vain = 0
        self._is_held = False

    async def ask(self, about: frozenset[str]) -> bool:
        """Ask, unless that was done a moment ago. Says whether it was asked now.

        Args:
            about: The coins that it could clear.
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
        except UpstreamError:  # the session has logged it
            self.shown = {}
        self.was_asked = True

    def forget(self) -> None:
        """Another history begins: what was shown belongs to none of it, and may be asked for at once."""
        self.shown, self.was_asked, self._due_s = {}, False, 0.0
        self.agreed.clear()

    def compare(self, accepted: Mapping[str, Quote]) -> None:
        """Remember what it shows of coins whose accepted price agrees with it.

        Args:
            accepted: The last accepted quotes by ticker.
        """
        for symbol, shown in self.shown.items():
            price = accepted[symbol].price if symbol in accepted else None
            if price is not None and is_price(shown.price) and distance(price, shown.price) <= DISAGREEMENT:
                self.agreed[symbol] = shown
