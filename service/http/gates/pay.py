"""The gate of priced routes: requests that carry a payment, and the 402 of a spent quota.

It stands before the meter, so that a request that carries a payment never touches the free quota. The meter holds the
same `PaymentDue` and answers with it when a quota is spent.
"""

from collections.abc import Awaitable, Iterable
from functools import lru_cache
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.standing import Standing
from service.clock import iso
from service.errors import ServiceError
from service.http.errors import JSON, NO_STORE
from service.http.exchange import Exchange
from service.payments.challenge import Challenge, Challenger, X402Version
from service.wire.offers import Offer
from service.wire.payment import Gate, Quota, ThisQuery, Unlock

_CARRIERS: Final = frozenset({b"payment-signature", b"x-payment"})
_REMEMBERED: Final = 256
_UPGRADE: Final = "ask the operator for the access tier (50 questions a day) or pro (no limit)"


class Pay:
    """Answers requests that carry a payment; lets all others through.

    Args:
        app: What stands behind the gate.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Refuse a payment before anything is metered.

        Raises:
            ServiceError: As `check`.
        """
        self.check(scope, scope["verdict"])
        return self.app(scope, receive, send)

    def check(self, scope: Scope, exchange: Exchange) -> bool:
        """Look for a payment.

        Returns:
            True: there is none, and nothing here takes waiting.

        Raises:
            ServiceError: BAD_REQUEST for two payment headers, PAYMENT_REQUIRED for one: none is accepted yet.
        """
        if _CARRIERS.isdisjoint(exchange.headers):
            return True
        if sum(name in _CARRIERS for name, _ in scope["headers"]) > 1:
            raise ServiceError("BAD_REQUEST", "a request carries one payment header, PAYMENT-SIGNATURE or X-PAYMENT")
        raise ServiceError(
            "PAYMENT_REQUIRED",
            "payments are not accepted by this version yet; nothing was charged. "
            "Send the request without its payment header to use your quota",
            details={"reason": "payments_not_enabled"},
        )


class PaymentDue:
    """Answers a call on one priced route whose quota is spent.

    Args:
        offer: The route.
        challenger: Writes the challenge.
        public_url: Scheme and host that callers use, where the service stands behind a proxy.

    Callers whose quota is spent stand alike, so a few challenges are remembered for each route.
    """

    def __init__(self, offer: Offer, challenger: Challenger, public_url: str | None) -> None:
        self._offer = offer
        self._challenger = challenger
        self._public_url = public_url
        self._challenge = lru_cache(maxsize=_REMEMBERED)(self._write)

    async def __call__(self, scope: Scope, receive: Receive, send: Send, standing: Standing) -> None:  # noqa: ARG002
        """Send the 402: for HEAD the same headers without the body."""
        version: X402Version = 2 if _header(scope["headers"], b"x-x402-max-version") == b"2" else 1
        challenge = self._challenge(standing, resource_url(scope, self._public_url), version)
        headers = [
            JSON,
            NO_STORE,
            (b"content-length", b"%d" % len(challenge.body)),
            (b"payment-required", challenge.header),
        ]
        await send({"type": "http.response.start", "status": 402, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else challenge.body})

    def _write(self, standing: Standing, url: str, version: X402Version) -> Challenge:
        return self._challenger.challenge(self._offer, gate(self._offer, standing), _sentence(standing), url, version)


def gate(offer: Offer, standing: Standing) -> Gate:
    """Say why the gate is shut for this caller, when it opens, and what opens it now."""
    reset_at = None if standing.reset_ms is None else iso(standing.reset_ms)
    unlock = [Unlock(method="upgrade", description=_UPGRADE)]
    if reset_at is not None:
        unlock.insert(0, Unlock(method="wait", description="a question becomes free again", at=reset_at))
    return Gate(
        tier=standing.tier,
        quota=Quota(standing.used, standing.limit, standing.remaining, standing.period),
        reset_at=reset_at,
        upgrade_url=None,
        this_query=ThisQuery(route=offer.id, price_usdc=offer.price_usdc),
        unlock=unlock,
    )


def resource_url(scope: Scope, public_url: str | None) -> str:
    """The absolute URL that a request asked for, as its caller wrote it."""
    base = public_url or f"{scope['scheme']}://{_header(scope['headers'], b'host').decode('latin-1')}"
    query = scope["query_string"]
    path: bytes = scope["raw_path"].partition(b"?")[0] + (b"?" + query if query else b"")
    return base + path.decode("latin-1")


def _sentence(standing: Standing) -> str:
    spent = f"your questions are spent ({standing.used} of {standing.limit} used)"
    until = "" if standing.reset_ms is None else f"; the next one is free at {iso(standing.reset_ms)}"
    return f"{spent}{until}. Paying per call is not switched on in this version yet"


def _header(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> bytes:
    return next((value for name, value in headers if name == wanted), b"")
