"""The gate of the `Idempotency-Key`: the same request with the same key has one answer, and is charged once.

It stands before payment and meter: what is given again costs nothing. With a key the whole answer is made before any of
it leaves, and is made to its end though its caller has left: so that the caller can come again for it. It is kept, and
counted, in one transaction before its first byte; what is no success is not kept, and gives the key back.
"""

import re
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.repeats import Claim, KeptAnswer, Repeats, Request
from service.errors import ServiceError
from service.http.body import again, collect
from service.http.errors import Fields
from service.http.exchange import Exchange

_KEY: Final = b"idempotency-key"
_PRINTABLE: Final = re.compile(rb"[ -~]{1,255}\Z")
_SUCCESS: Final = 200
_LENGTH: Final = b"content-length"
_PAYMENT: Final = frozenset({b"payment-response", b"x-payment-response", b"x-receipt-id"})
"""Fields in which a payer reads what became of its payment: part of the answer, though others write them."""


class Repeat:
    """Keeps answers to requests with a key; lets requests without one through.

    Args:
        app: What stands behind the gate.
        repeats: Where answers are kept.
        form: Which form of the answer a request wants: a part of what it asks for.
    """

    def __init__(self, app: ASGIApp, repeats: Repeats, form: Callable[[Scope], str]) -> None:
        self.app = app
        self._repeats = repeats
        self._form = form

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve a request, or give its answer again.

        Raises:
            ServiceError: BAD_REQUEST, IDEMPOTENCY_CONFLICT, RATE_LIMITED, UNAVAILABLE; or what the route fails with.
            PeerGoneError: If the peer left before its request was read.
        """
        exchange: Exchange = scope["verdict"]
        key = exchange.headers.get(_KEY)
        return self.app(scope, receive, send) if key is None else self._serve(exchange, key, scope, receive, send)

    async def _serve(self, exchange: Exchange, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        if not _PRINTABLE.match(key):
            raise ServiceError(
                "BAD_REQUEST",
                "Idempotency-Key takes 1 to 255 printable ASCII characters",
                details={"parameter": "Idempotency-Key"},
            )
        body = await collect(receive)
        key_hash = sha256(key).digest()
        request_hash = sha256(b"%b\n%b" % (self._form(scope).encode("ascii"), body)).digest()
        exchange.key_hash = sha256(key_hash + request_hash).hexdigest()
        taken = await self._repeats.take(Request(_owner(exchange), key_hash, request_hash))
        if isinstance(taken, KeptAnswer):
            await _send(taken, {}, [(b"idempotency-replayed", b"true")], send)
        else:
            await self._answer(exchange, taken, scope, again(body, receive), send)

    async def _answer(self, exchange: Exchange, claim: Claim, scope: Scope, receive: Receive, send: Send) -> None:
        exchange.kept = True
        collected = _Collected()
        kept = False
        try:
            await self.app(scope, receive, collected)
            if _is_kept(collected.status, exchange):
                kept = await self._keep(exchange, claim, collected.answer(exchange.fields))
        finally:
            if not kept:
                await self._repeats.release(claim, exchange.reserved)
        await _send(collected.answer([]), collected.head, [], send)

    async def _keep(self, exchange: Exchange, claim: Claim, answer: KeptAnswer) -> bool:
        """Keep an answer.

        Returns:
            Whether it is kept. What was paid for leaves all the same: it is kept with its payment.
        """
        try:
            await self._repeats.keep(claim, answer, exchange.reserved)
        except ServiceError:
            if not exchange.paid:
                raise
            return False
        return True


class _Collected:
    """An answer that does not leave yet."""

    def __init__(self) -> None:
        self.head: Message = {}
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head = message
        else:
            self._body += message["body"]

    @property
    def status(self) -> int:
        status: int = self.head["status"]
        return status

    def answer(self, fields: Fields) -> KeptAnswer:
        """The answer as it is kept, with what of the exchange's fields belongs to it."""
        own = [field for field in self.head["headers"] if field[0] != _LENGTH]
        added = [field for field in fields if field[0] in _PAYMENT]
        return KeptAnswer(self.status, (*own, *added), bytes(self._body))


async def _send(answer: KeptAnswer, head: Message, fields: Fields, send: Send) -> None:
    headers = [*answer.headers, (_LENGTH, b"%d" % len(answer.body)), *fields]
    await send({**head, "type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _is_kept(status: int, exchange: Exchange) -> bool:
    """Whether an answer is kept: any success, but of strangers those alone that they have only one of."""
    return status == _SUCCESS and (exchange.counted or exchange.caller is not None)


def _owner(exchange: Exchange) -> str:
    if exchange.caller is not None:
        return f"user {exchange.caller.user_id}"
    if exchange.visitor is None:
        raise RuntimeError("a key stands behind auth, or behind guest")
    return f"device {exchange.visitor.device.hex()}"
