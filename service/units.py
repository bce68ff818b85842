"""Small exact types and their arithmetic. Money is integers; rates are percent units once they are public."""

from decimal import Decimal
from math import isfinite
from typing import Final, Literal, NewType

Symbol = NewType("Symbol", str)
"""A canonical upper-case ticker (`BTC`, `PEPE`)."""

MicroUsd = NewType("MicroUsd", int)
"""Millionths of a US dollar; also atomic units of USDC, which has six decimals."""

Interval = Literal["1h", "1d"]

INTERVAL_MS: Final[dict[Interval, int]] = {"1h": 3_600_000, "1d": 86_400_000}

HOURS_PER_YEAR: Final = 8_760


def usdc(amount: MicroUsd) -> str:
    """Write an amount as decimal USDC without trailing zeros: 5000 → `0.005`."""
    return f"{(Decimal(amount) / 1_000_000).normalize():f}"


def apr_pct(rate: float) -> float:
    """Annualise a funding rate, simple, in percent units.

    Args:
        rate: The fraction paid an hour (0.0000125), whatever the venue's interval is.

    Returns:
        Percent a year (10.95), rounded to 4 decimals, as every public percentage is.
    """
    return round(rate * HOURS_PER_YEAR * 100, 4)


def change_pct(now: float | None, before: float | None) -> float | None:
    """Compare two prices.

    Args:
        now: The later one.
        before: The earlier one; neither is negative.

    Returns:
        The change in percent, rounded to 4 decimals, zero never negative; null where either is not known, or the
        earlier one is as good as nothing.
    """
    if now is None or not before:
        return None
    change = (now / before - 1) * 100
    return round(change, 4) + 0.0 if isfinite(change) else None
