"""The request of a walk-forward: parameters and histories. Also sent between processes."""

from typing import Final, Literal

from msgspec import Struct

from service.analytics.costs import FEE_BPS, SLIPPAGE, Slippage

ENGINE: Final = "verdict-walkforward-3"
"""Increase it when the same request gives other records."""

Scheme = Literal["anchored", "rolling"]

BarTuple = tuple[int, float, float, float, float, float]
"""Day from 1970-01-01 UTC, open, high, low, close (USD), volume (base units)."""


class Parameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How days are split, which coins are traded, and what a fill costs.

    Attributes:
        scheme: `anchored`: a training window is everything before its test fold; `rolling`: the last `train_days`.
        train_days: Length of the first (anchored) or of every (rolling) training window.
        test_days: Length of a test fold; the last one runs to the last day and may be shorter.
        universe_size: Number of traded coins, by dollar volume known on the day.
        fee_bps: Basis points of the notional of a fill.
        slippage: Assumed loss of a fill against the open, by the volume of the coin; see `service.analytics.costs`.
    """

    scheme: Scheme = "anchored"
    train_days: int = 365
    test_days: int = 90
    universe_size: int = 50
    fee_bps: float = FEE_BPS
    slippage: Slippage = SLIPPAGE


class CoinHistoryInput(Struct, frozen=True, array_like=True):
    """Closed daily bars of a coin, oldest first, and its funding on days with known funding.

    Funding is the fraction of the notional that a long pays over a UTC day; negative if it receives.
    """

    coin: str
    bars: list[BarTuple]
    funding: list[tuple[int, float]]


class WalkforwardRequest(Struct, frozen=True):
    """A request: histories include delisted coins and no open bars; `now_ms` is the instant of the run."""

    now_ms: int
    parameters: Parameters
    histories: list[CoinHistoryInput]
