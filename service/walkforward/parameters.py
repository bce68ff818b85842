"""What a walk-forward is asked: its parameters, and the histories it walks; also across the border of a process."""

from typing import Final, Literal

from msgspec import Struct

from service.analytics.costs import FEE_BPS, SLIPPAGE, Slippage

ENGINE: Final = "verdict-walkforward-2"
"""Raised whenever the same request would give other records."""

Scheme = Literal["anchored", "rolling"]

Bar = tuple[int, float, float, float, float, float]
"""Day from 1970-01-01 UTC, open, high, low, close (USD), volume (base units)."""


class Parameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the days are split, who is traded, and what a fill costs.

    Attributes:
        scheme: `anchored`: a training window is everything before its test fold; `rolling`: the last `train_days`.
        train_days: Length of the first (anchored) or of every (rolling) training window.
        test_days: Length of a test fold; the last one runs to the last day and may be shorter.
        universe_size: How many coins, by dollar volume as known on the day, may be traded.
        fee_bps: Basis points of the notional of a fill.
        slippage: What a fill is assumed to lose against the open, by the coin's volume; see `service.analytics.costs`.
    """

    scheme: Scheme = "anchored"
    train_days: int = 365
    test_days: int = 90
    universe_size: int = 50
    fee_bps: float = FEE_BPS
    slippage: Slippage = SLIPPAGE


class History(Struct, frozen=True, array_like=True):
    """What is known of one coin: its closed daily bars, oldest first, and the funding of the days on which it is known.

    Funding is the fraction of the notional that a long pays over a UTC day, negative where it receives.
    """

    coin: str
    bars: list[Bar]
    funding: list[tuple[int, float]]


class Request(Struct, frozen=True):
    """A walk-forward to be run: delisted coins included, open bars not; `now_ms` is the instant at which it runs."""

    now_ms: int
    parameters: Parameters
    histories: list[History]
