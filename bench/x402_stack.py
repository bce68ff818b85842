"""What people use instead: FastAPI and the middleware of the official `x402` package.

Its facilitator is in the same process. `trusting` says yes at once, whatever it is asked: no signature is checked, no
payment kept, no money moved, so what is measured is the middleware alone. `checking` has the official facilitator's
scheme look at each payment first, on a chain that answers at once and to which nothing is ever submitted.
"""

import sys

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.middleware.base import RequestResponseEndpoint
from x402 import x402ResourceServer
from x402.http.middleware.fastapi import payment_middleware
from x402.http.types import PaymentOption, RouteConfig
from x402.mechanisms.evm.exact import ExactEvmFacilitatorScheme, ExactEvmServerScheme
from x402.schemas import (
    PaymentPayload,
    PaymentRequirements,
    SettleResponse,
    SupportedKind,
    SupportedResponse,
    VerifyResponse,
)

from service.clock import SystemClock, iso

NETWORK = "eip155:84532"
DOLLAR = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
BODY = {"symbol": "BTC", "price": 117726.0, "funding_apr": 10.95, "filling": "." * 500}


class Chain:
    """A chain on which everybody is rich, nobody is a contract but the token, and every call succeeds at once."""

    def get_code(self, address: str) -> bytes:
        return b"code" if address.lower() == DOLLAR else b""

    def read_contract(self, *_: object) -> bool:
        return True


class Instant:
    """A facilitator that settles at once."""

    def __init__(self, *, checks: bool) -> None:
        self._scheme = ExactEvmFacilitatorScheme(Chain()) if checks else None

    async def verify(self, payload: PaymentPayload, requirements: PaymentRequirements) -> VerifyResponse:
        if self._scheme is not None:
            return self._scheme.verify(payload, requirements)
        return VerifyResponse(is_valid=True, payer=payload.payload["authorization"]["from"])

    async def settle(self, payload: PaymentPayload, requirements: PaymentRequirements) -> SettleResponse:
        payer = payload.payload["authorization"]["from"]
        return SettleResponse(success=True, transaction="0x" + "1" * 64, network=requirements.network, payer=payer)

    def get_supported(self) -> SupportedResponse:
        return SupportedResponse(kinds=[SupportedKind(x402_version=2, scheme="exact", network=NETWORK)])


server = x402ResourceServer(Instant(checks=sys.argv[2] == "checking"))
server.register(NETWORK, ExactEvmServerScheme())
option = PaymentOption(scheme="exact", pay_to=sys.argv[1], price="$0.005", network=NETWORK, max_timeout_seconds=60)
sell = payment_middleware({"GET /api/cli/coin/risk/*": RouteConfig(accepts=[option])}, server)
app = FastAPI()


@app.middleware("http")
async def paid(request: Request, call_next: RequestResponseEndpoint) -> Response:
    response: Response = await sell(request, call_next)
    return response


@app.get("/api/cli/coin/risk/{symbol}")
async def risk(symbol: str) -> dict[str, object]:
    return {"schemaVersion": 1, "data": {**BODY, "symbol": symbol}, "meta": {"ts": iso(SystemClock().now_ms())}}


if __name__ == "__main__":
    uvicorn.run(app, port=0, access_log=False, log_level="info", loop="uvloop", http="httptools")
