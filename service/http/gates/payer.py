"""The gate of a receipt: a request without a token is let through by the payer's signature.

The payer signs a text that names the receipt and the time (`wire.payment.reading_message`). The signature is good for a
minute and reads one receipt, so whoever sends it again within that minute gets the same receipt and nothing else.
"""

import re
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.refusal import invalid
from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.ethereum.signatures import recover_personal
from service.http.exchange import Exchange
from service.wire.payment import reading_message

WINDOW_S: Final = 60
"""How far the signed time may be from the service's clock, before or after it, in seconds."""

_TIME: Final = re.compile(rb"(?:0|[1-9][0-9]{0,11})\Z")
_SIGNATURE: Final = re.compile(rb"0x[0-9a-fA-F]{130}\Z")


class Payer:
    """Writes the signer's address into the exchange; lets requests with a token through.

    Args:
        app: What stands behind the gate.
        clock: Time.
    """

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self.app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a caller through who has a token or has signed the request.

        Raises:
            ServiceError: AUTH_REQUIRED without token and signature; BAD_REQUEST for headers that cannot be read;
                AUTH_INVALID for a time that is too far from the service's; NOT_FOUND where no key has signed.
        """
        exchange: Exchange = scope["verdict"]
        if exchange.caller is None:
            exchange.payer = self._signer(exchange)
        await self.app(scope, receive, send)

    def _signer(self, exchange: Exchange) -> str:
        receipt_id = exchange.path_params["id"]
        time, signature = (exchange.headers.get(name) for name in (b"x-payer-time", b"x-payer-signature"))
        if time is None and signature is None:
            raise ServiceError(
                "AUTH_REQUIRED",
                "Send a key or a session as `Authorization: Bearer …`; `verdict login` gets you one. If you paid "
                "without an account, send X-Payer-Time and X-Payer-Signature.",
            )
        at_s = int(_read("X-Payer-Time", time, _TIME, "epoch seconds in digits"))
        text = _read("X-Payer-Signature", signature, _SIGNATURE, "0x and 130 hexadecimal digits")
        now_s = self._clock.now_ms() // SECOND_MS
        if abs(now_s - at_s) > WINDOW_S:
            raise invalid(
                f"X-Payer-Time is more than {WINDOW_S} s from this service's time, which is {now_s} (epoch seconds). "
                "Sign the message again with that time."
            )
        try:
            return recover_personal(reading_message(receipt_id, at_s), bytes.fromhex(text[2:]))
        except ValueError:
            raise ServiceError("NOT_FOUND", f"you have no receipt {receipt_id}") from None


def _read(name: str, value: bytes | None, form: re.Pattern[bytes], takes: str) -> str:
    if value is None or not form.match(value):
        raise ServiceError("BAD_REQUEST", f"{name} takes {takes}.", details={"parameter": name})
    return value.decode("ascii")
