"""Payloads of the market's routes."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Trend = Literal["UP", "HODL", "DOWN"]
PayingSide = Literal["longs", "shorts"]
Stance = Literal["accumulation", "distribution", "euphoria", "capitulation", "exhaustion", "neutral"]
Correlation = Annotated[float, Meta(ge=-1, le=1)]


class RiskContext(Struct, frozen=True):
    """Bundled risk context of one asset.

    `price` is USD with the venue's own precision; `funding_apr`, `carry_if_long` and `carry_if_short` are percent a
    year, simple; `btc_correlation` is Pearson's over the daily log returns of the last 90 common closed bars (30 at
    least). What is unknown is null; what could not be refreshed, or is not known, is named in `_stale_fields`, fields
    derived from it excepted. `venue_symbol` is there only where the venue writes the ticker differently (`kPEPE`).
    """

    symbol: str
    price: float | None
    funding_apr: float | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    sentiment_stance: Stance | None
    btc_correlation: Correlation | None
    _stale_fields: list[str]
    trend_daily_since: str | None
    trend_weekly_since: str | None
    funding_paying_side: PayingSide | None
    funding_receiving_side: PayingSide | None
    carry_if_long: float | None
    carry_if_short: float | None
    sentiment_summary: str | None
    venue: str
    venue_symbol: str | UnsetType = UNSET
