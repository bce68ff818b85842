"""The second venue as a witness: what it shows of values that are held back."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from service.clock import Clock
from service.market.plausibility import Second
from service.upstream.failure import UpstreamError

ASK_EVERY_S: Final = 14.0
"""The second venue is asked at most once a round whether it confirms what is held back."""

ASK_SELDOM_S: Final = 60.0
MOST_IN_VAIN: Final = 20
"""After so many times in vain for the same coins it is asked once a minute."""


class SecondVenue:
    """Asks the second venue while something is held back.

    Args:
        clock: When it may be asked again.
        prices: Asks it what it shows, by ticker; raises `UpstreamError` where it fails.

    Attributes:
        shown: What it showed last; nothing where it failed.
        was_asked: Whether it was asked at all.
    """

    def __init__(self, clock: Clock, prices: Callable[[], Awaitable[Mapping[str, Second]]]) -> None:
        self.shown: Mapping[str, Second] = {}
        self.was_asked = False
        self._clock = clock
        self._prices = prices
        self._due_s = 0.0
        self._about: frozenset[str] = frozenset()
        self._in_vain = 0

    async def ask(self, about: frozenset[str]) -> bool:
        """Ask, unless that was done a moment ago. Says whether it was asked now.

        Args:
            about: The coins that it could clear.
        """
        if not about or self._clock.monotonic() < self._due_s:
            return False
        self._in_vain = self._in_vain + 1 if about <= self._about else 0
        self._about = about
        self._due_s = self._clock.monotonic() + (ASK_EVERY_S if self._in_vain < MOST_IN_VAIN else ASK_SELDOM_S)
        try:
            self.shown = await self._prices()
        except UpstreamError:  # the session has logged it
            self.shown = {}
        self.was_asked = True
        return True
