"""What people keep keys and quotas with: SQLAlchemy on aiosqlite. The same work as ours, as durable.

A key is looked up by its digest, the quota is taken by one conditional UPDATE, a usage row is written, and all of it is
committed at synchronous=FULL before the answer, as the service under test does it.
"""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from sqlite3 import connect

from sqlalchemy import BigInteger, ForeignKey, event, select, update
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from bench.risk import now

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


class Store:
    """Keys and quotas in a file.

    Args:
        path: The file; it is made when the store is opened.
    """

    def __init__(self, path: str) -> None:
        self._engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        self._sessions = async_sessionmaker(self._engine, expire_on_commit=False)
        event.listen(self._engine.sync_engine, "connect", pragmas)

    @asynccontextmanager
    async def opened(self, _app: object = None) -> AsyncIterator[None]:
        """Make the tables, and one user with a key; a framework's lifespan."""
        async with self._engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with self._sessions() as session, session.begin():
            session.add(Quota(user_id=1, allowed=10**12))
            await session.flush()
            session.add(Key(digest=hashlib.sha256(TOKEN.encode()).hexdigest(), user_id=1))
        yield

    async def take(self, authorization: str, route: str) -> int:
        """Count a call; the status that it deserves, 200 once it is durable."""
        digest = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).hexdigest()
        async with self._sessions() as session, session.begin():
            key = (await session.execute(select(Key).where(Key.digest == digest))).scalar_one_or_none()
            if key is None:
                return 401
            taken = await session.execute(
                update(Quota)
                .where(Quota.user_id == key.user_id, Quota.used < Quota.allowed)
                .values(used=Quota.used + 1)
            )
            if taken.rowcount != 1:  # type: ignore[attr-defined]
                return 402
            session.add(Usage(user_id=key.user_id, route=route, at=now()))
        return 200


def pragmas(connection: object, _record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA busy_timeout=30000")


def counted(path: Path) -> int:
    """How many calls such a file has counted, by its quota and its rows, which must agree."""
    connection = connect(path)
    try:
        used, rows = connection.execute("SELECT (SELECT sum(used) FROM quota), (SELECT count(*) FROM usage)").fetchone()
    finally:
        connection.close()
    assert used == rows, f"{used} questions used, {rows} rows"
    return int(rows)
