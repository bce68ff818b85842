"""OpenBB's API server with a route of its own, that answers from memory: no key, no quota, nothing kept.

Run by the interpreter of an environment that has `openbb-core` and not what this project uses: `bench.openbb` lays this
file where that one finds it, as the extension that OpenBB takes it for.
"""

from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel

router = APIRouter()
NOW = datetime(2026, 11, 23, tzinfo=UTC)


class Risk(BaseModel):
    symbol: str
    price: float
    funding_apr: float
    trend_daily: str
    trend_weekly: str
    btc_correlation: float
    stale_fields: list[str]
    trend_daily_since: datetime
    trend_weekly_since: datetime
    filling: str


@router.get("/risk")
async def risk(symbol: str) -> Risk:
    """Say what is known of a coin."""
    return Risk(
        symbol=symbol, price=117726.0, funding_apr=10.95, trend_daily="UP", trend_weekly="UP", btc_correlation=1.0,
        stale_fields=["sentiment_stance"], trend_daily_since=NOW, trend_weekly_since=NOW, filling="." * 250,
    )  # fmt: skip


if __name__ == "__main__":
    import uvicorn
    from openbb_core.api.rest_api import app  # type: ignore[import-not-found]

    uvicorn.run(app, port=0, access_log=False, log_level="info", loop="auto", http="auto")
