"""The idempotency gate: the same request with the same `Idempotency-Key` has one response and is charged once.

It stands before payment and quota: a replayed response costs nothing. With a key, the whole response is made before any
of it leaves, and is finished even if the caller has left, so that the caller can ask for it again. It is stored and
counted in one transaction before its first byte. A failure is not stored and frees the key.
"""

import re
from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import Final

from starlette.types import ASGIApp, Message

from service.access.idempotency import IdempotencyClaim, IdempotencyStore, IdempotentRequest
from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.request import RequestContext
from service.http.response import HeaderFields, Response, response
from service.storage.response_store import StoredResponse
from service.wire.offer import Offer

Form = Callable[[RequestContext], str]
"""The form of response that a request asks for: part of its identity."""

Payer = Callable[[RequestContext], str | None]
"""The address that signed the payment of a request; None without a valid signature."""

_KEY: Final = b"idempotency-key"
_PRINTABLE: Final = re.compile(rb"[ -~]{1,255}\Z")
_SUCCESS: Final = 200
_LENGTH: Final = b"content-length"
_PAYMENT: Final = frozenset({b"payment-response", b"x-payment-response", b"x-receipt-id"})
"""Headers with the outcome of a payment: part of the stored response, though the payment gate adds them."""


class IdempotencyGate(RequestGate):
    """Stores responses to requests with a key. A request without one passes.

    HEAD is free: it is answered as GET would be where its response is stored, and else passes. A key belongs to the
    account, the payer or the device of its request; where there is none of these, the request passes.

    Args:
        app: The application behind the gate.
        offer: The route.
        store: Stores responses.
        payer: Finds the payer of a request without an account.
        form: The form of response that a request asks for; None if the route has one form.
    """

    def __init__(
        self, app: ASGIApp, offer: Offer, store: IdempotencyStore, payer: Payer, form: Form | None = None
    ) -> None:
        super().__init__(app)
        self._payer = payer
        self._has_body = offer.body is not None
        self._stored = store
        self._form = form

    def check(self, request: RequestContext) -> Coroutine[None, None, Response | None] | None:
        """Make and store the response, or replay it.

        Raises:
            ServiceError: BAD_REQUEST, IDEMPOTENCY_CONFLICT, RATE_LIMITED, UNAVAILABLE; or the route's error.
            PeerGoneError: If the peer left before its request was read.
        """
        key = request.headers.get(_KEY)
        owner = None if key is None else self._owner(request)
        if key is None or owner is None:
            return None
        return (
            self._find(request, owner, key) if request.scope["method"] == "HEAD" else self._serve(request, owner, key)
        )

    async def _find(self, request: RequestContext, owner: str, key: bytes) -> Response | None:
        found = await self._stored.find(await self._identified(request, owner, key))
        return None if found is None else _replayed(found)

    async def _serve(self, request: RequestContext, owner: str, key: bytes) -> Response:
        if not _PRINTABLE.match(key):
            raise ServiceError(
                "BAD_REQUEST",
                "Idempotency-Key takes 1 to 255 printable ASCII characters.",
                details={"parameter": "Idempotency-Key"},
            )
        identified = await self._identified(request, owner, key)
        parts = identified.key + identified.request_hash + _payer_part(request, owner)
        request.key_hash = sha256(parts).hexdigest()
        taken = await self._stored.claim(identified)
        return _replayed(taken) if isinstance(taken, StoredResponse) else await self._answer(request, taken)

    async def _identified(self, request: RequestContext, owner: str, key: bytes) -> IdempotentRequest:
        identity = await self._identity(request)
        return IdempotentRequest(owner, sha256(key).digest(), sha256(identity).digest())

    def _owner(self, request: RequestContext) -> str | None:
        if request.caller is not None:
            return f"user {request.caller.user_id}"
        payer = self._payer(request)
        if payer is not None:
            return f"payer {payer}"
        return None if request.device is None else f"device {request.device.device.hex()}"

    async def _identity(self, request: RequestContext) -> bytes:
        """Everything that the response depends on, beside the caller."""
        if self._form is not None:
            return b"%b\n%b" % (self._form(request).encode("ascii"), await request.read_body())
        method = request.scope["method"].replace("HEAD", "GET").encode("ascii")
        body = await request.read_body() if self._has_body else b""
        return b"%b %b\n%b" % (method, request.target, body)

    async def _answer(self, request: RequestContext, claim: IdempotencyClaim) -> Response:
        request.buffered = True
        collected = _CollectedResponse()
        stored = False
        try:
            await self.app(request.scope, request.receive, collected)
            if _is_stored(collected.status, request):
                stored = await self._store(request, claim, collected.answer(request.response_headers))
        finally:
            if not stored:
                await self._stored.release(claim, request.reserved)
        return _response(collected.answer([]), [])

    async def _store(self, request: RequestContext, claim: IdempotencyClaim, answer: StoredResponse) -> bool:
        """Store a response; whether it is stored. A paid response leaves all the same: its payment stores it too."""
        try:
            await self._stored.store(claim, answer, request.reserved)
        except ServiceError:
            if not request.paid:
                raise
            return False
        return True


class _CollectedResponse:
    """A response that does not leave yet."""

    def __init__(self) -> None:
        self._head: Message = {}
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._head = message
        else:
            self._body += message["body"]

    @property
    def status(self) -> int:
        status: int = self._head["status"]
        return status

    def answer(self, fields: HeaderFields) -> StoredResponse:
        """The response as it is stored, with those of the request's headers that belong to it."""
        own = [field for field in self._head["headers"] if field[0] != _LENGTH]
        added = [field for field in fields if field[0] in _PAYMENT]
        return StoredResponse(self.status, (*own, *added), bytes(self._body))


def _response(answer: StoredResponse, further: HeaderFields) -> Response:
    return response(answer.status, [*answer.headers, *further], answer.body)


def _replayed(answer: StoredResponse) -> Response:
    return _response(answer, [(b"idempotency-replayed", b"true")])


def _is_stored(status: int, request: RequestContext) -> bool:
    """Whether a response is stored: any success with an account; without one only a counted success."""
    return status == _SUCCESS and (request.counted or request.caller is not None)


def _payer_part(request: RequestContext, owner: str) -> bytes:
    """Payers without an account share one user id, so the address tells their stored purchases apart."""
    return b"" if request.caller is not None else owner.encode("ascii")
