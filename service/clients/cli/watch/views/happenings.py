"""Streams of events that happen once, alerts and crossings: the newest first."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from service.clients.cli.figures import moment, price, signed
from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Part, Screen, Style
from service.clients.cli.watch.views.view import fitted

_KEPT: Final = 200
_ZONES: Final[dict[str, Style]] = {"hot": "warn", "very-hot": "bad", "cold": "accent", "very-cold": "accent"}


class _Happenings(ABC):
    """What happened since the view began."""

    WAITING = ""

    def __init__(self) -> None:
        self._came: deque[Any] = deque(maxlen=_KEPT)

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note an event."""
        self._came.appendleft(data)

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:
        """One event below the other."""
        if not self._came:
            yield from flow(screen, [self.WAITING])
        yield from fitted((line for one in self._came for line in flow(screen, self.tell(one))), rows)

    @abstractmethod
    def tell(self, data: Any) -> Sequence[Part]:
        """One event."""


class Alerts(_Happenings):
    """Coins whose funding left the ordinary."""

    WAITING = "Nothing yet: an alert comes when a coin's funding leaves the ordinary."

    def tell(self, data: Any) -> Sequence[Part]:
        """One alert."""
        return [
            Cell(moment(data["firedAt"]), "dim"),
            Cell(data["asset"], "strong"),
            Cell(data["triggerZone"], _ZONES.get(data["triggerZone"])),
            f"funding {signed(data['fundingAtTrigger'])} a year, percentile {data['percentile']:.0f} of 30 days,",
            f"price {price(data['price'])}",
            *([Cell(f"cleared {moment(data['clearedAt'])}", "dim")] if data["clearedAt"] else []),
        ]


class Crossings(_Happenings):
    """Days on which coins going up came to outnumber those going down, or the reverse."""

    WAITING = "Nothing yet: a crossing comes at most once a day, when a day has closed."

    def tell(self, data: Any) -> Sequence[Part]:
        """One crossing."""
        return [
            Cell(moment(data["at"]), "dim"),
            Cell(data["direction"], "good" if data["direction"].startswith("UP") else "bad"),
            f"{data['up']} up, {data['down']} down of {data['universe']} coins",
        ]
