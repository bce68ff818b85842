"""The gate of callers without a token: whoever has no device either is told at once that a token is needed."""

import msgspec
from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.devices import VisitorForm
from service.errors import ServiceError
from service.http.body import again, collect
from service.http.exchange import Exchange
from service.http.throttle import Throttle
from service.wire.strict import StrictError, check_depth, parse


class _Named(Struct, rename={"device_id": "deviceId"}):
    """As much of a body as says which device it is from."""

    device_id: str = ""


_NAMED = msgspec.json.Decoder(_Named)


class Guest:
    """Writes the visitor into the exchange; the body is handed on as it came, to be judged by others.

    Args:
        app: What stands behind the gate.
        throttle: Knows where a request comes from.
        form: Hashes who it is from.
    """

    def __init__(self, app: ASGIApp, throttle: Throttle, form: VisitorForm) -> None:
        self.app = app
        self._throttle = throttle
        self._form = form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through that names its device.

        Raises:
            ServiceError: AUTH_REQUIRED.
            PeerGoneError: If the peer left.
        """
        exchange: Exchange = scope["verdict"]
        body = await collect(receive)
        device = _device_of(body)
        if not device:
            raise ServiceError(
                "AUTH_REQUIRED",
                "send a key or a session as `Authorization: Bearer …` (`verdict login` gets you one), or a `deviceId` "
                "in the body for one free question",
            )
        exchange.visitor = self._form.visitor(device, self._throttle.host_of(scope))
        await self.app(scope, again(body, receive), send)


def _device_of(body: bytes) -> str:
    try:
        check_depth(body)
        return parse(_NAMED, body).device_id
    except (StrictError, msgspec.ValidationError):
        return ""
