"""What the room keeps: four documents, read from memory by every process."""

from typing import Final

from msgspec import Struct

from service.market.observed import Chart, Quotes
from service.market.quarantine import Report
from service.market.shelf import Drawer, Shelf
from service.rwa.listing import Listing

QUARANTINE: Final = "rwa.quarantine"
"""The document that tells what is held back."""


class Charts(Struct, frozen=True):
    """What the closed daily bars of each asset say, by the venue's name of it."""

    charts: dict[str, Chart] = {}


class Drawers(Struct, frozen=True):
    """The room's documents: what is listed, the newest quotes of all that the dex trades, charts, what is held back."""

    listing: Drawer[Listing]
    quotes: Drawer[Quotes]
    charts: Drawer[Charts]
    quarantine: Drawer[Report]

    @classmethod
    def open(cls, shelf: Shelf) -> "Drawers":
        """Open them; the shelf's `follow` reads them."""
        return cls(
            listing=shelf.drawer("rwa.listing", Listing),
            quotes=shelf.drawer("rwa.quotes", Quotes),
            charts=shelf.drawer("rwa.charts", Charts),
            quarantine=shelf.drawer(QUARANTINE, Report),
        )
