"""The gate of a device's one free question, for callers without a token: reserved, and counted like any other."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.meter import Meter
from service.http.exchange import Exchange
from service.http.reservation import Reservation
from service.wire.offers import Offer


class Device:
    """Serves a call for its device's question. Stands behind `guest`, and behind whoever judges the body.

    Args:
        app: What stands behind the gate.
        offer: The route.
        meter: Keeps the questions.
    """

    def __init__(self, app: ASGIApp, offer: Offer, meter: Meter) -> None:
        self.app = app
        self._offer_id = offer.id
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a device through that has its question still.

        Raises:
            ServiceError: AUTH_REQUIRED, RATE_LIMITED, UNAVAILABLE.
        """
        exchange: Exchange = scope["verdict"]
        if exchange.visitor is None:
            raise RuntimeError("a device's question stands behind guest")
        event_id = await self._meter.devices.reserve(exchange.visitor, self._offer_id)
        reservation = Reservation(self._meter, event_id, exchange)

        async def settling(message: Message) -> None:
            if message["type"] == "http.response.start":
                await reservation.settle(message)
            await send(message)

        try:
            await self.app(scope, receive, settling)
        finally:
            await reservation.end()
