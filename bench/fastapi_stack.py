"""What people use instead: FastAPI and SQLAlchemy, a pydantic response. The same work, as durable (`bench.durable`)."""

import sys
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException

from bench.durable import Store
from bench.risk import Envelope, envelope

store = Store(sys.argv[1])
app = FastAPI(lifespan=store.opened)


async def metered(authorization: Annotated[str, Header()]) -> None:
    status = await store.take(authorization, "coin.risk")
    if status != 200:
        raise HTTPException(status)


@app.get("/api/cli/coin/risk/{symbol}", dependencies=[Depends(metered)])
async def risk(symbol: str) -> Envelope:
    found = envelope(symbol)
    if found is None:
        raise HTTPException(404)
    return found


if __name__ == "__main__":
    uvicorn.run(app, port=0, access_log=False, log_level="info", loop="uvloop", http="httptools")
