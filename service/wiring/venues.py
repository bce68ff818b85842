"""What venues allow, as they publish it."""

from typing import Final

HYPERLIQUID_WEIGHT: Final = 1_200
"""Weight a minute and address. Source: Hyperliquid's API documentation, "Rate limits and user limits"."""
