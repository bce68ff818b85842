"""How long a coin that gave nothing new is left alone."""

from typing import Final

from service.clock import Clock

FIRST_WAIT_S: Final = 60.0
LONGEST_WAIT_S: Final = 3_600.0
"""A coin that has nothing new when it should is asked again after a minute, then ever less often, hourly at last."""


class Patience:
    """Remembers which coins were asked in vain, of one history at a time.

    Args:
        clock: How long ago that was.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._origin = ""
        self._waits: dict[str, tuple[float, float]] = {}

    def is_over(self, origin: str, coin: str) -> bool:
        """Whether a coin may be asked."""
        if origin != self._origin:
            self._origin, self._waits = origin, {}
        return self._waits.get(coin, (0.0, 0.0))[0] <= self._clock.monotonic()

    def note(self, coin: str, *, found: bool) -> None:
        """Note whether a coin that was asked had something new."""
        if found:
            self._waits.pop(coin, None)
        else:
            _, wait_s = self._waits.get(coin, (0.0, FIRST_WAIT_S))
            self._waits[coin] = (self._clock.monotonic() + wait_s, min(2 * wait_s, LONGEST_WAIT_S))
