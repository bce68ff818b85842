"""What people use instead: FastAPI and the middleware of the official `x402` package.

Its facilitator is in the same process and says yes at once, whatever it is asked: it checks no signature, keeps no
payment and moves no money, so what is measured is the middleware alone.
"""

import sys
from datetime import UTC, datetime

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.middleware.base import RequestResponseEndpoint
from x402 import x402ResourceServer
from x402.http.middleware.fastapi import payment_middleware
from x402.http.types import PaymentOption, RouteConfig
from x402.mechanisms.evm.exact import ExactEvmServerScheme
from x402.schemas import (
    PaymentPayload,
    PaymentRequirements,
    SettleResponse,
    SupportedKind,
    SupportedResponse,
    VerifyResponse,
)

NETWORK = "eip155:84532"
BODY = {"symbol": "BTC", "price": 117726.0, "funding_apr": 10.95, "filling": "." * 500}


class Instant:
    """A facilitator that says yes."""

    async def verify(self, payload: PaymentPayload, requirements: PaymentRequirements) -> VerifyResponse:  # noqa: ARG002
        return VerifyResponse(is_valid=True, payer=payload.payload["authorization"]["from"])

    async def settle(self, payload: PaymentPayload, requirements: PaymentRequirements) -> SettleResponse:
        payer = payload.payload["authorization"]["from"]
        return SettleResponse(success=True, transaction="0x" + "1" * 64, network=requirements.network, payer=payer)

    def get_supported(self) -> SupportedResponse:
        return SupportedResponse(kinds=[SupportedKind(x402_version=2, scheme="exact", network=NETWORK)])


server = x402ResourceServer(Instant())
server.register(NETWORK, ExactEvmServerScheme())
option = PaymentOption(scheme="exact", pay_to=sys.argv[2], price="$0.005", network=NETWORK, max_timeout_seconds=60)
sell = payment_middleware({"GET /api/cli/coin/risk/*": RouteConfig(accepts=[option])}, server)
app = FastAPI()


@app.middleware("http")
async def paid(request: Request, call_next: RequestResponseEndpoint) -> Response:
    response: Response = await sell(request, call_next)
    return response


@app.get("/api/cli/coin/risk/{symbol}")
async def risk(symbol: str) -> dict[str, object]:
    return {"schemaVersion": 1, "data": {**BODY, "symbol": symbol}, "meta": {"ts": datetime.now(UTC).isoformat()}}


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning", loop="uvloop", http="httptools")
