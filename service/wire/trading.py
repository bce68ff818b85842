"""The standard by which simulated trades are filled and charged, as `regime` and `walkforward` state it."""

from msgspec import Struct


class SlippageBand(Struct, frozen=True):
    """Slippage of a fill, basis points of its notional, from a daily dollar volume on (up to the band above)."""

    volume_usd_from: float
    bps: float


class TradingStandard(Struct, frozen=True):
    """How trades are filled and what they cost.

    Attributes:
        fills: When and at which price a decision is filled.
        fee_bps: Fee of each fill, basis points of its notional.
        slippage: By daily dollar volume, the largest first.
        volume: Which volume decides the band.
        funding: How funding is charged, and what happens where it was not recorded.
    """

    fills: str
    fee_bps: float
    slippage: list[SlippageBand]
    volume: str
    funding: str
