"""What is still being loaded, and how long the rest takes."""

from collections import deque
from typing import Final

from msgspec import Struct

from service.clock import Clock

LEAST_WAIT_S: Final = 1

_PIECES: Final = 8
_LEAST_PIECES: Final = 3


class Filling(Struct, frozen=True):
    """How far one kind of data is loaded.

    Attributes:
        known: Coins (or categories) that are loaded.
        total: How many there are; 0 while that is not known.
        of: What is counted, plural (`coins`).
        remaining_s: Estimate of the seconds until all are loaded; null where it is not known.
    """

    known: int
    total: int
    of: str = "coins"
    remaining_s: float | None = None

    @property
    def complete(self) -> bool:
        """Whether all there is is loaded."""
        return self.known >= self.total > 0

    def __str__(self) -> str:
        return f"{self.known} of {self.total} {self.of}" if self.total else "not begun"


class Pace:
    """Measures how long one piece takes to load, where pieces are loaded one after another.

    Args:
        clock: Measures.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_s: deque[float] = deque(maxlen=_PIECES + 1)

    def begin(self) -> None:
        """Forget earlier pieces: the next one begins now."""
        self._ends_s.clear()
        self.note()

    def note(self) -> None:
        """Note the end of a piece, which is the beginning of the next."""
        self._ends_s.append(self._clock.monotonic())

    def piece_s(self) -> float:
        """Mean seconds of the last 8 pieces; 0 while fewer than 3 have ended."""
        pieces = len(self._ends_s) - 1
        return (self._ends_s[-1] - self._ends_s[0]) / pieces if pieces >= _LEAST_PIECES else 0.0
