"""What the views have in common."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from service.clients.cli.screen import Part, Screen


class View(Protocol):
    """One stream, as far as it has come."""

    def take(self, data: Any, meta: Any) -> None:
        """Note an event: its `data` and its `meta`."""

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:
        """All that is known, in so many lines at the most."""

    def tell(self, data: Any) -> Sequence[Part]:
        """One event, to be said after it is taken."""


def fitted(lines: Iterator[str], rows: int) -> Iterator[str]:
    """As many lines as there is room for; where that is not all, the last one says how many more there are."""
    known = list(lines)
    if len(known) > rows:
        known[max(rows - 1, 0) :] = [f"… {len(known) - rows + 1} more"][:rows]
    yield from known
