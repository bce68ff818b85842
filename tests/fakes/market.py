"""A market room of which only some desks stand: those that a test goes to."""

import asyncio
from typing import Any

from service.market.room import Market


def market_of(**desks: Any) -> Market:
    """A room with these desks; where another stands there is nothing, and no coin is known until a test says so."""
    absent: dict[str, Any] = dict.fromkeys(Market.__struct_fields__)
    known = desks.get("known") or asyncio.Event()
    events = {"known": known, "loaded": known, "paid": known, "summed": known, "members": asyncio.Event()}
    return Market(**{**absent, **events, **desks})
