"""What is still being loaded, and how long the rest takes."""

from typing import Final

from msgspec import Struct

LEAST_WAIT_S: Final = 1


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
