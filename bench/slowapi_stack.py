"""What people use instead, in memory: FastAPI, a dictionary of keys, slowapi's limit. A restart forgets all of it."""

from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from slowapi import Limiter
from slowapi.errors import RateLimitExceeded
from starlette.responses import JSONResponse, Response

from bench.durable import TOKEN
from bench.risk import Envelope, envelope

KEYS = {TOKEN: 1}


def caller(request: Request) -> str:
    return request.headers.get("authorization", "")


def refuse(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"error": "quota spent"}, 402)


limiter = Limiter(key_func=caller)
app = FastAPI()
app.state.limiter = limiter
app.add_exception_handler(RateLimitExceeded, refuse)


async def known(authorization: Annotated[str, Header()]) -> None:
    if authorization.removeprefix("Bearer ") not in KEYS:
        raise HTTPException(401)


@app.get("/api/cli/coin/risk/{symbol}", dependencies=[Depends(known)])
@limiter.limit("1000000000/day")
async def risk(request: Request, symbol: str) -> Envelope:  # noqa: ARG001 - slowapi reads it by its name
    found = envelope(symbol)
    if found is None:
        raise HTTPException(404)
    return found


if __name__ == "__main__":
    uvicorn.run(app, port=0, access_log=False, log_level="info", loop="uvloop", http="httptools")
