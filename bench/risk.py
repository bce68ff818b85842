"""The answer of the risk route as pydantic has it, for the frameworks that answer with pydantic models."""

from datetime import UTC, datetime

from pydantic import BaseModel

from service.clock import SystemClock


def now() -> datetime:
    """The present time, as the frameworks write it."""
    return datetime.fromtimestamp(SystemClock().now_ms() / 1_000, UTC)


class Risk(BaseModel):
    symbol: str
    price: float
    funding_apr: float
    trend_daily: str
    trend_weekly: str
    sentiment_stance: str | None
    btc_correlation: float
    stale_fields: list[str]
    trend_daily_since: datetime
    trend_weekly_since: datetime
    funding_paying_side: str
    funding_receiving_side: str
    carry_if_long: float
    carry_if_short: float
    sentiment_summary: str | None
    venue: str
    venue_symbol: str


class Meta(BaseModel):
    ts: datetime
    as_of: datetime
    data_age_seconds: int


class Envelope(BaseModel):
    schemaVersion: int = 1  # noqa: N815 - the wire's own name
    data: Risk
    meta: Meta


NOW = now()
BTC = Risk(
    symbol="BTC", price=117726.0, funding_apr=10.95, trend_daily="UP", trend_weekly="UP", sentiment_stance=None,
    btc_correlation=1.0, stale_fields=["sentiment_stance"], trend_daily_since=NOW, trend_weekly_since=NOW,
    funding_paying_side="longs", funding_receiving_side="shorts", carry_if_long=-10.95, carry_if_short=10.95,
    sentiment_summary=None, venue="hyperliquid", venue_symbol="BTC",
)  # fmt: skip
RISK = {"BTC": BTC}


def envelope(symbol: str) -> Envelope | None:
    """The answer, made anew; None for a coin that is not known."""
    found = RISK.get(symbol)
    return Envelope(data=found, meta=Meta(ts=now(), as_of=NOW, data_age_seconds=0)) if found else None
