"""The question route for callers without a token: a device's free question, or a payment (`VERDICT_ANONYMOUS=pay`).

There is no `Idempotency-Key` on a payment without an account: the payment itself is the key. The same payment for the
same request gets the stored answer.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from service.errors import ServiceError
from service.http.exchange import Exchange
from service.http.gates.pay import Pay


class Anonymous:
    """Sends a request that carries a payment to be paid for, and any other to its device's free question.

    Args:
        free: What serves a device's free question.
        pay: The gate of payments; it answers with the challenge where a request carries none.
    """

    def __init__(self, free: ASGIApp, pay: Pay) -> None:
        self._free = free
        self._pay = pay

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request, or answer 402 where there is neither a payment nor a free question.

        Raises:
            ServiceError: RATE_LIMITED, or what the route fails with.
            PeerGoneError: If the peer left.
        """
        exchange: Exchange = scope["verdict"]
        if self._pay.read(scope, exchange):
            try:
                await self._free(scope, receive, send)
            except ServiceError as error:
                if error.code != "AUTH_REQUIRED":
                    raise
            else:
                return
        await self._pay(scope, receive, send)
