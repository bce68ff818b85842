"""Names that several entrances of the service share, and what venues allow."""

from typing import Final

DATABASE: Final = "verdict.db"
"""The database's file in the data folder."""

HYPERLIQUID: Final = "hyperliquid"

HYPERLIQUID_WEIGHT: Final = 1_200
"""Weight a minute and address. Source: Hyperliquid's API documentation, "Rate limits and user limits"."""
