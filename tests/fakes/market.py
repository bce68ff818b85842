"""Market data with only the services that a test needs."""

import asyncio
from typing import Any

from service.market.factory import MarketData


def market_of(**services: Any) -> MarketData:
    """Market data with these services and nothing else. No prices are known until the test sets the event."""
    absent: dict[str, Any] = dict.fromkeys(MarketData.__struct_fields__)
    known = services.get("prices_known") or asyncio.Event()
    waits = ("prices_known", "series_loaded", "funding_loaded", "past_prices_read", "momentum_ready")
    events = {**dict.fromkeys(waits, known), "members_changed": asyncio.Event()}
    return MarketData(**{**absent, **events, **services})
