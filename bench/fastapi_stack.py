"""What people use instead: FastAPI, SQLAlchemy on aiosqlite, a pydantic response. The same work, as durable.

A key is looked up by its digest, the quota is taken by one conditional UPDATE, a usage row is written, and all of it is
committed at synchronous=FULL before the answer, as the service under test does it.
"""

import hashlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel
from sqlalchemy import BigInteger, ForeignKey, event, select, update
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

TOKEN = "verdict_sk_" + "a" * 36


class Base(DeclarativeBase):
    pass


class Key(Base):
    __tablename__ = "keys"
    digest: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("quota.user_id"))


class Quota(Base):
    __tablename__ = "quota"
    user_id: Mapped[int] = mapped_column(primary_key=True)
    used: Mapped[int] = mapped_column(default=0)
    allowed: Mapped[int] = mapped_column(BigInteger)


class Usage(Base):
    __tablename__ = "usage"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int]
    route: Mapped[str]
    at: Mapped[datetime]


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


NOW = datetime.now(UTC)
BTC = Risk(
    symbol="BTC", price=117726.0, funding_apr=10.95, trend_daily="UP", trend_weekly="UP", sentiment_stance=None,
    btc_correlation=1.0, stale_fields=["sentiment_stance"], trend_daily_since=NOW, trend_weekly_since=NOW,
    funding_paying_side="longs", funding_receiving_side="shorts", carry_if_long=-10.95, carry_if_short=10.95,
    sentiment_summary=None, venue="hyperliquid", venue_symbol="BTC",
)  # fmt: skip
RISK = {"BTC": BTC}

engine = create_async_engine(f"sqlite+aiosqlite:///{sys.argv[2]}" if len(sys.argv) > 2 else "sqlite+aiosqlite://")
sessions = async_sessionmaker(engine, expire_on_commit=False)


@event.listens_for(engine.sync_engine, "connect")
def pragmas(connection: object, _record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA busy_timeout=30000")


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with sessions() as session, session.begin():
        session.add(Quota(user_id=1, allowed=10**12))
        await session.flush()
        session.add(Key(digest=hashlib.sha256(TOKEN.encode()).hexdigest(), user_id=1))
    yield


app = FastAPI(lifespan=lifespan)


async def metered(authorization: Annotated[str, Header()]) -> None:
    token = authorization.removeprefix("Bearer ")
    digest = hashlib.sha256(token.encode()).hexdigest()
    async with sessions() as session, session.begin():
        key = (await session.execute(select(Key).where(Key.digest == digest))).scalar_one_or_none()
        if key is None:
            raise HTTPException(401)
        taken = await session.execute(
            update(Quota).where(Quota.user_id == key.user_id, Quota.used < Quota.allowed).values(used=Quota.used + 1)
        )
        if taken.rowcount != 1:  # type: ignore[attr-defined]
            raise HTTPException(402)
        session.add(Usage(user_id=key.user_id, route="coin.risk", at=datetime.now(UTC)))


@app.get("/api/cli/coin/risk/{symbol}", dependencies=[Depends(metered)])
async def risk(symbol: str) -> Envelope:
    found = RISK.get(symbol)
    if found is None:
        raise HTTPException(404)
    return Envelope(data=found, meta=Meta(ts=datetime.now(UTC), as_of=NOW, data_age_seconds=0))


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning", loop="uvloop", http="httptools")
