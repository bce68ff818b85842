"""What is left of a caller's questions, told on a route that uses none."""

from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.meter import Meter
from service.clock import Clock
from service.http import quota
from service.http.exchange import Exchange


class Allowance:
    """Puts the fields of the quota on the answers of a free route: asking what is left costs nothing.

    Args:
        app: What stands behind the gate.
        meter: Keeps the quotas.
        clock: Time.
    """

    def __init__(self, app: ASGIApp, meter: Meter, clock: Clock) -> None:
        self._app = app
        self._meter = meter
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look it up, and go on."""
        exchange: Exchange = scope["verdict"]
        exchange.fields += quota.fields(await self._meter.standing(exchange.known_caller), self._clock)
        await self._app(scope, receive, send)
