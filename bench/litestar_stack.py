"""What people use instead: Litestar and SQLAlchemy, a msgspec response. The same work, as durable (`bench.durable`)."""

import sys
from datetime import datetime

import msgspec
import uvicorn
from litestar import Litestar, get
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers.base import BaseRouteHandler

from bench.durable import Store
from bench.risk import BTC, NOW, now

store = Store(sys.argv[1])
Risk = msgspec.defstruct("Risk", [(name, object) for name in BTC.model_dump()])
RISK = {"BTC": Risk(**BTC.model_dump())}


class Meta(msgspec.Struct):
    ts: datetime
    as_of: datetime
    data_age_seconds: int


class Envelope(msgspec.Struct):
    data: Risk  # type: ignore[valid-type] # made above, of the fields that the others have
    meta: Meta
    schemaVersion: int = 1  # noqa: N815 - the wire's own name


async def metered(connection: ASGIConnection, _handler: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    status = await store.take(connection.headers.get("authorization", ""), "coin.risk")
    if status != 200:
        raise HTTPException(status_code=status)


@get("/api/cli/coin/risk/{symbol:str}", guards=[metered])
async def risk(symbol: str) -> Envelope:
    found = RISK.get(symbol)
    if found is None:
        raise HTTPException(status_code=404)
    return Envelope(found, Meta(now(), NOW, 0))


app = Litestar([risk], lifespan=[store.opened], openapi_config=None)

if __name__ == "__main__":
    uvicorn.run(app, port=0, access_log=False, log_level="info", loop="uvloop", http="httptools")
