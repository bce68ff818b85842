"""What a fill costs: the fee, and slippage by the coin's own volume. Needs no numpy.

The reasons for the table and its sources are in `docs/decisions/0011-costs-of-trades.md`.
"""

from typing import Final, TypeAlias

from service.analytics.funding import DEFAULT_APR
from service.wire.regime import SlippageBand, TradingStandard

Slippage: TypeAlias = tuple[tuple[float, float], ...]
"""Bands, the largest volume first: from how many USD a day on, and basis points of a fill's notional."""

FEE_BPS: Final = 4.5
"""Taker fee of Hyperliquid's base tier, basis points of the notional of a fill."""

SLIPPAGE: Final[Slippage] = (
    (1_000_000_000.0, 1.0),
    (100_000_000.0, 3.0),
    (10_000_000.0, 10.0),
    (1_000_000.0, 25.0),
    (100_000.0, 60.0),
    (0.0, 150.0),
)
"""Slippage of a market order of 10,000 USD, by the median dollar volume of the days before it."""

VOLUME_BARS: Final = 30
"""Daily bars whose median dollar volume says how large a coin is: a month, so that one wild day changes little."""

_FILLS: Final = (
    "A decision is made at the close of a UTC day and filled at the open of the next. A coin without a bar on that day "
    "is left at its last close, and not entered."
)
_VOLUME: Final = (
    f"Median of close times volume over the {VOLUME_BARS} daily bars that end with the day of the decision. A coin "
    "with fewer bars pays the rate of the smallest volume."
)
_FUNDING: Final = (
    "Recorded funding of every day held, on the notional at that day's open. Where it was not recorded a long pays "
    f"the venue's resting rate of {DEFAULT_APR:g} percent a year and a short receives nothing."
)


def standard(fee_bps: float = FEE_BPS, slippage: Slippage = SLIPPAGE) -> TradingStandard:
    """State how trades are filled and charged."""
    bands = [SlippageBand(volume_usd, bps) for volume_usd, bps in slippage]
    return TradingStandard(_FILLS, fee_bps, bands, _VOLUME, _FUNDING)
