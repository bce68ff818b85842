"""What pages of other origins may do: nothing, unless the operator names their origins."""

from collections.abc import Sequence
from typing import Final

from starlette.types import Receive, Scope, Send

from service.http.errors import Fields
from service.http.exchange import Exchange

_EXPOSED: Final = (
    b"x-request-id, x-data-source, ratelimit, ratelimit-policy, retry-after, www-authenticate, "
    b"payment-required, payment-response, x-payment-response, x-receipt-id, idempotency-replayed"
)
_ACCEPTED: Final = (
    b"authorization, content-type, idempotency-key, payment-signature, x-payment, x-x402-max-version, x-payer-time, "
    b"x-payer-signature, last-event-id"
)
_REMEMBERED_S: Final = b"600"


class Cors:
    """Says which origins may read answers.

    Args:
        origins: Origins such as `https://app.example.org`; `*` for any. Credentials travel in `Authorization`, never in
            cookies, so any origin is safe to allow.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        self._origins = frozenset(origin.encode("ascii") for origin in origins)
        self._any = b"*" in self._origins

    def fields(self, origin: bytes | None) -> Fields:
        """The fields an answer to a request from this origin carries; none where it is not allowed."""
        if not self._origins:
            return []
        if self._any:
            return [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSED)]
        vary = (b"vary", b"origin")
        if origin is None or origin not in self._origins:
            return [vary]
        return [vary, (b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED)]


class Options:
    """Answers OPTIONS: which methods a path has, and to a preflight what may be sent.

    Args:
        allow: Value of `Allow`.
    """

    def __init__(self, allow: str) -> None:
        self._allow = allow.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer 204; the permission itself is a field of the exchange, as for every answer."""
        exchange: Exchange = scope["verdict"]
        headers = [(b"allow", self._allow)]
        if b"access-control-request-method" in exchange.headers:
            headers += [
                (b"access-control-allow-methods", self._allow),
                (b"access-control-allow-headers", _ACCEPTED),
                (b"access-control-max-age", _REMEMBERED_S),
            ]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body"})
